"""MaxMinLCB: the game's solution by brute force, fair among equals."""

import numpy as np
import pytest
from scipy import stats

import equipoise as eq
from equipoise.policies.maxmin_lcb import MaxMinLCB, lower_bounds
from posteriors import certain, differences, duplicated, exchangeable, indices, random_posterior, unbeaten


@pytest.mark.parametrize("form", ["covariance", "dual"])
@pytest.mark.parametrize("seed", range(12))
def test_equals_brute_force(seed, form):
    posterior, X = random_posterior(seed, beta=[0.3, 1.0, 4.0, 9.0][seed % 4], form=form)
    gap, width = differences(posterior, X)
    alive = unbeaten(gap, width)
    answer = {x: min(alive, key=lambda z, x=x: gap[x, z] - width[x, z]) for x in alive}
    x = max(alive, key=lambda x: gap[x, answer[x]] - width[x, answer[x]])
    assert indices(MaxMinLCB(), posterior, X) == (x, answer[x])


@pytest.mark.parametrize("seed", range(8))
def test_two_survivors_or_more_are_not_played_against_themselves(seed):
    posterior, X = random_posterior(seed, beta=1.0)
    assert len(unbeaten(*differences(posterior, X))) > 1
    first, second = indices(MaxMinLCB(), posterior, X)
    assert first != second


def test_a_lone_survivor_is_played_twice():
    posterior, X = random_posterior(0, beta=0.0)
    leader = int(posterior.at(X).mean.argmax())
    assert indices(MaxMinLCB(), posterior, X) == (leader, leader)


def test_ties_are_broken_fairly():
    posterior, X = exchangeable(4)
    rng, n, counts = np.random.default_rng(0), 2400, np.zeros((4, 4), dtype=int)
    for _ in range(n):
        counts[indices(MaxMinLCB(), posterior, X, rng)] += 1
    assert counts.trace() == 0
    assert stats.chisquare(counts[~np.eye(4, dtype=bool)]).pvalue > 1e-6


def test_degenerate_posteriors():
    alone = eq.belief.FinitePosterior([[0.5]], eq.RBF(1.0))
    assert indices(MaxMinLCB(), alone, alone.points) == (0, 0)
    assert indices(MaxMinLCB(), *certain()) == (0, 0)
    first, second = indices(MaxMinLCB(), *duplicated())
    assert first != second


def test_lower_bounds_broadcast():
    rng = np.random.default_rng(0)
    mean, width = rng.normal(size=(2, 3, 5)), rng.uniform(0, 2, (2, 3, 5, 5))
    assert lower_bounds(mean, width)[1, 2].tolist() == lower_bounds(mean[1, 2], width[1, 2]).tolist()
    assert lower_bounds(mean, width)[0, 1, 2, 3] == mean[0, 1, 2] - mean[0, 1, 3] - width[0, 1, 2, 3]


def test_the_same_generator_gives_the_same_pair():
    posterior, X = exchangeable(9)
    assert [indices(MaxMinLCB(), posterior, X, s) for s in range(20)] == [
        indices(MaxMinLCB(), posterior, X, s) for s in range(20)
    ]
