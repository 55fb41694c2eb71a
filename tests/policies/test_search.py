"""The search over continuous and mixed spaces: gradients, never worse than a candidate, as good as a fine grid."""

import numpy as np
import pytest
from scipy.optimize import minimize

import equipoise as eq
from equipoise.belief.arrays import gap_bound
from equipoise.policies.ids import information_ratio, ratio
from equipoise.policies.search import optimism, search, uphill

SCORES = {"optimism": optimism, "information ratio": information_ratio}
over_scores = pytest.mark.parametrize("score", SCORES.values(), ids=list(SCORES))
PLANE = eq.Box([(-3, 5), (0, 1)])


def wavy(P):
    """Several hills on the unit square."""
    return np.sin(7 * P[..., 0]) + np.cos(5 * P[..., 1] + 2 * P[..., 0]) - 0.5 * P[..., 1]


def believing(seed, d=2, n=18, kernel=None, confidence=None, f=wavy):
    """A posterior after noisy duels of random points of the unit cube."""
    rng = np.random.default_rng(seed)
    kernel = 1.5 * eq.Matern52([0.3] * d) if kernel is None else kernel
    posterior = eq.belief.AnywherePosterior(kernel, 0.05, eq.CredibleConfidence() if confidence is None else confidence)
    for a, b in rng.random((n, 2, d)):
        posterior = posterior.condition(eq.Comparison(a, b, float(f(a) - f(b) + 0.2 * rng.normal())))
    return posterior


def found(space, posterior, scores, seed=0):
    """What the search returns, and the candidates it began with."""
    rng = np.random.default_rng(seed)
    everywhere = space.candidates(rng)
    return search(space, posterior, scores, everywhere, rng), everywhere


def judged(posterior, points, leader):
    """Gap, psi and optimistic value of points against a leader."""
    mean, psi = posterior.difference(points, leader)
    return -mean, psi, mean + np.sqrt(posterior.beta * psi / posterior.regularizer)


def leader_of(posterior, points):
    return points[int(posterior.mean(points).argmax())]


# --- gradients ----------------------------------------------------------------------------------------------------


@over_scores
def test_the_partial_derivatives_of_a_score_agree_with_central_differences(score):
    rng = np.random.default_rng(0)
    g, psi = rng.exponential(size=200), rng.exponential(size=200)
    for delta, beta, regularizer in ((0.7, 4.0, 1.0), (0.05, 0.3, 0.02), (3.0, 1.0, 5.0)):
        keep = np.abs(g - delta) > 1e-3  # the ratio has a kink where g = delta, and no jump
        value, by_g, by_psi = (term[keep] for term in score(g, psi, delta, beta, regularizer))
        h = 1e-6
        for derivative, steps in ((by_g, (h, 0.0)), (by_psi, (0.0, h))):
            up, down = (score(g + s * steps[0], psi + s * steps[1], delta, beta, regularizer)[0] for s in (1, -1))
            np.testing.assert_allclose(derivative, ((up - down) / (2 * h))[keep], rtol=2e-4, atol=1e-6)
        assert np.isfinite(value).all()


def test_scores_are_defined_where_nothing_is_to_be_learned():
    """At the leader itself: no gap, no variance."""
    zero = np.zeros(1)
    for value in optimism(zero, zero, 0.3, 4.0, 1.0):
        assert np.isfinite(value).all()
    value, by_g, by_psi = information_ratio(zero, zero, 0.3, 4.0, 1.0)
    assert value == -np.inf
    assert np.isfinite([by_g, by_psi]).all()


