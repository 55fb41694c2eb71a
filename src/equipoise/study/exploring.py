"""Exploration: a start design spread over the space, and scouts that continue it.

    symbol   meaning                                                                shape
    gap      posterior mean of the leader less the average over the start's points  ()
    sigma2   half the variance of the difference of two readings of a pair at one x ()
    j        duels since the start, from 1                                          ()

A fitted model is too confident outside its data: on a lesser hill it believes that it knows the rest of the space, and
without any hill it mistakes noise for f and goes to the corners. So the first duels use points spread evenly over the
space; if earlier readings name a best setting, they compare it with such points, to check it. Later, at times, a duel
uses the next point of the same sequence that is still a hole: a model of short lengthscales knows little there, and the
top may be there. The chance of such a scout is 1/j + sigma2 / gap^2, at most a half. The first term sums to the
logarithm of the number of duels; the second is large as long as no setting stands out, because looking around then
costs nothing (METHOD section 10).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from equipoise import _linalg, answer
from equipoise.belief import MANY_PARAMETERS, pair_variance
from equipoise.data import Proposal
from equipoise.log import DESIGN, Streams
from equipoise.policies import measured

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import Posterior, StudyBelief
    from equipoise.spaces import Domain
    from equipoise.study.state import State

BASE_POINTS = 8
"""A start design has this many points and one for each parameter, rounded up to an even number: of 6, 8, 10 and 12 the
one with few lost runs whose regret in six dimensions is still that of the policy alone (docs/evidence.md)."""

SEQUENCE_POINTS = 256
"""The number of points of the sequence that the start design begins and scouts continue."""

LARGEST_CHANCE = 0.5
"""The largest chance of a scout."""

MIDDLE = 0.7
"""The part of each range, in its middle, that a start design of many parameters covers: a setting near an end of many
ranges at once is rarely good (docs/method.md)."""

OPTIMISTIC_DEVIATIONS = 2.0
"""It may be the top if it is not worse than the leader by more than this many standard deviations."""

CLEAR_GAP = 2.0
"""While the gap is below this many sigma, a scout duels another scout instead of the leader."""


def default_size(space: Domain) -> int:
    """Return the number of points of a start design, an even one; at most half of a finite set."""
    n = BASE_POINTS + int(space.groups.max()) + 1
    n += n % 2
    return n if space.points is None else min(n, len(space.points) // 4 * 2)


def sequence(space: Domain, rng: Generator) -> FloatArray:
    """Return distinct valid points of which every beginning is spread evenly over the space, shape (n, d)."""
    if space.points is not None:
        return space.points[_far_apart(space.points / space.extent, SEQUENCE_POINTS, rng)]
    candidates = space.candidates(rng)
    kept = np.sort(_linalg.firsts(candidates))
    distinct: FloatArray = candidates[kept[:SEQUENCE_POINTS]]
    return distinct


def toward_middle(space: Domain, points: FloatArray) -> FloatArray:
    """Return points, shape (n, d), with continuous coordinates in the middle of their ranges; none becomes invalid."""
    moved = space.snap(np.where(space.free, 0.5 + MIDDLE * (points - 0.5), points))
    return np.where(space.valid(moved)[:, None], moved, points)


def unasked(points: FloatArray, asked: FloatArray) -> FloatArray:
    """Return the points, of shape (m, d), that are not among those asked for, shape (n, d)."""
    before = {point.tobytes() for point in asked}
    return points[np.array([point.tobytes() not in before for point in points], dtype=np.bool_)]


def apart(streams: Streams) -> Streams:
    """Return the same streams in their own object: a study's generator is in use while a proposal is made."""
    return Streams(key=streams.key.tolist())


