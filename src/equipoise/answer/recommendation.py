"""The answer of a study: the best setting as far as is known, and what is claimed of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer.claims import Claim, Difference, Kind
from equipoise.answer.opinions import knows_enough, opinions, preference
from equipoise.answer.regret import regret_bound
from equipoise.answer.share import Share
from equipoise.answer.verification import Verification
from equipoise.answer.wording import EVERYTHING, as_html, sentences
from equipoise.belief import Belief, Feasibility, Posterior, StudyBelief, fair_argmax
from equipoise.policies import candidates, optimism
from equipoise.spaces import Domain, Readout, Restricted, readouts_of

WITHIN_LIMITS = "the settings within the limits"
"""The scope of a claim of a study with `drop` or `max_step`: it knows nothing of where it may not go."""

AUDIT_FACTOR = 1.25
"""What the bound by joint draws is multiplied by after an audit, which makes it hold more often (docs/claims.md)."""

RIVALS = 400
"""Of how many listed points, the most promising ones, functions are drawn."""

SPREAD_RIVALS = 150
"""How many points from all over a space are rivals beside those that a search finds."""

STAYING_DEVIATIONS = 2.0
"""What was verified stays recommended unless another point seems better by this many standard deviations."""

DEVIATIONS = 2.0
"""Half-width of an estimated interval of a difference, in posterior standard deviations."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The best setting as far as is known, and what is claimed of it.

    Attributes:
        x: The setting.
        gap_bound: Nothing else is better by more than this, says the first claim; infinite if too little is known. A
            verified bound is about the start and the runners-up, any other about all settings; with `drop`
            or `max_step`, about those that they let the study reach.
        readings: How many readings were told.
        kind: On what ground: "theorem", "verified", "audited" or "estimate"; see docs/claims.md.
        against_start: How much better it is than where the study started; `None` before the first reading.
        claims: All that is claimed, the best first: a verified claim is not if one about all settings is narrower.
        judgements: How many judgements were told. Without readings the unit of f is the scatter of the first judge:
            what is better by 1 is chosen in 84 % of cases.
        preferred: The settings that it was verified against by fresh judgements, and how often it was preferred to
            each, with an interval.
        unit: Of a reading, if it is set.
        readouts: How the value of each parameter is shown, by name: its unit and its digits.
        notices: What else the user should know, such as a `WrongUnit`.
    """

    x: Any
    gap_bound: float
    readings: int
    kind: Kind = "estimate"
    against_start: Difference | None = None
    claims: tuple[Claim, ...] = field(default=(), repr=False)
    judgements: int = 0
    preferred: tuple[tuple[Any, Share], ...] = field(default=(), repr=False)
    unit: str = field(default="", repr=False)
    readouts: Mapping[str, Readout] = field(default_factory=dict, repr=False)
    notices: tuple[Warning, ...] = field(default=(), repr=False, compare=False)

    @property
    def overall(self) -> Claim:
        """What is claimed about all settings, or about all within the limits."""
        everywhere = (claim for claim in self.claims if claim.kind != "verified")
        return next(everywhere, Claim(self.kind, self.gap_bound, EVERYTHING))

    def certifies(self, eps: float, *, audit: bool = True) -> bool:
        """Return whether no setting is better by more than `eps`: by theorem or audit, or else also by estimate.

        Args:
            eps: The bound to reach.
            audit: Whether an estimate is not enough.
        """
        return self.overall.bound <= eps and not (audit and self.overall.kind == "estimate")

    def __str__(self) -> str:
        return "\n".join(sentences(self))

    def _repr_html_(self) -> str:
        return as_html(self)


@dataclass(frozen=True)
class Standing:
    """What is known of a study besides its belief.

    Attributes:
        readings: How many readings were told.
        feasibility: Where readings can be had, if some failed.
        start: Where it started, encoded, shape (d,).
        theorem: Whether what is assumed of the offset is what the theorems assume: nothing.
        enough: Whether there are enough readings, of a sensor that lives, for an estimate.
        audited: Whether an audit is complete.
        verification: A verification that is complete.
        attainable: Where the limits let the study go; `None` if there are none.
    """

    readings: int
    feasibility: Feasibility | None = None
    start: FloatArray | None = None
    theorem: bool = False
    enough: bool = True
    audited: bool = False
    verification: Verification | None = None
    attainable: Domain | None = None

    @property
    def scope(self) -> str:
        """What may be claimed something about."""
        return EVERYTHING if self.attainable is None else WITHIN_LIMITS


def recommended(space: Domain, belief: StudyBelief, standing: Standing, rng: Generator) -> Recommendation:
    """Return the best of the points that a search finds, with all that can be claimed of it.

    Args:
        space: Where points lie.
        belief: What is known.
        standing: What else is known of the study.
        rng: The source of randomness.
    """
    posterior = belief.posterior
    here, leader = _led(space, posterior, standing, rng)
    best = here.points[leader]
    verified = standing.verification if standing.enough else None
    if verified is not None and _holds(posterior, verified, best):
        best = verified.leader
        here, leader = posterior.at(np.concatenate((best[None], here.points))), 0
    else:
        verified = None
    overall = _overall(space, belief, standing, here, leader, rng)
    read = verified is not None and verified.read
    claims = _best_first(verified.claim, overall) if verified and read else (overall,)
    start = None if standing.start is None else _against_start(belief, standing, best, standing.start)
    x, first = space.decode(best), claims[0]
    preferred = () if verified is None else _preferred(space, verified)
    return Recommendation(
        x,
        first.bound,
        standing.readings,
        first.kind,
        start,
        claims,
        preferred=preferred,
        readouts=readouts_of(space),
    )


def _against_start(belief: StudyBelief, standing: Standing, best: FloatArray, start: FloatArray) -> Difference:
    """Return how much better the best point is than the start; if people judged, how often it is chosen over it too."""
    return replace(difference(belief, standing, best, start), chosen=preference(belief, best, start))


def _preferred(space: Domain, verified: Verification) -> tuple[tuple[Any, Share], ...]:
    """Return the rivals that judges compared the leader with, and how often they preferred it."""
    judged = zip(verified.rivals, verified.shares, strict=False)
    return tuple((space.decode(rival), found) for rival, found in judged if found is not None)


def _best_first(verified: Claim, overall: Claim) -> tuple[Claim, ...]:
    """Return both claims; the one about all settings is first if it is a theorem, or narrower though it says more."""
    if overall.kind == "theorem" or overall.bound < verified.bound:
        return overall, verified
    return verified, overall


def difference(belief: StudyBelief, standing: Standing, first: FloatArray, second: FloatArray) -> Difference:
    """Return how much one point is better than another, on the strongest ground there is, and how often preferred.

    Args:
        belief: What is known.
        standing: What else is known of the study.
        first: One point, encoded, shape (d,).
        second: The other.
    """
    if first.tobytes() == second.tobytes():
        return Difference(0.0, 0.0, 0.0, "theorem")
    verified = standing.verification
    preferred = None if verified is None else verified.preferred(first, second)
    return replace(_difference(belief, standing, first, second), preferred=preferred)


def _difference(belief: StudyBelief, standing: Standing, first: FloatArray, second: FloatArray) -> Difference:
    """Return how much one point is better than another."""
    both = belief.posterior.at(np.array([first, second]))
    value, psi = float(both.mean[0] - both.mean[1]), both.psi(1)[:1]
    if not standing.enough:
        return Difference(value, -math.inf, math.inf, "estimate")
    if belief.proven and standing.theorem:
        width = float(both.width(psi)[0])
        return Difference(value, value - width, value + width, "theorem")
    estimated = _estimated(belief, first, second, value)
    verified = None if standing.verification is None else standing.verification.between(first, second)
    return estimated if verified is None else verified.beside(estimated)


def _estimated(belief: StudyBelief, first: FloatArray, second: FloatArray, value: float) -> Difference:
    """Return how much one point is better than another by all opinions, as far as is known."""
    if not knows_enough(belief):
        return Difference(value, -math.inf, math.inf, "estimate")
    limits = [_credible(opinion, first, second) for opinion in opinions(belief)]
    return Difference(value, min(low for low, _ in limits), max(high for _, high in limits), "estimate")


def _credible(posterior: Posterior, first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Return where the difference of two points lies, in the opinion of a posterior."""
    (mean,), (variance,) = posterior.difference(first[None], second)
    half = DEVIATIONS * math.sqrt(variance)
    return float(mean) - half, float(mean) + half


