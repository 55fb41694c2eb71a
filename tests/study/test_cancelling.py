"""Offsets that are constant inside a pair cancel, even with impossible readings."""

import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.environments import camelback

FUNCTION = camelback()


def regret(level, seed, readings=80, workers=1):
    """Cumulative regret with a new level for every pair, or for `workers` that have one each."""
    rng, levels = np.random.default_rng(seed), np.random.default_rng(100 + seed).standard_normal(readings)
    opt, total, waiting = eq.Optimizer(eq.Box(FUNCTION.bounds), rng=seed), 0.0, {}
    for t in range(readings):
        worker = f"w{t % workers}" if workers > 1 else None
        trial = waiting.pop(worker, None) or opt.ask(worker=worker)
        offset = level * levels[t % workers if workers > 1 else t // 2]
        opt.tell(trial, float(FUNCTION(trial.x)) + 0.3 * float(rng.standard_normal()) + offset)
        total += float(FUNCTION.regret(trial.x))
    return total


@pytest.fixture(scope="module")
def without():
    return np.mean([regret(0.0, seed) for seed in range(2)])


@pytest.mark.parametrize("change", [{"level": 10.0}, {"level": 1000.0}, {"level": 1000.0, "workers": 4}], ids=repr)
def test_an_offset_constant_inside_a_pair_costs_little(change, without):
    """0.1.0 paid as much as random search, seven times as much as without; 200 readings in docs/evidence.md."""
    assert np.mean([regret(seed=seed, **change) for seed in range(2)]) < 2.0 * without


def test_the_variance_of_the_pairs_is_found():
    rng = np.random.default_rng(0)
    posterior = eq.belief.infer((), eq.belief.LearnedModel(eq.belief.Form(np.ones(2), np.arange(2), eq.Tracked())))
    for i in range(40):
        x, level = rng.random(2), 50.0 * np.random.default_rng(i // 2).standard_normal()
        y = float(np.sin(5 * x[0]) + x[1]) + level + 0.05 * rng.standard_normal()
        posterior = posterior.condition(eq.Comparison(x, None, y, time=i + 1.0, pair=i // 2))
    h = posterior.learned.hyperparameters
    assert 20.0 < h.offset[-1] ** 0.5 * h.step < 120.0
    assert h.step < 2.0


def test_adding_a_constant_to_a_pair_changes_nothing_where_only_duels_teach():
    def study(levels):
        opt = eq.Optimizer(eq.Box([(0, 1)]), offset=eq.Arbitrary(), rng=0)
        for t in range(20):
            trial = opt.ask()
            opt.tell(trial, round(1024 * float(np.sin(5 * trial.x[0]))) / 1024 + levels[t // 2])
        return opt.recommend().x.tobytes()

    assert study(np.zeros(10)) == study(2.0 ** np.arange(10))


RNG = np.random.default_rng(0)


def signal(trial):
    return float(np.sin(5 * trial.x).sum())


STRANGE = {
    "codes": lambda t, trial: 9.9e37 if t % 7 == 3 else signal(trial) + 0.1 * RNG.normal(),
    "code first": lambda t, trial: 9.9e37 if t == 0 else signal(trial),
    "huge": lambda t, trial: 1e300 * RNG.normal(),
    "any size": lambda t, trial: 10.0 ** RNG.uniform(-300, 300) * RNG.choice([-1, 1]),
    "tiny": lambda t, trial: 1e-300 * RNG.normal(),
    "constant": lambda t, trial: 3.0,
    "stuck": lambda t, trial: signal(trial) if t < 10 else 1.0,
    "picounits": lambda t, trial: 1e-12 * signal(trial),
    "teraunits": lambda t, trial: 1e12 * signal(trial) + 1e15,
    "outliers": lambda t, trial: signal(trial) + (RNG.random() < 0.1) * 1e6 * RNG.normal(),
    "alternating": lambda t, trial: (-1) ** t * 1e50,
    "overflowing": lambda t, trial: 1.7e308 if t % 2 else -1.7e308,
    "steep drift": lambda t, trial: 1e8 * t + signal(trial),
}
PARTS = [{}, {"offset": eq.Arbitrary()}, {"policy": eq.UCB()}, {"kernel": eq.RBF(0.3)}, {"offset": eq.Blocks(5)}]


@pytest.mark.parametrize("parts", PARTS, ids=repr)
@pytest.mark.parametrize("reading", STRANGE.values(), ids=list(STRANGE))
def test_no_reading_ends_a_study(reading, parts):
    """Not even a RuntimeWarning: every warning is an error here but those about the readings."""
    opt = eq.Optimizer(eq.Box([(0, 1), (0, 1)]), rng=0, **parts)
    with warnings.catch_warnings():
        for expected in (eq.study.SetAside, eq.study.DeadSensor, eq.study.WrongUnit):
            warnings.simplefilter("ignore", expected)
        for t in range(18):
            trial = opt.ask()
            opt.tell(trial, float(reading(t, trial)))
        best = opt.recommend()
    assert np.isfinite(best.x).all()
    assert not np.isnan(best.gap_bound)


def test_an_overload_code_is_said_kept_and_not_learned_from():
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)
    for value in (0.3, 0.5, 0.2):
        opt.tell(opt.ask(), value)
    with pytest.warns(eq.study.SetAside, match="the reading of trial 3 is impossible"):
        opt.tell(opt.ask(), 9.9e37)
    assert [record.aside for record in opt.records()] == [None] * 3 + ["it cannot be"]
    assert opt.posterior.comparisons == 3
    opt.correct(3, 0.4)
    assert opt.posterior.comparisons == 4
