"""Challenger: equal to brute force, its value the certificate, fair among equals."""

import numpy as np
import pytest
from scipy import stats

import equipoise as eq
from equipoise.belief.arrays import gap_bound
from equipoise.policies.challenger import Challenger
from posteriors import certain, differences, duplicated, exchangeable, indices, random_posterior


@pytest.mark.parametrize("form", ["covariance", "dual"])
@pytest.mark.parametrize("seed", range(12))
def test_equals_brute_force(seed, form):
    posterior, X = random_posterior(seed, beta=[0.05, 0.3, 1.0, 4.0][seed % 4], form=form)
    gap, width = differences(posterior, X)
    leader = int(gap.min(axis=1).argmax())
    rival = max(range(len(X)), key=lambda z: gap[z, leader] + width[z, leader])
    assert indices(Challenger(boldness=0), posterior, X) == (leader, rival)
    belief = posterior.at(X)
    delta = gap_bound(belief.mean[leader] - belief.mean, belief.width(belief.psi(leader)))
    assert gap[rival, leader] + width[rival, leader] == pytest.approx(float(delta[0]), abs=1e-9)


def test_nothing_plausible_left_means_the_leader_twice():
    posterior, X = random_posterior(0, beta=0.0)
    leader = int(posterior.at(X).mean.argmax())
    assert indices(Challenger(), posterior, X) == (leader, leader)


@pytest.mark.parametrize("boldness", [0.5, 1.5])
def test_a_rival_believed_beaten_is_still_dueled_at_times(boldness):
    """It is where width sqrt(1 + boldness e) > gap, e exponential: as often as computed here."""
    posterior = eq.belief.FinitePosterior([[0.0], [1.0]], eq.RBF(0.2), 0.1, eq.FixedConfidence(1.0))
    posterior = posterior.condition(eq.Comparison([0.0], [1.0], 1.3))
    (gap,), (psi,) = posterior.difference(posterior.points[:1], posterior.points[1])
    least = gap**2 / (posterior.beta * psi / posterior.regularizer)
    chance = np.exp((1 - least) / boldness)
    assert 0.01 < chance < 0.9
    assert indices(Challenger(boldness=0), posterior, posterior.points) == (0, 0)
    rng, n = np.random.default_rng(0), 4000
    dueled = sum(indices(Challenger(boldness), posterior, posterior.points, rng) == (0, 1) for _ in range(n))
    assert stats.binomtest(dueled, n, chance).pvalue > 1e-6


@pytest.mark.parametrize("boldness", [-1.0, np.nan, "much"])
def test_a_wrong_boldness_is_refused(boldness):
    with pytest.raises((TypeError, ValueError), match="`boldness`"):
        Challenger(boldness)


def test_ties_are_broken_fairly():
    posterior, X = exchangeable(4)
    rng, n, counts = np.random.default_rng(0), 2400, np.zeros((4, 4), dtype=int)
    for _ in range(n):
        counts[indices(Challenger(), posterior, X, rng)] += 1
    assert counts.trace() == 0
    assert stats.chisquare(counts[~np.eye(4, dtype=bool)]).pvalue > 1e-6


def test_degenerate_posteriors():
    alone = eq.belief.FinitePosterior([[0.5]], eq.RBF(1.0))
    assert indices(Challenger(), alone, alone.points) == (0, 0)
    assert indices(Challenger(), *certain()) == (0, 0)
    assert indices(Challenger(), *duplicated()) != (0, 0)  # a twin is no challenger while others are


def test_the_same_generator_gives_the_same_pair():
    posterior, X = exchangeable(9)
    assert [indices(Challenger(), posterior, X, s) for s in range(20)] == [
        indices(Challenger(), posterior, X, s) for s in range(20)
    ]


def test_finds_the_optimum_under_drift():
    X = np.linspace(0, 1, 15)[:, None]
    opt = eq.Optimizer(eq.Finite(X), kernel=eq.RBF(0.3), policy=Challenger(), regularizer=0.05, rng=0)
    for t in range(80):
        trial = opt.ask()
        opt.tell(trial, -4 * (trial.x[0] - X[10, 0]) ** 2 - 0.5 * t)
    assert opt.recommend().x == X[10]


def test_a_limit_that_alone_is_in_doubt_is_measured_against_what_it_is_counted_from():
    """The leader is sure, the better one in doubt, the third worse: as the doubt grows, optimism takes over."""
    points = np.array([[0.0], [1.0], [2.0], [9.0]])
    posterior = eq.belief.FinitePosterior(points, eq.RBF(0.2), 0.01, eq.FixedConfidence(1.0))
    for better, worse in (([1.0], [0.0]), ([0.0], [2.0])):
        posterior = posterior.condition(eq.Comparison(better, worse, 1.5))
    belief, policy, origin = posterior.at(points[:3]), Challenger(boldness=0), points[3]

    def pair(holds, start):
        return policy.within(belief, np.array([1.0, holds, 1.0]), np.random.default_rng(0), start).points.ravel()

    assert pair(0.6, origin).tolist() == [1.0, 9.0]
    assert pair(0.6, None).tolist() == [1.0, 0.0], "a leader whose slack is known is a partner as good"
    assert pair(0.96, origin).tolist()[0] == 1.0, "a setting that surely holds its limits leads"
    assert pair(0.0, origin).tolist()[0] == 0.0, "nothing is expected beyond a limit that is surely broken"


@pytest.mark.parametrize(("known", "rival"), [(False, 1.0), (True, 9.0)])
def test_a_gain_that_no_reading_shows_is_no_reason_to_stay(known, rival):
    """Once the neighbor of the leader is known, the far point is looked at, though the model sees nothing there."""
    points = np.array([[0.0], [1.0], [9.0]])
    posterior = eq.belief.FinitePosterior(points, eq.RBF(2.0), 0.05**2, eq.belief.CredibleConfidence(1.5))
    posterior = posterior.condition(eq.Comparison([0.0], None, 1.9))
    if known:
        posterior = posterior.condition(eq.Comparison([1.0], None, 1.5))
    belief = posterior.at(points)
    assert belief.mean[2] + belief.width(belief.psi(0))[2] < belief.mean[0]
    proposal = Challenger(boldness=0).within(belief, np.ones(3), np.random.default_rng(0))
    assert proposal.points.ravel().tolist() == [0.0, rival]
