"""The instrument of a run: it takes a setting, returns a reading and hides the truth.

All scores of a run are in units of the average regret of a random setting.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise import Choice, Float, Int, Space
from equipoise._typing import FloatArray
from equipoise.lab.board.scaled_functions import FAMILIES, in_units
from equipoise.lab.environments import Bias, Environment, Measurement, gp_draw
from equipoise.lab.experiments.real import RecordedWorld, autotuned

NOISE = 0.1
"""The standard deviation of a function's noise, in units of the average regret of a random setting."""

NEAR = float(np.log(1.05))
"""The threshold, in log time, for a time near the best: at most 5 % longer."""

Point = dict[str, Any]
"""A setting: the value of each parameter by name."""


class Instrument(Protocol):
    """The instrument of one run.

    Attributes:
        space: The space of settings.
        near: The largest regret of a good recommendation, in units of the average regret of a random setting.
        unit: The average regret of a random setting, in the unit of the readings.
    """

    space: Space
    near: float
    unit: float

    def read(self, x: Point) -> float:
        """Return the next reading, taken at a setting."""

    def regret(self, x: Point) -> float:
        """Return the regret of a setting, in units of the average regret of a random setting."""


class OfFunction:
    """A function on a box, read with Gaussian noise and an offset.

    Args:
        family: The name of the function, one of `FAMILIES`.
        bias: The offset.
        rng: The generator for the function, the noise and the offset.
    """

    near, unit = 0.05, 1.0

    def __init__(self, family: str, bias: Bias, rng: Generator) -> None:
        function = in_units(FAMILIES[family](rng))
        assert function.bounds is not None
        self._nature = Environment(function, bias, NOISE, rng, keep_history=False)
        self.space = Space({f"x{j}": Float(*ends) for j, ends in enumerate(function.bounds.tolist(), start=1)})

    def read(self, x: Point) -> float:
        """Return the next reading."""
        return self._nature.measure(self._array(x))

    def regret(self, x: Point) -> float:
        """Return the regret of a setting."""
        return max(self._nature.regret(self._array(x)), 0.0)

    def _array(self, x: Point) -> FloatArray:
        return np.array([x[name] for name in self.space.parameters], dtype=np.float64)


class OfCard:
    """A complete search space of a graphics card: a reading is minus the logarithm of one of the setting's times.

    Args:
        card: The graphics card.
        bias: The offset of the readings.
        rng: The generator that selects the time and draws the offset.
    """

    def __init__(self, card: str, bias: Bias, rng: Generator) -> None:
        noise, weather = rng.spawn(2)
        self._table, self._rng, self._process = autotuned(card), noise, bias.start(weather)
        self.space = self._table.space
        self.unit = self._table.top - float(np.mean(list(self._table.values.values())))
        self.near = NEAR / self.unit
        self._readings = 0

    def read(self, x: Point) -> float:
        """Return the next reading."""
        key, offset = self._table.key(x), self._process.offset()
        value, shown = self._table.values[key], -float(np.log(self._rng.choice(self._table.times[key])))
        self._readings += 1
        point = np.array(key, dtype=np.float64)
        self._process.record(Measurement(self._readings, point, value, shown - value, offset, shown + offset))
        return shown + offset

    def regret(self, x: Point) -> float:
        """Return the regret of a setting."""
        return (self._table.top - self._table.values[self._table.key(x)]) / self.unit


class OfRecords:
    """A replay of a published experiment: see `equipoise bench real`.

    Args:
        make: The function that makes the world.
        rng: The generator for the order of batches, the residuals, and the start within a recorded drift.
    """

    near = 0.05

    def __init__(self, make: Callable[[Generator], RecordedWorld], rng: Generator) -> None:
        self._world = make(rng)
        self._table = self._world.table
        self.space = self._table.space
        self._top = float(self._table.values.max())
        self.unit = self._top - float(self._table.values.mean())

    def read(self, x: Point) -> float:
        """Return the next reading."""
        return self._world.read(self._table.arm(x))

    def regret(self, x: Point) -> float:
        """Return the regret of a setting."""
        return (self._top - float(self._table.values[self._table.arm(x)])) / self.unit


INTEGERS, CHOICES = 12, 6
"""The parameters of the mixed space: integers from 0 to 7, and choices of four options."""

STARTS = 16
"""The number of coordinate-wise climbs that search for the maximum of the mixed space."""


class OfMixed:
    """A random smooth function of integers and choices; its maximum is the best value found.

    Args:
        bias: The offset of the readings.
        rng: The generator for the function, the noise and the offset.
    """

    near, unit = 0.05, 1.0

    def __init__(self, bias: Bias, rng: Generator) -> None:
        drawn, self._noise, weather = rng.spawn(3)
        numbers: dict[str, Any] = {f"n{j}": Int(0, 7) for j in range(1, INTEGERS + 1)}
        self.space = Space(numbers | {f"c{j}": Choice(["a", "b", "c", "d"]) for j in range(1, CHOICES + 1)})
        scales = np.exp(drawn.uniform(0.0, np.log(4.0), INTEGERS + CHOICES))[self.space.groups]
        points = np.zeros((1, self.space.dimension))
        self._f = gp_draw(points=points, lengthscale=scales, features=256, rng=drawn).evaluate
        some = np.concatenate([self.space.candidates(drawn) for _ in range(4)])
        values = self._f(some)
        self._top = self._climbed(some[np.argsort(-values)[:STARTS]])
        self._scale = self._top - float(values.mean())
        self._process = bias.start(weather)

    def read(self, x: Point) -> float:
        """Return the next reading."""
        offset = self._process.offset()
        return self._value(x) / self._scale + NOISE * self._noise.standard_normal() + offset

    def regret(self, x: Point) -> float:
        """Return the regret of a setting."""
        return max(self._top - self._value(x), 0.0) / self._scale

    def _value(self, x: Point) -> float:
        return float(self._f(self.space.encode(x)))

    def _climbed(self, X: FloatArray) -> float:
        """Return the best value that the climbs reach; a climb maximizes over one parameter after the other."""
        known, before = self._f(X), np.full(len(X), -np.inf)
        while (known > before).any():
            before = known
            for columns, options in self._options():
                tried = np.repeat(X[:, None], len(options), axis=1)
                tried[:, :, columns] = options
                values = self._f(tried)
                X = tried[np.arange(len(X)), values.argmax(axis=1)]
                known = values.max(axis=1)
        return float(known.max())

    def _options(self) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
        """Yield the columns of each parameter and the encodings of its values, shape (options, columns)."""
        some = self.space.decode(np.zeros(self.space.dimension))
        for j, (name, parameter) in enumerate(self.space.parameters.items()):
            columns = np.flatnonzero(self.space.groups == j)
            values = parameter.options if isinstance(parameter, Choice) else range(8)
            yield columns, np.array([self.space.encode(some | {name: value})[columns] for value in values])
