"""Exploration: the start design, scouts, and the end of both."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import Feasibility, Form, LearnedModel, infer
from equipoise.log import Streams
from equipoise.spaces.restricted import Restricted
from equipoise.study.exploring import Explorer, default_size, sequence

BOX = eq.Box([(0, 1)] * 2)
SPACES = {
    "box": BOX,
    "constrained": eq.Box([(0, 1)] * 3, constraint=lambda x: x.sum() < 1.0),
    "mixed": eq.Space(x=eq.Float(0, 1), n=eq.Int(0, 3), c=eq.Choice(["a", "b", "c"])),
    "finite": eq.Finite(np.random.default_rng(0).random((40, 4))),
}
NOTHING = frozenset()


def belief_of(values, times=1, noise=0.01):
    """A learned belief that has read `values(x)` at the explorer's first twelve points, in pairs."""
    explorer, rng = Explorer(BOX, 12, Streams(0)), np.random.default_rng(0)
    posterior = infer((), LearnedModel(Form(BOX.extent, BOX.groups, eq.Tracked())))
    for i, x in enumerate(np.tile(explorer.points[:12], (times, 1))):
        y = values(x) + noise * rng.standard_normal()
        posterior = posterior.condition(eq.Comparison(x, None, y, time=i + 1.0, pair=i // 2))
    asked = explorer.points[:12]
    return posterior, explorer, asked


def proposals(belief, explorer, asked, duels, count=100):
    allowed = BOX
    found = [explorer(belief, duels, allowed, asked, np.random.default_rng(seed)) for seed in range(count)]
    return [pair.points for pair in found if pair is not None]


@pytest.mark.parametrize("space", SPACES.values(), ids=list(SPACES))
def test_the_start_is_distinct_valid_even_and_of_the_seed(space):
    size, points = default_size(space), sequence(space, np.random.default_rng(1))
    assert size % 2 == 0
    assert len(points) >= size
    assert space.valid(points).all()
    assert len(np.unique(points, axis=0)) == len(points)
    np.testing.assert_array_equal(points, sequence(space, np.random.default_rng(1)))
    opt = eq.Optimizer(space, rng=0)
    for _ in range(size):
        trial = opt.ask()
        opt.tell(trial, float(trial.id))
    asked = {opt.space.encode(record.x).tobytes() for record in opt.records()}
    assert len(asked) == size


def test_the_start_goes_on_until_something_is_answered():
    """Many workers ask before the first of them tells."""
    opt = eq.Optimizer(BOX, rng=0)
    trials = [opt.ask(worker=f"w{k}") for k in range(16) for _ in range(2)]
    spread = Explorer(BOX, 12, opt._session.streams).points[:32]
    assert {trial.x.tobytes() for trial in trials} == {point.tobytes() for point in spread}


def test_its_size_grows_with_the_dimension_and_is_at_most_half_of_a_set():
    assert [default_size(eq.Box([(0, 1)] * d)) for d in (1, 2, 3, 6)] == [10, 10, 12, 14]
    assert default_size(eq.Finite(np.arange(8.0)[:, None])) == 4
    assert default_size(eq.Finite([[0.0], [1.0]])) == 0


def test_the_start_of_many_knobs_keeps_away_from_the_ends_of_their_ranges():
    """Options and whole numbers stay, and so does a point that the constraint would not allow in the middle."""
    few, many = eq.Box([(0, 1)] * 8), eq.Box([(0, 1)] * 9)
    for space, low in ((few, 0.0), (many, 0.15)):
        start = Explorer(space, 16, Streams(0)).points[:16]
        assert low <= start.min() < low + 0.05
        assert 0.95 - low < start.max() <= 1.0 - low
    ring = eq.Box([(0, 1)] * 9, constraint=lambda x: ((x - 0.5) ** 2).sum() > 0.5)
    assert ring.valid(Explorer(ring, 16, Streams(0)).points).all()
    mixed = eq.Space({f"x{i}": eq.Float(0, 1) for i in range(8)} | {"n": eq.Int(0, 30), "c": eq.Choice(list("abc"))})
    explorer = Explorer(mixed, 16, Streams(0))
    kept = sequence(mixed, Streams(0).at(0, 2))
    moved = (explorer.points[:16] != kept[:16]).any(axis=0)
    np.testing.assert_array_equal(moved, mixed.free)
    np.testing.assert_array_equal(explorer.points[16:], kept[16:])


def test_every_beginning_of_the_sequence_fills_the_space():
    """Scrambled Sobol' points: of the first 16, each quarter of the square has four."""
    points = sequence(BOX, np.random.default_rng(3))
    quarters = (points[:16] * 2).astype(int) @ [1, 2]
    assert np.bincount(quarters, minlength=4).tolist() == [4] * 4


@pytest.mark.parametrize(("design", "first"), [(None, 10), (4, 4), (5, 6), (0, 0)])
def test_the_user_may_say_how_large_it_is(design, first):
    opt = eq.Optimizer(BOX, design=design, rng=0)
    points = sequence(BOX, Streams(0).at(0, 2)).tolist()
    asked = []
    for _ in range(12):
        trial = opt.ask()
        asked.append(BOX.encode(trial.x).tolist())
        opt.tell(trial, float(trial.x[0]))
    count = next((i for i, x in enumerate(asked) if x not in points[:first]), len(asked))
    assert count == first


def test_with_a_kernel_or_without_pairs_there_is_none_unless_asked_for():
    for parts in ({"kernel": eq.RBF(0.3)}, {"policy": eq.UCB()}):
        opt = eq.Optimizer(BOX, rng=0, **parts)
        points = sequence(BOX, Streams(0).at(0, 2)).tolist()
        assert BOX.encode(opt.ask().x).tolist() not in points


def test_without_a_leader_two_scouts_duel():
    belief, explorer, asked = belief_of(lambda x: 0.0, times=3)
    found = proposals(belief, explorer, asked, duels=16)
    assert len(found) >= 20
    rest = explorer.points[12:].tolist()
    assert all(x.tolist() in rest for pair in found for x in pair)


def test_with_a_clear_leader_scouts_are_rare_and_duel_it():
    belief, explorer, asked = belief_of(lambda x: 5 * float(np.exp(-((x - 0.4) ** 2).sum() / 0.1)))
    found = proposals(belief, explorer, asked, duels=56, count=300)
    assert len(found) <= 60  # of 300, where half would be the most
    known = belief.posterior.support
    leader = known[int(belief.posterior.mean(known).argmax())].tolist()
    assert all(pair[0].tolist() == leader for pair in found)


def test_scouts_go_where_nothing_was_measured():
    belief, explorer, asked = belief_of(lambda x: 0.0, times=3)
    for pair in proposals(belief, explorer, asked, duels=16, count=20):
        distance = np.linalg.norm(pair[:, None] - belief.posterior.support, axis=-1).min(axis=1)
        assert distance.min() > 0.08


def test_a_small_set_has_no_hole_left():
    space = eq.Finite(np.linspace(0, 1, 5)[:, None])
    belief = infer((), LearnedModel(Form(space.extent, space.groups, eq.Tracked())))
    for i in range(20):
        datum = eq.Comparison(space.points[i % 5], None, float(i % 5), time=i + 1.0, pair=i // 2)
        belief = belief.condition(datum)
    explorer = Explorer(space, 2, Streams(0))
    assert explorer(belief, 10, space, space.points, np.random.default_rng(3)) is None


def test_the_start_leaves_out_what_fails():
    known = Feasibility.of(BOX.extent, np.array([[0.8, 0.5]] * 4), np.zeros(4, dtype=bool))
    belief = infer((), LearnedModel(Form(BOX.extent, BOX.groups, eq.Tracked())))
    explorer = Explorer(BOX, 10, Streams(0))
    pair = explorer(belief, 0, Restricted(BOX, known.allows), NOTHING, np.random.default_rng(0))
    assert known.allows(pair.points).all()


def test_a_narrow_top_beside_a_broad_hill_is_found():
    """Height 1 and sigma 0.1 of the range, beside 0.3 and 0.3: lost in 7 of 8 runs without a start design."""
    found = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        narrow, broad = np.array([0.25, 0.7]), np.array([0.75, 0.3])
        opt = eq.Optimizer(BOX, rng=seed)

        def f(x, narrow=narrow, broad=broad):
            return np.exp(-((x - narrow) ** 2).sum() / 0.02) + 0.3 * np.exp(-((x - broad) ** 2).sum() / 0.18)

        for _ in range(60):
            trial = opt.ask()
            opt.tell(trial, float(f(trial.x) + 0.05 * rng.standard_normal()))
        found += f(opt.recommend().x) > 0.8
    assert found >= 3
