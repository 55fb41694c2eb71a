"""Spoiled readings: found, told from jumps and from discoveries, and of little harm."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief.disturbances import outliers
from equipoise.belief.observations import Observations

FORM = eq.belief.Form(np.ones(2), np.arange(2), eq.Tracked())


def readings(seed, n, spoiled=(), jump=None):
    """Readings of a bump at random points, in pairs; `spoiled` are times and by how much."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.exp(-4 * ((X - 0.3) ** 2).sum(axis=1)) + 0.05 * rng.standard_normal(n)
    for time, size in spoiled:
        y[time - 1] += size
    if jump is not None:
        y[jump[0] - 1 :] += jump[1]
    return [eq.Comparison(x, None, v, time=t, pair=(t - 1) // 2) for t, (x, v) in enumerate(zip(X, y, strict=True), 1)]


def learned(comparisons):
    posterior = eq.belief.LearnedBelief.prior(eq.belief.LearnedModel(FORM))
    for comparison in comparisons:
        posterior = posterior.condition(comparison)
    return posterior


def times(posterior):
    return {time for time, _ in posterior.blips}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [20.0, -1000.0])
def test_a_spoiled_reading_is_found_at_once_and_changes_little(seed, size):
    clean, dirty = learned(readings(seed, 40)), learned(readings(seed, 40, [(40, size)]))
    assert times(dirty) == {40.0}
    grid = np.random.default_rng(9).random((30, 2))
    (mean, variance), (other, _) = (p.exact.difference(grid, [0.3, 0.3]) for p in (clean, dirty))
    assert (np.abs(mean - other) < 3 * np.sqrt(variance) + 0.02).all()


@pytest.mark.parametrize("seed", range(3))
def test_spoiled_readings_at_the_very_beginning_are_found_later(seed):
    posterior = learned(readings(seed, 40, [(1, -400.0), (4, 300.0)]))
    assert {1.0, 4.0} <= times(posterior)
    assert posterior.hyperparameters.step < 2.0  # the unit is that of the others


@pytest.mark.parametrize("seed", range(3))
def test_the_first_reading_of_a_jump_is_spoiled_only_until_the_next(seed):
    posterior = learned(readings(seed, 46, jump=(41, 40.0)))
    assert posterior.blips == ()
    assert 41.0 in [time for time, _ in posterior.exact.offset.jumps]


def test_nothing_is_spoiled_where_nothing_is():
    for seed in range(3):
        assert learned(readings(seed, 60)).blips == ()


def test_two_surprises_at_one_place_are_a_discovery():
    """Between ordinary readings, so that it is not a jump; the first alone counts as an outlier."""
    data = readings(0, 44)
    high = {41: [0.95, 0.95], 44: [0.951, 0.95]}
    data = [eq.Comparison(high[t], None, 30.0, t, pair=c.pair) if (t := int(c.time)) in high else c for c in data]
    assert times(learned(data[:43])) == {41.0}
    posterior = learned(data)
    assert posterior.blips == ()
    mean, _ = posterior.exact.difference([[0.95, 0.95]], [0.3, 0.3])
    assert mean[0] > 5  # of 30: as much as f is believed to vary, so far


def test_outliers_are_far_from_those_around_them_in_time_and_place():
    data = Observations.of(readings(0, 30, [(7, 50.0), (30, -50.0)]))
    assert [time for time, _ in outliers(data, np.ones(2))] == [7.0, 30.0]
    steady = Observations.of(readings(0, 30, jump=(15, 50.0)))
    assert outliers(steady, np.ones(2)) == ()
    assert outliers(Observations.of(readings(0, 6, [(3, 50.0)])), np.ones(2)) == ()  # too few to tell


def test_a_good_reading_held_for_spoiled_is_measured_again():
    """A needle that stands far above everything: one reading of it looks like an outlier."""
    opt, rng = eq.Optimizer(eq.Box([(0, 1), (0, 1)]), rng=3), np.random.default_rng(0)
    needle = None
    for t in range(30):
        trial = opt.ask()
        if t == 24:
            needle = trial.x
        top = needle is not None and bool(np.abs(trial.x - needle).max() < 0.01)
        opt.tell(trial, 100.0 * top + 0.05 * float(rng.normal()))
    at = [record for record in opt.records() if np.array_equal(record.x, needle)]
    assert len(at) >= 2
    np.testing.assert_allclose(opt.recommend().x, needle, atol=0.02)


def test_what_is_spoiled_is_said_in_the_records():
    opt, rng = eq.Optimizer(eq.Box([(0, 1)]), rng=0), np.random.default_rng(0)
    for t in range(30):
        trial = opt.ask()
        opt.tell(trial, float(-4 * (trial.x[0] - 0.7) ** 2 + 0.02 * rng.normal() - 500.0 * (t == 20)))
    assert [record.trial for record in opt.records() if record.aside is not None] == [20]
