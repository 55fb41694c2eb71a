"""Baselines: immutable, fixed before the coin, and worth having."""

import copy
import pickle
from dataclasses import dataclass, field, fields

import numpy as np
import pytest

import equipoise as eq
from suites import BASELINES

over_baselines = pytest.mark.parametrize("baseline", BASELINES, ids=repr)
POINTS = np.linspace(0, 1, 8)[:, None]


@dataclass(frozen=True)
class Recorder:
    """A one-point reduction that keeps the duels it makes."""

    baseline: object
    duels: list = field(default_factory=list)
    proposal_size = 2
    offset = eq.Arbitrary()

    def __call__(self, proposal, rng, baseline=0.0):
        self.duels.append(eq.OnePoint()(proposal, rng, baseline))
        return self.duels[-1]


def outcomes_under(baseline, offset, readings=60):
    """Outcomes of a run in which every reading is shifted by `offset(t)`."""
    recorder = Recorder(baseline)
    parts = {"kernel": eq.RBF(0.3), "policy": eq.IDS(), "reduction": recorder, "regularizer": 4.0}
    opt = eq.Optimizer(eq.Finite(POINTS), **parts, rng=0)
    outcomes = []
    for t in range(readings):
        trial = opt.ask()
        value = -4 * (trial.x[0] - 0.7) ** 2 + offset(t)
        outcomes.append(recorder.duels[-1].outcome([value]))
        opt.tell(trial, value)
    return np.array(outcomes)


@over_baselines
def test_a_baseline_is_a_value(baseline):
    before = [getattr(baseline, f.name) for f in fields(baseline)]
    later = baseline.update(3.0, 1.0).update(-2.0, 0.5)
    assert [getattr(baseline, f.name) for f in fields(baseline)] == before
    assert later == baseline.update(3.0, 1.0).update(-2.0, 0.5)
    assert later == pickle.loads(pickle.dumps(later)) == copy.deepcopy(later)
    assert np.isfinite(later.predict(0.25))


@over_baselines
def test_the_baseline_is_fixed_before_the_coin(baseline):
    """Runs that agree up to the coin have the same c: seeds whose first pair is equal but whose coin differs."""
    seen = {}
    for seed in range(200):
        recorder = Recorder(baseline.update(5.0, 1.0))
        eq.Optimizer(eq.Finite(POINTS[:2]), kernel=eq.RBF(0.3), reduction=recorder, rng=seed).ask()
        duel = recorder.duels[0]
        seen.setdefault(duel.proposal.points.tobytes(), set()).add((duel.signs, duel.baseline))
    for duels in seen.values():
        assert len({signs for signs, _ in duels}) == 2
        assert len({c for _, c in duels}) == 1


def test_zero_remembers_nothing():
    assert eq.OnePoint().baseline == eq.reductions.Zero()
    assert eq.reductions.Zero().update(1e9, 0.0).predict(3.0) == 0.0


def test_running_mean_is_the_mean_offset_plus_the_midpoint():
    readings, predicted = np.random.default_rng(0).normal(size=(2, 50))
    baseline = eq.reductions.RunningMean()
    assert baseline.predict(0.75) == 0.75
    for reading, mean in zip(readings.tolist(), predicted.tolist(), strict=True):
        baseline = baseline.update(reading, mean)
    assert baseline.predict(0.75) == pytest.approx(0.75 + (readings - predicted).mean(), rel=1e-12)


def test_a_constant_offset_scatters_every_outcome_of_zero_but_fades_from_the_running_mean():
    zero, mean = (
        outcomes_under(baseline, lambda t: 100.0) for baseline in (eq.reductions.Zero(), eq.reductions.RunningMean())
    )
    assert np.abs(zero).min() > 180
    assert np.abs(mean[0]) > 180  # the first reading has no earlier one to be compared with
    assert np.abs(mean[-20:]).max() < 4


def test_the_optimizer_hands_each_duel_what_its_own_readings_allow():
    """A reference computed by hand: the c of duel t comes from the posterior and readings of duels before t."""
    recorder = Recorder(eq.reductions.RunningMean())
    opt = eq.Optimizer(eq.Finite(POINTS), kernel=eq.RBF(0.3), policy=eq.IDS(), reduction=recorder, rng=3)
    offsets, values = [], np.random.default_rng(1).normal(5.0, 1.0, 25).tolist()
    for value in values:
        before = opt.posterior
        trial = opt.ask()
        duel = recorder.duels[-1]
        midpoint = before.at(duel.proposal.points).mean.mean()
        assert duel.baseline == pytest.approx((np.mean(offsets) if offsets else 0.0) + midpoint, rel=1e-12)
        offsets.append(value - before.at(duel.points).mean[0])
        opt.tell(trial, value)
