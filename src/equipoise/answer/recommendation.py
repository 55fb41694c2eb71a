"""The answer of a study: the best known setting, with claims about it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer.calibrated_claims import calibrated, forecast
from equipoise.answer.claim import Claim, Difference, Kind, Recommendation
from equipoise.answer.regret import DRAWS, Held, regret_bound
from equipoise.answer.second_opinions import knows_enough, opinions, preference
from equipoise.answer.signs import Explored
from equipoise.answer.verification import Verification
from equipoise.answer.wording import EVERYTHING
from equipoise.belief import Belief, Feasibility, Posterior, StudyBelief, fair_argmax
from equipoise.policies import candidates, optimism
from equipoise.spaces import Domain

if TYPE_CHECKING:
    from equipoise.answer.usability import Doubtful

WITHIN_LIMITS = "the settings within the limits"
"""The scope of a claim of a study with measured limits."""

WITHIN_REACH = "the settings known to be within the limits"
"""The scope of a claim of a study with `drop`, `max_step` or `safe`, which never learns about a setting beyond them."""

AUDIT_FACTOR = 1.25
"""The factor on the bound by joint draws after an audit: it makes the bound hold more often (docs/claims.md)."""

LISTED_RIVALS = 400
"""The number of listed points, the most promising ones, at which functions are drawn."""

RIVALS, SPREAD = 200, 100
"""The numbers of rivals elsewhere: points found by a search, and points spread over the space."""

DEVIATIONS = 2.0
"""Half-width of an estimated interval of a difference, in posterior standard deviations."""

MIN_COMPARED = 2
"""With answers at fewer settings nothing can be compared, and the start stays the best known setting."""

GUESS_DEVIATIONS = ((6, 3.5), (4, 8.0), (2, 24.0))
"""The half-width of a guess, by the least number of readings: it held in 94 to 97 % of 552 simulated studies each."""


@dataclass(frozen=True)
class Standing:
    """The facts about a study besides its belief.

    Attributes:
        readings: The number of readings.
        feasibility: The measurable settings, if some trials failed.
        start: The start, encoded, shape (d,).
        theorem: Whether the study assumes nothing about the offset, as the theorems require.
        enough: Whether there are enough readings of a working sensor for an estimate.
        audited: Whether an audit is complete.
        verification: A complete verification.
        attainable: The part of the space within the limits; `None` if there are none.
        doubtful: The settings that may hold measured limits, which claims cover too; `None` without such limits.
        read: The settings of the readings, encoded, in their order, shape (n, d); `None` if only the belief knows.
    """

    readings: int
    feasibility: Feasibility | None = None
    start: FloatArray | None = None
    theorem: bool = False
    enough: bool = True
    audited: bool = False
    verification: Verification | None = None
    attainable: Domain | None = None
    doubtful: "Doubtful | None" = None
    read: FloatArray | None = None

    @property
    def scope(self) -> str:
        """The settings that a claim can cover."""
        limited = WITHIN_REACH if self.doubtful is None else WITHIN_LIMITS
        return EVERYTHING if self.attainable is None else limited

    def held(self, points: FloatArray, rng: Generator) -> Held:
        """Return which points, shape (m, d), hold measured limits in each draw of the belief."""
        return True if self.doubtful is None else self.doubtful.drawn(points, DRAWS, rng)


def recommended(space: Domain, belief: StudyBelief, standing: Standing, rng: Generator) -> Recommendation:
    """Return the best point that a search finds, with all claims about it."""
    posterior = belief.posterior
    here, leader = _led(space, posterior, standing, rng)
    verified = standing.verification if standing.enough else None
    if verified is not None and verified.holds(posterior, here.points[leader]):
        here, leader = posterior.at(np.concatenate((verified.leader[None], here.points))), 0
    else:
        verified = None
    best = here.points[leader]
    overall, signs = _overall(space, belief, standing, here, leader, rng)
    claims = (overall,) if verified is None else verified.claims(overall)
    start = None if standing.start is None else _against_start(belief, standing, best, standing.start)
    first = claims[0]
    preferred = () if verified is None else verified.preferences(space)
    return Recommendation(
        space.decode(best),
        first.bound,
        standing.readings,
        first.kind,
        start,
        claims,
        preferred=preferred,
        forecast=forecast(overall, signs) if signs else None,
        signs=signs,
    )


def _against_start(belief: StudyBelief, standing: Standing, best: FloatArray, start: FloatArray) -> Difference:
    """Return the gain of the best point over the start; with judgements, also how often it would be preferred."""
    chosen = None if belief.judged is None else preference(belief, best, start)
    return replace(difference(belief, standing, best, start), chosen=chosen)


def difference(belief: StudyBelief, standing: Standing, first: FloatArray, second: FloatArray) -> Difference:
    """Return the difference of two encoded points on the strongest basis, and how often judges prefer the first."""
    if first.tobytes() == second.tobytes():
        return Difference(0.0, 0.0, 0.0, "theorem")
    verified = standing.verification
    preferred = None if verified is None else verified.preferred(first, second)
    return replace(_difference(belief, standing, first, second), preferred=preferred)


def _difference(belief: StudyBelief, standing: Standing, first: FloatArray, second: FloatArray) -> Difference:
    """Return the difference of two points."""
    both = belief.posterior.at(np.array([first, second]))
    value, psi = float(both.mean[0] - both.mean[1]), both.psi(1)[:1]
    if not standing.enough:
        return Difference(value, -math.inf, math.inf, "guess")
    if belief.proven and standing.theorem:
        width = float(both.width(psi)[0])
        return Difference(value, value - width, value + width, "theorem")
    estimated = _estimated(belief, standing.readings, first, second, value)
    verified = None if standing.verification is None else standing.verification.between(first, second)
    return estimated if verified is None else verified.beside(estimated)


def _estimated(belief: StudyBelief, readings: int, first: FloatArray, second: FloatArray, value: float) -> Difference:
    """Return the difference of two points by all models of the data."""
    known = _given(belief) or knows_enough(belief)
    guessed = next((width for n, width in GUESS_DEVIATIONS if readings >= n), math.inf)
    width = DEVIATIONS if known else guessed if belief.judged is None else math.inf
    if math.isinf(width):
        return Difference(value, -math.inf, math.inf, "guess")
    limits = [_credible(opinion, first, second, width) for opinion in _views(belief)]
    kind: Kind = "estimate" if known else "guess"
    found = Difference(value, min(low for low, _ in limits), max(high for _, high in limits), kind)
    compression = None if belief.learned is None else belief.learned.compression
    if compression is None:
        return found
    mean = belief.posterior.mean(np.concatenate(([first, second], belief.posterior.support)))
    return found.stretched(compression, mean.max() - mean[:2])


def _given(belief: StudyBelief) -> bool:
    """Return whether the model was given: then there is no other model of the data."""
    return belief.learned is None and belief.judged is None


def _views(belief: StudyBelief) -> tuple[Posterior, ...]:
    """Return all models that must agree before a claim."""
    return (belief.posterior,) if _given(belief) else opinions(belief)


def _credible(posterior: Posterior, first: FloatArray, second: FloatArray, width: float) -> tuple[float, float]:
    """Return the interval of the difference of two points under a posterior."""
    (mean,), (variance,) = posterior.difference(first[None], second)
    half = width * math.sqrt(variance)
    return float(mean) - half, float(mean) + half


def _led(space: Domain, posterior: Posterior, standing: Standing, rng: Generator) -> tuple[Belief, int]:
    """Return the belief at the leader and its rivals, and the index of the leader; if trials failed, a reliable one."""
    part, reliable = space, None
    if standing.feasibility is not None or standing.attainable is not None:
        from equipoise.answer.measurable import measurable, reliable_settings

        part, reliable = measurable(space, standing), reliable_settings(space, standing)
    rivals = candidates(part, posterior, (optimism,), rng)
    if standing.start is not None and len(posterior.support) < MIN_COMPARED:
        start = standing.start[None]
        if standing.feasibility is None or standing.feasibility.allows(start).all():
            return posterior.at(np.concatenate((start, rivals))), 0
    if reliable is None or not len(reliable) or part is space:
        belief = posterior.at(rivals)
        return belief, belief.leader(rng)
    belief = posterior.at(np.concatenate((reliable, rivals)))
    return belief, fair_argmax(belief.mean[: len(reliable)], rng)


def _overall(
    space: Domain, belief: StudyBelief, standing: Standing, here: Belief, leader: int, rng: Generator
) -> tuple[Claim, Mapping[str, float]]:
    """Return the claim about all settings, or all within the limits, and the signs that calibrated it."""
    if not (belief.knows_unit and standing.enough):
        return Claim("guess", math.inf, standing.scope), {}
    if standing.doubtful is not None:
        rivals = candidates(standing.doubtful.part, belief.posterior, (optimism,), rng)
        here, leader = belief.posterior.at(np.concatenate((here.points[[leader]], rivals))), 0
    listed = belief.posterior.points is not None
    if belief.proven and standing.theorem and listed:
        return Claim("theorem", here.gap_bound(leader), standing.scope), {}
    if belief.learned is not None and belief.judged is None:
        read = belief.posterior.support if standing.read is None else standing.read
        rivals, spread = _promising(here, leader, RIVALS), _spread(space, standing, rng)
        held = standing.held(np.concatenate((rivals, spread)), rng)
        explored = Explored(belief, here.points[leader], rivals, spread, read, held)
        return calibrated(explored, standing.scope, standing.audited, rng)
    if not (_given(belief) or knows_enough(belief)):
        return Claim("guess", math.inf, standing.scope), {}
    kind: Kind = "audited" if standing.audited else "estimate"
    rivals = _promising(here, leader, LISTED_RIVALS if listed else RIVALS)
    if not listed and space.points is None:
        rivals = np.concatenate((rivals, _spread(space, standing, rng)))
    bound = regret_bound(_views(belief), here.points[leader], rivals, standing.held(rivals, rng), rng)
    return Claim(kind, bound * (AUDIT_FACTOR if standing.audited else 1.0), standing.scope), {}


def _promising(here: Belief, leader: int, number: int) -> FloatArray:
    """Return at most this many of the most promising points."""
    found: FloatArray = here.points[np.argsort(-here.optimism(leader))[:number]]
    return found


def _spread(space: Domain, standing: Standing, rng: Generator) -> FloatArray:
    """Return points from all over a space."""
    from equipoise.answer.measurable import claimable

    everywhere = claimable(space, standing).candidates(rng)
    found: FloatArray = everywhere[rng.permutation(len(everywhere))[:SPREAD]]
    return found
