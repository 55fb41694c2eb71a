"""Covariance matrices that are immutable and conditioned on one direction at a time.

    symbol   meaning                                            shape
    m        number of points
    C        covariance of f at the points, given the data      (m, m)
    u        a direction: f(u) = sum_i u_i f(x_i)               (m,), given by indices and weights
    w        a solved row, C u / sqrt(lambda + u'C u)           (m,)

Conditioning on a reading of f(u) is `C <- C - w w'` (METHOD section 3). Updating m^2 numbers each time is limited by
memory bandwidth, so rows are first collected in a short tail and then folded in as a block by one matrix product. A new
object shares all old blocks and copies only the tail: objects already handed out never change.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.kernels import Kernel

Indices = NDArray[np.intp]

TAIL = 32
"""The number of rows collected before folding; at m = 900, folding and reading the tail then cost about the same."""

SMALL = 64
"""The number of points up to which a rank-one update is cheaper than keeping a tail."""

DENSE = 2048
"""The number of points up to which the whole matrix is kept; beyond it, memory and time stay linear in m."""


def prior(kernel: Kernel, points: FloatArray) -> "Dense | LowRank":
    """Return the covariance of f before any data, in the form that suits the number of points."""
    none = np.empty((0, len(points)))
    if len(points) > DENSE:
        return LowRank(kernel, points, none)
    K = kernel(points, points)
    return Dense(0.5 * (K + K.T), none)  # exactly symmetric, so that rows equal columns


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """The whole matrix and a tail of rows not yet folded in: `C = base - tail' tail`."""

    base: FloatArray
    tail: FloatArray

    def apply(self, indices: Indices, weights: FloatArray) -> FloatArray:
        """Return C u, shape (m,), for u with the given weights at the given indices."""
        c: FloatArray = weights @ self.base[indices]
        if len(self.tail):
            c -= (self.tail[:, indices] @ weights) @ self.tail
        return c

    def column(self, j: int) -> FloatArray:
        """Return C e_j."""
        c: FloatArray = self.base[j].copy()
        if len(self.tail):
            c -= self.tail[:, j] @ self.tail
        return c

    def downdate(self, row: FloatArray) -> "Dense":
        """Return C - w w'."""
        if len(self.base) <= SMALL:
            return Dense(self.base - np.multiply.outer(row, row), self.tail)
        tail = np.concatenate((self.tail, row[None]))
        if len(tail) < TAIL:
            return Dense(self.base, tail)
        return Dense(_subtract_square(self.base, tail), tail[:0])

    def full(self) -> FloatArray:
        """Return C."""
        return _subtract_square(self.base, self.tail)


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """The kernel minus all rows so far: `C = k(X, X) - sum of blocks' blocks - tail' tail`, never formed."""

    kernel: Kernel
    points: FloatArray
    tail: FloatArray
    blocks: tuple[FloatArray, ...] = field(default=())

    def apply(self, indices: Indices, weights: FloatArray) -> FloatArray:
        """Return C u."""
        c: FloatArray = weights @ self.kernel(self.points[indices], self.points)
        for rows in (*self.blocks, self.tail):
            c -= (rows[:, indices] @ weights) @ rows
        return c

    def column(self, j: int) -> FloatArray:
        """Return C e_j."""
        return self.apply(np.array([j]), np.ones(1))

    def downdate(self, row: FloatArray) -> "LowRank":
        """Return C - w w'."""
        tail = np.concatenate((self.tail, row[None]))
        if len(tail) < TAIL:
            return LowRank(self.kernel, self.points, tail, self.blocks)
        return LowRank(self.kernel, self.points, tail[:0], (*self.blocks, tail))

    def full(self) -> FloatArray:
        """Return C; memory grows with the square of the number of points."""
        C = self.kernel(self.points, self.points)
        for rows in (*self.blocks, self.tail):
            C = _subtract_square(C, rows)
        return C


def _subtract_square(C: FloatArray, rows: FloatArray) -> FloatArray:
    """Return `C - rows' rows` using one temporary array."""
    product = rows.T @ rows
    return np.subtract(C, product, out=product)
