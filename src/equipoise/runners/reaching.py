"""Reaching a bound: when a study changes from searching to audits, and the forecast of the time.

A search stays at the top, so the bound falls slowly; duels of an audit lower it faster. So once the leader has settled,
audits are planned until the bound is reached, each as long as it is expected to take.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise.answer import EVERYTHING, Recommendation, duels_to, expected, settled
from equipoise.runners.user_function import Asking
from equipoise.study import BoundMissed

FEWEST_DUELS, MOST_DUELS = 8, 24
"""Minimum and maximum number of duels of an audit, after which the bound is checked again."""

LOOK_EVERY = 4
"""Number of readings between checks of a search: a check costs as much processor time as several readings."""


@dataclass
class Reaching:
    """A bound that a study should reach.

    Args:
        opt: The study.
        eps: The bound; `None` for no bound.
        readings: Maximum number of readings of the study; `None` for no limit.
        audit: Whether the bound must be audited; otherwise an estimate is enough.
        context: The value of each `Context` of the space.
        report: Called with each message, a sentence.
    """

    opt: Asking
    eps: float | None
    readings: int | None = None
    audit: bool = True
    context: Mapping[str, Any] | None = None
    report: Callable[[str], object] = lambda text: None
    _next: int = field(default=0, init=False)
    _said: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.eps is not None:
            check.positive("eps", self.eps)

    @property
    def left(self) -> int | None:
        """The number of readings left."""
        return None if self.readings is None else max(self.readings - self.opt.readings, 0)

    def reached(self) -> bool:
        """Return whether the bound is reached; if it is not, plan an audit when one is due.

        During an audit, and between two checks, the bound is not computed.
        """
        if self.eps is None or self.opt.study.plan is not None or self.opt.readings < self._next:
            return False
        self._next = self.opt.readings + LOOK_EVERY
        best = self.opt.recommend(context=self.context)
        if best.certifies(self.eps, audit=self.audit):
            return True
        self._foretell(best, self.eps)
        duels = self._duels(best, self.eps)
        if duels:
            self.opt.audit(duels, context=self.context)
            self._next = 0
        return False

    def missed(self) -> str:
        """Return why the bound is not reached, in a sentence; empty if it is reached."""
        if self.eps is None:
            return ""
        best = self.opt.recommend(context=self.context)
        return "" if best.certifies(self.eps, audit=self.audit) else expected(best, self.eps, self.left)

    def notices(self) -> tuple[Warning, ...]:
        """Return the final notice for the user."""
        missed = self.missed()
        return (BoundMissed(missed),) if missed else ()

    def _foretell(self, best: Recommendation, eps: float) -> None:
        """Report the forecast once, as soon as there is one."""
        if best.forecast is not None and not self._said:
            self._said = True
            self.report(expected(best, eps, self.left))

    def _duels(self, best: Recommendation, eps: float) -> int:
        """Return the number of duels of the next audit; 0 while the search should continue."""
        if best.forecast is None or best.overall.scope != EVERYTHING or not settled(best, eps):
            return 0
        needed, left = duels_to(best, eps), self.left
        if needed is None or (left is not None and needed > left):  # twice the readings left: the search may still help
            return 0
        room = MOST_DUELS if left is None else left // 2
        return int(np.clip(needed, FEWEST_DUELS, min(MOST_DUELS, room))) if room >= 2 else 0