def _led(space: Domain, posterior: Posterior, standing: Standing, rng: Generator) -> tuple[Belief, int]:
    """Return the belief at the leader and its rivals, and which is the leader; where some failed, a reliable one."""
    reliable = _reliable(space, standing)
    rivals = candidates(_measurable(space, standing), posterior, (optimism,), rng)
    if not len(reliable) or _measurable(space, standing) is space:
        belief = posterior.at(rivals)
        return belief, belief.leader(rng)
    belief = posterior.at(np.concatenate((reliable, rivals)))
    return belief, fair_argmax(belief.mean[: len(reliable)], rng)


def _reliable(space: Domain, standing: Standing) -> FloatArray:
    """Return the settings that were read and do not fail more often than not, shape (k, d)."""
    feasibility = standing.feasibility
    if feasibility is None or not len(feasibility.reliable):
        return np.empty((0, space.dimension))
    here = space.snap(feasibility.reliable)
    return here[(space if standing.attainable is None else standing.attainable).valid(here)]


def _measurable(space: Domain, standing: Standing) -> Domain:
    """Return where readings can be had: the space itself, if none failed or none is known to be reliable."""
    if standing.attainable is not None:
        return standing.attainable
    feasibility = standing.feasibility
    if feasibility is None or feasibility.certain or not len(feasibility.reliable):
        return space
    return Restricted(space, feasibility.allows)


def _holds(posterior: Posterior, verified: Verification, best: FloatArray) -> bool:
    """Return whether what was verified is still not worse than the leader, as far as can be told."""
    (mean,), (variance,) = posterior.difference(best[None], verified.leader)
    return bool(mean <= STAYING_DEVIATIONS * math.sqrt(variance))


def _overall(
    space: Domain, belief: StudyBelief, standing: Standing, here: Belief, leader: int, rng: Generator
) -> Claim:
    """Return what is claimed about all settings, or about all within the limits."""
    listed = belief.posterior.points is not None
    if not (knows_enough(belief) and standing.enough):
        return Claim("estimate", math.inf, standing.scope)
    if belief.proven and standing.theorem and listed:
        return Claim("theorem", here.gap_bound(leader), standing.scope)
    kind: Kind = "audited" if standing.audited else "estimate"
    rivals = here.points[np.argsort(-here.optimism(leader))[:RIVALS]]
    if not listed and space.points is None:
        everywhere = _measurable(space, standing).candidates(rng)
        rivals = np.concatenate((rivals, everywhere[rng.permutation(len(everywhere))[:SPREAD_RIVALS]]))
    bound = regret_bound(opinions(belief), here.points[leader], rivals, rng)
    return Claim(kind, bound * (AUDIT_FACTOR if standing.audited else 1.0), standing.scope)
