"""Candidates: spread evenly over the unit cube, or by small steps around a point."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces.constraints import nothing_valid
from equipoise.spaces.sobol import scrambled

DOUBLINGS = 6
"""The number of times that the tried points are doubled if a constraint leaves few of them."""


def spread(dimension: int, log2: int, rng: Generator, keep: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return at most 2**log2 points made from scrambled Sobol' points of the unit cube.

    If `keep` returns fewer than a quarter of the points, the sequence continues, up to 2**DOUBLINGS times as far.
    `keep` turns points of the cube, shape (m, dimension), into the usable rows.

    Raises:
        RuntimeError: If no point was kept.
    """
    # A digital shift (exclusive or) keeps what makes a Sobol' sequence even, which a shift modulo one does not.
    shift = rng.integers(2**53, size=dimension, dtype=np.uint64)
    kept: list[FloatArray] = []
    wanted, tried, found = 2**log2, 0, 0
    for doubling in range(DOUBLINGS + 1):
        sequence = _sobol(dimension, log2 + doubling)
        cube: FloatArray = (sequence[tried:] ^ shift) * np.float64(2.0**-53)
        kept.append(keep(cube))
        tried, found = len(sequence), found + len(kept[-1])
        if 4 * found >= wanted:
            break
    if not found:
        raise nothing_valid(tried)
    return kept[0] if len(kept) == 1 else np.concatenate(kept)[:wanted]


def subsets(count: int, size: int, rng: Generator) -> NDArray[np.bool_]:
    """Return random nonempty subsets of `size` things, shape (count, size).

    Few at a time: in many dimensions a step in all of them at once hardly ever improves on a good point.
    """
    chosen = rng.random((count, size)) < max(0.3, 2 / size)
    chosen[np.arange(count), rng.integers(size, size=count)] |= ~chosen.any(axis=1)
    return chosen


@lru_cache(maxsize=32)
def _sobol(dimension: int, log2: int) -> NDArray[np.uint64]:
    """Return the first 2**log2 points, shape (2**log2, dimension), as multiples of 2**-53."""
    # Making the sequence is expensive, so it is made once, and each call shifts it at random.
    result = (scrambled(dimension, log2, np.random.default_rng(0)) * 2.0**53).astype(np.uint64)
    result.flags.writeable = False
    return result
