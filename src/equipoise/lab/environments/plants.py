"""Plants: several outputs of the same settings; some are objectives and others have limits.

Notation: d the dimension, K the number of outputs. Every limit is relative to the start, so that drifting readings do
not change its meaning.

Branin with a disk: Gelbart, Snoek and Adams (2014). Townsend with a heart: Townsend (2014), as in Chebfun. ZDT1:
Zitzler, Deb and Thiele (2000). DTLZ2: Deb, Thiele, Laumanns and Zitzler (2002).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from equipoise._typing import FloatArray, Seed
from equipoise._validation import array, count, nonnegative
from equipoise.lab.environments.beamline import BEAM, drift_space, intensity, transfer
from equipoise.lab.environments.function import checked_bounds
from equipoise.lab.environments.functions import branin
from equipoise.lab.environments.random_functions import gp_draw
from equipoise.lab.environments.reading import Bias, Measurement

Evaluate = Callable[[FloatArray], FloatArray]
"""The type of a function from points of shape (..., d) to values of shape (...)."""

SPREAD = 2**13
"""The number of points over which ranges are computed."""

CLIMBS = 128
"""The number of points from which the best feasible value is climbed to: with six knobs a seed needs that many."""

ROUNDING = 1e-6
"""The largest violation of a limit, in units of its output's range, that counts as none at the end of a climb."""

PIPE = 4.0e-3
"""Half the width of the square pipe behind the magnets, in m."""


@dataclass(frozen=True, eq=False)
class Plant:
    """Several outputs of the same settings.

    Attributes:
        name: The name of the plant.
        bounds: The lowest and highest value of each coordinate, shape (d, 2).
        outputs: The function of each output, by name.
        objectives: The direction of each objective by name: 1 to maximize, -1 to minimize.
        rooms: The largest allowed increase of an output above its value at the start, by name.
        start: The starting point, shape (d,).

    Examples:
        >>> plant = branin_in_a_disk()
        >>> plant.objective, plant.limits
        ('-height', ['disk <= start + 20'])
        >>> round(plant.best, 2), bool(plant.holds([np.pi, 2.275]))
        (-0.4, True)
    """

    name: str
    bounds: FloatArray
    outputs: Mapping[str, Evaluate]
    objectives: Mapping[str, float]
    rooms: Mapping[str, float]
    start: FloatArray
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Check the domain."""
        object.__setattr__(self, "bounds", checked_bounds(self.bounds))
        object.__setattr__(self, "start", array("start", self.start, (len(self.bounds),)))
        object.__setattr__(self, "names", tuple(self.outputs))

    @property
    def objective(self) -> str:
        """The objectives in the grammar of a study."""
        return ", ".join(name if sign > 0 else f"-{name}" for name, sign in self.objectives.items())

    @property
    def limits(self) -> list[str]:
        """The limits in the grammar of a study."""
        return [f"{name} <= start + {room:g}" for name, room in self.rooms.items()]

    def __call__(self, x: ArrayLike) -> dict[str, FloatArray]:
        """Return every output at `x`, shape (..., d) to shape (...)."""
        points = np.asarray(x, dtype=np.float64)
        return {name: evaluate(points) for name, evaluate in self.outputs.items()}

    def values(self, x: ArrayLike) -> FloatArray:
        """Return the objectives at `x`, signed so that larger is better, shape (..., number of objectives)."""
        found = self(x)
        return np.stack([sign * found[name] for name, sign in self.objectives.items()], axis=-1)

    def violation(self, x: ArrayLike) -> FloatArray:
        """Return the largest violation of a limit, in units of its output's range, shape (...)."""
        now, before = self(x), self(self.start)
        if not self.rooms:
            return np.zeros(np.shape(x)[:-1])
        found = [(now[n] - before[n] - room) / self.ranges[n] for n, room in self.rooms.items()]
        worst: FloatArray = np.maximum(np.max(found, axis=0), 0.0)
        return worst

    def holds(self, x: ArrayLike) -> Any:
        """Return True where all limits hold at `x`, shape (...)."""
        return np.less_equal(self.violation(x), 0.0)

    @cached_property
    def ranges(self) -> dict[str, float]:
        """The range of each output: its standard deviation over the domain, times four."""
        return {name: 4.0 * float(values.std()) for name, values in self(self._spread).items()}

    @cached_property
    def best(self) -> float:
        """The largest value of the first objective (larger is better) within the limits: the end of many climbs."""
        first = np.where(self.holds(self._spread), self.values(self._spread)[:, 0], -np.inf)
        starts = np.concatenate((self._spread[np.argsort(-first)[:8]], self._spread[:CLIMBS]))
        return max(float(first.max()), *map(self._climbed, starts))

    def _climbed(self, start: FloatArray) -> float:
        """Return the largest value of the first objective within the limits that a climb from a point leads to."""
        from scipy.optimize import minimize

        unit, base = self.ranges[next(iter(self.objectives))], self(self.start)
        room = [
            {"type": "ineq", "fun": lambda x, n=n, room=room: float(base[n] + room - self(x)[n]) / self.ranges[n]}
            for n, room in self.rooms.items()
        ]
        found = minimize(
            lambda x: -float(self.values(x)[0]) / unit, start, method="SLSQP", bounds=self.bounds, constraints=room
        ).x
        x = np.clip(found, *self.bounds.T)
        return float(self.values(x)[0]) if self.violation(x) <= ROUNDING else -np.inf

    @cached_property
    def _spread(self) -> FloatArray:
        low, high = self.bounds.T
        points: FloatArray = low + (high - low) * np.random.default_rng(0).random((SPREAD, len(low)))
        return points


