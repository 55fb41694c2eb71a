"""Compiled rounds play what the array program plays, coin by coin, and pay the same in single precision."""

import math
import shutil

import numpy as np
import pytest

import equipoise as eq
from benched import benchmark
from equipoise.lab.environments import CompensatedDrift, Drift, Jumps, NegativeRepeat, NoBias, linear
from equipoise.lab.fleet import Blueprint, Worlds, simulate

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

LEARNERS, ROUNDS, SEED = 60, 80, 2**40 + 17

compiled = benchmark("compiled")
CompiledDuels, coefficients_of = compiled.CompiledDuels, compiled.coefficients_of


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory):
    """Build in a folder of the test's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def philox(counter, seed):
    """Philox4x32-10 of Salmon et al. (2011), counters of shape (4, n)."""
    c = [np.asarray(part, dtype=np.uint64) for part in counter]
    k0, k1, low = seed & 0xFFFFFFFF, seed >> 32, np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            p1 & low,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            p0 & low,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def unit(bits):
    return ((bits >> np.uint64(8)).astype(float) + 0.5) / 2**24


class Replayed:
    """The coins of the compiled rounds, for the array program."""

    def __init__(self, t):
        zeros = np.zeros(LEARNERS)
        self.coins = philox([np.arange(LEARNERS), zeros, zeros + t, zeros], SEED)
        self.ties = [unit(bits) for bits in philox([np.arange(LEARNERS), zeros, zeros + t, zeros + 1], SEED)[:2]]
        self.uniform = [unit(self.coins[1]), np.where(self.coins[0] < 2**31, 0.0, 1.0)]

    def argmax(self, scores):
        ties = scores == scores.max(axis=-1, keepdims=True)
        wanted = self.ties.pop(0) * ties.sum(axis=-1)
        return (np.cumsum(ties, axis=-1) > wanted[:, None]).argmax(axis=-1)

    def random(self, like, needed=None):
        return self.uniform.pop(0)

    @property
    def noise(self):
        radius, angle = np.sqrt(-2 * np.log(unit(self.coins[2]))), 2 * np.pi * unit(self.coins[3])
        return radius * np.cos(angle), radius * np.sin(angle)


def problem(dtype=np.float64, learners=LEARNERS):
    functions = [linear(rng=i) for i in range(learners)]
    points = np.array([f.points for f in functions])
    truth = np.array([np.linalg.lstsq(f.points, f(f.points))[0] for f in functions])
    return functions, points.transpose(1, 2, 0).astype(dtype), truth.T.astype(dtype)


def test_philox_is_philox():
    """A known answer of the reference implementation (Random123)."""
    assert [int(word[0]) for word in philox([[0], [0], [0], [0]], 0)] == [
        0x6627E8D5,
        0xE169C58D,
        0xBC57AC4C,
        0x9B00DBD8,
    ]


@pytest.mark.parametrize("bias", [NoBias(), Drift(), NegativeRepeat(), CompensatedDrift()], ids=repr)
def test_every_coin_leads_to_the_same_readings(bias):
    functions, X, truth = problem()
    duels, values = CompiledDuels.on(X, truth, bias, seed=SEED), np.einsum("mdl,dl->ml", X, truth)
    blueprint = Blueprint([f.points for f in functions], eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
    beliefs, last, paid, rows = (
        blueprint.prior(LEARNERS),
        np.zeros((2, LEARNERS)),
        np.zeros(LEARNERS),
        np.arange(LEARNERS),
    )
    slope, level, follow_value, follow_noise = coefficients_of(bias)
    for t in range(ROUNDS):
        throws = Replayed(t)
        noise = throws.noise
        asked, y = blueprint.propose(beliefs, throws), []
        for k in range(2):
            value = values[asked.points[:, k], rows]
            y.append(
                value + slope * (2 * t + k + 1) + level - follow_value * last[0] - follow_noise * last[1] + noise[k]
            )
            last, paid = np.array([value, noise[k]]), paid + values.max(axis=0) - value
        beliefs = blueprint.learn(beliefs, asked, np.stack(y, axis=-1))
        half = duels.play(1, begin=t)
        assert half == pytest.approx(paid, rel=1e-9)
    theta = duels.state["theta"].reshape(4, -1)
    assert np.einsum("mdl,dl->lm", X, theta) == pytest.approx(beliefs.mean, abs=1e-9)
    assert duels.state["log_det"] == pytest.approx(beliefs.log_det, rel=1e-9)


def test_rounds_may_be_played_in_one_go_or_in_parts():
    _, X, truth = problem(np.float32)
    one, parts = (CompiledDuels.on(X, truth, Drift(), seed=5) for _ in range(2))
    one.play(40)
    for begin in range(0, 40, 10):
        parts.play(10, begin=begin)
    assert parts.state["theta"].tolist() == one.state["theta"].tolist()
    assert parts.regret == pytest.approx(one.regret, rel=1e-5)


def test_single_precision_pays_what_the_array_program_pays():
    """Mean regret of 400 learners each; five deviations: chance 1e-6."""
    functions, X, truth = problem(np.float32, 400)
    paid = CompiledDuels.on(X, truth, Drift(), seed=1).play(300)
    blueprint = Blueprint([f.points for f in functions], eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
    courses = simulate(blueprint, Worlds(functions, Drift(), 1.0, range(400)), 600, rng=2)
    difference = paid - np.array([course.regrets.sum() for course in courses])
    assert abs(difference.mean()) <= 5 * difference.std(ddof=1) / math.sqrt(len(difference))


def test_a_bias_that_is_not_compiled_is_refused():
    with pytest.raises(ValueError, match="`bias` must be NoBias, Drift"):
        coefficients_of(Jumps())
    with pytest.raises(ValueError, match="`bias` must be NoBias, Drift"):
        coefficients_of(NegativeRepeat(of="reading"))
