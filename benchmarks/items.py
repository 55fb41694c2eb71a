"""Two models on the same items: how soon there is a decision, and how often it agrees with McNemar's test on all.

    python benchmarks/items.py --runs 300 --seed 9000
    python benchmarks/items.py --runs 300 --seed 70000 --items 200 --looks 200 --same    a look after every item

Effects in logits: half of the pairs do not differ; of a third the second is worse, of the rest better, by an
exponential size with a mean of 0.5. Constants were chosen with seed 5000.
"""

import argparse
import os
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from loops import IdeaWorld

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


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--same", action="store_true", help="No two models differ.")
    options = parser.parse_args()
    effects = IdeaWorld(size=0.5, same=options.same).effects(np.random.default_rng(options.seed), options.runs)
    runs = [items_read(e, options.items, options.seed + i, options.looks) for i, e in enumerate(effects.tolist())]
    print("all items say,runs,agree,median share of items read")
    for full in ("better", "worse", "same", "any"):
        chosen = [run for run in runs if full in ("any", run.full)]
        agree = np.mean([run.standing == run.full for run in chosen]) if chosen else float("nan")
        share = np.median([run.share for run in chosen]) if chosen else float("nan")
        print(f"{full},{len(chosen)},{agree:.3f},{share:.3f}")
    nothing = [run.standing != "same" for run, effect in zip(runs, effects, strict=True) if effect == 0]
    print(f"called different of {len(nothing)} pairs that are not: {np.mean(nothing):.3f}")


if __name__ == "__main__":
    main()
