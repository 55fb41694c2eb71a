"""Families of functions on the unit cube for calibration: each draws a function with a range of five from a seed.

The families are exchangeable, not their functions: a rule is chosen on some of them and reported on others, which have
other formulas, not only other seeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.environments import (
    Bumps,
    Function,
    ackley,
    branin,
    camelback,
    hartmann3,
    hartmann6,
    levy,
    rosenbrock,
    styblinski_tang,
    waves,
)

RANGE = 5.0
"""Largest less smallest value of each function: the unit in which the offsets are chosen."""

FEATURES = 384
"""Random Fourier features of a draw of a Gaussian process."""

SEARCHED, CLIMBED = 2048, 8
"""Points among which the top of a drawn function is searched for, and how many of the best are climbed from."""

Evaluate = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Family:
    """A family of functions.

    Attributes:
        dimensions: Those of its members.
        draw: Returns the values of a member, over arrays of shape (..., d), and points of which one is near its top.
        chosen: Whether rules may be chosen on it; else they are only reported on it.
        needle: Whether its top may be so narrow that no reading comes near it.
        cusp: Whether its top is sharp: a model of smooth functions takes it for lower than it is.
    """

    dimensions: tuple[int, ...]
    draw: Callable[[int, Generator], tuple[Evaluate, FloatArray]]
    chosen: bool = True
    needle: bool = False
    cusp: bool = False

    def make(self, name: str, seed: int) -> Function:
        """Return the member of a seed, scaled to a range of five.

        Example:
            >>> f = FAMILIES["bowl"].make("bowl", 3)
            >>> f.dimension in FAMILIES["bowl"].dimensions
            True
        """
        rng = np.random.default_rng([seed, crc32(name.encode())])
        d = int(rng.choice(self.dimensions))
        evaluate, starts = self.draw(d, rng)
        spread = _spread(d)
        values = evaluate(spread)
        best = np.argsort(-values)[:CLIMBED]
        tops = [_climbed(evaluate, x) for x in (*starts, *spread[best])]
        top = max(tops, key=lambda x: float(evaluate(x)))
        scale = RANGE / (float(evaluate(top)) - float(values.min()))
        return Function.box(name, _Times(evaluate, scale), [[0.0, 1.0]] * d, top)


@dataclass(frozen=True, eq=False)
class _Times:
    evaluate: Evaluate
    scale: float

    def __call__(self, x: FloatArray) -> FloatArray:
        return self.scale * self.evaluate(x)


def _spread(d: int) -> FloatArray:
    from scipy.stats import qmc

    points: FloatArray = qmc.Sobol(d, scramble=False).random(SEARCHED)
    return points


def _climbed(evaluate: Evaluate, start: FloatArray) -> FloatArray:
    """Return the top reached from a start by a search without gradients, which sharp tops do not stop."""
    from scipy.optimize import minimize

    x = start
    for method in ("L-BFGS-B", "Nelder-Mead") if len(start) <= 4 else ("L-BFGS-B",):
        found = minimize(lambda z: -float(evaluate(z)), x, bounds=[(0.0, 1.0)] * len(x), method=method)
        x = found.x if -found.fun > float(evaluate(x)) else x
    top: FloatArray = np.clip(x, 0.0, 1.0)
    return top


NOWHERE = np.empty((0, 0))


def _gaussian(d: int, rng: Generator, scales: FloatArray, smoothness: float | None = None) -> Evaluate:
    """Return a draw of a Gaussian process of given lengthscales: RBF, or Matern of a smoothness."""
    return waves(d, scales, FEATURES, rng, smoothness)


def _gp(
    d: int, rng: Generator, smoothness: float | None = None, low: float = 0.15, high: float = 0.5
) -> tuple[Evaluate, FloatArray]:
    scale = rng.uniform(low, high) * (d / 2) ** 0.5
    return _gaussian(d, rng, np.full(d, scale), smoothness), NOWHERE


def _ard(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    return _gaussian(d, rng, np.exp(rng.uniform(np.log(0.15), np.log(2.0), d)) * (d / 3) ** 0.5), NOWHERE


def _two_scales(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    size = rng.uniform(0.15, 0.4)
    long, short = (_gaussian(d, rng, np.full(d, each * (d / 2) ** 0.5)) for each in (0.5, 0.12))
    return lambda x: long(x) + size * short(x), NOWHERE


def _additive(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    parts = [_gaussian(1, rng, rng.uniform(0.1, 0.4, 1)) for _ in range(d)]
    grid = np.linspace(0, 1, 401)[:, None]
    top = np.array([grid[int(part(grid).argmax()), 0] for part in parts])
    return lambda x: sum((part(x[..., i : i + 1]) for i, part in enumerate(parts)), np.zeros(x.shape[:-1])), top[None]


def _hills(d: int, rng: Generator, number: int, low: float, high: float) -> tuple[Evaluate, FloatArray]:
    """Return Gaussian hills over flat ground, each coordinate with its own width."""
    centers = rng.uniform(0.05, 0.95, (number, d))
    widths = rng.uniform(low, high, (number, d)) * (d / 2) ** 0.5
    heights = rng.uniform(0.3, 1.0, number)
    heights[0] = 1.1
    return Bumps(centers, widths, heights), centers


def _needle(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    centers = rng.uniform(0.1, 0.9, (2, d))
    widths = np.array([rng.uniform(0.04, 0.12), 0.35])[:, None] * np.ones(d)
    heights = np.array([rng.uniform(0.3, 1.0), rng.uniform(0.4, 0.8)])
    return Bumps(centers, widths, heights), centers


def _bowl(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    center, weights = rng.uniform(0.15, 0.85, d), np.exp(rng.uniform(-1.5, 1.5, d))
    return lambda x: -(weights * (x - center) ** 2).sum(-1), center[None]


def _cone(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    center, power = rng.uniform(0.15, 0.85, d), rng.uniform(0.25, 0.5)
    return lambda x: -(((x - center) ** 2).mean(-1) ** power), center[None]


def _ripples(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    center, waves, size = rng.uniform(0.2, 0.8, d), rng.uniform(1.5, 4.0), rng.uniform(0.02, 0.12)

    def values(x: FloatArray) -> FloatArray:
        u = x - center
        found: FloatArray = (size * np.cos(2 * np.pi * waves * u) - u**2).mean(-1)
        return found

    return values, center[None]


def _valley(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    """Return a long bent ridge in each pair of neighbors, its steepness drawn."""
    steep, bend, center = np.exp(rng.uniform(0.5, 3.0)), rng.uniform(0.5, 2.0), rng.uniform(0.3, 0.7, d)

    def values(x: FloatArray) -> FloatArray:
        u = 2 * (x - center)
        cross = u[..., 1:] - bend * u[..., :-1] ** 2
        found: FloatArray = -(((u**2).sum(-1) + steep * (cross**2).sum(-1)) ** 0.7)
        return found

    return values, center[None]


def _cliff(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    """Return a ramp that rises to the edge of a cliff, and is flat at the bottom beyond it."""
    slope = rng.normal(size=d)
    slope /= np.abs(slope).sum()
    edge, sharp, center = rng.uniform(0.55, 0.9), rng.uniform(20, 80), rng.uniform(0.2, 0.8, d)
    low = np.minimum(slope, 0).sum()

    def values(x: FloatArray) -> FloatArray:
        t = (x @ slope - low) / np.abs(slope).sum()
        across = ((x - center) ** 2).mean(-1)
        found: FloatArray = t / (1 + np.exp(np.clip(sharp * (t - edge), -50, 50))) - 0.5 * across
        return found

    return values, NOWHERE


def _peaked(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    inner = _gaussian(d, rng, np.full(d, rng.uniform(0.2, 0.5) * (d / 2) ** 0.5))
    return lambda x: np.exp(1.2 * inner(x)), NOWHERE


def _funnel(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    """Return a long slope toward a deep narrow top, with small hills on its way."""
    center, phase = rng.uniform(0.25, 0.75, d), rng.uniform(4.0, 9.0)
    depth, width, size = rng.uniform(0.3, 0.8), rng.uniform(0.08, 0.2), rng.uniform(0.0, 0.06)

    def values(x: FloatArray) -> FloatArray:
        u = x - center
        r = np.sqrt((u**2).mean(-1))
        found: FloatArray = -r + depth * np.exp(-0.5 * (r / width) ** 2) + size * np.cos(2 * np.pi * phase * u).mean(-1)
        return found

    return values, center[None]


def _standard(
    functions: Sequence[Callable[[], Function]], reach: float, half: float | None = None
) -> Callable[[int, Generator], tuple[Evaluate, FloatArray]]:
    """Return a family of standard functions by dimension, moved by up to a share of their box, mirrored at random."""
    known = {function.dimension: function for function in (make() for make in functions)}

    def draw(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
        function = known[d]
        assert function.bounds is not None
        low, high = function.bounds.T if half is None else np.array([[-half] * d, [half] * d])
        shift, mirrored = rng.uniform(-reach, reach, d), rng.random(d) < 0.5
        unit = (function.maximizer - low) / (high - low) + shift
        top = np.where(mirrored, 1 - unit, unit)

        def values(x: FloatArray) -> FloatArray:
            return function(low + (np.where(mirrored, 1 - x, x) - shift) * (high - low))

        return values, np.clip(top, 0, 1)[None]

    return draw


def _shekel(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    """Return Shekel's ten needles, moved."""
    C = np.array([[4, 1, 8, 6, 3, 2, 5, 8, 6, 7], [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6]])
    C = np.concatenate((C, C)).T / 10 + rng.uniform(-0.05, 0.05, d)
    beta = np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5]) / 10

    def values(x: FloatArray) -> FloatArray:
        found: FloatArray = (1 / (100 * ((x[..., None, :] - C) ** 2).sum(-1) + beta)).sum(-1)  # SB, Shekel
        return found

    return values, C


