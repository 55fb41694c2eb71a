import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.lab.environments import (
    BIASES,
    Adversary,
    BlockOffsets,
    Calibration,
    CompensatedDrift,
    Drift,
    Environment,
    Jumps,
    NegativeRepeat,
    PeriodicDrift,
    RandomWalk,
    RangeAdjustingDetector,
    linear,
)

NAMES = sorted(BIASES)
FUNCTION = linear(rng=0)


def run(bias, readings=60, noise=0.3, seed=0):
    """Measure random actions and return the environment."""
    environment = Environment(FUNCTION, bias, noise=noise, rng=seed)
    for i in np.random.default_rng(seed + 1000).integers(20, size=readings):
        environment.measure(FUNCTION.points[i])
    return environment


def offsets(bias, **settings):
    return [reading.offset for reading in run(bias, **settings).history]


def by_hand(name, past):
    """Return b_t from the readings 1, ..., t-1, slowly; METHOD sections 2 and 8."""
    t = len(past) + 1
    f = [reading.value for reading in past]
    raw = [reading.value + reading.noise for reading in past]
    if name == "none":
        return 0.0
    if name == "drift":
        return -0.1 * t
    if name == "periodic":
        return math.sin(0.2 * t) - 0.1 * t
    if name == "negative-repeat":
        return -f[-1] if past else 0.0
    if name == "negative-repeat-reading":
        return -past[-1].y if past else 0.0
    if name == "compensated-drift":
        return -0.1 - f[-1] - past[-1].noise if past else -0.1
    if name == "calibration":
        return -reference(raw, window=10, threshold=0.1, residue=0.0)
    if name == "calibration-authors":
        return -reference(f, window=5, threshold=0.2, residue=0.1)
    return None


def reference(values, window, threshold, residue):
    o = 0.0
    for t in range(1, len(values) + 1):
        mean = np.mean(values[max(0, t - window) : t])
        if abs(mean - o) > threshold:
            o = mean - residue
    return o


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_offsets_follow_their_definition(name, seed):
    history = run(BIASES[name](), seed=seed).history
    expected = [by_hand(name, history[:t]) for t in range(len(history))]
    if expected[0] is not None:
        assert [reading.offset for reading in history] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32), before=st.integers(0, 40))
@settings(max_examples=10, deadline=None)
def test_an_offset_never_depends_on_the_current_point(name, seed, before):
    first, second = (run(BIASES[name](), readings=before, seed=seed) for _ in range(2))
    first.measure(FUNCTION.points[0])
    second.measure(FUNCTION.points[1])
    assert first.history[-1].offset == second.history[-1].offset


@pytest.mark.parametrize("name", NAMES)
def test_one_configuration_starts_independent_equal_runs(name):
    bias = BIASES[name]()
    first = run(bias)
    second = run(bias)
    assert [r.y for r in first.history] == [r.y for r in second.history]
    hash(bias)


@pytest.mark.parametrize("slope", [-0.1, 0.7])
def test_compensated_drift_shows_the_change_of_the_drifting_signal(slope):
    history = run(CompensatedDrift(slope)).history
    raw = np.array([0.0] + [r.value + r.noise + slope * r.time for r in history])
    np.testing.assert_allclose([r.y for r in history], np.diff(raw), atol=1e-12)


def test_bounded_biases_are_bounded():
    # Linear: |f| <= 1, so without noise every bias that repeats or averages f stays within 1.
    for bias in (NegativeRepeat(), Calibration(), RangeAdjustingDetector(-0.5, 0.5)):
        assert np.abs(offsets(bias, noise=0.0)).max() <= 1.0
    assert np.abs(offsets(BIASES["calibration-authors"]())).max() <= 1.1
    assert set(offsets(Adversary(strength=0.7))) <= {-0.7, 0.0, 0.7}
    assert np.abs(offsets(PeriodicDrift(slope=0.0))).max() <= 1.0


def test_the_printed_negative_repeat_grows_like_a_random_walk():
    # |y_t| is a random walk of unit steps: after 10,000 its spread is 100, that of the authors' form below 2.
    printed = run(NegativeRepeat(of="reading"), readings=10_000, noise=1.0).history
    authors = run(NegativeRepeat(), readings=10_000, noise=1.0).history
    assert np.std([r.y for r in printed]) > 10
    assert np.std([r.y for r in authors]) < 2


def test_calibration_keeps_the_shown_average_near_zero():
    bias = Calibration(window=10, threshold=0.1)
    history = run(bias, readings=200).history
    for t in range(10, len(history)):
        average = np.mean([r.value + r.noise for r in history[t - 10 : t]])
        assert abs(average + history[t].offset) <= 0.1 + 1e-12


def test_the_detector_recenters_only_after_leaving_its_range():
    history = run(RangeAdjustingDetector(low=-0.5, high=1.0), noise=1.0).history
    for last, now in pairwise(history):
        if -0.5 <= last.y <= 1.0:
            assert now.offset == last.offset
        else:
            assert last.value + last.noise + now.offset == pytest.approx(0.25)


def test_blocks_change_at_their_borders_only():
    levels = np.reshape(offsets(BlockOffsets(length=6)), (10, 6))
    assert (levels == levels[:, :1]).all()
    assert len(set(levels[:, 0])) == 10


def test_jumps_and_steps_have_the_stated_rate_and_size():
    n = 10_000
    jumped = np.diff(offsets(Jumps(rate=0.05), readings=n)) != 0
    assert jumped.mean() == pytest.approx(0.05, abs=5 * math.sqrt(0.05 * 0.95 / n))
    steps = np.diff(offsets(RandomWalk(step=0.5), readings=n))
    assert steps.std() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2 * n))
    assert set(offsets(Jumps(rate=0.0))) == {0.0}


def test_the_adversary_learns_a_fixed_order():
    environment = Environment(FUNCTION, Adversary(strength=1.0), rng=0)
    leader, others = FUNCTION.points[0], FUNCTION.points[1:]
    for i in range(30):
        environment.measure(leader)
        environment.measure(others[i % len(others)])
    late = environment.history[20:]
    assert all(r.offset == (-1.0 if (r.x == leader).all() else 1.0) for r in late)


def test_the_adversary_cannot_profit_from_a_fair_coin():
    environment = Environment(FUNCTION, Adversary(strength=1.0), rng=0)
    coin = np.random.default_rng(1).integers(2, size=4000)
    for side in coin:
        environment.measure(FUNCTION.points[side])
    signed = np.array([r.offset for r in environment.history]) * (2 * coin - 1)
    assert abs(signed.mean()) < 5 / math.sqrt(len(coin))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: NegativeRepeat(of="y"), '`of` must be "value" or "reading", got \'y\''),
        (lambda: Drift(math.inf), "`slope` must be finite, got inf"),
        (lambda: Jumps(rate=2.0), "`rate` must not be above 1, got 2.0"),
        (lambda: RandomWalk(-1.0), "`step` must not be negative, got -1.0"),
        (lambda: BlockOffsets(length=0), "`length` must be at least 1, got 0"),
        (lambda: Calibration(residue=0.5), "`residue` must lie within the threshold 0.1, got 0.5"),
        (lambda: RangeAdjustingDetector(1.0, 0.0), "`low` must be below `high`, got 1.0 and 0.0"),
        (lambda: Adversary(window=1), "`window` must be at least 2, got 1"),
    ],
)
def test_errors_name_argument_rule_and_value(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
