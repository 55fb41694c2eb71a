"""Many open trials: anticipating them at once gives the same belief as one by one."""

import copy

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import AnywherePosterior, Posterior
from studies import BOX, FINITE, KERNEL, value_at

KNOWN = AnywherePosterior(KERNEL, 0.2, offset=eq.Tracked().known(0.5, walk=0.1))
STUDIES = {
    "given": lambda: eq.Optimizer(BOX, kernel=KERNEL, rng=0),
    "finite": lambda: eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.IDS(), rng=0),
    "learned": lambda: eq.Optimizer(BOX, rng=0),
    "learned duels": lambda: eq.Optimizer(BOX, offset=eq.Arbitrary(), rng=0),
    "known law": lambda: eq.Optimizer(BOX, posterior=KNOWN, rng=0),
    "one point": lambda: eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.UCB(), rng=0),
}


@pytest.mark.parametrize("readings", [0, 13])
@pytest.mark.parametrize("make", STUDIES.values(), ids=STUDIES)
def test_all_at_once_is_one_by_one(make, readings, monkeypatch):
    opt = make()
    for _ in range(readings):
        trial = opt.ask()
        opt.tell(trial, value_at(trial))
    for i in range(9):
        opt.ask(worker=f"w{i}")
    points = opt.space.candidates(np.random.default_rng(0))
    at_once = opt._session.state.anticipated().posterior
    monkeypatch.setattr(AnywherePosterior, "anticipate_all", Posterior.anticipate_all)
    one_by_one = opt._session.state.anticipated().posterior
    ours, theirs = at_once.at(points), one_by_one.at(points)
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(ours.variance, theirs.variance, rtol=1e-6, atol=1e-7)
    assert at_once.comparisons == one_by_one.comparisons
    assert at_once.log_det == pytest.approx(one_by_one.log_det, rel=1e-7, abs=1e-7)


def test_an_ask_with_many_open_trials_factors_once(monkeypatch):
    opt = eq.Optimizer(BOX, kernel=KERNEL, rng=0)
    for i in range(40):
        opt.ask(worker=f"w{i}")
    monkeypatch.setattr(AnywherePosterior, "anticipate", None)  # one by one, each would copy the factor
    twin = copy.deepcopy(opt)
    assert opt.ask(worker="more").x.tobytes() == twin.ask(worker="more").x.tobytes()