class PlantReadings:
    """The readings of a plant: each output has independent noise and a separate offset.

    Args:
        plant: The plant to read.
        bias: The offset of each output, in units of its range.
        noise: The standard deviation of the noise, in the same units.
        rng: The seed of noise and offsets.

    Examples:
        >>> from equipoise.lab.environments import RandomWalk
        >>> readings = PlantReadings(branin_in_a_disk(), RandomWalk(0.02), noise=0.01, rng=0)
        >>> sorted(readings.measure([0.0, 5.0]))
        ['disk', 'height']
    """

    def __init__(self, plant: Plant, bias: Bias, noise: float = 0.0, rng: Seed = None) -> None:
        streams = np.random.default_rng(rng).spawn(1 + len(plant.names))
        self.plant, self._noise, self._rng = plant, nonnegative("noise", noise), streams[0]
        self._offsets = {name: bias.start(stream) for name, stream in zip(plant.names, streams[1:], strict=True)}
        self._readings = 0

    def measure(self, x: ArrayLike) -> dict[str, float]:
        """Return a reading of every output at `x`, shape (d,)."""
        point, found = np.asarray(x, dtype=np.float64), {}
        self._readings += 1
        for name, value in self.plant(point).items():
            offset, noise = self._offsets[name].offset(), self._noise * self._rng.standard_normal()
            y = float(value) / self.plant.ranges[name] + offset + noise
            self._offsets[name].record(Measurement(self._readings, point, float(value), noise, offset, y))
            found[name] = y * self.plant.ranges[name]
        return found


def branin_in_a_disk() -> Plant:
    """Return Branin's function, to be minimized, within a disk that contains one of its three minima."""
    upside_down = branin()
    outputs = {"height": lambda x: -upside_down(x), "disk": lambda x: (x[..., 0] - 2.5) ** 2 + (x[..., 1] - 7.5) ** 2}
    return Plant(
        "branin-disk", _box((-5, 10), (0, 15)), outputs, {"height": -1.0}, {"disk": 20.0}, np.array([5, 12.375])
    )


def townsend() -> Plant:
    """Return Townsend's function, to be minimized, within a heart-shaped limit."""

    def height(x: FloatArray) -> FloatArray:
        value: FloatArray = -(np.cos((x[..., 0] - 0.1) * x[..., 1]) ** 2) - x[..., 0] * np.sin(
            3 * x[..., 0] + x[..., 1]
        )
        return value

    def outside(x: FloatArray) -> FloatArray:
        t = np.arctan2(x[..., 0], x[..., 1])
        wide = 2 * np.cos(t) - np.cos(2 * t) / 2 - np.cos(3 * t) / 4 - np.cos(4 * t) / 8
        value: FloatArray = (x**2).sum(axis=-1) - wide**2 - (2 * np.sin(t)) ** 2
        return value

    start = np.array([0.5, 0.0])
    room = -float(outside(start))
    outputs = {"height": height, "outside": outside}
    return Plant("townsend", _box((-2.25, 2.25), (-2.5, 1.75)), outputs, {"height": -1.0}, {"outside": room}, start)


