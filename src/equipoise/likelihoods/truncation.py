"""The standard normal law between two edges: its probability and moments, accurate even in the far tails.

    symbol   meaning                                                          shape
    a, b     the edges, a < b, mirrored so that a + b >= 0                    (n,)
    Z        probability: Phi(b) - Phi(a)                                     (n,)
    h        inverse Mills ratio phi(a) / Phi(-a)                             (n,)
    E        phi(b) / phi(a) = exp(-(b - a) (b + a) / 2)                      (n,)
    rho      Phi(-b) / Phi(-a), so that Z = Phi(-a) (1 - rho)                 (n,)

In the tail, a > 0, all is computed from `erfcx`, which neither overflows nor cancels. Since the density is log-concave,
the variance between two edges is at most that beyond one of them: so h (h - a) is a lower bound on 1 - variance.
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise._typing import FloatArray

ROOT_2 = math.sqrt(2.0)
ROOT_TAU = math.sqrt(2.0 * math.pi)

FAR = 8.0
"""The edge from which h - a is computed by its continued fraction: the difference has lost two digits."""

TERMS = 30
"""The terms of the continued fraction: at `FAR` all digits are correct."""

LEAST = 1e-15
"""The least probability between two edges, relative to that beyond the nearer one: closer edges are equal."""

VERY_FAR = 1e4
"""The edge from which 1 - variance equals that beyond one edge, to 1e-8: differences of squares have no digits left."""


@dataclass(frozen=True, slots=True, eq=False)
class Truncated:
    """The standard normal law between two edges, all of shape (n,).

    Attributes:
        log_z: log of its probability.
        low: phi(lower edge) / Z.
        high: phi(upper edge) / Z.
        mean: phi(lower edge) / Z - phi(upper edge) / Z: it lies between the edges.
        narrowing: 1 - variance: the reduction of the variance by the edges.
    """

    log_z: FloatArray
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    narrowing: FloatArray


def truncated(alpha: FloatArray, beta: FloatArray) -> Truncated:
    """Return the standard normal law between edges alpha < beta, which may be infinite.

    Example:
        >>> found = truncated(np.array([-np.inf, 1e9]), np.array([0.0, np.inf]))
        >>> found.narrowing.round(3).tolist(), found.mean.round(3).tolist()
        ([0.637, 1.0], [-0.798, 1000000000.0])
    """
    mirrored = alpha < -beta
    a, b = np.where(mirrored, -beta, alpha), np.where(mirrored, -alpha, beta)
    E = np.exp(-_gap(a, b))
    h, inside, log_z = _near(a, b, E)
    at_a, at_b = h / inside, h / inside * E
    mean = np.clip(at_a - at_b, a, b)
    return Truncated(
        log_z,
        np.where(mirrored, at_b, at_a),
        np.where(mirrored, at_a, at_b),
        np.where(mirrored, -mean, mean),
        _narrowing(a, b, h, at_a, at_b),
    )


def _gap(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return (b^2 - a^2) / 2 without cancellation."""
    finite = np.isfinite(b)
    start, end = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
    return np.where(finite, 0.5 * (end - start) * (end + start), np.inf)


def _near(a: FloatArray, b: FloatArray, E: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return phi(a) / c, Z / c and log Z, where c is Phi(-a) in the tail and 1 elsewhere."""
    from scipy.special import erfcx, log_ndtr, ndtr

    tail = a > 0
    x = np.where(tail, a, 0.0)
    scaled = erfcx(x / ROOT_2)
    rest = -np.expm1(np.log(np.maximum(erfcx(b / ROOT_2) / scaled * E, 1e-300)))  # 1 - rho
    z = ndtr(b) - ndtr(a)
    center = np.exp(-0.5 * np.where(tail, 0.0, a) ** 2) / ROOT_TAU
    h, inside = np.where(tail, 2.0 / (ROOT_TAU * scaled), center), np.maximum(np.where(tail, rest, z), LEAST)
    return h, inside, np.where(tail, log_ndtr(-x), 0.0) + np.log(inside)


def _narrowing(a: FloatArray, b: FloatArray, h: FloatArray, at_a: FloatArray, at_b: FloatArray) -> FloatArray:
    """Return 1 - variance."""
    far = a > VERY_FAR
    least = np.where(a > 0, h * excess(np.maximum(a, 0.0)), 0.0)
    x, A, B = (np.where(far, 0.0, each) for each in (a, at_a, at_b))
    moved = product(b, B) - product(x, A) + (B - A) ** 2
    found: FloatArray = np.clip(np.where(far, least, moved), np.minimum(least, 1.0), 1.0)
    return found


def excess(a: FloatArray) -> FloatArray:
    """Return phi(a) / Phi(-a) - a for a >= 0: the excess of the mean beyond an edge over the edge.

    Example:
        >>> (excess(np.array([0.0, 10.0, 1e9])) * [1, 1, 1e9]).round(6).tolist()
        [0.797885, 0.098093, 1.0]
    """
    from scipy.special import erfcx

    x = np.maximum(a, FAR)
    fraction = np.zeros_like(x)
    for k in range(TERMS, 0, -1):  # 1 / (a + 2 / (a + 3 / (a + ...)))
        fraction = k / (x + fraction)
    return np.where(a < FAR, 2.0 / (ROOT_TAU * erfcx(a / ROOT_2)) - a, fraction)


def product(edge: FloatArray, density: FloatArray) -> FloatArray:
    """Return the product; zero at infinity, where the density vanishes faster."""
    return np.where(np.isfinite(edge), edge, 0.0) * density
