"""The contract of every space: shapes, validity, near points, snapping, descriptions, and large sets in little time."""

import copy
import json
import pickle
import time
import tracemalloc

import numpy as np
import pytest

import equipoise as eq
from equipoise.spaces.candidates import spread, subsets
from equipoise.spaces.named import space_from_dict


def in_the_disk(x):
    return np.sum(x**2) < 1


def light(x):
    return x["a"] * x["n"] < 4


LARGE = eq.Finite(np.random.default_rng(0).uniform(-3, 3, (6_000, 2)))
SPACES = [
    eq.Finite([[0.0, 5.0], [1.0, 5.0], [-0.0, 5.0]]),
    LARGE,
    eq.Box([(-2, 2), (-1, 1)], candidates=64),
    eq.Box([(-2, 2), (-1, 1)], constraint=in_the_disk),
    eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1)),
    eq.Space(a=eq.Float(0.1, 10, log=True), n=eq.Int(1, 9), c=eq.Choice(["x", "y", "z"]), k=3, constraint=light),
    eq.Space(n=eq.Int(1, 1000, log=True), c=eq.Choice([True, False])),
    eq.Space(n=eq.Int(1, 3), c=eq.Choice(["x", "y", "z"]), constraint=lambda x: x["n"] > 1),
    eq.Space({str(i): eq.Float(0, 1) for i in range(14)} | {str(i): eq.Int(0, 3) for i in range(14, 20)}),
]
over_spaces = pytest.mark.parametrize("space", SPACES, ids=[str(i) for i in range(len(SPACES))])


def near(space, points, n=16, seed=0):
    return space.near(points, 0.1 * space.extent, n, np.random.default_rng(seed))


@over_spaces
def test_coordinates_are_described(space):
    d = space.dimension
    assert space.free.shape == space.groups.shape == space.extent.shape == (d,)
    assert space.free.dtype == bool
    assert space.groups.dtype == np.intp
    assert (np.diff(np.append(0, space.groups)) <= 1).all()
    assert (space.extent > 0).all()
    if space.points is not None:
        assert not space.free.any()
        assert space.points.shape == (len(space.points), d)


@over_spaces
def test_candidates_and_near_points_are_valid_encodings_and_the_same_for_the_same_stream(space):
    candidates = space.candidates(np.random.default_rng(1))
    around = near(space, candidates[:3])
    assert candidates.shape[1] == around.shape[1] == space.dimension
    for points in (candidates, around):
        assert space.valid(points).all()
        assert (space.snap(points) == points).all()
        assert not (np.signbit(points) & (points == 0)).any()
        for point in points[:50]:
            np.testing.assert_allclose(space.encode(space.decode(point)), point, rtol=0, atol=1e-14)
            assert (space.encode(space.decode(point)) == point)[~space.free].all()
    assert (space.candidates(np.random.default_rng(1)) == candidates).all()
    assert (near(space, candidates[:3]) == around).all()
    if space.points is None:
        other = space.candidates(np.random.default_rng(2))
        assert other.shape != candidates.shape or (other != candidates).any()


@over_spaces
def test_snapping_twice_is_snapping_once(space):
    anywhere = np.random.default_rng(0).normal(0.5, 1.0, (200, space.dimension))
    snapped = space.snap(anywhere)
    assert space.snap(snapped).tobytes() == snapped.tobytes()
    if not isinstance(space, eq.Finite):
        assert ((snapped >= 0) & (snapped <= 1)).all()
        for point in snapped[:20]:
            assert (space.encode(space.decode(point)) == point)[~space.free].all()


@over_spaces
def test_there_is_nothing_near_where_all_points_are_candidates_and_much_elsewhere(space):
    candidates = space.candidates(np.random.default_rng(0))
    assert near(space, candidates[:0]).shape == (0, space.dimension)
    if candidates is space.points:
        assert near(space, candidates[:2]).shape == (0, space.dimension)
    else:
        assert len(near(space, candidates[:2])) > 16


@over_spaces
def test_copies_and_descriptions_give_the_same_space(space):
    described = json.loads(json.dumps(space.to_dict(), allow_nan=False))
    constraint = getattr(space, "constraint", None)
    twins = [copy.deepcopy(space), space_from_dict(described, constraint)]
    if constraint is None or constraint.__name__ != "<lambda>":  # which pickle does not know
        twins.append(pickle.loads(pickle.dumps(space)))
    for twin in twins:
        assert repr(twin) == repr(space)
        assert (twin.candidates(np.random.default_rng(7)) == space.candidates(np.random.default_rng(7))).all()
    if constraint is not None:
        with pytest.raises(ValueError, match="`constraint` must be given again: .*" + constraint.__name__):
            space_from_dict(described)


@pytest.mark.parametrize("space", [space for space in SPACES if space is not LARGE])
def test_the_optimizer_takes_it(space):
    opt = eq.Optimizer(space, rng=0)
    for _ in range(8):
        trial = opt.ask()
        assert space.valid(space.encode(trial.x)[None]).all()
        opt.tell(trial, float(space.encode(trial.x).sum()))
    assert space.valid(space.encode(opt.recommend().x)[None]).all()


