"""MaxInfo: the widest plausible pair by brute force, fair among equals, the leader where nothing is uncertain."""

import numpy as np
import pytest
from scipy import stats

import equipoise as eq
from equipoise.policies.max_info import MaxInfo
from posteriors import certain, differences, duplicated, exchangeable, indices, random_posterior, unbeaten


@pytest.mark.parametrize("form", ["covariance", "dual"])
@pytest.mark.parametrize("seed", range(12))
def test_equals_brute_force(seed, form):
    posterior, X = random_posterior(seed, beta=[0.3, 1.0, 4.0, 9.0][seed % 4], form=form)
    gap, width = differences(posterior, X)
    alive = unbeaten(gap, width)
    x, z = max(((x, z) for x in alive for z in alive if x <= z), key=lambda pair: width[pair])
    assert set(indices(MaxInfo(), posterior, X)) == {x, z}


def test_a_lone_survivor_is_played_twice():
    posterior, X = random_posterior(0, beta=0.0)
    leader = int(posterior.at(X).mean.argmax())
    assert indices(MaxInfo(), posterior, X) == (leader, leader)


def test_ties_are_broken_fairly():
    posterior, X = exchangeable(4)
    rng, n, counts = np.random.default_rng(0), 1800, np.zeros((4, 4), dtype=int)
    for _ in range(n):
        counts[tuple(sorted(indices(MaxInfo(), posterior, X, rng)))] += 1
    assert counts.sum() == counts[np.triu_indices(4, 1)].sum()
    assert stats.chisquare(counts[np.triu_indices(4, 1)]).pvalue > 1e-6


def test_degenerate_posteriors():
    alone = eq.belief.FinitePosterior([[0.5]], eq.RBF(1.0))
    assert indices(MaxInfo(), alone, alone.points) == (0, 0)
    assert indices(MaxInfo(), *certain()) == (0, 0)
    first, second = indices(MaxInfo(), *duplicated())
    assert first != second


def test_of_many_candidates_the_promising_are_paired():
    posterior, X = random_posterior(5, beta=9.0, points=250)
    gap, width = differences(posterior, X)
    leader = int(gap.min(axis=1).argmax())
    best = np.argsort(-(gap[:, leader] + width[:, leader]))[:200]
    assert set(indices(MaxInfo(), posterior, X)) <= {leader, *best.tolist()}


def test_the_same_generator_gives_the_same_pair():
    posterior, X = exchangeable(9)
    assert [indices(MaxInfo(), posterior, X, s) for s in range(20)] == [
        indices(MaxInfo(), posterior, X, s) for s in range(20)
    ]
