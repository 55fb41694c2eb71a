"""The probability that limits hold at given settings, from the belief about each output.

    symbol   meaning                                                                  shape
    g        an output as it is learned: s times its readings, s = 1 or -1            ()
    c        slack of a limit: by how much it holds; below zero it does not           (m,)
    mu, v    mean and variance of the slack                                           (m,)

A limit relative to the start is about `g(x) - g(x0)`, in which the offset cancels. Any other is about the reading as it
stands: `g(x) + o`, with the offset o as it is now (METHOD section 18).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.answer import LimitEstimate, Slack, Usability, opinions
from equipoise.belief import AnywherePosterior

if TYPE_CHECKING:
    from equipoise.belief import Posterior, StudyBelief
    from equipoise.spaces import Domain
    from equipoise.study.outputs.grammar import Limit, Outputs
    from equipoise.study.state import State

DEVIATIONS = 2.0
"""Half-width of the interval of an output, in posterior standard deviations."""

PLACED = 0.5
"""A setting is placed if the deviation of its slack is below this share of the noise of a reading: a pair with it then
tells of a limit nearly what a pair with the start does, and of the objective besides."""


@dataclass(frozen=True, eq=False)
class Named:
    """The beliefs about the outputs of a study, by name.

    Attributes:
        outputs: The objectives and limits.
        beliefs: The belief about each output.
        start: The start of the study, encoded, shape (d,); `None` before the first reading if none is given.
    """

    outputs: Outputs
    beliefs: Mapping[str, StudyBelief]
    start: FloatArray | None

    @property
    def limited(self) -> bool:
        """True if there are limits."""
        return bool(self.outputs.limits)

    @property
    def origin(self) -> FloatArray | None:
        """The reference of relative limits, encoded, shape (d,); `None` if no limit is relative to the start."""
        return self.start if any(limit.relative for limit in self.outputs.limits) else None

    @property
    def wanted(self) -> list[Posterior]:
        """The belief about each objective, in their order."""
        return [self.beliefs[each.name].posterior for each in self.outputs.objectives]

    def probability(self, points: FloatArray) -> FloatArray:
        """Return the believed probability that all limits hold at points of shape (m, d), shape (m,).

        An output about which too little is known excludes no setting, since otherwise it would remain unknown.
        """
        known = (name for name in self.limiting if name not in self.unknown)
        kept = (self._of_output(name, believed(self.beliefs[name]), points) for name in known)
        return reduce(np.multiply, kept, np.ones(len(points)))  # each output has its own noise and offset

    def surely(self, points: FloatArray) -> FloatArray:
        """Return the same probability for use in claims: 0 if too little is known about an output."""
        return np.zeros(len(points)) if self.unknown else self.probability(points)

    def excess(self, points: FloatArray) -> FloatArray:
        """Return by how many noise deviations the most broken limit is expected to be broken, rounded, shape (m,)."""
        known = self.known_slacks()
        noises = [self.beliefs[limit.name].posterior.regularizer ** 0.5 for limit, _ in known]
        over = [-slack(points)[0] / noise for (_, slack), noise in zip(known, noises, strict=True)]
        return np.round(reduce(np.maximum, over, np.zeros(len(points))))

    @property
    def limiting(self) -> list[str]:
        """The outputs that have limits."""
        return list(dict.fromkeys(limit.name for limit in self.outputs.limits))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The outputs with limits about which too little is known."""
        return tuple(name for name in self.limiting if not self.beliefs[name].knows_unit)

    def slacks(self, cautious: Callable[[StudyBelief, Limit], Posterior]) -> list[Slack]:
        """Return the slack of each limit, under beliefs made from that about its output.

        Args:
            cautious: Returns the belief to rely on for a limit.
        """
        beliefs = self.beliefs
        return [self._slack(limit, cautious(beliefs[limit.name], limit)) for limit in self.outputs.limits]

    def placed(self, point: FloatArray) -> bool:
        """Return whether a setting, shape (d,), may stand for the start: if its slack is well known."""
        slacks = zip(self.outputs.limits, self.slacks(lambda belief, limit: believed(belief)), strict=True)
        relative = [(limit.name, slack(point[None])[1][0]) for limit, slack in slacks if limit.relative]
        noises = {name: self.beliefs[name].posterior.regularizer ** 0.5 for name, _ in relative}
        return not self.unknown and all(sd < PLACED * noises[name] for name, sd in relative)

    def margin(self, limit: Limit) -> float:
        """Return the known slack of a limit at the start; 0 if nothing is known."""
        assert self.start is not None
        mean, sd = self._slack(limit, believed(self.beliefs[limit.name]))(self.start[None])
        return float(mean[0]) if np.isfinite(sd[0]) else 0.0

    def usability(self, point: FloatArray) -> Usability | None:
        """Return how probably a point, shape (d,), holds all limits, and an estimate of each; `None` without limits."""
        if not self.limited:
            return None
        limits = tuple(_estimate(limit, *slack(point[None])) for limit, slack in self.known_slacks())
        return Usability(float(self.surely(point[None])[0]), limits, self.unknown)

    def known_slacks(self) -> list[tuple[Limit, Slack]]:
        """Return each limit of an output about which enough is known, with its slack as believed."""
        slacks, unknown = self.slacks(lambda belief, limit: believed(belief)), self.unknown
        return [each for each in zip(self.outputs.limits, slacks, strict=True) if each[0].name not in unknown]

    def _of_output(self, name: str, belief: Posterior, points: FloatArray) -> FloatArray:
        """Return the probability that the limits of one output hold; it cannot break two at once."""
        broken = np.zeros(len(points))
        for limit in self.outputs.limits_of(name):
            mean, sd = self._slack(limit, belief)(points)
            broken += below_zero(mean, sd)
        kept: FloatArray = np.maximum(1.0 - broken, 0.0)
        return kept

    def _slack(self, limit: Limit, belief: Posterior) -> Slack:
        direction = limit.sign * self.outputs.sign(limit.name)
        origin = _origin(self.beliefs[limit.name])

        def slack(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            if limit.relative:
                assert self.start is not None
                mean, variance = belief.difference(points, self.start)
            else:
                mean, variance = level(belief, points)
                mean = mean + origin
            return direction * mean - limit.sign * limit.bound, np.sqrt(variance)

        return slack


def believed(belief: StudyBelief) -> Posterior:
    """Return the posterior used for claims; if possible, one that knows the level of the readings."""
    views = (belief.posterior,) if has_level(belief.posterior) else opinions(belief)
    return next((each for each in views if has_level(each)), belief.posterior)


def has_level(posterior: Posterior) -> bool:
    """Return whether a belief knows the level of the readings, because single readings teach too."""
    return isinstance(posterior, AnywherePosterior) and (posterior.offset is not None or bool(_alone(posterior).any()))


def _alone(posterior: AnywherePosterior) -> NDArray[np.bool_]:
    """Return which data are single readings, shape (n,): a difference contains no offset."""
    data = posterior.observations
    if data is None:
        return np.zeros(0, dtype=np.bool_)
    single: NDArray[np.bool_] = np.diff(np.append(data.starts, len(data.weights))) == 1
    return single


def level(posterior: Posterior, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of what readings at points would be now, except for their noise, shapes (m,).

    Infinite variance if no reading is known.
    """
    unknown = np.zeros(len(points)), np.full(len(points), np.inf)
    if not isinstance(posterior, AnywherePosterior) or posterior.observations is None:
        return unknown
    data, single = posterior.observations, _alone(posterior)
    own = np.flatnonzero((data.moments.campaign == "") & single)
    if not len(own):
        return unknown
    if posterior.offset is None:  # it never changes: f has it in it
        here = posterior.at(points)
        return here.mean, here.variance
    lasting, now, cross = replace(posterior.offset, blips=()), data.moments.take(own[-1:]), posterior.cross(points)
    first = cross.shape[1] - len(data)  # what is folded has no offset
    cross[:, first:] += single * lasting(now, data.moments, cross[:, first:])
    V = posterior.solve(cross.T)
    prior = posterior.kernel.diagonal(points)
    prior = prior + lasting(now, now, prior[:, None])[:, 0]
    mean: FloatArray = posterior.whitened @ V
    return mean, np.maximum(prior - np.einsum("nm,nm->m", V, V), 0.0)


def below_zero(mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Return the probability that normal numbers are below zero; those without scatter are as they are.

    Example:
        >>> below_zero(np.array([0.0, 1.96, -1.0]), np.array([1.0, 1.0, 0.0])).round(3)
        array([0.5  , 0.025, 1.   ])
    """
    from scipy.special import ndtr

    z = np.divide(mean, sd, out=np.where(mean < 0, -np.inf, np.inf), where=sd > 0)
    found: FloatArray = ndtr(-z)
    return found


def _estimate(limit: Limit, mean: FloatArray, sd: FloatArray) -> LimitEstimate:
    """Return the estimate of the output of a limit, given its slack at one point."""
    value, half = limit.bound + limit.sign * float(mean[0]), DEVIATIONS * float(sd[0])
    return LimitEstimate(str(limit), value, value - half, value + half)


def _origin(belief: StudyBelief) -> float:
    """Return the number subtracted from readings before learning."""
    return 0.0 if belief.learned is None else belief.learned.origins.get("", 0.0)


def named_in(state: State, space: Domain, belief: StudyBelief | None = None) -> Named | None:
    """Return the beliefs about the outputs in a part of the space; `None` if they have no names.

    Args:
        state: The state of the study.
        space: The part of the space.
        belief: The belief about the first objective; that from all data by default.
    """
    named = state.setup.outputs
    if named is None:
        return None
    beliefs = {named.first.name: state.belief if belief is None else belief}
    beliefs |= {} if state.beside is None else state.beside.beliefs
    return Named(named, beliefs, state.ledger.origin(state.setup.start, space))
