"""The shared code of policies over pairs: exact on random posteriors, fair among equals."""

import numpy as np
import pytest
from scipy import stats

import equipoise as eq
from equipoise.policies.pairs import covariance_among, largest, pairwise_psi, plausible, plausible_pairs
from posteriors import differences, exchangeable, random_posterior, unbeaten

BETAS = [0.1, 0.5, 2.0, 6.0]


@pytest.mark.parametrize("form", ["covariance", "dual"])
@pytest.mark.parametrize("seed", range(12))
def test_the_plausible_set_equals_brute_force_although_the_beaten_are_left_out(seed, form):
    posterior, X = random_posterior(seed, BETAS[seed % 4], points=25, form=form)
    gap, width = differences(posterior, X)
    belief = posterior.at(X)
    alive, psi = plausible_pairs(belief, np.random.default_rng(seed))
    assert sorted(alive.tolist()) == unbeaten(gap, width)
    assert belief.width(psi) == pytest.approx(width[np.ix_(alive, alive)], abs=1e-7)
    assert np.flatnonzero(plausible(belief.mean, width)).tolist() == unbeaten(gap, width)


def test_the_random_posteriors_leave_few_and_many():
    sizes = []
    for seed in range(12):
        sizes.append(len(unbeaten(*differences(*random_posterior(seed, BETAS[seed % 4], points=25)))))
    assert min(sizes) < 5
    assert max(sizes) > 15


def test_of_too_many_the_leader_and_the_most_promising_are_kept():
    posterior, X = random_posterior(3, beta=4.0, points=60)
    belief = posterior.at(X)
    leader = int(belief.mean.argmax())
    scores = belief.optimism(leader)
    alive, psi = plausible_pairs(belief, np.random.default_rng(0), size=10)
    assert leader in alive
    others = np.argsort(-np.where(np.arange(60) == leader, -np.inf, scores))[:9]
    assert set(alive.tolist()) <= {leader, *others.tolist()}
    assert psi == pytest.approx(pairwise_psi(belief.covariance())[np.ix_(alive, alive)], abs=1e-12)


@pytest.mark.parametrize("form", ["covariance", "dual"])
@pytest.mark.parametrize("keep", [[3], [4, 0, 7], list(range(11, -1, -1))])
def test_covariance_of_some_candidates(form, keep):
    posterior, X = random_posterior(0, form=form)
    belief, keep = posterior.at(X), np.array(keep)
    assert covariance_among(belief, keep) == pytest.approx(belief.covariance()[np.ix_(keep, keep)], abs=1e-12)


def test_pairwise_psi_is_that_of_the_belief_and_broadcasts():
    posterior, X = random_posterior(1)
    belief = posterior.at(X)
    psi = pairwise_psi(belief.covariance())
    assert psi == pytest.approx(np.array([belief.psi(j) for j in range(len(X))]), abs=1e-12)
    assert (psi.diagonal() == 0).all()
    stack = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    stack = stack @ np.swapaxes(stack, -1, -2)
    assert pairwise_psi(stack)[1, 2].tolist() == pairwise_psi(stack[1, 2]).tolist()


def test_plausible_broadcasts():
    rng = np.random.default_rng(0)
    mean, width = rng.normal(size=(2, 3, 5)), rng.uniform(0, 2, (2, 3, 5, 5))
    assert plausible(mean, width)[1, 2].tolist() == plausible(mean[1, 2], width[1, 2]).tolist()


def test_the_largest_scores_are_kept_and_ties_at_the_edge_are_fair():
    rng, n = np.random.default_rng(0), 2000
    scores = np.array([1.0, 5.0, 1.0, 7.0, 1.0, 0.0])
    counts = np.zeros(6, dtype=int)
    for _ in range(n):
        kept = largest(scores, 3, rng)
        assert kept[:2].tolist() == [3, 1]
        counts[kept] += 1
    assert counts[[1, 3, 5]].tolist() == [n, n, 0]
    assert stats.chisquare(counts[[0, 2, 4]]).pvalue > 1e-6


def test_a_random_part_of_equals_is_kept():
    posterior, X = exchangeable(12)
    rng, n = np.random.default_rng(0), 1500
    counts = np.zeros(12)
    for _ in range(n):
        alive, _ = plausible_pairs(posterior.at(X), rng, size=3)
        counts[alive] += 1
    # three of twelve, without replacement: the statistic is that of n draws of one, shrunk by 9/11
    assert ((counts - n / 4) ** 2 / (n / 4)).sum() / (9 / 11) < stats.chi2.isf(1e-6, df=11)


def test_many_points_need_only_columns():
    """Beyond `DENSE` points no matrix over all of them is formed."""
    X = np.random.default_rng(0).uniform(0, 1, (2500, 2))
    belief = eq.belief.FinitePosterior(X, eq.RBF(0.2)).at(X)
    object.__setattr__(belief, "covariance", None)
    alive, psi = plausible_pairs(belief, np.random.default_rng(0))
    assert len(alive) == 200 == len(psi)
