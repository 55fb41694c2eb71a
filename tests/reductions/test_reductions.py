"""Reductions: unbiased whatever an adversary does before the coin, with the noise they say they have.

For a datum with direction u (over the proposal's points) and outcome d, `d - u'f` is the error. Least squares is
unbiased when the error is uncorrelated with u, given everything before the coin. That is what is tested here, for
two-point and one-point duels (u is fixed) and centered readings (u is random) alike.
"""

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.data import Reading
from suites import REDUCTIONS

ROBUST = [reduction for reduction in REDUCTIONS if not isinstance(reduction, eq.Direct)]
Z = 4.5  # normal quantile of a two-sided error of 7e-6
POINTS = np.array([[0.0], [1.0], [2.0]])
F = np.array([0.9, 0.7, -0.4])

over_robust = pytest.mark.parametrize("reduction", ROBUST, ids=repr)


def proposal_for(reduction):
    """An even pair; three points with uneven weights where the reduction takes them."""
    if reduction.proposal_size == 2:
        return eq.Proposal.pair(*POINTS[:2])
    return eq.Proposal(POINTS, np.array([0.2, 0.5, 0.3]))


def index(point):
    return int(point[0])


def direction(duel):
    """The datum's coefficients over POINTS."""
    u = np.zeros(3)
    u[index(duel.first)] += 1
    if isinstance(duel.second, eq.Proposal):
        u[: len(duel.second.points)] -= duel.second.weights
    elif duel.second is not None:
        u[index(duel.second)] -= 1
    return u


def both_coins(reduction, pair=None, baseline=0.0):
    """The two duels a fair coin makes of a pair, heads first."""
    pair = eq.Proposal.pair(*POINTS[:2]) if pair is None else pair
    duels = [reduction(pair, np.random.default_rng(seed), baseline) for seed in range(20)]
    by_order = {duel.points.tobytes(): duel for duel in duels}
    assert len(by_order) == 2
    return [by_order[key] for key in sorted(by_order)]


def bias_of_adversary(reduction, rounds=4000, seed=0):
    """z-scores of the sum of u * error against an adversary who sees everything but the coin.

    He pushes the way the errors went last: with offsets as large as 2, a change of offset inside the pair, and a
    baseline of his choice too. The errors are martingale differences, so the sum over its quadratic variation is
    standard normal in the limit.
    """
    rng, world = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    proposal = proposal_for(reduction)
    total, square = np.zeros(3), np.zeros(3)
    for t in range(rounds):
        offsets = np.array([2.0, 2.0 + math.sin(t)]) * np.sign(total[0] + 1e-9)
        duel = reduction(proposal, rng, baseline=float(total[0]) / (t + 1))
        noise = 0.3 * world.standard_normal(len(duel.points))
        readings = [F[index(x)] + b + e for x, b, e in zip(duel.points, offsets, noise, strict=False)]
        u = direction(duel)
        error = (duel.outcome(readings) - u @ F) * u
        total += error
        square += error**2
    return total / np.sqrt(np.maximum(square, 1e-300))


@over_robust
def test_unbiased_under_an_adaptive_adversary(reduction):
    assert np.abs(bias_of_adversary(reduction)).max() < Z


def test_that_adversary_does_fool_direct_readings():
    assert np.abs(bias_of_adversary(eq.Direct())).max() > 5 * Z


@over_robust
def test_signs_sum_to_zero_over_the_coin_and_estimate_the_difference(reduction):
    heads, tails = both_coins(reduction, baseline=0.25)
    offset = 1024.0
    for duel in (heads, tails):
        assert np.abs(direction(duel)).max() > 0
    moments = [
        direction(duel) * (duel.outcome([F[index(x)] + offset for x in duel.points]) - direction(duel) @ F)
        for duel in (heads, tails)
    ]
    np.testing.assert_allclose(moments[0] + moments[1], 0, atol=1e-12 * offset)
    if reduction.proposal_size == 2:
        assert sum(heads.signs) + sum(tails.signs) == 0


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_points_are_drawn_by_their_weights(reduction):
    proposal, rng, n = proposal_for(reduction), np.random.default_rng(3), 3000
    counts = np.bincount([index(reduction(proposal, rng).points[0]) for _ in range(n)], minlength=3)
    w = np.zeros(3)
    w[: len(proposal.weights)] = proposal.weights
    assert (np.abs(counts - n * w) <= Z * np.sqrt(n * w * (1 - w))).all()


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_same_stream_same_duel_and_weights_need_not_sum_to_one_exactly(reduction):
    size = reduction.proposal_size or 3
    weights = np.full(size, 1 / size) * (1 - 1e-9)
    proposal = eq.Proposal(POINTS[:size], weights)
    first, again = (reduction(proposal, np.random.default_rng(5)) for _ in range(2))
    assert first.points.tobytes() == again.points.tobytes()
    assert first.signs == again.signs
    assert first.proposal is proposal


