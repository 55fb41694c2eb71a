"""Limits of proposals: not much worse than the start, not far from the present setting of the machine.

    symbol   meaning                                                     shape
    x0       the start                                                   (d,)
    mu, psi  mean and variance of f(z) - f(x0), by a cautious posterior  (m,)
    k        required safety margin, in standard deviations              ()

A setting z is safe if `mu - k sqrt(psi) >= -drop`: "not more than `drop` worse than the start". The offset cancels in
this difference, so the rule has a meaning under drift; an absolute threshold has none (METHOD section 14). The
posterior has the readings of the present campaign only, since the machine may have been rebuilt since an earlier one.
The safe set grows from the start with each reading. A setting that was proposed as safe and turned out to be unsafe
shows that the model is too confident, and raises k by one.
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
"""The amount by which a difference may exceed a limit, since coordinates are rounded."""

SAFE_DEVIATIONS = 3.0
"""k, as long as no proposed setting turned out to be unsafe."""

UNSAFE_DEVIATIONS = 1.0
"""A setting turned out to be unsafe if it is below the limit by this many standard deviations. It was three above when
it was asked for, so that under a right model noise alone takes it there in one of 30,000 cases."""

UNIT_DROPS = 3.0
"""The least standard deviation of f that caution assumes, in drops: a limit is set if it could be passed."""

ANCHORS = 4
"""The number of settings, the best ones known to be safe, from which the search starts."""


Keep = Callable[[FloatArray], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of proposals.

    Attributes:
        start: The initial setting, encoded, shape (d,).
        drop: The amount by which a setting may be worse than the start.
        max_step: The largest change of each coordinate from one reading to the next, shape (d,); infinite without a
            limit.
    """

    start: FloatArray | None = None
    drop: float | None = None
    max_step: FloatArray | None = None

    @property
    def none(self) -> bool:
        """True if there is no limit."""
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
            feasible: The settings that can be measured.
            reach: The settings within a step, if steps are limited.
            tried: The proposed points that were measured there, shape (n, d).
            named: The belief about the measured limits, if proposals must not break them.
        """
        if self.none and named is None:
            return space if feasible.certain else spaces.Restricted(space, feasible.allows)
        here = replace(self, start=_moved(space, self.start))
        near = None if reach is None else reach.contains
        keep = _filter(feasible, near, here._safety(space, belief, tried, named))
        return spaces.Restricted(space, keep, here._anchors(space, belief.posterior, keep, reach))

    def attainable(
        self,
        space: Domain,
        belief: StudyBelief,
        feasible: Feasibility,
        tried: FloatArray,
        named: Named | None = None,
    ) -> Domain:
        """Return the part of a space that claims may cover: safe settings within a step of a tried one."""
        assert self.start is not None
        visited = space.snap(np.concatenate((self.start[None], tried)))
        here = replace(self, start=visited[0])
        places, step = visited[_linalg.firsts(visited)], self.max_step
        near = None if step is None else partial(_near_any, places=places, step=step)
        keep = _filter(feasible, near, here._safety(space, belief, tried, named))
        return spaces.Restricted(space, keep, here._anchors(space, belief.posterior, keep, None))

    def unsafe(self, belief: StudyBelief, points: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the settings, shape (d,) each, that are worse than the start by more than the drop."""
        if self.drop is None or not points:
            return []
        return list(_broken(self._dropped(belief, self.drop), np.array(points)))

    def _safety(self, space: Domain, belief: StudyBelief, tried: FloatArray, named: Named | None = None) -> Keep:
        """Return a filter of points that are safely above the allowed drop and within the limits."""
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
        """Return the slack of points above the allowed drop below the start."""
        posterior, start = answer.cautious(belief, UNIT_DROPS * drop), self.start
        assert start is not None

        def slack(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            here = posterior.at(np.concatenate((start[None], points)))
            return (here.mean - here.mean[0])[1:] + drop, np.sqrt(here.psi(0))[1:]

        return slack

    def _anchors(self, space: Domain, posterior: Posterior, keep: Keep, reach: Reach | None) -> FloatArray:
        """Return where the search starts, shape (k, d): the machine's setting if steps are limited, or else the start.

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


def _filter(feasible: Feasibility, near: Keep | None, safe: Keep) -> Keep:
    """Return a filter of points that can be measured, are near enough and safe; safety is the slowest check."""

    def keep(points: FloatArray) -> NDArray[np.bool_]:
        kept = feasible.allows(points)
        if near is not None:
            kept &= near(points)
        kept[kept] = safe(points[kept]) if kept.any() else False
        return kept

    return keep


def _broken(slack: Slack, points: FloatArray) -> FloatArray:
    """Return the points, of shape (m, d), that turned out to break a limit, shape (k, d)."""
    if not len(points):
        return points
    mean, sd = slack(points)
    broken: FloatArray = points[mean + UNSAFE_DEVIATIONS * sd < 0]
    return broken


def _wary(named: Named, belief: StudyBelief, limit: Limit) -> Posterior:
    """Return the belief for relying on the limit of an output: cautious in the unit of its margin."""
    margin = abs(limit.bound) if limit.relative else abs(named.margin(limit))
    return answer.cautious(belief, UNIT_DROPS * margin)


def _back(space: Domain, start: FloatArray, reach: Reach) -> FloatArray:
    """Return the setting within reach nearest to the start; the machine's present setting if there is none."""
    point: FloatArray = space.snap(reach.towards(start)[None])
    there = bool(space.valid(point)[0] and reach.contains(point)[0])
    return point[0] if there else reach.at


def _near_any(points: FloatArray, places: FloatArray, step: FloatArray) -> NDArray[np.bool_]:
    """Return a mask of the points, shape (m, d), within a step of any of the places, shape (n, d)."""
    near = np.zeros(len(points), dtype=np.bool_)
    for place in places:
        near |= np.logical_and.reduce(np.abs(points - place) <= step + ROUNDING, axis=1)
    return near


def _moved(space: Domain, point: FloatArray | None) -> FloatArray | None:
    """Return a setting moved to the context of a part of the space."""
    if point is None:
        return None
    here: FloatArray = space.snap(point[None])[0]
    return here
