"""Reaching a bound: the search changes to audits, and forecasts how long they take."""

import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.runners import Reaching
from equipoise.study import BoundMissed

SPACE = eq.Space(q1=eq.Float(-1, 1), q2=eq.Float(-1, 1))


class Instrument:
    """Two hills, a range of five, noise of 0.1 and a walk of 0.3."""

    def __init__(self, seed):
        self.rng, self.level = np.random.default_rng(seed), 0.0

    def f(self, x):
        u = np.array([x["q1"], x["q2"]])
        return 5 * np.exp(-4 * np.sum((u - [0.3, -0.2]) ** 2)) + 2 * np.exp(-4 * np.sum((u + 0.6) ** 2))

    def __call__(self, x):
        self.level += 0.3 * self.rng.normal()
        return self.f(x) + self.level + 0.1 * self.rng.normal()


@pytest.mark.parametrize("seed", range(2))
def test_a_run_stops_where_the_bound_is_reached(seed):
    opt, instrument = eq.Optimizer(SPACE, rng=seed), Instrument(seed)
    best = opt.run(instrument, readings=200, eps=0.25)
    assert (best.kind, best.certifies(0.25)) == ("audited", True)
    assert 30 < opt.readings < 200
    assert 5.05 - instrument.f(best.x) <= best.gap_bound <= 0.25
    again = opt.run(instrument, readings=200, eps=0.25)
    assert again.readings == best.readings  # it is reached already


def test_a_run_says_why_the_bound_was_missed():
    opt = eq.Optimizer(SPACE, rng=0)
    with pytest.warns(BoundMissed, match="an estimate needs 10 more readings"):
        opt.run(Instrument(0), readings=20, eps=0.25)
    with pytest.warns(BoundMissed, match=r"A bound of 1.0e-09 is out of reach so far: 256 more duels"):
        opt.run(Instrument(0), readings=34, eps=1e-9)


def test_it_says_beforehand_how_long_it_takes_and_whether_that_is_too_long():
    opt, said = eq.Optimizer(SPACE, rng=0), []
    goal = Reaching(opt, 0.25, readings=60, report=said.append)
    instrument = Instrument(0)
    while opt.readings < 60 and not goal.reached():
        trial = opt.ask()
        opt.tell(trial, instrument(trial.x))
    assert len(said) == 1
    assert said[0].startswith("A bound of 0.25 is ")
    hasty = Reaching(opt, 0.02, readings=opt.readings + 2)
    assert not hasty.reached()
    assert opt.study.plan is None  # what cannot be reached is not begun
    assert "not expected within 2 more readings" in hasty.missed() or "out of reach" in hasty.missed()


def test_what_may_not_go_everywhere_is_not_audited():
    opt, instrument = eq.Optimizer(SPACE, start={"q1": 0, "q2": 0}, drop=2.0, rng=0), Instrument(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opt.run(instrument, readings=40, eps=3.0)
    assert opt.study.plan is None
    assert opt.recommend().forecast is None  # nor is an audit foretold


def test_a_bound_must_be_positive():
    with pytest.raises(ValueError, match="`eps`"):
        eq.Optimizer(SPACE, rng=0).run(Instrument(0), readings=4, eps=0)
