"""The question of a comparison: which arms, measured on which scale, and the precision of the answer.

symbol   meaning                                                                     shape
d        log of the second reading over the first (`ratio`), or their difference    ()
margin   arms that differ by less are the same; on the scale of d                    ()
limit    an arm that is worse than the first one by more fails; on the scale of d    ()
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise.answer.sequential import Interval, anytime, median, paired, typical

Scale = Literal["ratio", "difference"]
Kind = Literal["time", "memory", "reading"]
Center = Callable[[ArrayLike, float], Interval]
"""A function from differences and alpha to a center, with an interval that is valid at every time."""

CENTERS: dict[str, Center] = {"typical": typical, "median": median, "mean": anytime}
"""The centers, by name. `typical` bets on the coins of the order. `median` is exact for any law, and needs half
as many rounds again; `mean`, for users who pay for the sum of all times, is exact for normal noise."""

Pair = tuple[str, str]
"""Two arms, in the given order."""

AGAIN = " (again)"
"""Suffix of the name of the first arm for its repetition, the null."""


@dataclass(frozen=True)
class Question:
    """The question of a comparison: which arm is best, or is any worse than the first by more than a limit?

    Args:
        arms: Names, two or more; the others are compared with the first.
        higher: Whether a higher reading is better; by default a lower one is, as for times.
        scale: `ratio` for times and other positive numbers, `difference` for readings that may be zero.
        margin: Arms that differ by less are called the same: a fraction (0.01 is 1 %) on the ratio scale, else in
            the unit of the reading. At 0 nothing is ever called the same.
        fail_above: A limit for a separate question: is an arm worse than the first one by more than this?
        center: The center of the differences to estimate: `typical`, `median` or `mean`.
        alpha: The probability that any of the claims is wrong, over all pairs and all checks.
        kind: The kind of reading, for words and units: a `time` in seconds, `memory` in bytes, or any other `reading`.
        null: An arm that repeats the first one; its difference from it is the noise floor.

    Example:
        >>> question = Question(("old", "new"), margin=0.01)
        >>> question.difference(2.0, 2.2)
        0.0953...
        >>> question.pairs
        [('old', 'new')]
    """

    arms: tuple[str, ...]
    higher: bool = False
    scale: Scale = "ratio"
    margin: float = 0.0
    fail_above: float | None = None
    center: str = "typical"
    alpha: float = 0.05
    kind: Kind = "time"
    null: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", _names(self.arms))
        _one_of("scale", self.scale, ("ratio", "difference"))
        _one_of("kind", self.kind, ("time", "memory", "reading"))
        _one_of("center", self.center, tuple(CENTERS))
        check.nonnegative("margin", self.margin)
        check.probability("alpha", self.alpha)
        if self.fail_above is not None:
            check.nonnegative("fail_above", self.fail_above)
        if self.null is not None and self.null not in self.arms[1:]:
            raise ValueError(f"`null` must be one of the arms, and not the first, got {self.null!r}")

    @property
    def rivals(self) -> tuple[str, ...]:
        """The arms that compete: all but the null."""
        return tuple(arm for arm in self.arms if arm != self.null)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs to compare: all rivals, and the first arm with the null."""
        return [*combinations(self.rivals, 2), *self.null_pair]

    @property
    def null_pair(self) -> Iterator[Pair]:
        """The first arm and its repetition, if requested."""
        return iter([] if self.null is None else [(self.arms[0], self.null)])

    @property
    def alpha_each(self) -> float:
        """The error rate for each pair: Bonferroni, since the best pair is not known beforehand."""
        return self.alpha / max(len(self.pairs), 1)

    @property
    def interval(self) -> Center:
        """The function from differences to an interval."""
        return typical_reading if (self.center, self.scale) == ("typical", "difference") else CENTERS[self.center]

    @property
    def sign(self) -> float:
        """The factor that makes a difference positive if the second arm is worse."""
        return -1.0 if self.higher else 1.0

    def reading(self, value: float) -> float:
        """Return a reading; refuse one that is invalid on the scale."""
        value = check.number("value", value)
        if self.scale == "ratio" and value <= 0:
            raise ValueError(f"`value` must be positive on the scale `ratio`, got {value:g}: use `difference`")
        return value

    def difference(self, first: float, second: float) -> float:
        """Return the difference of the second reading from the first, on the scale of the question."""
        return second - first if self.scale == "difference" else math.log(second / first)

    def on_scale(self, amount: float) -> float:
        """Return a margin or limit on the scale of the differences."""
        return math.log1p(amount) if self.scale == "ratio" else amount


def _names(arms: Sequence[str]) -> tuple[str, ...]:
    """Return the names of arms; refuse names that look alike."""
    if isinstance(arms, str) or not all(isinstance(arm, str) and arm for arm in arms):
        raise TypeError(f"`arms` must be names, got {arms!r}")
    names = tuple(arms)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"`arms` must be two or more different names, got {names!r}")
    return names


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"`{name}` must be one of {', '.join(allowed)}, got {value!r}")


def typical_reading(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the typical difference of readings that may come in steps, as passes do: of these, the mean.

    Differences that are all equal are treated as exact, as those of programs that count.

    Example:
        >>> typical_reading([2.0] * 9)
        Interval(value=2.0, low=2.0, high=2.0)
        >>> round(typical_reading([2.0] * 8 + [0.0]).low, 2)
        0.08
    """
    exact = np.size(differences) and not np.ptp(differences)
    return typical(differences, alpha) if exact else paired(differences, alpha)
