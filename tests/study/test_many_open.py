"""Hundreds of open trials: an ask costs no more than with a hundred, and the workers still go to different places."""

import time

import numpy as np
import pytest

import equipoise as eq
from equipoise.log.events import Asked
from equipoise.study import state
from equipoise.study.state import MOST_ANTICIPATED
from studies import BOX, KERNEL, value_at

MAKERS = {"given": lambda: eq.Optimizer(BOX, kernel=KERNEL, rng=0), "learned": lambda: eq.Optimizer(BOX, rng=0)}


def begun(make, readings=20):
    """A study with some readings."""
    opt = make()
    for _ in range(readings):
        trial = opt.ask()
        opt.tell(trial, value_at(trial))
    return opt


def crowded(make, duels):
    """A study with this many open duels, of points anywhere: their proposals are not made, which takes long."""
    opt, rng = begun(make), np.random.default_rng(1)
    for i in range(opt._session.state.duels, opt._session.state.duels + duels):
        duel = eq.TwoPoint()(eq.Proposal.pair(*rng.random((2, len(BOX.extent)))), rng)
        opt.study.replay(Asked(opt._session.state.ledger.trials, duel, i, f"w{i}"))
    return opt


def cost(opt):
    """CPU seconds of a proposal."""
    opt.study.propose()  # what is made once
    spent = []
    for _ in range(5):
        start = time.thread_time()
        opt.study.propose()
        spent.append(time.thread_time() - start)
    return min(spent)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_five_times_as_many_open_duels_cost_no_more(make):
    assert cost(crowded(make, 5 * MOST_ANTICIPATED)) < 2 * cost(crowded(make, MOST_ANTICIPATED))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_up_to_the_limit_every_open_duel_counts(make, monkeypatch):
    opt = begun(make)
    for i in range(17):
        opt.ask(worker=f"w{i}")
    limited = opt.study.propose()
    monkeypatch.setattr(state, "MOST_ANTICIPATED", 10**6)
    assert opt.study.propose().points.tobytes() == limited.points.tobytes()  # to the last bit
    crowd = crowded(make, MOST_ANTICIPATED)
    every = crowd._session.state.anticipated().comparisons
    monkeypatch.undo()
    assert crowd._session.state.anticipated().comparisons == every


def test_beyond_it_the_newest_count():
    opt = crowded(MAKERS["given"], MOST_ANTICIPATED + 30)
    newest = [entry.duel.points for entry in opt._session.state.ledger.open_duels[-MOST_ANTICIPATED:]]
    believed = opt._session.state.anticipated().posterior.observations.points[-2 * MOST_ANTICIPATED :]
    assert {point.tobytes() for point in believed} == {point.tobytes() for pair in newest for point in pair}


def places(limit, monkeypatch):
    """The different points, and cells of a grid, that a hundred workers are sent to."""
    monkeypatch.setattr(state, "MOST_ANTICIPATED", limit)
    opt = begun(MAKERS["given"])
    for i in range(100):
        opt.ask(worker=f"w{i}")
    points = np.concatenate([entry.duel.points for entry in opt._session.state.ledger.open_duels])
    return len(np.unique(points, axis=0)), len(np.unique(np.floor(10 * points), axis=0))


def test_workers_go_to_as_many_places_as_if_all_were_anticipated(monkeypatch):
    points, cells = places(24, monkeypatch)
    every_point, every_cell = places(10**6, monkeypatch)
    assert points >= 0.75 * every_point > 10
    assert cells >= 0.75 * every_cell > 5
