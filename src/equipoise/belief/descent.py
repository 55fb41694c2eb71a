"""Minimization inside a box: the optimizer of all fits and climbs, quasi-Newton with projected steps.

    symbol   meaning                                                       shape
    x        the current point                                             (k,)
    g        gradient there                                                (k,)
    H        estimate of the inverse of the second derivatives             (k, k)
    free     coordinates held by no bound: inside, or moving inwards       (k,)

Steps are BFGS steps on the free coordinates, clipped at the bounds (Bertsekas 1982, two-metric projection), and halved
until the loss decreases as much as the gradient promises (Armijo). For a dozen coordinates this needs as many
evaluations as SciPy's L-BFGS-B. SciPy's package takes a quarter of a second to import, and the overhead of its calls
exceeds the cost of a small evaluation.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

Loss = Callable[[FloatArray], tuple[float, FloatArray]]
"""A function that returns the loss and its gradient."""

ENOUGH = 1e-4
"""The share of the promised decrease that a step must achieve (Nocedal and Wright 2006, Eq. (3.4))."""

AT_BOUND = 1e-9
"""The distance to a bound, as a share of the range, that counts as zero: rounding must not decide this."""

MOST_CUTS = 20
"""The number of times a step is shortened before the search gives up: by then only rounding is left."""


def descend(
    loss: Loss,
    start: FloatArray,
    bounds: tuple[FloatArray | float, FloatArray | float],
    *,
    steps: int,
    ftol: float,
    gtol: float,
) -> tuple[FloatArray, float]:
    """Return the end point of a descent from `start`, and its loss, which never exceeds that of the start.

    Args:
        loss: Takes a point, shape (k,).
        start: Shape (k,).
        bounds: The smallest and largest value of the coordinates.
        steps: The maximum number of steps.
        ftol: Stop when a step reduces the loss by less, relative to its size or to 1.
        gtol: Stop when no free coordinate has a larger slope.

    Example:
        >>> x, value = descend(lambda x: (float(x @ x), 2 * x), np.ones(2), (0.5, 9.0), steps=9, ftol=1e-9, gtol=1e-9)
        >>> x, value
        (array([0.5, 0.5]), 0.5)
    """
    low, high = bounds
    margin = AT_BOUND * (np.asarray(high) - low)
    x = np.minimum(np.maximum(start, low), high)
    value, g = loss(x)
    H: FloatArray | None = None
    for _ in range(steps):
        free = ((x > low + margin) | (g < 0)) & ((x < high - margin) | (g > 0))
        slope = np.where(free, g, 0.0)
        if np.abs(slope).max(initial=0.0) <= gtol:
            break
        found = _step(loss, x, value, slope, _direction(H, slope, free), low, high)
        if found is None and H is not None:  # the curvature estimate misleads: retry without it
            H = None
            found = _step(loss, x, value, slope, _direction(H, slope, free), low, high)
        if found is None:
            break
        new, lower, turned = found
        H = _learned(H, new - x, turned - g)
        fallen, x, value, g = value - lower, new, lower, turned
        if fallen <= ftol * max(abs(value), abs(value + fallen), 1.0):
            break
    return x, value


def _direction(H: FloatArray | None, slope: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """Return the step along the free coordinates; the first step is at most 1 in each of them."""
    if H is None:
        return -slope / max(1.0, float(np.abs(slope).max()))
    return np.where(free, -(H @ slope), 0.0)


def _step(
    loss: Loss,
    x: FloatArray,
    value: float,
    slope: FloatArray,
    direction: FloatArray,
    low: FloatArray | float,
    high: FloatArray | float,
) -> tuple[FloatArray, float, FloatArray] | None:
    """Return the next point, its loss and its gradient; `None` if no step helps."""
    t = 1.0
    for _ in range(MOST_CUTS):
        new = np.minimum(np.maximum(x + t * direction, low), high)
        promised = float(slope @ (new - x))
        if promised >= 0.0:
            return None
        lower, turned = loss(new)
        excess = lower - value - promised
        if lower <= value + ENOUGH * promised:
            return new, lower, turned
        t *= min(max(-promised / (2.0 * excess), 0.1), 0.5) if np.isfinite(excess) else 0.1  # minimum of the parabola
    return None


def _learned(H: FloatArray | None, s: FloatArray, y: FloatArray) -> FloatArray | None:
    """Return the BFGS update for a step s that changed the gradient by y (Nocedal and Wright 2006, Eq. (6.17))."""
    with np.errstate(over="ignore", invalid="ignore"):  # gradients may be near the largest float
        curved, size = float(s @ y), float(y @ y)
    if not 1e-10 * size < curved < np.inf:  # no curvature to learn from
        return H
    if H is None:
        H = np.eye(len(s)) * (curved / size)  # Eq. (6.20)
    Hy = H @ y
    cross = np.multiply.outer(Hy, s)
    return H + ((curved + float(y @ Hy)) / curved**2) * np.multiply.outer(s, s) - (cross + cross.T) / curved
