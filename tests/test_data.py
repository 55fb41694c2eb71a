"""The records that travel: how readings combine, what is refused, and that nothing handed out can be changed."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipoise as eq

dyadic = st.integers(-(2**20), 2**20).map(lambda n: n / 1024)


def duel(signs, baseline=0.0):
    proposal = eq.Proposal.pair([0.0, 1.0], [2.0, 3.0])
    return eq.Duel(proposal, proposal.points[: len(signs)], signs, *proposal.points, baseline)


@given(first=dyadic, second=dyadic, offset=st.integers(-(2**30), 2**30).map(float), baseline=dyadic)
def test_a_constant_added_to_both_readings_changes_no_bit(first, second, offset, baseline):
    pair = duel((1.0, -1.0), baseline)
    outcome = pair.comparison([first, second]).outcome
    assert outcome == first - second
    assert pair.comparison([first + offset, second + offset]).outcome == outcome


def test_the_baseline_is_taken_off_a_single_reading():
    comparison = duel((-2.0,), baseline=3.0).comparison([5.0])
    assert comparison.outcome == -4.0
    assert (comparison.first.tolist(), comparison.second.tolist()) == ([0.0, 1.0], [2.0, 3.0])


@pytest.mark.parametrize("readings", [[], [1.0], [1.0, 2.0, 3.0]])
def test_one_reading_per_point(readings):
    with pytest.raises(ValueError, match=f"`readings` must have 2 entries, got {len(readings)}"):
        duel((1.0, -1.0)).comparison(readings)


def test_readings_whose_difference_overflows_are_refused():
    with pytest.raises(ValueError, match=r"`readings` must have a finite difference, got \[1e\+308, -1e\+308\]"):
        duel((1.0, -1.0)).comparison([1e308, -1e308])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[0.0]], [1.0], 0.0), ValueError, r"`first` must have shape \(n\), got \(1, 1\)"),
        (([0.0], [1.0, 2.0], 0.0), ValueError, r"`second` must have shape \(1\), got \(2,\)"),
        (([0.0], [np.nan], 0.0), ValueError, "`second` must be finite"),
        (([0.0], [1.0], np.inf), ValueError, "`outcome` must be finite, got inf"),
        (([0.0], [1.0], "0.3"), TypeError, "`outcome` must be a real number, got '0.3'"),
    ],
)
def test_a_comparison_made_by_hand_is_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        eq.Comparison(*arguments)


def test_a_proposal_owns_its_points():
    x = np.array([0.0, 1.0])
    pair, single = eq.Proposal.pair(x, x), eq.Proposal.single(x)
    x[0] = 9.0
    assert pair.points.tolist() == [[0.0, 1.0]] * 2
    assert single.points.tolist() == [[0.0, 1.0]]
    assert pair.weights.sum() == single.weights.sum() == 1
    with pytest.raises(ValueError, match="read-only"):
        pair.weights[0] = 1.0


def test_trials_are_values_known_by_their_id():
    trial, other = eq.Trial(3, np.array([0.0, 1.0])), eq.Trial(4, np.array([0.0, 1.0]))
    assert trial == pickle.loads(pickle.dumps(trial)) == copy.deepcopy(trial)
    assert trial in [other, trial]
    assert {trial: "a", other: "b"}[copy.copy(trial)] == "a"
    with pytest.raises(dataclasses.FrozenInstanceError):
        trial.id = 5
