"""Functions that are flat but for a bump or two: what a search must find before it can climb."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from equipoise._typing import FloatArray, Seed
from equipoise._validation import count, positive
from equipoise.lab.environments.function import Function

APART = 0.5
"""Least distance of two bumps, in units of the range."""


def two_bumps(sigma: float = 0.1, rng: Seed = None) -> Function:
    """Return a narrow bump of height 1 beside a broad one of height 0.3, on the unit square.

    Args:
        sigma: Standard deviation of the narrow bump; that of the broad one is 0.3.
        rng: Draws where they are: the tops at least half the range apart.

    Examples:
        >>> f = two_bumps(rng=0)
        >>> bool(1.0 <= f.maximum <= 1.3), f.dimension
        (True, 2)
    """
    rng = np.random.default_rng(rng)
    narrow = broad = np.zeros(2)
    while np.linalg.norm(narrow - broad) < APART:
        narrow, broad = rng.uniform(0.1, 0.9, (2, 2))
    widths = np.array([[positive("sigma", sigma)] * 2, [0.3, 0.3]])
    return _bumps("two-bumps", _Bumps(np.array([narrow, broad]), widths, np.array([1.0, 0.3])))


def peak(dimension: int = 3, height: float = 5.0, rng: Seed = None) -> Function:
    """Return a single peak over a flat ground, its full width at half maximum 22 to 33 % of each range.

    Args:
        dimension: The number of knobs.
        height: Of the peak.
        rng: Draws where it is and how wide.

    Examples:
        >>> f = peak(rng=0)
        >>> f.dimension, round(f.maximum, 6)
        (3, 5.0)
    """
    d = count("dimension", dimension)
    rng = np.random.default_rng(rng)
    center, width = rng.uniform(0.1, 0.9, (1, d)), rng.uniform(0.22, 0.33, (1, d)) / np.sqrt(8 * np.log(2))
    return _bumps("peak", _Bumps(center, width, np.array([positive("height", height)])))


@dataclass(frozen=True, eq=False)
class _Bumps:
    """x to sum_i height_i exp(-|(x - center_i) / width_i|^2 / 2)."""

    centers: FloatArray  # (k, d)
    widths: FloatArray  # (k, d)
    heights: FloatArray  # (k,)

    def __call__(self, x: FloatArray) -> FloatArray:
        z = (x[..., None, :] - self.centers) / self.widths
        result: FloatArray = np.exp(-0.5 * (z * z).sum(-1)) @ self.heights
        return result


def _bumps(name: str, bumps: _Bumps) -> Function:
    """Return the function, whose top is near that of the highest bump."""
    bounds = [[0.0, 1.0]] * bumps.centers.shape[1]
    start = bumps.centers[int(bumps.heights.argmax())]
    top = minimize(lambda x: -bumps(x), start, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    return Function.box(name, bumps, bounds, np.clip(top.x, 0.0, 1.0))
