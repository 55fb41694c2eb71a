"""The rules for policies."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import AnywherePosterior, Belief, FinitePosterior, FixedConfidence
from equipoise.data import Comparison, Proposal
from equipoise.kernels import RBF, Linear
from equipoise.optimizer import Optimizer
from equipoise.policies import Policy
from equipoise.testing.rehearsal import box, finite, must_fit, must_resume, rehearse
from equipoise.testing.rule import agree, has, obeys, require, rules_of
from equipoise.testing.shared_rules import is_described, pickles

SEEDS = 4
"""The number of streams tried with a policy on every belief."""

LEVEL = 64.0
"""The constant added to every mean: large enough to affect a policy that uses the mean itself, not differences."""

UNIT = 1024.0
"""The factor for another unit: a power of two, so that a belief in this unit is the same to the last bit."""


def check_policy(policy: Policy, *, without: Collection[str] = ()) -> None:
    """Check a policy against the rules for policies.

    Skip `ignores_the_unit` for a policy that assumes noise of scale one.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_policy(eq.Challenger())
    """
    obeys(policy, RULES, without)


def declares_itself(policy: Policy) -> None:
    """It states the size of its proposals, a reduction that can measure them, and the scores to climb, or None."""
    has(policy, ("proposal_size", "reduction", "scores"))
    size, scores = policy.proposal_size, policy.scores
    require(size is None or (isinstance(size, int) and size > 0), f"`proposal_size` is {size!r}")
    require(scores is None or all(callable(score) for score in scores), f"`scores` is {scores!r}")
    must_fit(policy, policy.reduction)


def proposes_candidates(policy: Policy) -> None:
    """Every point it proposes is a candidate, for any belief: with one candidate, with ties, or without uncertainty."""
    for name, belief, proposal in _proposals(policy):
        known = {point.tobytes() for point in belief.points}
        require(proposal.points.ndim == 2, f"points have shape {proposal.points.shape} on {name}")
        strange = [point.tolist() for point in proposal.points if point.tobytes() not in known]
        require(not strange, f"{strange} on {name}")


def gives_probabilities(policy: Policy) -> None:
    """The weights of a proposal are probabilities, one for each point, and sum to one."""
    for name, _, proposal in _proposals(policy):
        w = proposal.weights
        require(w.shape == proposal.points.shape[:1], f"{len(proposal.points)} points, weights {w.shape} on {name}")
        require((w >= 0).all() and abs(float(w.sum()) - 1) < 1e-9, f"weights {w} on {name}")


def has_its_size(policy: Policy) -> None:
    """A proposal has as many points as it declares, which are equal if there is only one candidate."""
    for name, _, proposal in _proposals(policy):
        size = len(proposal.points)
        require(policy.proposal_size in (None, size), f"{size} points on {name}, declared {policy.proposal_size}")


def depends_on_its_stream_alone(policy: Policy) -> None:
    """The same belief and the same stream give the same proposal, regardless of earlier calls."""
    first = [_bytes(proposal) for *_, proposal in _proposals(policy)]
    policy(_plain(), np.random.default_rng(0))
    second = [_bytes(proposal) for *_, proposal in _proposals(policy)]
    require(first == second, "the second time it proposes something else")


def leaves_the_belief_alone(policy: Policy) -> None:
    """It does not change the belief that it receives."""
    belief = _plain()
    shown = [each.tobytes() for each in (belief.points, belief.mean, belief.variance)]
    policy(belief, np.random.default_rng(0))
    require(shown == [each.tobytes() for each in (belief.points, belief.mean, belief.variance)], "it wrote into it")


def ignores_the_level(policy: Policy) -> None:
    """The mean of f is known only up to a constant: the same constant added everywhere changes nothing."""
    belief = _plain()
    _must_agree(policy, belief, replace(belief, mean=belief.mean + LEVEL))


def ignores_the_unit(policy: Policy) -> None:
    """The same belief in another unit, volts or millivolts, leads to the same proposal."""
    belief, C = _plain(), UNIT**2 * _plain().covariance()
    other = Belief(
        belief.points,
        UNIT * belief.mean,
        UNIT**2 * belief.variance,
        lambda j: C[j].copy(),
        C.copy,
        UNIT**2 * belief.regularizer,
        UNIT**2 * belief.beta,
        belief.comparisons,
    )
    _must_agree(policy, belief, other)


def scores_have_their_slopes(policy: Policy) -> None:
    """Each score comes with its derivatives in the gap and in the variance, which agree with central differences."""
    rng, h = np.random.default_rng(0), 1e-6
    g, psi = rng.uniform(0.1, 3, 50), rng.uniform(0.1, 3, 50)
    for score in policy.scores or ():
        value, by_g, by_psi = score(g, psi, 1.3, 0.7, 0.4)
        require(np.isfinite(value).all(), f"a score of {value}")
        slope_g = (score(g + h, psi, 1.3, 0.7, 0.4)[0] - score(g - h, psi, 1.3, 0.7, 0.4)[0]) / (2 * h)
        slope_psi = (score(g, psi + h, 1.3, 0.7, 0.4)[0] - score(g, psi - h, 1.3, 0.7, 0.4)[0]) / (2 * h)
        agree(by_g, slope_g, "the derivative in the gap", 1e-6)
        agree(by_psi, slope_psi, "the derivative in the variance", 1e-6)


def works_in_a_study(policy: Policy) -> None:
    """An optimizer can ask, tell and recommend with it, on a finite set and in a box."""
    rehearse(Optimizer(finite(), kernel=RBF(0.5), policy=policy, rng=0))
    rehearse(Optimizer(box(), policy=policy, rng=0), readings=8)


def is_resumed(policy: Policy) -> None:
    """A logged study with it resumes to the same belief and the same next proposal."""
    must_resume(finite(), kernel=RBF(0.5), policy=policy)


RULES = rules_of(__name__, is_described, pickles)
"""The rules for a policy."""


@cache
def _beliefs() -> dict[str, Belief]:
    """Return beliefs of every shape, including the awkward ones."""
    rng = np.random.default_rng(0)
    X, twins = rng.uniform(0, 1, (12, 2)), np.array([[0.0], [0.0], [0.6], [0.6], [1.0], [1.0]])
    listed, anywhere = FinitePosterior(X, RBF(0.4), 0.7), AnywherePosterior(RBF(0.4), 0.7, FixedConfidence(2.0))
    for _ in range(15):
        i, j = rng.choice(12, 2, replace=False)
        told = Comparison(X[i], X[j], 2 * rng.normal())
        listed, anywhere = listed.condition(told), anywhere.condition(told)
    posteriors = {
        "a finite set": listed,
        "one candidate": FinitePosterior([[0.3, 0.4]], RBF(0.4)),
        "ties": FinitePosterior(np.eye(4), Linear()),
        "no doubt left": FinitePosterior(np.zeros((3, 2)), Linear()),
        "twins": FinitePosterior(twins, RBF(0.4)).condition(Comparison(twins[0], twins[-1], 0.5)),
    }
    return {name: each.at(each.points) for name, each in posteriors.items()} | {"points anywhere": anywhere.at(X)}


def _plain() -> Belief:
    """Return a belief in general position, with means that are multiples of 1/1024 so that a level is added exactly."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(8, 8))
    C: FloatArray = A @ A.T / 8
    mean = np.round(1024 * rng.normal(size=8)) / 1024
    variance = C.diagonal().copy()
    return Belief(rng.uniform(0, 1, (8, 2)), mean, variance, lambda j: C[j].copy(), C.copy, 0.5, 1.5, 6)


def _proposals(policy: Policy) -> Iterator[tuple[str, Belief, Proposal]]:
    """Yield its proposals on every belief, with every stream."""
    for name, belief in _beliefs().items():
        for seed in range(SEEDS):
            yield name, belief, _proposed(policy, name, belief, np.random.default_rng(seed))


def _proposed(policy: Policy, name: str, belief: Belief, rng: Generator) -> Proposal:
    try:
        return policy(belief, rng)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} on {name}: {error}") from error


def _must_agree(policy: Policy, belief: Belief, other: Belief) -> None:
    for seed in range(SEEDS):
        a, b = (policy(each, np.random.default_rng(seed)) for each in (belief, other))
        require(a.points.tobytes() == b.points.tobytes(), f"{b.points.tolist()} instead of {a.points.tolist()}")
        agree(b.weights, a.weights, "a weight")


def _bytes(proposal: Proposal) -> tuple[bytes, bytes]:
    return proposal.points.tobytes(), proposal.weights.tobytes()