@over_robust
def test_a_point_against_itself_teaches_nothing(reduction):
    posterior = eq.belief.FinitePosterior(POINTS, eq.RBF(1.0))
    duel = reduction(eq.Proposal.pair(POINTS[1], POINTS[1]), np.random.default_rng(0))
    after = posterior.condition(duel.comparison([Reading(3.0)] * len(duel.points)))
    assert after.at(POINTS).mean.tolist() == [0.0, 0.0, 0.0]
    assert after.log_det == pytest.approx(0, abs=1e-15)


def run(reduction, posterior, readings, pair):
    """Learn from `readings`, one duel each, with the same coins for every reduction."""
    rng = np.random.default_rng(11)
    for y in readings:
        posterior = posterior.condition(reduction(pair(rng), rng).comparison([Reading(y)]))
    return posterior.at(POINTS)


@pytest.mark.parametrize("form", ["covariance", "dual"])
def test_centered_equals_one_point_with_four_times_the_regularizer(form):
    """METHOD section 2, row 8."""

    def prior(regularizer):
        if form == "dual":
            return eq.belief.AnywherePosterior(eq.RBF(1.0), regularizer)
        return eq.belief.FinitePosterior(POINTS, eq.RBF(1.0), regularizer)

    def pair(rng):
        return eq.Proposal.pair(*POINTS[rng.choice(3, 2, replace=False)])

    readings = np.random.default_rng(0).normal(size=30)
    centered = run(eq.Centered(), prior(0.3), readings, pair)
    one_point = run(eq.OnePoint(), prior(4 * 0.3), readings, pair)
    np.testing.assert_allclose(centered.mean, one_point.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(centered.covariance(), one_point.covariance(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("reduction", "offsets", "baseline", "sigma", "rho"),
    [
        (eq.OnePoint(), (0.5,), 0.0, 0.1, eq.OnePoint.outcome_noise(0.1, offset_bound=0.5 + 0.8)),
        (eq.OnePoint(), (0.5,), 1.1, 0.1, eq.OnePoint.outcome_noise(0.1, offset_bound=0.5 + 0.8 - 1.1)),
        (eq.TwoPoint(), (40.0, 40.0), 0.0, 0.3, eq.TwoPoint.outcome_noise(0.3)),
        (eq.TwoPoint(), (40.0, 40.6), 0.0, 0.3, eq.TwoPoint.outcome_noise(0.3, offset_change=0.6)),
    ],
)
def test_outcomes_scatter_as_much_as_outcome_noise_says(reduction, offsets, baseline, sigma, rho):
    rng, n = np.random.default_rng(2), 4000
    errors = []
    for _ in range(n):
        duel = reduction(eq.Proposal.pair(*POINTS[:2]), rng, baseline)
        readings = [F[index(x)] + b + sigma * rng.standard_normal() for x, b in zip(duel.points, offsets, strict=True)]
        errors.append(duel.outcome(readings) - (F[0] - F[1]))
    squares = np.square(errors)
    assert abs(squares.mean() - rho**2) < Z * squares.std() / math.sqrt(n)


def test_the_variance_the_paper_underestimates():
    """METHOD section 2, row 3: f = 0.9, 0.7, b = 0.5, sigma = 0.1; the printed bound, 4 (C^2 + sigma^2), is 1.04."""
    outcomes = [duel.outcome([F[index(duel.points[0])] + 0.5]) for duel in both_coins(eq.OnePoint())]
    exact = np.var(outcomes) + (2 * 0.1) ** 2
    assert exact == pytest.approx(6.8)
    assert eq.OnePoint.outcome_noise(0.1, offset_bound=0.5 + 0.8) ** 2 == pytest.approx(6.8)


@pytest.mark.parametrize("c", [-1.0, 0.0, 0.5, 2.0])
def test_carry_over_scales_the_difference(c):
    """METHOD section 2, row 6: `b_second = c f(first)` leaves `(1 - c/2)(f(x1) - f(x2))`."""
    outcomes = []
    for duel in both_coins(eq.TwoPoint()):
        early, late = (F[index(x)] for x in duel.points)
        outcomes.append(duel.outcome([early, late + c * early]))
    assert np.mean(outcomes) == pytest.approx((1 - c / 2) * (F[0] - F[1]))


@pytest.mark.parametrize("reduction", [eq.TwoPoint(), eq.OnePoint()], ids=repr)
@pytest.mark.parametrize("size", [1, 3])
def test_only_pairs_can_duel(reduction, size):
    name = type(reduction).__name__
    with pytest.raises(ValueError, match=f"`proposal` must have two points for {name}, got {size}"):
        reduction(eq.Proposal(POINTS[:size], np.full(size, 1 / size)), np.random.default_rng(0))


def test_noise_must_make_sense():
    with pytest.raises(ValueError, match="`noise` must not be negative, got -1"):
        eq.TwoPoint.outcome_noise(-1)
    with pytest.raises(ValueError, match="`offset_change` must not be negative, got -1"):
        eq.TwoPoint.outcome_noise(1, offset_change=-1)
    with pytest.raises(ValueError, match="`offset_bound` must be finite, got inf"):
        eq.OnePoint.outcome_noise(1, offset_bound=math.inf)
