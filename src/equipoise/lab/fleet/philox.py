"""Philox4x64-10 for many keys and counters at once: the words that `numpy.random.Philox` gives for one key at a time.

    symbol   meaning                                                    shape
    c        counter of a block of four words: c0 in round one, ...     (...)
    k        key                                                        (...)
    M        multipliers; W, the increments of a key between rounds      ()

A counter-based generator is a plain function of counter and key, so the coins of many learners and many duels are one
array expression. Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC11.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

Words = NDArray[np.uint64]
"""Whole numbers below 2^64."""

MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
"""The multipliers M of the paper."""

GROWTH = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
"""The increments W of the paper: the golden ratio and the root of three, less one."""

ROUNDS = 10
"""The number of rounds of the generator: ten, as in NumPy."""

HALF, LOW, MODULUS = np.uint64(32), np.uint64(2**32 - 1), 2**64


def blocks(counter: Sequence[Words], key: Words) -> tuple[Words, Words, Words, Words]:
    """Return the four words of each block.

    Args:
        counter: Its four words, low ones first, of shapes that broadcast; NumPy counts before it draws, so its first
            block is that of c0 = 1.
        key: Its two words, shape (2, ...).

    Example:
        >>> zero, one = np.zeros(1, dtype=np.uint64), np.ones(1, dtype=np.uint64)
        >>> first, *_ = blocks((one, zero, zero, zero), np.zeros((2, 1), dtype=np.uint64))
        >>> bool(first[0] == np.random.Philox(key=0).random_raw())
        True
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for i in range(ROUNDS):
        g0, g1 = (np.uint64(i * each % MODULUS) for each in GROWTH)
        high0, low0 = _product(c0, MULTIPLIERS[0])
        high1, low1 = _product(c2, MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ (k0 + g0), low1, high0 ^ c3 ^ (k1 + g1), low0
    return c0, c1, c2, c3


def uniforms(words: Words) -> FloatArray:
    """Return the numbers in [0, 1) of `Generator.random`."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _product(x: Words, multiplier: int) -> tuple[Words, Words]:
    """Return the high and low words of a product, computed from half-words so that nothing exceeds a word."""
    high, low = np.uint64(multiplier >> 32), np.uint64(multiplier & 0xFFFFFFFF)
    upper, lower = x >> HALF, x & LOW
    middle = upper * low + (lower * low >> HALF)
    other = lower * high + (middle & LOW)
    return upper * high + (middle >> HALF) + (other >> HALF), x * np.uint64(multiplier)
