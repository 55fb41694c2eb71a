"""Worlds that answer with published numbers: batch after batch of a table, or a table on a drifting instrument."""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.experiments.real.published import TABLES, TRACES, Published, published, recording

DRIFTING_READINGS = 100
READINGS = {"cake": 60, "oats": 48, "barley": 48}
PER_BATCH = (2, 4)
"""Readings in each batch: an even number, so that a pair can lie in one batch."""


class RecordedWorld(Protocol):
    """What a learner meets: settings, readings, and, hidden from it, the truth.

    Attributes:
        table: The published experiment.
        readings: How many readings a run has.
        batch: How many successive readings share a batch; `None` if there are no batches.
    """

    table: Published
    readings: int
    batch: int | None

    def read(self, arm: int) -> float:
        """Return the next reading, of an arm."""


class InBatches:
    """All-real replay: the number that was measured of this arm in the batch that is on.

    The batches come in random order; if there are too few of them, again, in another order. Who reads an arm twice
    in a batch gets the same number twice.

    Args:
        table: An experiment in which every arm met every batch.
        per_batch: How many readings a batch lasts.
        rng: Draws the order.

    Example:
        >>> world = InBatches(published("barley"), 4, np.random.default_rng(0))
        >>> world.read(0) == world.read(0), world.readings
        (True, 48)
    """

    def __init__(self, table: Published, per_batch: int, rng: Generator) -> None:
        self.table, self.readings = table, READINGS[table.name]
        self.batch: int | None = per_batch
        self._per_batch = per_batch
        passes = math.ceil(self.readings / (per_batch * len(table.batches)))
        self._order = np.concatenate([rng.permutation(len(table.batches)) for _ in range(passes)])
        self._taken = 0

    def read(self, arm: int) -> float:
        """Return the next reading, of an arm."""
        batch = self._order[self._taken // self._per_batch]
        self._taken += 1
        return float(self.table.numbers[arm][batch])


class OnInstrument:
    """A real function, real noise, and the drift that a real instrument recorded, from a random moment on.

    A reading is the arm's mean in the table, one of its residuals drawn at random, and the recorded number, times a
    factor: over as many readings as a run has, the drift moves by as much as the best arm differs from the worst.

    Args:
        table: The experiment.
        trace: What was recorded; no drift by default.
        rng: Draws the residuals and the moment.
    """

    batch: int | None = None
    readings: int = DRIFTING_READINGS

    def __init__(self, table: Published, trace: FloatArray | None, rng: Generator) -> None:
        self.table = table
        self._rng = rng
        self._drift = np.zeros(self.readings)
        if trace is not None:
            windows = np.lib.stride_tricks.sliding_window_view(trace, self.readings)
            first = int(rng.integers(len(windows)))
            self._drift = windows[first] * (table.range / float(np.mean(np.ptp(windows, axis=1))))
        self._taken = 0

    def read(self, arm: int) -> float:
        """Return the next reading, of an arm."""
        self._taken += 1
        noise = self._rng.choice(self.table.residuals[arm])
        return float(self.table.values[arm] + noise + self._drift[self._taken - 1])


@cache
def recorded_worlds() -> dict[str, Callable[[Generator], RecordedWorld]]:
    """Return the worlds by name, each to be made with a generator.

    Example:
        >>> [name for name in recorded_worlds() if name.startswith("cake")][:3]
        ['cake, 2 a batch', 'cake, 4 a batch', 'cake + co2']
    """
    worlds: dict[str, Callable[[Generator], RecordedWorld]] = {}
    for name in TABLES:
        table = published(name)
        if table.batches:
            worlds |= {f"{name}, {n} a batch": partial(InBatches, table, n) for n in PER_BATCH}
        else:
            worlds[name] = partial(OnInstrument, table, None)
        if name in ("cake", "fullerenes"):
            worlds |= {f"{name} + {trace}": partial(OnInstrument, table, recording(trace)) for trace in TRACES}
    return worlds
