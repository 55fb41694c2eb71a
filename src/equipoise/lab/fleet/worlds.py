"""The worlds of many learners: `Environment` with a leading axis.

    symbol   meaning                                                    shape
    L, m     number of worlds, of points
    values   f at the points                                            (L, m)
    y        readings, y = f(x) + b + eps: KK21 Eq. (1)                 (L,)

The noise of each world comes from a separate stream, the same as in `Environment`.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise._typing import FloatArray, Seed
from equipoise.belief import Indices
from equipoise.lab.environments import (
    Bias,
    BiasProcess,
    CompensatedDrift,
    Drift,
    Function,
    Measurement,
    NegativeRepeat,
    NoBias,
    PeriodicDrift,
)

NOISE_BLOCK = 256
"""The number of readings whose noise is drawn at a time."""

ARITHMETIC = (NoBias, Drift, PeriodicDrift, NegativeRepeat, CompensatedDrift)
"""The biases that are plain arithmetic on the last reading: one process, on arrays, serves all worlds."""


class Offsets(Protocol):
    """The running biases of all worlds."""

    def offset(self) -> FloatArray | float:
        """Return b for the next reading of each world, shape (L,)."""
        ...

    def record(self, reading: Measurement) -> None:
        """Record the readings just made."""
        ...


class Worlds:
    """Functions on finite sets that are read with noise and an offset, all at once.

    Args:
        functions: One per world, all with the same number of points.
        bias: The offset of the readings, one for all worlds or one each; each world runs a separate process of it.
        noise: The standard deviation of the Gaussian noise.
        rngs: The seed of noise and bias of each world; `Environment` gives the same readings with it.

    Example:
        >>> from equipoise.lab.environments import Drift, Environment, linear
        >>> worlds = Worlds([linear(rng=0), linear(rng=1)], Drift(), noise=1.0, rngs=[2, 3])
        >>> alone = Environment(linear(rng=1), Drift(), noise=1.0, rng=3)
        >>> bool(worlds.measure(np.array([4, 5]))[1] == alone.measure(alone.function.points[5]))
        True
    """

    def __init__(
        self, functions: Sequence[Function], bias: Bias | Sequence[Bias], noise: float, rngs: Sequence[Seed]
    ) -> None:
        points = [function.points for function in functions if function.points is not None]
        if len(points) < len(functions):
            raise ValueError("`functions` must have finite domains, got one on a box")
        streams = [np.random.default_rng(rng).spawn(2) for rng in rngs]
        self.points: FloatArray = np.array(points)
        self.values: FloatArray = np.array([function(each) for function, each in zip(functions, points, strict=True)])
        self.maxima: FloatArray = np.array([function.maximum for function in functions])
        self._scale = check.nonnegative("noise", noise)
        self._noise_rngs = [noise_rng for noise_rng, _ in streams]
        self._rows = np.arange(len(functions))
        self._block: FloatArray = np.empty((len(functions), 0))
        self._time = 0
        biases = bias if isinstance(bias, Sequence) else [bias] * len(functions)
        self._offsets = _offsets(biases, [bias_rng for _, bias_rng in streams], self.points)

    def measure(self, index: Indices) -> FloatArray:
        """Take a reading in each world at the point with this index, shape (L,)."""
        column = self._time % NOISE_BLOCK
        if not column:
            self._block = self._scale * np.array([rng.standard_normal(NOISE_BLOCK) for rng in self._noise_rngs])
        self._time += 1
        value, noise = self.values[self._rows, index], self._block[:, column]
        offset = self._offsets.offset()
        y: FloatArray = value + offset + noise
        self._offsets.record(Measurement(self._time, index, value, noise, offset, y))  # type: ignore[arg-type]
        return y

    def regret(self, index: Indices) -> FloatArray:
        """Return how much better the best point of each world is than the one with this index, shape (L,)."""
        regret: FloatArray = self.maxima - self.values[self._rows, index]
        return regret


def _offsets(biases: Sequence[Bias], rngs: Sequence[Generator], points: FloatArray) -> Offsets:
    """Return the running biases, with adjacent worlds of the same bias together."""
    starts = [i for i, bias in enumerate(biases) if not i or bias != biases[i - 1]]
    parts = [slice(*ends) for ends in pairwise([*starts, len(biases)])]
    processes = [_alike(biases[part.start], rngs[part], points[part]) for part in parts]
    return processes[0] if len(parts) == 1 else _SideBySide(parts, processes)


def _alike(bias: Bias, rngs: Sequence[Generator], points: FloatArray) -> Offsets:
    if type(bias) in ARITHMETIC:
        return bias.start(rngs[0])
    return _OneByOne([bias.start(rng) for rng in rngs], points)


class _SideBySide:
    """Several biases, each for a part of the worlds."""

    def __init__(self, parts: Sequence[slice], processes: Sequence[Offsets]) -> None:
        self._parts = list(zip(parts, processes, strict=True))
        self._size = parts[-1].stop

    def offset(self) -> FloatArray:
        offset = np.empty(self._size)
        for part, process in self._parts:
            offset[part] = process.offset()
        return offset

    def record(self, reading: Measurement) -> None:
        numbers: list[Any] = [reading.x, reading.value, reading.noise, reading.offset, reading.y]
        for part, process in self._parts:
            process.record(Measurement(reading.time, *(each[part] for each in numbers)))


class _OneByOne:
    """A process for each world, called one after the other."""

    def __init__(self, processes: Sequence[BiasProcess], points: FloatArray) -> None:
        self._processes = processes
        self._points = points

    def offset(self) -> FloatArray:
        return np.array([process.offset() for process in self._processes])

    def record(self, reading: Measurement) -> None:
        index: Indices = np.asarray(reading.x, dtype=np.intp)
        x = self._points[np.arange(len(index)), index]
        numbers = np.array([reading.value, reading.noise, reading.offset, reading.y]).T.tolist()
        for process, point, parts in zip(self._processes, x, numbers, strict=True):
            process.record(Measurement(reading.time, point, *parts))
