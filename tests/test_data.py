"""The records that travel: how readings combine, what is refused, and that nothing handed out can be changed."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipoise as eq
from equipoise.data import Reading, teaches, will_teach

dyadic = st.integers(-(2**20), 2**20).map(lambda n: n / 1024)


def duel(signs, baseline=0.0):
    proposal = eq.Proposal.pair([0.0, 1.0], [2.0, 3.0])
    return eq.Duel(proposal, proposal.points[: len(signs)], signs, *proposal.points, baseline)


@given(first=dyadic, second=dyadic, offset=st.integers(-(2**30), 2**30).map(float), baseline=dyadic)
def test_a_constant_added_to_both_readings_changes_no_bit(first, second, offset, baseline):
    pair = duel((1.0, -1.0), baseline)
    outcome = pair.outcome([first, second])
    assert outcome == first - second
    assert pair.outcome([first + offset, second + offset]) == outcome


def test_the_baseline_is_taken_off_a_single_reading():
    comparison = duel((-2.0,), baseline=3.0).comparison([Reading(5.0)])
    assert comparison.outcome == -4.0
    assert (comparison.first.tolist(), comparison.second.tolist()) == ([0.0, 1.0], [2.0, 3.0])


@pytest.mark.parametrize("readings", [[], [1.0], [1.0, 2.0, 3.0]])
def test_one_reading_per_point(readings):
    with pytest.raises(ValueError, match=f"`readings` must have 2 entries, got {len(readings)}"):
        duel((1.0, -1.0)).outcome(readings)


def test_readings_whose_difference_overflows_are_refused():
    with pytest.raises(ValueError, match=r"`readings` must have a finite difference, got \[1e\+308, -1e\+308\]"):
        duel((1.0, -1.0)).comparison([Reading(1e308), Reading(-1e308)])


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


# --- outcome = signs @ (readings - baseline) ----------------------------------------------------------------------

signs_of = st.floats(-4, 4).filter(lambda s: abs(s) > 1e-3)
several = st.integers(1, 5).flatmap(
    lambda r: st.tuples(*(st.lists(each, min_size=r, max_size=r) for each in (signs_of, st.floats(-1e6, 1e6))))
)


def of(signs, second=True, baseline=0.0):
    """A duel of as many readings as signs, the two points of a pair in turn."""
    pair = eq.Proposal.pair([0.0], [1.0])
    points = pair.points[np.arange(len(signs)) % 2]
    return eq.Duel(pair, points, tuple(signs), pair.points[0], pair.points[1] if second else None, baseline)


@given(several, st.floats(-1e6, 1e6))
def test_the_outcome_is_signs_times_readings_less_the_baseline(drawn, baseline):
    signs, readings = map(np.array, drawn)
    expected = float(signs @ (readings - baseline))
    rounding = 1e-11 * float(np.abs(signs) @ (np.abs(readings) + abs(baseline)))
    made = of(signs.tolist(), baseline=baseline)
    assert made.outcome(readings.tolist()) == pytest.approx(expected, abs=rounding)
    comparison = made.comparison(
        [Reading(y, error=0.5, place=i + 3) for i, y in enumerate(readings.tolist())], pair=7.0
    )
    assert comparison.outcome == made.outcome(readings.tolist())
    assert comparison.variance == pytest.approx(0.25 * float(signs @ signs))
    assert (comparison.time, comparison.pair, comparison.duel) == (len(signs) + 2, 7.0, made)
    mirror = made.comparison([Reading(-y) for y in readings.tolist()], sign=-1.0)
    assert mirror.outcome == comparison.outcome


def test_of_three_readings_all_count():
    sandwich = of((0.5, -1.0, 0.5))
    assert sandwich.outcome([10.0, 3.0, 12.0]) == 8.0
    assert sandwich.comparison([Reading(10.0), Reading(3.0), Reading(12.0)]).outcome == 8.0


def test_a_comparison_is_of_where_was_measured():
    """What was measured elsewhere is compared there; of several readings of one side, their mixture."""
    moved = np.array([0.25])
    told = [Reading(1.0, moved), Reading(2.0), Reading(3.0)]
    comparison = of((0.5, -1.0, 0.5)).comparison(told)
    assert comparison.first.points.tolist() == [[0.25], [0.0]]
    assert comparison.first.weights.tolist() == [0.5, 0.5]
    assert comparison.second.tolist() == [1.0]
    assert of((1.0, -1.0)).comparison([Reading(1.0), Reading(2.0, moved)]).second.tolist() == [0.25]


# --- what a duel teaches ------------------------------------------------------------------------------------------

LAWS = [
    *(eq.Arbitrary(), eq.Constant(), eq.Tracked(), eq.Tracked(guard=None), eq.offsets.Steady()),
    *(eq.Blocks(3), eq.Blocks(3, guard=None)),
]


def test_every_law_is_looked_at():
    exported = {getattr(eq.offsets, name) for name in eq.offsets.__all__}
    laws = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, eq.offsets.Law)}
    assert laws - {eq.offsets.Law} == {type(law) for law in LAWS}


def said(lessons):
    """All that comparisons say."""
    sides = [(c.first.tolist(), None if c.second is None else c.second.tolist()) for c in lessons]
    return [(*side, c.outcome, c.time, c.variance, c.pair) for side, c in zip(sides, lessons, strict=True)]


@st.composite
def tellings(draw):
    """A duel, its readings, and an order in which they are told."""
    signs, values = draw(several)
    order = draw(st.permutations(range(len(signs))))
    return of(signs, second=draw(st.booleans())), values, order


@given(tellings(), st.sampled_from(LAWS), st.sampled_from([1.0, -1.0]))
def test_with_one_more_reading_it_teaches_what_it_taught_and_maybe_more(telling, law, sign):
    made, values, order = telling
    told, before = [None] * len(values), []
    for place, i in enumerate(order, start=5):
        told[i] = Reading(values[i], place=place, error=0.1)
        lessons = said(teaches(made, told, law, number=2.0, sign=sign))
        assert lessons[: len(before)] == before
        alone = said(teaches(made, told, law, number=2.0, sign=sign, comparable=False))
        assert alone == (lessons[: place - 4] if law.learns_readings else [])
        before = lessons
    singles = [(made.points[i].tolist(), None, sign * values[i], 5.0 + k, 0.1**2, 2.0) for k, i in enumerate(order)]
    whole = said([made.comparison(told, 2.0, sign)])
    if not law.learns_readings:
        assert before == whole
    elif law.guard is None or made.second is None:
        assert before == singles
    else:
        assert before == singles + whole


@given(tellings(), st.sampled_from(LAWS), st.integers(0, 5))
def test_what_it_will_teach_is_what_it_then_teaches_but_for_the_outcomes(telling, law, known):
    made, values, order = telling
    told, planned = [None] * len(values), sorted(order[known:])  # what is left comes in the order of the duel
    for place, i in enumerate(order[:known], start=1):
        told[i] = Reading(values[i], place=place)
    now = teaches(made, told, law)
    ahead = will_teach(made, told, law, place=known + 1)
    for place, i in enumerate(planned, start=known + 1):
        told[i] = Reading(values[i], place=place)
    then = teaches(made, told, law)
    assert [each[:2] + each[3:] for each in said((*now, *ahead))] == [each[:2] + each[3:] for each in said(then)]
    assert all(each.outcome == 0.0 for each in ahead)


# --- one's own reduction -------------------------------------------------------------------------------------


class Sandwich:
    """One point before and after the other: what drifts steadily cancels inside the duel."""

    proposal_size, offset, baseline = 2, eq.Arbitrary(), None

    def __call__(self, proposal, rng, baseline=0.0):
        first, second = proposal.points
        if rng.random() < 0.5:
            return eq.Duel(proposal, proposal.points[[0, 1, 0]], (0.5, -1.0, 0.5), first, second)
        return eq.Duel(proposal, proposal.points[[1, 0, 1]], (-0.5, 1.0, -0.5), first, second)


@pytest.mark.parametrize("slope", [1.0, -1.0])
@pytest.mark.parametrize("drift", [0.5, -0.5])
@pytest.mark.parametrize("setting", [{}, {"kernel": eq.RBF(0.5), "regularizer": 0.01, "policy": eq.IDS()}], ids=repr)
def test_a_sandwich_finds_the_right_end_of_an_interval_under_a_steady_drift(slope, drift, setting):
    opt = eq.Optimizer(eq.Box([(0, 1)]), reduction=Sandwich(), rng=0, **setting)
    for t in range(45):
        trial = opt.ask()
        opt.tell(trial, slope * float(trial.x[0]) + 20.0 + drift * t)
    outcomes = opt.posterior.observations.outcomes
    assert np.abs(outcomes).max() <= 1.0 + 1e-9  # no drift is left in them
    best = opt.recommend()
    assert best.x[0] == pytest.approx(max(slope, 0.0), abs=0.02)
    assert best.gap_bound < 0.2
