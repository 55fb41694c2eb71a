"""Tasks: a function or a table, an offset, noise, and a number of readings."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.random import Generator

from equipoise.lab.board.instruments import Instrument, OfCard, OfFunction, OfMixed, OfRecords
from equipoise.lab.board.scaled_functions import FAMILIES
from equipoise.lab.board.weather import WEATHER, Throttle
from equipoise.lab.experiments.real import CARDS, recorded_worlds

KINDS = ("few knobs", "many knobs", "tables")
"""The kinds of task, ranked separately: up to eight knobs, ten to fifty knobs, and tables of settings."""

FEW = ("camel2", "branin2", "hartmann3", "gp3", "levy4", "rosenbrock4", "hartmann6", "gp8")
"""The functions with few knobs: 200 readings, under every offset."""

READINGS = {"few knobs": 200, "many knobs": 300}
EASY = ("none", "walk", "jumps", "pairs")
"""The offsets for functions of many knobs."""


@dataclass(frozen=True)
class BoardTask:
    """A function or a table under an offset, with a fixed number of readings.

    Attributes:
        name: The name of the function or table, and of the offset.
        kind: One of `KINDS`.
        readings: The number of readings of a run.
        build: The function that makes the instrument of a run from a generator.

    Example:
        >>> instrument = tasks()["camel2, walk"].start(seed=0)
        >>> instrument.space
        Space(x1=Float(-2.0, 2.0), x2=Float(-1.0, 1.0))
        >>> round(instrument.regret({"x1": 0.0898, "x2": -0.7126}), 4)
        0.0
    """

    name: str
    kind: str
    readings: int
    build: Callable[[Generator], Instrument]

    def start(self, seed: int) -> Instrument:
        """Return the instrument of a run: every learner gets the same function, noise and offset."""
        return self.build(np.random.default_rng([seed, zlib.crc32(self.name.encode())]))


SMALL = (
    *("camel2, none", "camel2, walk", "camel2, jumps", "camel2, pairs", "camel2, runs of 5", "camel2, season of 12"),
    *("gp3, none", "gp3, walk", "hartmann6, none", "hartmann6, walk", "hartmann6, runs of 5"),
    *("gp8, none", "bowl12, walk", "hartmann6 in 20, walk", "mixed18, walk"),
    *("cake, 2 a batch", "oats, 2 a batch", "barley, 2 a batch", "fullerenes + water"),
    *("A4000, throttle", "W6600, throttle"),
)
"""The tasks of the small board."""


@cache
def tasks() -> Mapping[str, BoardTask]:
    """Return all tasks by name.

    Example:
        >>> [name for name in tasks() if name.startswith("A4000")], set(SMALL) <= set(tasks())
        (['A4000, none', 'A4000, throttle'], True)
    """
    return {task.name: task for task in (*_of_functions(), *_of_tables())}


def _of_functions() -> Iterator[BoardTask]:
    for family in FAMILIES:
        kind = KINDS[0] if family in FEW else KINDS[1]
        for weather in WEATHER if family in FEW else EASY:
            yield BoardTask(f"{family}, {weather}", kind, READINGS[kind], partial(OfFunction, family, WEATHER[weather]))
    for weather in EASY:
        yield BoardTask(f"mixed18, {weather}", KINDS[1], READINGS[KINDS[1]], partial(OfMixed, WEATHER[weather]))


def _of_tables() -> Iterator[BoardTask]:
    for name, make in recorded_worlds().items():
        readings = make(np.random.default_rng(0)).readings
        yield BoardTask(name, KINDS[2], readings, partial(OfRecords, make))
    for card in CARDS:
        for weather, bias in (("none", WEATHER["none"]), ("throttle", Throttle(200))):
            yield BoardTask(f"{card}, {weather}", KINDS[2], 200, partial(OfCard, card, bias))