def gp_plant(dimension: int = 3, limits: int = 1, rng: Seed = 0) -> Plant:
    """Return independent draws of a Gaussian process: one to maximize, the others with a limit that binds.

    Args:
        dimension: The number of coordinates.
        limits: The number of outputs with a limit: it allows half a standard deviation above the start.
        rng: The generator for the functions.
    """
    d, streams = (
        count("dimension", dimension),
        np.random.default_rng(rng).spawn(1 + count("limits", limits, at_least=0)),
    )
    names, box = ["yield", *(f"load{k}" for k in range(1, len(streams)))], _box(*[(0, 1)] * d)
    lengthscale = 0.2 * np.sqrt(d)
    draws = [gp_draw(bounds=box, lengthscale=lengthscale, features=128, rng=stream) for stream in streams]
    outputs = {name: draw.evaluate for name, draw in zip(names, draws, strict=True)}
    return Plant(f"gp{d}", box, outputs, {"yield": 1.0}, dict.fromkeys(names[1:], 0.2), np.full(d, 0.5))


def beam_line_with_loss(objectives: str = "flux", spot: bool = False) -> Plant:
    """Return the beam line: the flux through the aperture, and the loss in the pipe behind the magnets.

    Args:
        objectives: "flux", with a limit on the loss; or "flux, -loss" without any limit.
        spot: If true, a camera also reads the size of the spot, which may grow by 0.3 mm.

    Examples:
        >>> beam_line_with_loss(spot=True).limits
        ['loss <= start + 2', 'spot <= start + 0.3']
    """
    outputs: dict[str, Evaluate] = {"flux": lambda x: 100 * intensity(x), "loss": _loss}
    both = objectives != "flux"
    wanted, rooms = ({"flux": 1.0, "loss": -1.0}, {}) if both else ({"flux": 1.0}, {"loss": 2.0})
    if spot:
        outputs, rooms = {**outputs, "spot": _spot}, {**rooms, "spot": 0.3}
    return Plant("beam line", _box(*[(-6, 6)] * 3), outputs, wanted, rooms, np.zeros(3))


def zdt1(dimension: int = 4) -> Plant:
    """Return ZDT1: two objectives to minimize, with a convex front."""
    d = count("dimension", dimension, at_least=2)

    def second(x: FloatArray) -> FloatArray:
        g = 1 + 9 * x[..., 1:].mean(axis=-1)
        value: FloatArray = g * (1 - np.sqrt(x[..., 0] / g))
        return value

    outputs = {"first": lambda x: x[..., 0], "second": second}
    return Plant("zdt1", _box(*[(0, 1)] * d), outputs, {"first": -1.0, "second": -1.0}, {}, np.full(d, 0.5))


def dtlz2(dimension: int = 6) -> Plant:
    """Return DTLZ2 with two objectives to minimize, with a quarter of a circle as its front."""
    d = count("dimension", dimension, at_least=2)

    def radius(x: FloatArray) -> FloatArray:
        value: FloatArray = 1 + ((x[..., 1:] - 0.5) ** 2).sum(axis=-1)
        return value

    outputs = {
        "first": lambda x: radius(x) * np.cos(0.5 * np.pi * x[..., 0]),
        "second": lambda x: radius(x) * np.sin(0.5 * np.pi * x[..., 0]),
    }
    start = np.full(d, 0.2)
    return Plant("dtlz2", _box(*[(0, 1)] * d), outputs, {"first": -1.0, "second": -1.0}, {}, start)


def _loss(x: FloatArray) -> FloatArray:
    """Return the share of the beam, in percent, that hits the pipe right behind the magnets."""
    back = np.linalg.inv(drift_space(2.0))  # from the detector to there
    lost: FloatArray = 100.0 * (1.0 - erf(PIPE / np.sqrt(2.0 * _variances(back @ transfer(x)))).prod(-1))
    return lost


def _spot(x: FloatArray) -> FloatArray:
    """Return the standard deviation, in mm, of the spot on a camera at the detector that is as wide as the pipe."""
    a = PIPE / np.sqrt(variances := _variances(transfer(x)))
    seen = variances * (1.0 - np.sqrt(2.0 / np.pi) * a * np.exp(-0.5 * a**2) / erf(a / np.sqrt(2.0)))  # cut at +-a
    size: FloatArray = 1e3 * np.sqrt(seen.mean(axis=-1))
    return size


def _variances(R: FloatArray) -> FloatArray:
    """Return the variances of the beam in x and y behind a transfer matrix, shape (..., 2)."""
    Sigma = R @ BEAM @ np.swapaxes(R, -1, -2)
    return np.stack((Sigma[..., 0, 0], Sigma[..., 2, 2]), axis=-1)


def _box(*ends: tuple[float, float]) -> FloatArray:
    return np.array(ends, dtype=np.float64)
