"""Claims: what is said of an answer, and on what ground.

kind       the ground                                                             what it assumes
theorem    a confidence bound of the paper                                        kernel, noise and norm are right
verified   fresh duels in random order: bets on their signs, at any time          the coin; noise alike or symmetric
audited    an estimate, after duels that were spent on proving it wrong           the model, tried where it is weakest
estimate   draws of functions from what was learned                               the model
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

from equipoise.answer.share import Share
from equipoise.answer.wording import claimed, differing

Kind = Literal["theorem", "verified", "audited", "estimate"]


@dataclass(frozen=True)
class Claim:
    """How much better something else may be than what is recommended.

    Attributes:
        kind: On what ground this is said.
        bound: Nothing of the scope is better by more than this; infinite where too little is known.
        scope: What it was compared with, in words.

    Example:
        >>> print(Claim("estimate", 0.04, "all settings"))
        By estimate, nothing is better by more than 0.040.
    """

    kind: Kind
    bound: float
    scope: str

    def __str__(self) -> str:
        return claimed(self)


@dataclass(frozen=True)
class Difference:
    """How much one setting is above another, free of the offset.

    Attributes:
        value: The estimate of f(first) - f(second).
        low: It is at least this, with a confidence of 95 %.
        high: It is at most this, likewise.
        kind: On what ground this is said.
        duels: How many fresh duels of the two it rests on; 0 where it rests on a model of f.
        chosen: In which share of cases a judge would prefer the first, by estimate; `None` where nobody judged.
        preferred: In which share of fresh judgements, planned by `verify`, the first was preferred, if there were any.
        also: What is claimed of the same difference on another ground.

    Example:
        >>> print(Difference(0.31, 0.2, 0.42, "verified", 24))
        0.31 [0.20, 0.42], verified by 24 fresh duels
    """

    value: float
    low: float
    high: float
    kind: Kind
    duels: int = 0
    chosen: float | None = None
    preferred: Share | None = None
    also: "Difference | None" = None

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def width(self) -> float:
        """How far apart the limits are."""
        return self.high - self.low

    def beside(self, other: "Difference") -> "Difference":
        """Return the better one of two claims, which names the other: this one, the stronger, unless it is idle.

        It is idle if it does not exclude zero and the other one is narrower.
        """
        if self.clear or self.width <= other.width:
            return replace(self, also=other if math.isfinite(other.width) else None)
        return replace(other, also=self if math.isfinite(self.width) else None)

    def __neg__(self) -> "Difference":
        chosen = None if self.chosen is None else 1.0 - self.chosen
        preferred = None if self.preferred is None else -self.preferred
        also = None if self.also is None else -self.also
        return Difference(-self.value, -self.high, -self.low, self.kind, self.duels, chosen, preferred, also)

    def __str__(self) -> str:
        return differing(self)