@dataclass(frozen=True, eq=False)
class Explorer:
    """A proposer of points that do not depend on the believed optimum.

    Attributes:
        space: The space of the points.
        size: The number of points of the start design.
        streams: Random numbers of the study.
    """

    space: Domain
    size: int
    streams: Streams

    @cached_property
    def points(self) -> FloatArray:
        """Points of which every beginning is spread evenly, shape (n, d); made when first needed: it takes time."""
        points = sequence(self.space, apart(self.streams).at(0, DESIGN))
        if self.space.points is None and self.space.groups.max() + 1 >= MANY_PARAMETERS:
            points[: self.size] = toward_middle(self.space, points[: self.size])
        return points

    @staticmethod
    def begun(state: State, asked: int) -> int:
        """Return how many questions count as asked: none before the first answer, so that the start design goes on.

        Without any answer, a policy sends many workers to the corners, with a fifth more regret than the start design.
        """
        return asked if state.ledger.readings or state.ledger.judgements else 0

    def at(self, space: Domain) -> Explorer:
        """Return the explorer of a part of the space."""
        return self if space is self.space else replace(self, space=space)

    def __call__(
        self,
        belief: StudyBelief,
        duels: int,
        allowed: Domain,
        asked: FloatArray,
        rng: Generator,
        informed: bool = False,
    ) -> Proposal | None:
        """Return a pair of the start design or with a scout; `None` if it is the policy's turn.

        The points `asked` were proposed so far, shape (n, d). If earlier readings say what is best, the study is
        `informed`: then the start is to find out if that still holds.
        """
        if 2 * duels >= self.size:
            return self._scout(belief, duels - self.size // 2 + 1, allowed, asked, rng)
        # A start design continues where the context has changed: no setting of it comes twice.
        left = self._left(allowed, self.space.snap(asked) if len(asked) else asked)
        best = _leader(allowed, belief.posterior) if informed else None
        if best is not None and len(left):
            return Proposal.pair(best, left[0])
        return Proposal.pair(*left[:2]) if len(left) > 1 else None

    def _left(self, allowed: Domain, asked: FloatArray) -> FloatArray:
        """Return the allowed points not proposed yet, shape (m, d)."""
        left = unasked(self.points, asked)
        return left[allowed.valid(left)]

    def _scout(
        self, belief: StudyBelief, j: int, allowed: Domain, asked: FloatArray, rng: Generator
    ) -> Proposal | None:
        coin = rng.random()  # first: whatever else is needed costs milliseconds
        leader = None if coin >= LARGEST_CHANCE else _leader(allowed, belief.posterior)
        if leader is None:
            return None
        mean = belief.posterior.mean(np.concatenate((leader[None], self.points[: self.size])))
        gap, sigma2 = float(mean[0] - mean[1:].mean()), 0.5 * pair_variance(belief)
        if coin * gap**2 >= gap**2 / j + sigma2:
            return None
        holes = _holes(belief, leader, self._left(allowed, asked))
        if len(holes) > 1 and gap**2 < CLEAR_GAP**2 * sigma2:
            return Proposal.pair(*holes[:2])
        return Proposal.pair(leader, holes[0]) if len(holes) else None


def _leader(allowed: Domain, posterior: Posterior) -> FloatArray | None:
    """Return the best allowed point that was measured; `None` if there is none."""
    known = measured(allowed, posterior)
    return known[int(posterior.mean(known).argmax())] if len(known) else None


def _holes(belief: StudyBelief, leader: FloatArray, points: FloatArray) -> FloatArray:
    """Return the points that are holes and may be the top, in their order, shape (k, d)."""
    here, unknown = answer.holes(belief, np.concatenate((leader[None], points)))
    unknown &= here.mean + OPTIMISTIC_DEVIATIONS * np.sqrt(here.psi(0)) >= here.mean[0]
    holes: FloatArray = points[unknown[1:]]
    return holes


def _far_apart(points: FloatArray, size: int, rng: Generator) -> list[int]:
    """Return points far from each other: the first by chance, each next one the farthest from those before."""
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while len(chosen) < min(size, len(points)):
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return chosen
