"""DoubleThompson: pairs as often as theory says, the leader where the draws agree, affordable for many candidates."""

import math

import numpy as np
import pytest
from scipy import stats

import equipoise as eq
from equipoise.policies.thompson import DRAWS, PROMISING, RANDOM, DoubleThompson, contenders, two_winners
from posteriors import certain, duplicated, exchangeable, indices, random_posterior


def pair_probabilities(p, greedy):
    """P(first = i, second = j): i from one draw, j from the first of the next draws that differs, else the leader."""
    p, greedy = np.asarray(p), np.asarray(greedy)
    P = sum(p**k for k in range(DRAWS - 1))[:, None] * np.outer(p, p)
    np.fill_diagonal(P, (p**DRAWS).sum() * greedy)
    return P


def assert_frequencies(policy, posterior, X, P, n=1500):
    """Chi-square at an error of 1e-6, over the pairs that can occur."""
    rng, counts = np.random.default_rng(0), np.zeros_like(P, dtype=int)
    for _ in range(n):
        counts[indices(policy, posterior, X, rng)] += 1
    possible = P > 0
    assert P.sum() == pytest.approx(1)
    assert (n * P[possible]).min() > 5
    assert counts[~possible].sum() == 0
    assert stats.chisquare(counts[possible], n * P[possible]).pvalue > 1e-6


def test_frequencies_without_data():
    """Three unit vectors in the plane, theta isotropic: each wins where theta lies nearest to it, an angle."""
    angles = np.array([0.0, 1.2, 3.0])
    turns = np.diff(angles, append=angles[0] + 2 * math.pi)
    p = (turns + np.roll(turns, 1)) / (4 * math.pi)
    posterior = eq.belief.FinitePosterior(np.stack([np.cos(angles), np.sin(angles)], axis=1), eq.Linear())
    P = pair_probabilities(p, np.full(3, 1 / 3))  # all means tie, so the greedy pair is a fair draw
    assert_frequencies(DoubleThompson(), posterior, posterior.points, P)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("form", ["covariance", "dual"])
def test_frequencies_after_data(scale, form):
    """Two points: the first wins a draw with probability Phi(mean difference / scaled standard deviation)."""
    prior, X = random_posterior(2, points=2, comparisons=0, form=form)
    posterior = prior.condition(eq.Comparison(X[0], X[1], 0.4))
    mean, variance = posterior.difference(X[:1], X[1])
    p = stats.norm.cdf(mean[0] / (scale * math.sqrt(variance[0])))
    P = pair_probabilities([p, 1 - p], [mean[0] > 0, mean[0] < 0])
    assert_frequencies(DoubleThompson(scale), posterior, X, P)


def test_the_second_winner_is_the_next_that_differs():
    rng = np.random.default_rng(0)
    values = np.array([[0.0, 1.0, 0.5], [0.0, 2.0, 1.0], [0.0, 1.0, 3.0], [9.0, 0.0, 0.0]])
    assert two_winners(values, rng) == (1, 2)
    assert two_winners(values[:2], rng) is None
    assert two_winners(np.zeros((4, 1)), rng) is None


def test_no_scale_means_the_leader_twice():
    posterior, X = random_posterior(0)
    leader = int(posterior.at(X).mean.argmax())
    assert indices(DoubleThompson(scale=0.0), posterior, X) == (leader, leader)


@pytest.mark.parametrize("scale", [-1.0, math.nan, math.inf])
def test_refuses_a_senseless_scale(scale):
    with pytest.raises(ValueError, match="scale"):
        DoubleThompson(scale)


def test_degenerate_posteriors():
    alone = eq.belief.FinitePosterior([[0.5]], eq.RBF(1.0))
    assert indices(DoubleThompson(), alone, alone.points) == (0, 0)
    assert indices(DoubleThompson(), *certain()) == (0, 0)
    for seed in range(20):
        assert set(indices(DoubleThompson(), *duplicated(), seed)) <= {0, 2, 4}


def test_ties_are_broken_fairly():
    posterior, X = exchangeable(4)
    assert_frequencies(DoubleThompson(), posterior, X, pair_probabilities(np.full(4, 0.25), np.full(4, 0.25)))


def test_of_many_candidates_the_promising_and_some_others_are_drawn_over():
    posterior, X = random_posterior(1, points=900)
    belief = posterior.at(X)
    leader = int(belief.mean.argmax())
    order = np.argsort(-belief.optimism(leader))
    rng, n, extra = np.random.default_rng(0), 300, np.zeros(900, dtype=int)
    for _ in range(n):
        keep = contenders(belief, rng)
        assert len(set(keep.tolist())) == PROMISING + RANDOM == len(keep)
        assert set(order[: PROMISING - 1].tolist()) | {leader} <= set(keep.tolist())
        extra[keep[PROMISING:]] += 1
    rest = extra[order[PROMISING:]]
    p = RANDOM / (900 - PROMISING)
    # each of the others is as likely: binomial, 500 of them at a joint error of 1e-6
    bound = stats.norm.isf(1e-9) * math.sqrt(n * p * (1 - p))
    assert np.abs(rest - n * p).max() < bound + 1
    first, second = indices(DoubleThompson(), posterior, X)
    assert {first, second} <= set(range(900))


def test_up_to_500_candidates_all_are_drawn_over():
    belief = eq.belief.AnywherePosterior(eq.RBF(0.2)).at(np.linspace(0, 1, PROMISING + RANDOM)[:, None])
    assert contenders(belief, np.random.default_rng(0)).tolist() == list(range(PROMISING + RANDOM))


def test_the_same_generator_gives_the_same_pair():
    posterior, X = random_posterior(4)
    pairs = [indices(DoubleThompson(), posterior, X, s) for s in range(20)]
    assert pairs == [indices(DoubleThompson(), posterior, X, s) for s in range(20)]
    assert len(set(pairs)) > 1
