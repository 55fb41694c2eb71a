"""Complete search spaces of a program on graphics cards: every setting was measured several times.

symbol    meaning                                                        shape
T         times of each setting in milliseconds, in the order measured   (m, 8)

Source and license: `data/NOTICE.md`.
"""

import csv
import gzip
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from equipoise import Choice, Space
from equipoise._typing import FloatArray

CARDS = ("A100", "A4000", "MI250X", "W6600")
"""The graphics cards on which the convolution was measured."""


@dataclass(frozen=True, eq=False)
class Autotuned:
    """All settings of a program that run on a card.

    Attributes:
        card: The graphics card.
        options: The values tried for each parameter, ascending.
        times: T in milliseconds by setting, with the values in the order of `options`.

    Example:
        >>> table = autotuned("A4000")
        >>> len(table.times), len(table.space.parameters)
        (4201, 7)
        >>> best = dict(zip(table.options, max(table.values, key=table.values.get)))
        >>> best["block_size_x"], round(float(np.exp(-table.top)), 2)
        (256, 1.02)
    """

    card: str
    options: dict[str, tuple[int, ...]]
    times: dict[tuple[int, ...], FloatArray]

    def holds(self, x: dict[str, Any]) -> bool:
        """Return True if a setting runs."""
        return self.key(x) in self.times

    def key(self, x: dict[str, Any]) -> tuple[int, ...]:
        """Return the values of a setting, in the order of `options`."""
        return tuple(x[name] for name in self.options)

    @cached_property
    def space(self) -> Space:
        """A choice for each parameter; the constraint allows only settings that run."""
        return Space({name: Choice(values) for name, values in self.options.items()}, constraint=self.holds)

    @cached_property
    def values(self) -> dict[tuple[int, ...], float]:
        """The true value of each setting: minus the mean logarithm of its times."""
        means = -np.log(np.array(list(self.times.values()))).mean(axis=1)
        return dict(zip(self.times, means.tolist(), strict=True))

    @property
    def top(self) -> float:
        """The largest value."""
        return max(self.values.values())


@cache
def autotuned(card: str) -> Autotuned:
    """Return the settings of the convolution on a card, one of `CARDS`."""
    packed = (files("equipoise.lab.experiments.real") / "data" / f"convolution-{card}.csv.gz").read_bytes()
    names, *rows = csv.reader(gzip.decompress(packed).decode("utf-8").splitlines())
    k = len(names) - sum(name.startswith("ms") for name in names)
    times = {tuple(map(int, row[:k])): np.array(row[k:], dtype=np.float64) for row in rows if row[k]}
    options = {name: tuple(sorted({int(row[i]) for row in rows})) for i, name in enumerate(names[:k])}
    return Autotuned(card, options, times)
