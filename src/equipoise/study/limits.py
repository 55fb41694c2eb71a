"""Limits of what may be proposed: not much worse than the start, not far from the last set point.

    symbol   meaning                                                     shape
    x0       the start                                                   (d,)
    mu, psi  mean and variance of f(z) - f(x0), by a cautious posterior  (m,)

A setting z is safe where `mu - k sqrt(psi) >= -drop`: "not more than `drop` worse than the present setting". The offset
is not in it, so it means something under drift, which an absolute threshold does not (METHOD section 14). The safe set
grows from the start as more is learned.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief import Feasibility, Posterior
from equipoise.policies.search import measured
from equipoise.spaces import Domain
from equipoise.spaces.restricted import Restricted

SAFE_DEVIATIONS = 3.0
"""k: how many standard deviations a setting must be safe by."""

UNIT_DROPS = 3.0
"""The least standard deviation of f that caution assumes, in drops: who sets a limit fears that it may be passed."""

ANCHORS = 4
"""From how many settings that are known to be safe, the best ones, further ones are looked for."""


ROUNDING = 1e-12
"""By how much a difference may exceed a limit: coordinates are rounded."""


Keep = Callable[[FloatArray], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Limits:
    """What may be proposed.

    Attributes:
        start: Where things stand now, encoded, shape (d,).
        drop: By how much a setting may be worse than the start.
        max_step: By how much each coordinate may differ from the last set point, shape (d,); infinite where it may by
            any amount.
    """

    start: FloatArray | None = None
    drop: float | None = None
    max_step: FloatArray | None = None

    @property
    def none(self) -> bool:
        """Whether anything may be proposed."""
        return self.drop is None and self.max_step is None

    def within(self, space: Domain, posterior: Posterior, feasible: Feasibility, last: FloatArray | None) -> Domain:
        """Return the part of a space that may be proposed now.

        Args:
            space: Where points lie.
            posterior: The belief.
            feasible: Where readings can be had.
            last: The last set point, encoded, shape (d,).
        """
        if self.none:
            return space if feasible.certain else Restricted(space, feasible.allows)
        here, last = replace(self, start=_moved(space, self.start)), _moved(space, last)
        cautious = None if self.drop is None else posterior.cautious(UNIT_DROPS * self.drop)

        def keep(points: FloatArray) -> NDArray[np.bool_]:
            kept = feasible.allows(points) & here._near(points, last)
            if cautious is not None:
                kept[kept] = here._safe(cautious, points[kept]) if kept.any() else False
            return kept

        return Restricted(space, keep, here._anchors(space, posterior, keep, last))

    def _safe(self, cautious: Posterior, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points are hardly worse than the start by more than the drop, shape (m,)."""
        assert self.start is not None
        assert self.drop is not None
        belief = cautious.at(np.concatenate((self.start[None], points)))
        least = belief.mean - belief.mean[0] - SAFE_DEVIATIONS * np.sqrt(belief.psi(0))  # METHOD section 14
        safe: NDArray[np.bool_] = least[1:] >= -self.drop
        return safe

    def _near(self, points: FloatArray, last: FloatArray | None) -> NDArray[np.bool_]:
        """Return which points lie within half a step of the last set point: any two of them are within one step."""
        if self.max_step is None or last is None:
            return np.ones(len(points), dtype=np.bool_)
        near: NDArray[np.bool_] = np.logical_and.reduce(np.abs(points - last) <= 0.5 * self.max_step + ROUNDING, axis=1)
        return near

    def _anchors(self, space: Domain, posterior: Posterior, keep: Keep, last: FloatArray | None) -> FloatArray:
        """Return where to look from: the last set point if steps are limited, else the start; and the best kept."""
        first = self.start if self.max_step is None else last
        known = measured(space, posterior).reshape(-1, space.dimension)
        known = known[keep(known)] if len(known) else known
        best = known[np.argsort(-posterior.mean(known))[: ANCHORS - 1]] if len(known) else known
        assert first is not None
        anchors = np.concatenate((first[None], best))
        distinct: FloatArray = anchors[_linalg.firsts(anchors)]
        return distinct


def _moved(space: Domain, point: FloatArray | None) -> FloatArray | None:
    """Return a setting as it is in a part of the space: at its context."""
    if point is None:
        return None
    here: FloatArray = space.snap(point[None])[0]
    return here


NO_LIMITS = Limits()
