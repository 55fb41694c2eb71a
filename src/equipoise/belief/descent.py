"""Going downhill inside a box: the one optimizer for fits and for climbs, quasi-Newton with projected steps.

    symbol   meaning                                                       shape
    x        where it is                                                   (k,)
    g        gradient there                                                (k,)
    H        estimate of the inverse of the second derivatives             (k, k)
    free     coordinates that no bound holds: inside, or pushed inwards    (k,)

Steps are those of BFGS on the free coordinates, cut off at the bounds (Bertsekas 1982, two-metric projection), and
halved until the loss falls by what the gradient promises (Armijo). For a dozen coordinates that takes as many
evaluations as L-BFGS-B of SciPy, whose package takes a quarter of a second to import and whose calls cost more around
the evaluations than a small evaluation itself.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

Loss = Callable[[FloatArray], tuple[float, FloatArray]]
"""Returns the loss and its gradient."""

ENOUGH = 1e-4
"""The share of the promised decrease that a step must keep (Nocedal and Wright 2006, Eq. (3.4))."""

AT_BOUND = 1e-9
"""How close to a bound, as a share of the range, counts as on it: whether rounding says so must not decide."""

MOST_CUTS = 20
"""How often a step is shortened before the search gives up: rounding is all that is left then."""


def descend(
    loss: Loss,
    start: FloatArray,
    bounds: tuple[FloatArray | float, FloatArray | float],
    *,
    steps: int,
    ftol: float,
    gtol: float,
) -> tuple[FloatArray, float]:
    """Return where a descent from `start` ends, and the loss there: never above that of the start.

    Args:
        loss: Takes a point, shape (k,).
        start: Shape (k,).
        bounds: Least and largest value of the coordinates.
        steps: At most this many steps.
        ftol: It ends when a step lowers the loss by less, relative to its size or to 1.
        gtol: It ends when no free coordinate has a larger slope.

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
        if found is None and H is not None:  # what was learned of the curvature misleads: once more without
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
    """Return where to go along the free coordinates; at first, by 1 at most in each of them."""
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
    """Return the next point, its loss and gradient; `None` if no step helps."""
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
        t *= min(max(-promised / (2.0 * excess), 0.1), 0.5) if np.isfinite(excess) else 0.1  # of the parabola
    return None


def _learned(H: FloatArray | None, s: FloatArray, y: FloatArray) -> FloatArray | None:
    """Return the BFGS update for a step s that changed the gradient by y (Nocedal and Wright 2006, Eq. (6.17))."""
    with np.errstate(over="ignore", invalid="ignore"):  # gradients as steep as numbers go
        curved, size = float(s @ y), float(y @ y)
    if not 1e-10 * size < curved < np.inf:  # no curvature to learn from
        return H
    if H is None:
        H = np.eye(len(s)) * (curved / size)  # Eq. (6.20)
    Hy = H @ y
    cross = np.multiply.outer(Hy, s)
    return H + ((curved + float(y @ Hy)) / curved**2) * np.multiply.outer(s, s) - (cross + cross.T) / curved