@pytest.mark.parametrize("d", [1, 2, 5])
def test_gap_and_variance_have_their_gradients(d):
    posterior = believing(1, d, f=lambda P: np.sin(7 * P).sum(axis=-1))
    rng = np.random.default_rng(2)
    leader = rng.random(d)
    landscape, h = posterior.landscape(leader), 1e-6
    for x in rng.random((6, d)):
        gap, psi, by_gap, by_psi = landscape.gap_and_psi(x)
        expected_gap, expected_psi, _ = judged(posterior, x[None], leader)
        np.testing.assert_allclose((gap, psi), (expected_gap[0], expected_psi[0]), rtol=1e-9, atol=1e-12)
        assert landscape.gap(x)[0] == pytest.approx(gap, rel=1e-12)
        around = np.array([[judged(posterior, (x + s * e)[None], leader)[:2] for s in (h, -h)] for e in np.eye(d)])
        numeric = (around[:, 0, :, 0] - around[:, 1, :, 0]) / (2 * h)
        np.testing.assert_allclose(by_gap, numeric[:, 0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(landscape.gap(x)[1], by_gap, rtol=1e-12)
        np.testing.assert_allclose(by_psi, numeric[:, 1], rtol=1e-5, atol=1e-6)


# --- how good -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_it_is_never_worse_than_the_best_candidate(seed):
    for posterior in (believing(seed), believing(seed, n=1)):
        points, everywhere = found(PLANE, posterior, tuple(SCORES.values()), seed)
        offered = np.concatenate((everywhere, posterior.support))
        leader = leader_of(posterior, points)
        assert posterior.mean(leader[None])[0] >= posterior.mean(offered).max()
        g, psi, upper = judged(posterior, points, leader)
        delta = upper.max()
        assert delta >= judged(posterior, offered, leader)[2].max()
        best = ratio(g, np.array([delta]), np.log1p(psi / posterior.regularizer)).min()
        g, psi, _ = judged(posterior, offered, leader)
        assert best <= ratio(g, np.array([delta]), np.log1p(psi / posterior.regularizer)).min() * (1 + 1e-12)
        assert ((points >= 0) & (points <= 1)).all()
        assert len(np.unique(points, axis=0)) == len(points)


def test_without_data_everything_ties_and_much_is_offered():
    points, everywhere = found(PLANE, eq.belief.AnywherePosterior(eq.RBF(0.3)), tuple(SCORES.values()))
    assert len(points) > 200
    assert len(everywhere) == 512


def polished(score, starts):
    """The largest value that its own search, without gradients of ours, climbs to."""
    climbs = [minimize(lambda x: -score(x[None])[0], x, bounds=[(0, 1)] * len(x), tol=1e-14) for x in starts]
    return max(-climb.fun for climb in climbs)


GRID = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(4))
def test_in_the_plane_it_reaches_the_top_of_a_fine_grid(seed):
    posterior = believing(seed)
    points, _ = found(PLANE, posterior, tuple(SCORES.values()), seed)
    leader = leader_of(posterior, points)

    def top(score, reached):
        values = score(GRID)
        expected = polished(score, GRID[np.argsort(-values)[:4]])
        assert reached >= max(expected, values.max()) - 1e-6

    top(posterior.mean, posterior.mean(leader[None])[0])
    g, _, upper = judged(posterior, points, leader)
    top(lambda P: judged(posterior, P, leader)[2], upper.max())
    delta = gap_bound(g, upper + g)

    def merit(P):
        gaps, variances, _ = judged(posterior, P, leader)
        with np.errstate(divide="ignore"):
            return -np.log(ratio(gaps, delta, np.log1p(variances / posterior.regularizer)))

    top(merit, merit(points).max())


def test_a_recommendation_is_the_top_of_the_mean():
    """Through the whole optimizer, in the user's coordinates."""
    opt = eq.Optimizer(PLANE, kernel=eq.RBF(0.3), regularizer=0.05, policy=eq.IDS(), rng=0)
    for _ in range(30):
        trial = opt.ask()
        opt.tell(trial, float(wavy(PLANE.encode(trial.x))))
    mean = opt.posterior.mean
    expected = polished(mean, GRID[np.argsort(-mean(GRID))[:4]])
    assert mean(PLANE.encode(opt.recommend().x)[None])[0] >= expected - 1e-6


# --- climbing -----------------------------------------------------------------------------------------------------


def slope_to(target):
    def climb(x):
        return -float((x - target) @ (x - target)), -2 * (x - target)

    return climb


def test_a_climb_moves_only_what_is_free_stays_in_bounds_and_never_goes_down():
    space = eq.Space(a=eq.Float(0, 1), kind=eq.Choice(["p", "q"]), b=eq.Float(0, 1))
    start = space.encode({"a": 0.5, "kind": "q", "b": 0.5})
    top = uphill(space, slope_to(np.array([0.25, 9.0, 9.0, 2.0])), start)
    np.testing.assert_allclose(top, [0.25, *start[1:3], 1.0], atol=1e-6)
    start = np.array([0.3, 0.3])
    for beyond in (1.0, np.nan, -np.inf):  # a slope that promises more than there is
        top = uphill(PLANE, lambda x, v=beyond: (1.0 if (x == start).all() else v, np.ones(2)), start)
        assert top.tolist() == [0.3, 0.3]
    fixed = eq.Space(a=eq.Choice(range(3)))
    assert uphill(fixed, slope_to(np.zeros(3)), fixed.encode({"a": 1})).tolist() == fixed.encode({"a": 1}).tolist()


def test_a_climb_that_ends_where_nothing_may_be_measured_is_given_up():
    space = eq.Box([(0, 1), (0, 1)], constraint=lambda x: x[0] < 0.6)
    start = np.array([0.5, 0.5])
    assert uphill(space, slope_to(np.array([0.9, 0.5])), start).tolist() == start.tolist()
    np.testing.assert_allclose(uphill(space, slope_to(np.array([0.2, 0.5])), start), [0.2, 0.5], atol=1e-6)


# --- mixed and constrained spaces ---------------------------------------------------------------------------------

OPTIONS = list("abcdefg")
HEIGHTS = dict(zip(OPTIONS, (0.0, 0.3, 1.0, 0.2, 0.6, 0.1, 0.8), strict=True))
MIXED = eq.Space(x=eq.Float(0, 1), kind=eq.Choice(OPTIONS), n=eq.Int(0, 30), candidates=64)


def height(point):
    return HEIGHTS[point["kind"]] - 4 * (point["x"] - 0.37) ** 2 - 0.01 * (point["n"] - 17) ** 2


@pytest.mark.parametrize("seed", range(3))
def test_choices_and_whole_numbers_are_swept(seed):
    """Few candidates, yet the leader is the best of all options and numbers: each enumerated, with x on a fine grid."""
    rng = np.random.default_rng(seed)
    posterior = eq.belief.AnywherePosterior(
        1.0 * eq.RBF(np.repeat([0.3, 0.8, 0.4], [1, 7, 1])), 0.01, eq.CredibleConfidence()
    )
    for _ in range(60):
        a, b = MIXED.candidates(rng)[rng.integers(64, size=2)]
        posterior = posterior.condition(eq.Comparison(a, b, height(MIXED.decode(a)) - height(MIXED.decode(b))))
    leader = None
    for again in range(3):  # its neighbors are swept in the next search, so the search as a whole is a coordinate one
        points, _ = found(MIXED, posterior, (optimism,), again)
        leader = leader_of(posterior, points)
        posterior = posterior.anticipate(eq.Comparison(leader, points[0], 0.0))
    x = np.linspace(0, 1, 101)
    every = [{"x": v, "kind": kind, "n": n} for kind in OPTIONS for n in range(31) for v in x]
    best = posterior.mean(np.array([MIXED.encode(point) for point in every])).max()
    assert posterior.mean(leader[None])[0] >= best - 1e-6
    for point in points:
        np.testing.assert_array_equal(MIXED.snap(point[None])[0], point)  # each is an encoding of a setting


def test_few_settings_are_enumerated():
    space = eq.Space(kind=eq.Choice(OPTIONS), n=eq.Int(0, 30))
    opt = eq.Optimizer(space, rng=0)
    assert len(space.points) == 7 * 31
    for _ in range(70):
        trial = opt.ask()
        opt.tell(trial, height({"x": 0.37, **trial.x}))
    assert 1.0 - height({"x": 0.37, **opt.recommend().x}) < 0.1


@pytest.mark.parametrize(
    "space",
    [
        eq.Box([(0, 1), (0, 1)], constraint=lambda x: x[0] + x[1] < 0.9),
        eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), k=eq.Int(0, 9), constraint=lambda x: x["a"] + x["b"] < 0.9),
    ],
    ids=["box", "space"],
)
@pytest.mark.parametrize("setting", [{}, {"policy": eq.IDS(), "kernel": eq.RBF(0.3)}, {"policy": eq.UCB()}], ids=repr)
def test_what_must_not_be_asked_never_is(space, setting):
    """The function grows toward the forbidden corner, and someone has measured there all the same."""

    def total(x):
        return sum(x.values()) - 1.2 * x.get("k", 0) if isinstance(x, dict) else float(sum(x))

    opt = eq.Optimizer(space, rng=0, **setting)
    forbidden = {"a": 0.9, "b": 0.9, "k": 0} if isinstance(space, eq.Space) else [0.9, 0.9]
    for t in range(24):
        trial = opt.ask()
        assert space.valid(space.encode(trial.x)[None])[0]
        opt.tell(trial, total(trial.x if t % 6 else forbidden), x=None if t % 6 else forbidden)
    assert space.valid(space.encode(opt.recommend().x)[None])[0]
