"""The functions of the board, scaled so that a random setting has an average regret of one.

symbol    meaning                                                   shape
Q         a rotation, drawn with the seed                           (d, d)
c         how curved a bowl is along each axis of Q, 1 to 100       (d,)
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.environments import (
    Function,
    ackley,
    additive,
    branin,
    camelback,
    gp_draw,
    hartmann3,
    hartmann6,
    levy,
    rosenbrock,
    styblinski_tang,
)

POINTS = 2**12
"""The number of settings for the average regret of a random setting: its error is about 2 %."""


@dataclass(frozen=True, eq=False)
class Divided:
    """The function x to f(x) / unit."""

    evaluate: Callable[[FloatArray], FloatArray]
    unit: float

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at x, shape (..., d)."""
        return self.evaluate(x) / self.unit


@dataclass(frozen=True, eq=False)
class FirstOnly:
    """A function of the first few coordinates; the others have no effect."""

    evaluate: Callable[[FloatArray], FloatArray]
    dimension: int

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at x, shape (..., d)."""
        return self.evaluate(x[..., : self.dimension])


@dataclass(frozen=True, eq=False)
class LogBowl:
    """The function x to -log(1 + 10 sum_i c_i (Q (x - top))_i^2): steep near the top, flat far off, on rotated axes."""

    Q: FloatArray
    c: FloatArray
    top: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at x, shape (..., d)."""
        z = (x - self.top) @ self.Q.T
        result: FloatArray = -np.log1p(10.0 * (z * z) @ self.c)
        return result


def log_bowl(dimension: int, condition: float, rng: Generator) -> Function:
    """Return a log-bowl on the unit cube with its top in the middle three fifths.

    Example:
        >>> log_bowl(3, 100.0, np.random.default_rng(0)).maximum
        0.0
    """
    Q = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    c = condition ** np.linspace(0.0, 1.0, dimension) / math.sqrt(condition)
    top = rng.uniform(0.2, 0.8, dimension)
    return Function.box("log-bowl", LogBowl(Q, c, top), [[0.0, 1.0]] * dimension, top)


def with_idle(function: Function, dimension: int) -> Function:
    """Return a function on the unit cube with additional knobs that have no effect.

    Example:
        >>> with_idle(hartmann6(), 20).dimension
        20
    """
    top = np.concatenate((function.maximizer, np.full(dimension - function.dimension, 0.5)))
    return Function.box(function.name, FirstOnly(function.evaluate, function.dimension), [[0.0, 1.0]] * dimension, top)


def smooth_draw(dimension: int, shortest: float, longest: float, rng: Generator) -> Function:
    """Return a draw of a Gaussian process with one random lengthscale per knob."""
    lengthscale = np.exp(rng.uniform(np.log(shortest), np.log(longest), dimension))
    return gp_draw(bounds=[[0.0, 1.0]] * dimension, lengthscale=lengthscale, features=512, rng=rng)


def in_units(function: Function) -> Function:
    """Return a function divided by the average regret of a random setting.

    Example:
        >>> f = in_units(camelback())
        >>> low, high = f.bounds.T
        >>> x = np.random.default_rng(1).uniform(low, high, (10_000, 2))
        >>> round(float(f.regret(x).mean()), 1)
        1.0
    """
    assert function.bounds is not None
    low, high = function.bounds.T
    x = np.random.default_rng(0).uniform(low, high, (POINTS, function.dimension))
    unit = float(function.regret(x).mean())
    return Function.box(function.name, Divided(function.evaluate, unit), function.bounds, function.maximizer)


FAMILIES: Mapping[str, Callable[[Generator], Function]] = {
    "camel2": lambda rng: camelback(),
    "branin2": lambda rng: branin(),
    "hartmann3": lambda rng: hartmann3(),
    "gp3": lambda rng: smooth_draw(3, 0.15, 0.6, rng),
    "levy4": lambda rng: levy(4),
    "rosenbrock4": lambda rng: rosenbrock(4),
    "hartmann6": lambda rng: hartmann6(),
    "gp8": lambda rng: smooth_draw(8, 0.3, 3.0, rng),
    "additive10": lambda rng: additive(10, rng=rng),
    "ackley10": lambda rng: ackley(10),
    "levy10": lambda rng: levy(10),
    "bowl12": lambda rng: log_bowl(12, 100.0, rng),
    "hartmann6 in 20": lambda rng: with_idle(hartmann6(), 20),
    "styblinski20": lambda rng: styblinski_tang(20),
    "bowl20": lambda rng: log_bowl(20, 30.0, rng),
    "bowl50": lambda rng: log_bowl(50, 30.0, rng),
    "styblinski50": lambda rng: styblinski_tang(50),
}
"""The functions by name, ending in the number of knobs; each seed draws its own version of the random functions."""
