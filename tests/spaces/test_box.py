"""Spaces: a faithful encoding, candidates inside and reproducible, clear refusals."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import equipoise as eq
from suites import SPACES

over_spaces = pytest.mark.parametrize("space", SPACES, ids=repr)
bound = st.floats(-1e6, 1e6, allow_subnormal=False)
unit = st.floats(0, 1)


@over_spaces
def test_candidates_are_encoded_points_and_the_same_for_the_same_stream(space):
    first, again = (space.candidates(np.random.default_rng(7)) for _ in range(2))
    assert first.shape[1] == space.dimension
    assert (first == again).all()
    for point in first:
        np.testing.assert_allclose(space.encode(space.decode(point)), point, rtol=0, atol=1e-15)


@over_spaces
def test_copies_are_the_same_space(space):
    for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert repr(twin) == repr(space)
        assert (twin.candidates(np.random.default_rng(7)) == space.candidates(np.random.default_rng(7))).all()


@over_spaces
def test_decoded_points_belong_to_the_user(space):
    point = space.candidates(np.random.default_rng(0))[0]
    x = space.decode(point)
    before = x.copy()
    x += 1.0
    assert (space.decode(point) == before).all()


@over_spaces
@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ([0.0], ValueError, r"`x` must have shape \(2\), got \(1,\)"),
        ([[0.0, 0.0]], ValueError, r"`x` must have shape \(2\), got \(1, 2\)"),
        ([0.0, np.nan], ValueError, "`x` must be finite"),
        (["0", "0"], TypeError, "`x` must be an array of real numbers"),
    ],
)
def test_points_of_another_kind_are_refused(space, x, error, message):
    with pytest.raises(error, match=message):
        space.encode(x)


def test_finite_keeps_its_points_whatever_the_user_does_to_his():
    mine = np.array([[0.0, -0.0], [1.0, 2.0]])
    space = eq.Finite(mine)
    mine[0] = 7.0
    assert space.points.tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert space.candidates(np.random.default_rng(0)) is space.points  # the posterior relies on this identity
    assert not np.signbit(space.points).any()
    with pytest.raises(ValueError, match="read-only"):
        space.points[0] = 1.0


@example(ends=(-5.0, 0.2), unit=1.0)  # in floats, -5 + (0.2 + 5) is above 0.2
@given(ends=st.tuples(bound, bound).filter(lambda ends: ends[1] - ends[0] > 1e-9), unit=unit)
def test_box_encodes_to_the_unit_interval_and_back_and_never_leaves_the_bounds(ends, unit):
    lower, upper = ends
    box = eq.Box([ends])
    x = box.decode(np.array([unit]))
    assert lower <= x[0] <= upper
    scale = max(abs(lower), abs(upper))
    np.testing.assert_allclose(box.encode(x), unit, rtol=0, atol=4e-16 * (1 + 2 * scale / (upper - lower)))
    np.testing.assert_allclose(box.decode(box.encode(x)), x, rtol=0, atol=1e-15 * scale)
    assert box.encode([lower]) == 0
    assert box.encode([upper]) == 1


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (2, 2), (5, 8), (512, 512)])
def test_box_candidates_lie_in_the_unit_cube_well_spread(asked, given):
    points = eq.Box([(-5, 5)] * 3, candidates=asked).candidates(np.random.default_rng(0))
    assert points.shape == (given, 3)
    assert ((points >= 0) & (points <= 1)).all()
    for column in np.floor(points * given).T:  # scrambled Sobol': exactly one point in every slice
        assert sorted(column) == list(range(given))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: eq.Box([0.0, 1.0]), ValueError, r"`bounds` must have shape \(n, 2\), got \(2,\)"),
        (lambda: eq.Box([]), ValueError, r"`bounds` must have shape \(n, 2\), got \(0,\)"),
        (lambda: eq.Box([(0, 1, 2)]), ValueError, r"`bounds` must have shape \(n, 2\), got \(1, 3\)"),
        (
            lambda: eq.Box([(0, 1), (2, 2)]),
            ValueError,
            r"lower < upper in every row, got \[\[0.0, 1.0\], \[2.0, 2.0\]\]",
        ),
        (lambda: eq.Box([(1, 0)]), ValueError, "`bounds` must have lower < upper"),
        (lambda: eq.Box([(0, np.inf)]), ValueError, "`bounds` must be finite"),
        (lambda: eq.Box([("a", "b")]), TypeError, "`bounds` must be an array of real numbers"),
        (lambda: eq.Box([(0, 1)], candidates=0), ValueError, "`candidates` must be at least 1, got 0"),
        (lambda: eq.Box([(0, 1)], candidates=1.5), TypeError, "`candidates` must be an integer, got 1.5"),
        (lambda: eq.Box([(0, 1)]).encode([1.5]), ValueError, r"`x` must lie within \[\[0.0, 1.0\]\], got \[1.5\]"),
        (lambda: eq.Finite([0.0, 1.0]), ValueError, r"`points` must have shape \(n, d\), got \(2,\)"),
        (lambda: eq.Finite([[np.nan]]), ValueError, "`points` must be finite"),
        (lambda: eq.Finite(np.empty((0, 2))), ValueError, r"`points` must have shape \(n, d\), got \(0, 2\)"),
    ],
)
def test_refusals_name_argument_rule_and_value(make, error, message):
    with pytest.raises(error, match=message):
        make()
