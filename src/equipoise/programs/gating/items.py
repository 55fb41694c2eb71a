"""Two models on the same items: which is better, valid at any time, and which items to run next.

symbol   meaning                                                          shape
d        score of the second minus the first, by item or cluster          (n,)
m, N     items that both have run, and all items                          (), ()
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer import Interval
from equipoise.answer.sequential import bounded_mean, coin_wealth, expected, finals, foreseen, tail

FINAL = 0.8
"""Share of alpha for the final sign test: with the next two, all tests together err with alpha at most."""

SURE = 0.9
"""The final test counts as significant if fair coins would make it so with this chance: it costs FINAL / SURE."""

EARLY = 0.1
"""Share of alpha for bets on the signs, which decide large differences early."""

HOPELESS = 0.06
"""Chance of a significant final test below which the test is not awaited."""

STAKES = np.array([0.1, 0.2, 0.35, 0.6, 1.0])
"""Bets on signs, for shares of wins of 55 to 88 %."""

Standing = Literal["better", "worse", "same", "open"]


@dataclass(frozen=True)
class ItemScore:
    """The score of a model on an item.

    Attributes:
        value: Its score; a pass is 1, a failure 0.
        cluster: The group of the item, such as a passage with several questions; empty if there is none.
    """

    value: float
    cluster: str = ""


@dataclass(frozen=True)
class Items:
    """The result of two models on the same items.

    Attributes:
        difference: Mean score of the second minus that of the first, with an interval that is valid at any time.
        wins: Items, or clusters, on which the second is better.
        losses: Items on which it is worse.
        seen: Items that both have run.
        items: Items in all.
        standing: Whether the second is `better`, `worse`, the `same` according to all these items, or `open`.
        chance: The probability that the test on all items will be significant.
    """

    difference: Interval
    wins: int
    losses: int
    seen: int
    items: int
    standing: Standing
    chance: float

    @property
    def decided(self) -> bool:
        """True if no more items are needed."""
        return self.standing != "open"

    def __str__(self) -> str:
        found = self.difference
        size = f"{found.value:+.3g} [{found.low:+.3g}, {found.high:+.3g}]"
        counts = f"{self.wins} wins, {self.losses} losses and {self.seen - self.wins - self.losses} ties"
        said = {
            "better": "The second is better",
            "worse": "The second is worse",
            "same": f"These {self.items} items do not distinguish the two",
            "open": "Not decided",
        }
        return f"{said[self.standing]}: {size}, with {counts} on {self.seen} of {self.items} items."


def compared(first: Mapping[str, ItemScore], second: Mapping[str, ItemScore], alpha: float = 0.05) -> Items:
    """Return the result of two models on the items that both have run.

    Items of a cluster count as one: their mean difference. If the items that both have run are not all, they must be
    a random choice: those that `next_items` returned.

    Args:
        first: Scores by item.
        second: Scores by item.
        alpha: The probability of a wrong claim that the second is better or worse, over all checks.

    Example:
        >>> old = {str(i): ItemScore(float(i % 3 == 0)) for i in range(300)}
        >>> new = {str(i): ItemScore(float(i % 3 == 0 or i % 5 == 0)) for i in range(120)}
        >>> print(compared(old, new))
        The second is better: +0.133 [+0.0528, +0.245], with 16 wins, 0 losses and 104 ties on 120 of 300 items.
    """
    check.probability("alpha", alpha)
    d, items = differences(first, second)
    signs = np.sign(d)
    wins, losses = int((signs > 0).sum()), int((signs < 0).sum())
    standing, chance = _standing(signs, wins, losses, items, alpha)
    bound = float(np.abs(d).max(initial=0.0))
    if not bound:
        return Items(Interval(0.0 if len(d) else math.nan), wins, losses, len(d), items, standing, chance)
    mean = bounded_mean((d / bound + 1.0) / 2.0, alpha)
    low, high = bound * (2.0 * mean.low - 1.0), bound * (2.0 * mean.high - 1.0)
    return Items(Interval(float(d.mean()), low, high), wins, losses, len(d), items, standing, chance)


def differences(first: Mapping[str, ItemScore], second: Mapping[str, ItemScore]) -> tuple[FloatArray, int]:
    """Return the difference of each cluster that both have, in random order, and the number of all clusters."""
    clusters: dict[str, list[float]] = {}
    for item in shuffled([item for item in first if item in second]):
        cluster = first[item].cluster or second[item].cluster
        clusters.setdefault(f"in {cluster}" if cluster else item, []).append(second[item].value - first[item].value)
    known = {**first, **second}
    every = {f"in {score.cluster}" if score.cluster else item for item, score in known.items()}
    return np.array([float(np.mean(each)) for each in clusters.values()]), len(every)


def next_items(first: Mapping[str, ItemScore], second: Mapping[str, ItemScore], n: int) -> list[str]:
    """Return the items to run next, the same for both: in a random order that depends only on their names."""
    return shuffled([item for item in {**first, **second} if item not in first or item not in second])[:n]


def shuffled(items: list[str]) -> list[str]:
    """Return items in a random order that depends only on their names: further items do not change it."""
    return sorted(items, key=lambda item: hashlib.sha256(item.encode("utf-8", "replace")).digest())


def _standing(signs: FloatArray, wins: int, losses: int, items: int, alpha: float) -> tuple[Standing, float]:
    """Return the standing, and the probability that the test on all items will be significant."""
    pairs, lead = wins + losses, wins - losses
    if not len(signs):
        return "open", 1.0
    level, ahead = FINAL * alpha, "better" if lead > 0 else "worse"
    ends = finals(pairs, len(signs), items)
    chance = expected(lead, pairs, ends[1], level)
    bets = [coin_wealth(side * signs, STAKES, np.full(len(STAKES), 1 / len(STAKES)))[-1] for side in (1.0, -1.0)]
    sure = min(foreseen(lead, pairs, final, level) for final in ends) >= SURE
    if len(signs) == items:
        sure = 2.0 * tail(pairs, abs(lead)) <= level
    if sure or max(bets) >= 2.0 / (EARLY * alpha):
        return ("better" if ahead == "better" else "worse"), chance
    return ("same" if len(signs) == items or chance < HOPELESS else "open"), chance
