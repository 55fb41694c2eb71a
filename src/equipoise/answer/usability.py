"""Whether a setting may be used: how surely it holds the limits of the study, and what is known of each."""

from collections.abc import Iterable
from dataclasses import dataclass

from equipoise.answer.wording import interval

USABLE = 0.95
"""A setting may be used if it holds all limits with this probability."""


@dataclass(frozen=True)
class LimitEstimate:
    """What is known of a limit at a setting.

    Attributes:
        limit: The limit, as a text.
        value: The output; above that of the start, if the limit is relative to the start.
        low: It is at least this, with a confidence of 95 %.
        high: It is at most this, likewise.

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
    """How surely a setting holds all limits.

    Attributes:
        probability: With which all of them hold; 0 if too little is known of an output.
        limits: What is known of each.
        unknown: The outputs of which too little is known to say whether their limits hold.

    Example:
        >>> print(Usability(0.62, (LimitEstimate("loss <= 3", 2.91, 2.3, 3.52),)))
        No setting is known to hold all limits with 95 %: this one does with 62 %. loss <= 3: 2.91 [2.30, 3.52].
        >>> print(Usability(0.0, (LimitEstimate("loss <= 3", 2.91, 2.3, 3.52),), ("size",)))
        Whether all limits hold cannot be said: there are too few readings of size. loss <= 3: 2.91 [2.30, 3.52].
    """

    probability: float
    limits: tuple[LimitEstimate, ...]
    unknown: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether all limits hold with 95 %."""
        return self.probability >= USABLE

    def __str__(self) -> str:
        return self.told(map(str, self.limits))

    def told(self, limits: Iterable[str]) -> str:
        """Return how surely limits hold, and what is known of each."""
        percent = min(int(100 * self.probability), 99)
        if self.unknown:
            said = f"Whether all limits hold cannot be said: there are too few readings of {', '.join(self.unknown)}"
        elif self.usable:
            said = f"All limits hold with {percent} %"
        else:
            said = f"No setting is known to hold all limits with {100 * USABLE:.0f} %: this one does with {percent} %"
        known = "; ".join(limits)
        return f"{said}. {known}." if known else f"{said}."
