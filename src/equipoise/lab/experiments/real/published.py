"""Published data: experiments laid out as tables, and instruments recorded over time.

symbol    meaning                                                        shape
a, b      an arm (a combination of the settings tried), a batch          ()
Y         the numbers of a table in which every arm met every batch      (arms, batches)

Sources and licenses: `data/NOTICE.md`.
"""

import csv
import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from equipoise import Choice, Int, Space
from equipoise._typing import FloatArray

TABLES = ("cake", "oats", "barley", "fullerenes")
"""The names of the published experiments."""
TRACES = ("co2", "elnino", "temperature", "water")
"""The names of the recorded drifts."""


@dataclass(frozen=True, eq=False)
class Published:
    """A published experiment.

    Attributes:
        name: The name of the experiment.
        levels: The values tried for each setting, in order.
        arms: The combinations tried, each as the index of its value in every setting's `levels`.
        batches: The names of the batches, empty if the table has none.
        numbers: The measurements of each arm: in the order of `batches`, if there are any.

    Example:
        >>> cake = published("cake")
        >>> len(cake.arms), len(cake.batches), cake.space
        (18, 15, Space(recipe=Choice(['A', 'B', 'C']), temperature=Int(0, 5)))
    """

    name: str
    levels: dict[str, tuple[Any, ...]]
    arms: tuple[tuple[int, ...], ...]
    batches: tuple[str, ...]
    numbers: tuple[FloatArray, ...]

    @cached_property
    def space(self) -> Space:
        """The settings: a choice if they are words, the index of the level if they are numbers."""
        return Space({name: _parameter(values) for name, values in self.levels.items()})

    @cached_property
    def values(self) -> FloatArray:
        """The true value of each arm: the mean of all its numbers, shape (arms,)."""
        return np.array([each.mean() for each in self.numbers])

    @cached_property
    def range(self) -> float:
        """The best arm's value less the worst's."""
        return float(np.ptp(self.values))

    @cached_property
    def residuals(self) -> tuple[FloatArray, ...]:
        """The residuals of each arm's numbers after arm and batch effects, rescaled to their size before the fit."""
        if self.batches:
            Y = np.array(self.numbers)
            arms, batches = Y.shape
            rest = Y - Y.mean(axis=1, keepdims=True) - Y.mean(axis=0) + Y.mean()
            return tuple(rest * math.sqrt(arms * batches / ((arms - 1) * (batches - 1))))
        repeated = [each for each in self.numbers if len(each) > 1]
        pooled = np.concatenate([(each - each.mean()) * math.sqrt(len(each) / (len(each) - 1)) for each in repeated])
        return (pooled,) * len(self.arms)

    def arm(self, x: dict[str, Any]) -> int:
        """Return the index of the arm at a point of the space."""
        words = {name: not isinstance(values[0], float) for name, values in self.levels.items()}
        key = tuple(self.levels[name].index(x[name]) if words[name] else x[name] for name in self.levels)
        return self.arms.index(key)

    def point(self, arm: int) -> dict[str, Any]:
        """Return the point of the space for an arm."""
        named = zip(self.levels.items(), self.arms[arm], strict=True)
        return {name: k if isinstance(values[0], float) else values[k] for (name, values), k in named}


def _parameter(values: tuple[Any, ...]) -> Choice | Int:
    return Int(0, len(values) - 1) if isinstance(values[0], float) else Choice(values)


@cache
def published(name: str) -> Published:
    """Return a published experiment by name, one of `TABLES`."""
    rows = _rows(name)
    *settings, measured = [column for column in rows[0] if column != "batch"]
    levels = {column: tuple(sorted({_value(row[column]) for row in rows})) for column in settings}
    batches = tuple(dict.fromkeys(row["batch"] for row in rows)) if "batch" in rows[0] else ()
    found: dict[tuple[int, ...], list[tuple[int, float]]] = defaultdict(list)
    for row in rows:
        arm = tuple(levels[column].index(_value(row[column])) for column in settings)
        found[arm].append((batches.index(row["batch"]) if batches else 0, float(row[measured])))
    arms = tuple(sorted(found))
    numbers = tuple(np.array([y for _, y in sorted(found[arm], key=lambda pair: pair[0])]) for arm in arms)
    return Published(name, levels, arms, batches, numbers)


@cache
def recording(name: str) -> FloatArray:
    """Return the recording of an instrument, one of `TRACES`, shape (n,).

    Example:
        >>> len(recording("water"))
        1268
    """
    return np.array([float(value) for row in _rows(name) for value in row.values()])


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("equipoise.lab.experiments.real") / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _value(text: str) -> float | str:
    return text if any(letter.isalpha() for letter in text) else float(text)
