"""Limits of what may be proposed: not much worse than the start, not far from where the machine stands.

    symbol   meaning                                                     shape
    x0       the start                                                   (d,)
    mu, psi  mean and variance of f(z) - f(x0), by a cautious posterior  (m,)
    k        how many standard deviations a setting must be safe by      ()

A setting z is safe if `mu - k sqrt(psi) >= -drop`: "not more than `drop` worse than the start". The offset is not in
it, so it means something under drift, which an absolute threshold does not (METHOD section 14). The posterior knows the
readings of the present campaign alone: those of an earlier one may be of a machine that was rebuilt. The safe set grows
from the start as more is learned. Each setting that was asked for as safe and turned out not to be shows that the model
is too sure, and raises k by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg, answer, spaces
from equipoise._typing import FloatArray
from equipoise.policies import measured

if TYPE_CHECKING:
    from equipoise.belief import Feasibility, Posterior, StudyBelief
    from equipoise.spaces import Domain
    from equipoise.study.moving import Reach
    from equipoise.study.outputs import Limit, Named, Slack

ROUNDING = 1e-12
"""By how much a difference may exceed a limit: coordinates are rounded."""

SAFE_DEVIATIONS = 3.0
"""k, as long as nothing that was asked for turned out to be unsafe."""

UNSAFE_DEVIATIONS = 1.0
"""A setting turned out to be unsafe if it is below the limit by this many standard deviations. It was three above when
it was asked for, so that under a right model noise alone takes it there in one of 30,000 cases."""

UNIT_DROPS = 3.0
"""The least standard deviation of f that caution assumes, in drops: who sets a limit fears that it may be passed."""

ANCHORS = 4
"""From how many settings that are known to be safe, the best ones, further ones are looked for."""


Keep = Callable[[FloatArray], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Limits:
    """What may be proposed.

    Attributes:
        start: Where things stand now, encoded, shape (d,).
        drop: By how much a setting may be worse than the start.
        max_step: By how much each coordinate may differ from one reading to the next, shape (d,); infinite where it
            may by any amount.
    """

    start: FloatArray | None = None
    drop: float | None = None
    max_step: FloatArray | None = None

    @property
    def none(self) -> bool:
        """Whether anything may be proposed."""
        return self.drop is None and self.max_step is None

    def within(
        self,
        space: Domain,
        belief: StudyBelief,
        feasible: Feasibility,
        reach: Reach | None,
        tried: FloatArray,
        named: Named | None = None,
    ) -> Domain:
        """Return the part of a space that may be proposed now.

        Args:
            space: The part of the space at the present context.
            belief: The belief.
            feasible: Where readings can be had.
            reach: What is within a step, if steps are limited.
            tried: The points that were asked for and measured there, shape (n, d).
            named: What is believed of the measured limits, if nothing may be proposed that may break them.
        """
        if self.none and named is None:
            return space if feasible.certain else spaces.Restricted(space, feasible.allows)
        here = replace(self, start=_moved(space, self.start))
        safe = here._safety(space, belief, tried, named)

        def keep(points: FloatArray) -> NDArray[np.bool_]:
            kept = feasible.allows(points)
            if reach is not None:
                kept &= reach.contains(points)
            kept[kept] = safe(points[kept]) if kept.any() else False
            return kept

        return spaces.Restricted(space, keep, here._anchors(space, belief.posterior, keep, reach))

    def attainable(
        self,
        space: Domain,
        belief: StudyBelief,
        feasible: Feasibility,
        tried: FloatArray,
        named: Named | None = None,
    ) -> Domain:
        """Return the part of a space of which something may be claimed: it is safe, and a step from what was tried."""
        assert self.start is not None
        visited = space.snap(np.concatenate((self.start[None], tried)))
        here = replace(self, start=visited[0])
        safe, step = here._safety(space, belief, tried, named), self.max_step
        places = visited[_linalg.firsts(visited)]

        def keep(points: FloatArray) -> NDArray[np.bool_]:
            kept = feasible.allows(points)
            if step is not None:
                kept &= _near_any(points, places, step)
            kept[kept] = safe(points[kept]) if kept.any() else False
            return kept

        return spaces.Restricted(space, keep, here._anchors(space, belief.posterior, keep, None))

    def unsafe(self, belief: StudyBelief, points: Sequence[FloatArray]) -> list[FloatArray]:
        """Return those of some settings, shape (d,) each, that are worse than the start by more than the drop."""
        if self.drop is None or not points:
            return []
        return list(_broken(self._dropped(belief, self.drop), np.array(points)))

    def _safety(self, space: Domain, belief: StudyBelief, tried: FloatArray, named: Named | None = None) -> Keep:
        """Return what says which points hardly drop below the start by too much, and hardly break a limit."""
        slacks = [] if self.drop is None else [self._dropped(belief, self.drop)]
        slacks += [] if named is None else named.slacks(partial(_wary, named))
        here = space.snap(tried) if len(tried) else tried
        places = here[_linalg.firsts(here)]
        known = [(slack, SAFE_DEVIATIONS + len(_broken(slack, places))) for slack in slacks]

        def safe(points: FloatArray) -> NDArray[np.bool_]:
            kept = np.ones(len(points), dtype=np.bool_)
            for slack, k in known:
                mean, sd = slack(points)
                kept &= mean - k * sd >= 0  # METHOD section 14
            return kept

        return safe

    def _dropped(self, belief: StudyBelief, drop: float) -> Slack:
        """Return what says how far points are from dropping below the start by too much."""
        posterior, start = answer.cautious(belief, UNIT_DROPS * drop), self.start
        assert start is not None

        def slack(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            here = posterior.at(np.concatenate((start[None], points)))
            return (here.mean - here.mean[0])[1:] + drop, np.sqrt(here.psi(0))[1:]

        return slack

    def _anchors(self, space: Domain, posterior: Posterior, keep: Keep, reach: Reach | None) -> FloatArray:
        """Return where to look from, shape (k, d): where the machine stands if steps are limited, or else the start.

        The best settings known follow. If nothing is kept, the machine goes back towards the start.
        """
        assert self.start is not None
        back = self.start if reach is None else _back(space, self.start, reach)
        first = np.array([back if reach is None else reach.at, back])
        first = first[keep(first)]
        known = measured(space, posterior).reshape(-1, space.dimension)
        known = known[keep(known)] if len(known) else known
        best = known[np.argsort(-posterior.mean(known))[: ANCHORS - 1]] if len(known) else known
        found = np.concatenate((first[:1], best))
        return found[_linalg.firsts(found)] if len(found) else back[None]


def _broken(slack: Slack, points: FloatArray) -> FloatArray:
    """Return those of some points, shape (m, d), that turned out to break a limit, shape (k, d)."""
    if not len(points):
        return points
    mean, sd = slack(points)
    broken: FloatArray = points[mean + UNSAFE_DEVIATIONS * sd < 0]
    return broken


def _wary(named: Named, belief: StudyBelief, limit: Limit) -> Posterior:
    """Return the belief about an output that a limit is to be relied on by: cautious in the unit of its margin."""
    margin = abs(limit.bound) if limit.relative else abs(named.margin(limit))
    return answer.cautious(belief, UNIT_DROPS * margin)


def _back(space: Domain, start: FloatArray, reach: Reach) -> FloatArray:
    """Return the setting within reach that is nearest to the start; where the machine stands if there is none."""
    point: FloatArray = space.snap(reach.towards(start)[None])
    there = bool(space.valid(point)[0] and reach.contains(point)[0])
    return point[0] if there else reach.at


def _near_any(points: FloatArray, places: FloatArray, step: FloatArray) -> NDArray[np.bool_]:
    """Return which points, shape (m, d), are within a step of any of some places, shape (n, d)."""
    near = np.zeros(len(points), dtype=np.bool_)
    for place in places:
        near |= np.logical_and.reduce(np.abs(points - place) <= step + ROUNDING, axis=1)
    return near


def _moved(space: Domain, point: FloatArray | None) -> FloatArray | None:
    """Return a setting as it is in a part of the space: at its context."""
    if point is None:
        return None
    here: FloatArray = space.snap(point[None])[0]
    return here
