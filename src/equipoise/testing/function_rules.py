"""The rules for functions to be maximized."""

import pickle
from collections.abc import Collection

import numpy as np

from equipoise._typing import FloatArray
from equipoise.lab.environments import Function
from equipoise.testing.rule import agree, obeys, require, rules_of

POINTS = 4_000
"""The number of points at which a function on a box is evaluated."""

ROUNDING = 1e-9
"""The largest excess over a declared maximum, relative to the spread of the values."""


def check_function(function: Function, *, without: Collection[str] = ()) -> None:
    """Check a function against the rules for functions.

    Skip `pickles_alike` for a function made of a lambda.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_function(eq.lab.environments.branin())
    """
    obeys(function, RULES, without)


def has_its_optimum_inside(function: Function) -> None:
    """Its maximizer lies in its domain."""
    x, bounds, points = function.maximizer, function.bounds, function.points
    require(x.shape == (function.dimension,), f"a maximizer of shape {x.shape}")
    if bounds is not None:
        require((bounds[:, 0] <= x).all() and (x <= bounds[:, 1]).all(), f"the maximizer {x} lies outside")
    if points is not None:
        require((points == x).all(axis=1).any(), f"the maximizer {x} is none of the points")


def attains_its_maximum(function: Function) -> None:
    """Its value at the maximizer is the maximum, and the regret there is zero."""
    agree(function(function.maximizer), function.maximum, "the value at the maximizer")
    agree(function.regret(function.maximizer), 0.0, "the regret of the maximizer")


def never_exceeds_its_maximum(function: Function) -> None:
    """No point of the domain has a larger value: neither among many spread points, nor close to the maximizer."""
    values = function(_points(function))
    slack = ROUNDING * max(1.0, float(np.ptp(values)))
    best = int(values.argmax())
    require(values[best] <= function.maximum + slack, f"{values[best]} at {_points(function)[best]}")


def takes_many_points_at_once(function: Function) -> None:
    """It keeps leading axes, and gives many points at once the values that they have one by one."""
    X = _points(function)[:12]
    X = X[: len(X) // 2 * 2]
    values = function(X)
    require(values.shape == (len(X),), f"shape {values.shape} for {len(X)} points")
    agree(np.array([float(function(x)) for x in X]), values, "a value by itself", 1e-12)
    agree(function(X.reshape(2, -1, X.shape[1])), values.reshape(2, -1), "a value in a grid", 1e-12)


def is_a_function(function: Function) -> None:
    """The same point has the same finite value each time, and does not change."""
    X = _points(function)
    before = X.copy()
    values = function(X)
    require(np.isfinite(values).all(), "a value is not finite")
    require(np.array_equal(X, before), "it writes into the points")
    require(function(X).tobytes() == values.tobytes(), "other values the second time")


def locates_points(function: Function) -> None:
    """A reading at a point finds the point and its value."""
    for x in _points(function)[:20]:
        point, value = function.locate(x)
        require((point == x).all(), f"{x} is mistaken for {point}")
        agree(value, float(function(x)), f"the value at {x}", 1e-12)


def is_the_sum_of_its_parts(function: Function) -> None:
    """If it has parts, each of one coordinate, then it is their sum, and so is its maximum."""
    if function.parts:
        require(len(function.parts) == function.dimension, f"{len(function.parts)} parts")
        X = _points(function)[:50]
        total = sum(part(X[:, i : i + 1]) for i, part in enumerate(function.parts))
        agree(function(X), total, "the sum")
        agree(function.maximum, sum(part.maximum for part in function.parts), "the maximum")


def pickles_alike(function: Function) -> None:
    """It can be pickled, as experiments in parallel processes need, and keeps its values."""
    twin, X = pickle.loads(pickle.dumps(function)), _points(function)
    require(twin(X).tobytes() == function(X).tobytes(), "its twin has other values")
    require(twin.maximum == function.maximum, f"its twin has the maximum {twin.maximum}")


RULES = rules_of(__name__)
"""The rules for a function."""


def _points(function: Function) -> FloatArray:
    """Return points of the domain: all of a finite one; else spread points, its corner and some at the maximizer."""
    if function.points is not None:
        return np.array(function.points)
    bounds = function.bounds
    assert bounds is not None
    rng, low, high = np.random.default_rng(0), bounds[:, 0], bounds[:, 1]
    spread = low + rng.uniform(size=(POINTS, len(bounds))) * (high - low)
    steps = rng.normal(size=(POINTS // 4, len(bounds))) * (high - low)
    scales = 10.0 ** rng.uniform(-6, -1, (len(steps), 1))
    return np.concatenate((spread, bounds.T, np.clip(function.maximizer + scales * steps, low, high)))
