"""The usability of a setting: the probability that it holds the limits of the study, and an estimate of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.answer.wording import interval

if TYPE_CHECKING:
    from numpy.random import Generator

    from equipoise.spaces import Domain

USABLE = 0.95
"""A setting may be used if it holds all limits with this probability."""

Slack = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""A function that returns mean and standard deviation, shapes (m,), of a limit's slack at points, shape (m, d)."""


@dataclass(frozen=True, eq=False)
class Doubtful:
    """The settings that may hold all limits, also those that cannot be recommended yet.

    Attributes:
        part: The part of the space where all limits hold with at least 5 %.
        slacks: The slack of each limit about which enough is known.
    """

    part: Domain
    slacks: Sequence[Slack]

    def drawn(self, points: FloatArray, draws: int, rng: Generator) -> NDArray[np.bool_]:
        """Return which points, shape (m, d), hold all limits in each draw of the belief, shape (draws, m).

        In a draw the slack of a limit lies equally many deviations from its mean at all points: neighbors hold a limit
        together, as they really do.
        """
        held = np.ones((draws, len(points)), dtype=np.bool_)
        for slack in self.slacks:
            mean, sd = slack(points)
            held &= mean + rng.standard_normal((draws, 1)) * sd >= 0  # METHOD section 18
        return held


@dataclass(frozen=True)
class LimitEstimate:
    """The estimate of a limited output at a setting.

    Attributes:
        limit: The limit, as a text.
        value: The output; its difference from the start, if the limit is relative to the start.
        low: The lower limit of the interval, with a confidence of 95 %.
        high: The upper limit, likewise.

    Example:
        >>> print(LimitEstimate("loss <= 3", 2.513, 2.31, 2.72))
        loss <= 3: 2.51 [2.31, 2.72]
    """

    limit: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.limit}: {interval(self.value, self.low, self.high)}"


@dataclass(frozen=True)
class Usability:
    """The probability that a setting holds all limits.

    Attributes:
        probability: The probability that all of them hold; 0 if too little is known about an output.
        limits: The estimate of each.
        unknown: The outputs with too few readings for a statement about their limits.

    Example:
        >>> print(Usability(0.62, (LimitEstimate("loss <= 3", 2.91, 2.3, 3.52),)))
        No setting is known to hold all limits with 95 %: this one does with 62 %. loss <= 3: 2.91 [2.30, 3.52].
        >>> print(Usability(0.0, (LimitEstimate("loss <= 3", 2.91, 2.3, 3.52),), ("size",)))
        It is unknown if all limits hold: there are too few readings of size. loss <= 3: 2.91 [2.30, 3.52].
    """

    probability: float
    limits: tuple[LimitEstimate, ...]
    unknown: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """True if all limits hold with a probability of 95 %."""
        return self.probability >= USABLE

    def __str__(self) -> str:
        return self.told(map(str, self.limits))

    def told(self, limits: Iterable[str]) -> str:
        """Return the probability that limits hold, and an estimate of each."""
        percent = min(int(100 * self.probability), 99)
        if self.unknown:
            said = f"It is unknown if all limits hold: there are too few readings of {', '.join(self.unknown)}"
        elif self.usable:
            said = f"All limits hold with {percent} %"
        else:
            said = f"No setting is known to hold all limits with {100 * USABLE:.0f} %: this one does with {percent} %"
        known = "; ".join(limits)
        return f"{said}. {known}." if known else f"{said}."
