"""Two models on the same items, item by item: when it is decided, and what McNemar's test says of all items."""

from typing import NamedTuple

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer.sequential import tail
from equipoise.programs.gating import ItemScore, compared

LOOKS = 40
"""Looks in a run, evenly over the items; each one more is a chance to be wrong, so a test looks after every item."""

SPREAD = 1.5
"""Deviation of the difficulty of items, in logits, which both models share."""


class ItemRun(NamedTuple):
    """One pair of models.

    Attributes:
        standing: The verdict when it was decided.
        share: Of the items that had been read then.
        full: The verdict of the exact test of McNemar on all items, at 5 %.
    """

    standing: str
    share: float
    full: str


def models(effect: float, items: int, seed: int, same: float = 0.8) -> tuple[FloatArray, FloatArray]:
    """Return passes of two models on items, each shape (items,).

    Args:
        effect: By how many logits the second is better.
        items: How many.
        seed: Of the random numbers.
        same: Part of the luck on an item that both share: they are versions of one model.
    """
    rng = np.random.default_rng(seed)
    level = 1.0 + SPREAD * rng.normal(size=items)
    luck = np.where(rng.random(items) < same, rng.logistic(size=items), np.nan)
    first, second = (np.where(np.isnan(luck), rng.logistic(size=items), luck) for _ in range(2))
    return (level > first).astype(float), (level + effect > second).astype(float)


def items_read(effect: float, items: int, seed: int, looks: int = LOOKS) -> ItemRun:
    """Return one run: look now and then until it is decided, beside the test on all items.

    Example:
        >>> items_read(2.0, 400, 0)
        ItemRun(standing='better', share=0.15, full='better')
    """
    first, second = models(effect, items, seed)
    wins, losses = int((second > first).sum()), int((second < first).sum())
    significant = 2.0 * tail(wins + losses, abs(wins - losses)) <= 0.05  # McNemar 1947, exact
    full = ("better" if wins > losses else "worse") if significant else "same"
    names = [f"item {i}" for i in range(items)]
    a = {name: ItemScore(value) for name, value in zip(names, first.tolist(), strict=True)}
    for n in sorted({int(np.ceil(items * (look + 1) / looks)) for look in range(looks)}):
        b = {name: ItemScore(value) for name, value in zip(names[:n], second[:n].tolist(), strict=True)}
        found = compared(a, b)
        if found.decided:
            return ItemRun(found.standing, n / items, full)
    raise AssertionError("all items decide")