def test_box_reaches_both_bounds_exactly():
    bounds = np.random.default_rng(0).normal(size=(1000, 2)).cumsum(axis=1) * [1, 1]
    bounds.sort(axis=1)
    box = eq.Box(bounds)
    assert (box.decode(np.zeros(1000)) == bounds[:, 0]).all()
    assert (box.decode(np.ones(1000)) == bounds[:, 1]).all()


def test_near_points_of_a_box_stay_near_and_move_a_few_coordinates():
    box = eq.Box([(0, 1)] * 20)
    center = np.full((1, 20), 0.5)
    moved = near(box, center, n=2000) - center
    count = np.count_nonzero(moved, axis=1)
    assert count.min() >= 1
    assert abs(count.mean() - 0.3 * 20) < 0.2  # 4 standard errors: 4 * sqrt(20 * 0.3 * 0.7 / 2000)
    assert abs(moved[moved != 0].std() - 0.1) < 0.005
    corner = near(box, np.zeros((1, 20)), n=100)
    assert ((corner >= 0) & (corner <= 1)).all()


@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_subsets_are_not_empty(size):
    chosen = subsets(5000, size, np.random.default_rng(0))
    assert chosen.any(axis=1).all()
    assert chosen.any(axis=0).all()


@pytest.mark.parametrize("share", [1.0, 0.3, 0.05, 0.005])
def test_rare_points_are_looked_for_longer(share):
    tried = []

    def keep(cube):
        tried.append(cube)
        return cube[cube[:, 0] < share]

    found = spread(3, 9, np.random.default_rng(0), keep)
    together = np.concatenate(tried)
    assert 0 < len(found) <= 512
    assert len(found) >= min(128, 0.9 * 64 * 512 * share)
    assert len(together) == 512 or 512 * 0.25 / share / 2 < len(together) <= 512 * 64
    for column in np.floor(together * len(together)).T:  # all that was tried is one Sobol' net: one in every slice
        assert (np.sort(column) == np.arange(len(together))).all()


def test_candidates_are_uniform_in_the_long_run():
    rng = np.random.default_rng(0)
    box = eq.Box([(0, 1)] * 3, candidates=2)
    points = np.concatenate([box.candidates(rng) for _ in range(4000)])
    assert len(np.unique(points, axis=0)) == len(points)
    assert abs(points.mean(axis=0) - 0.5).max() < 4 * np.sqrt(1 / 12 / 4000)  # a pair is negatively correlated at most


def test_a_constraint_that_refuses_everything_is_reported():
    for space in (eq.Box([(0, 1)], constraint=lambda x: False), eq.Space(a=eq.Float(0, 1), constraint=lambda x: None)):
        with pytest.raises(RuntimeError, match=r"`constraint` must leave something.*refused all 32768 points tried"):
            space.candidates(np.random.default_rng(0))
    with pytest.raises(RuntimeError, match="refused all 5 points tried"):
        eq.Space(n=eq.Int(1, 5), constraint=lambda x: x["n"] > 5)


def test_an_error_of_the_constraint_names_the_point():
    with pytest.raises(ZeroDivisionError) as caught:
        eq.Space(n=eq.Int(0, 3), constraint=lambda x: 1 / x["n"] < 1)
    assert caught.value.__notes__ == ["raised by `constraint` at {'n': 0}"]
    with pytest.raises(ValueError, match="truth value") as caught:
        eq.Box([(0, 1)] * 2, constraint=lambda x: x > 0).candidates(np.random.default_rng(0))
    assert "raised by `constraint` at array(" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: eq.Box([(0, 1)], constraint=3),
            TypeError,
            "`constraint` must be a text, a list of texts, a function of a point, or None, got 3",
        ),
        (lambda: eq.Box([(-1e308, 1e308)]), ValueError, "`bounds` must have a finite range in every row"),
        (lambda: space_from_dict({"type": "ball"}), ValueError, "type of a space must be .*, got 'ball'"),
        (lambda: space_from_dict(SPACES[0].to_dict(), light), ValueError, "`constraint` must be None for a Finite"),
    ],
)
def test_refusals_name_argument_rule_and_value(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_extent_of_a_finite_set_is_its_range_and_never_zero():
    assert SPACES[0].extent.tolist() == [1.0, 1.0]
    assert eq.Finite([[0.0], [5.0]]).extent.tolist() == [5.0]


def test_the_nearest_of_a_large_set_are_found():
    start, scale = LARGE.points[:2], np.array([0.1, 1.0])
    found = LARGE.near(start, scale, 10, np.random.default_rng(0))
    expected = set()
    for point in start:
        distances = (((LARGE.points - point) / scale) ** 2).sum(axis=1)
        expected |= set(np.argsort(distances)[1:11].tolist())  # the first one is the point itself
    assert {tuple(row) for row in found} == {tuple(LARGE.points[i]) for i in expected}


def test_a_hundred_thousand_points_cost_little_time_and_memory():
    space = eq.Finite(np.random.default_rng(0).random((100_000, 6)))
    rng = np.random.default_rng(0)
    tracemalloc.start()
    before = time.process_time()
    for _ in range(5):
        candidates = space.candidates(rng)
        around = near(space, candidates[:3], n=32)
    spent = (time.process_time() - before) / 5
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert candidates.shape == (4096, 6)
    assert len(np.unique(candidates, axis=0)) == 4096
    assert 32 <= len(around) <= 96
    assert spent < 0.25  # about 0.015 s on an idle core
    assert peak < 4 * space.points.nbytes
