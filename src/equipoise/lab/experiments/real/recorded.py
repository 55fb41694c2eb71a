"""Worlds that replay published numbers: the batches of a table, or a table on a drifting instrument."""

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
"""The number of readings in each batch: even, so that a pair can lie in one batch."""


class RecordedWorld(Protocol):
    """The world of a learner: settings, readings, and the hidden truth.

    Attributes:
        table: The published experiment.
        readings: The number of readings of a run.
        batch: The number of successive readings that share a batch; `None` if there are no batches.
    """

    table: Published
    readings: int
    batch: int | None

    def read(self, arm: int) -> float:
        """Return the next reading, taken at an arm."""


class InBatches:
    """A replay of real data only: a reading is the number measured for this arm in the current batch.

    The batches come in random order; if there are too few, they repeat in another order. A second reading of an arm in
    the same batch gives the same number.

    Args:
        table: An experiment in which every arm met every batch.
        per_batch: The number of readings per batch.
        rng: The generator for the order.

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
        """Return the next reading, taken at an arm."""
        batch = self._order[self._taken // self._per_batch]
        self._taken += 1
        return float(self.table.numbers[arm][batch])


class OnInstrument:
    """A real function, real noise, and the recorded drift of a real instrument, from a random moment on.

    A reading is the arm's mean in the table, plus one of its residuals drawn at random, plus the scaled recorded
    number. Over the readings of a run, the scaled drift moves by the difference between the best and worst arms.

    Args:
        table: The experiment.
        trace: The recorded drift; no drift by default.
        rng: The generator for the residuals and the moment.
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
        """Return the next reading, taken at an arm."""
        self._taken += 1
        noise = self._rng.choice(self.table.residuals[arm])
        return float(self.table.values[arm] + noise + self._drift[self._taken - 1])


@cache
def recorded_worlds() -> dict[str, Callable[[Generator], RecordedWorld]]:
    """Return the functions that make each world from a generator, by name.

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