def _log_bowl(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    center = rng.uniform(0.2, 0.8, d)
    return lambda x: -np.log(0.05 + 10 * ((x - center) ** 2).mean(-1)), center[None]


def _peak(d: int, rng: Generator) -> tuple[Evaluate, FloatArray]:
    return _hills(d, rng, 1, 0.1, 0.16)


FAMILIES: dict[str, Family] = {
    "gp-rbf": Family((2, 3, 4, 6), _gp),
    "gp-matern": Family((2, 3, 4, 6, 8), partial(_gp, smoothness=2.5)),
    "gp-ard": Family((3, 5, 8), _ard),
    "two-scales": Family((2, 3, 4), _two_scales),
    "additive": Family((2, 4, 6, 8), _additive),
    "hills": Family((2, 3, 4, 5), partial(_hills, number=6, low=0.1, high=0.3)),
    "needle": Family((2, 3, 4), _needle, needle=True),
    "bowl": Family((2, 4, 8, 12), _bowl),
    "cone": Family((2, 4, 8, 12), _cone, cusp=True),
    "ripples": Family((2, 3, 4, 6), _ripples),
    "four-hills": Family((3, 4, 6), partial(_hills, number=4, low=0.15, high=0.6)),
    "valley": Family((2, 4, 6), _valley),
    "cliff": Family((2, 3, 4), _cliff),
    "peaked": Family((2, 3, 4), _peaked),
    "funnel": Family((2, 3, 5), _funnel),
    "gp-rough": Family((2, 3, 4, 8), partial(_gp, smoothness=1.5), chosen=False),
    "levy": Family((2, 4), _standard([partial(levy, d) for d in (2, 4)], 0.15), chosen=False),
    "hartmann": Family((3, 6), _standard([hartmann3, hartmann6], 0.0), chosen=False),
    "styblinski": Family((3, 5), _standard([partial(styblinski_tang, d) for d in (3, 5)], 0.0), chosen=False),
    "rosenbrock": Family((2, 4), _standard([partial(rosenbrock, d) for d in (2, 4)], 0.05, 2.0), chosen=False),
    "ackley": Family((3, 5), _standard([partial(ackley, d) for d in (3, 5)], 0.2, 5.0), chosen=False),
    "classic": Family((2,), _standard([camelback], 0.0), chosen=False),
    "branin": Family((2,), _standard([branin], 0.0), chosen=False),
    "peak": Family((3, 4), _peak, chosen=False),
    "log-bowl": Family((4, 12), _log_bowl, chosen=False),
    "shekel": Family((4,), _shekel, chosen=False, needle=True),
}
"""All families; what is reported shares no formula with what is chosen on."""
