"""Stationary kernels: functions of the scaled distance alone.

Notation (R&W is Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006):

    symbol   meaning                                                 shape
    A, B     two lists of points                                     (..., n, d), (..., m, d)
    l        lengthscales, one per dimension                         (d,)
    z_j      scaled difference in dimension j, (a_j - b_j) / l_j     (..., n, m)
    r2       squared scaled distance, sum over j of z_j^2            (..., n, m)
    s        sqrt(2 nu r2), for a Matern kernel of smoothness nu     (..., n, m)

The squared distance is summed one dimension at a time: only a gradient forms an array of shape (n, m, d). This keeps
all digits for close points, while |a|^2 + |b|^2 - 2 <a, b> cancels them. With many lengthscales the latter is three
times as fast, so it is used there for all points that are not close.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.kernels.kernel import Kernel, matrix_shape

MANY = 16
"""The number of lengthscales from which matrix products are faster than a sum over dimensions."""

FEW_ROWS = 16
"""The fewest points for which matrix products are faster."""

CLOSE = 1e-4
"""Points are close if r2 is less than this share of |a|^2 + |b|^2; otherwise at least ten digits of r2 remain."""

FEW_CLOSE = 1 / 16
"""The share of close pairs above which the sum over dimensions is faster again."""


@dataclass(frozen=True, init=False)
class Stationary(Kernel):
    """A kernel of the scaled distance alone, with k(x, x) = 1; its gradients follow from `slope`."""

    lengthscale: float | tuple[float, ...]

    def __init__(self, lengthscale: float | Sequence[float] | FloatArray) -> None:
        object.__setattr__(self, "lengthscale", _lengthscale(lengthscale))

    @staticmethod
    @abstractmethod
    def profile(r2: FloatArray) -> FloatArray:
        """Return k as a function of the squared scaled distance, elementwise."""

    @staticmethod
    @abstractmethod
    def slope(r2: FloatArray) -> FloatArray:
        """Return dk/d(r2), elementwise; finite at r2 = 0."""

    @classmethod
    def with_slope(cls, r2: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the results of `profile` and `slope`; a subclass may compute both for the cost of one."""
        return cls.profile(r2), cls.slope(r2)

    @property
    def entrywise(self) -> bool:
        """True if each entry of the matrix is computed separately, which holds unless there are many lengthscales."""
        return not isinstance(self.lengthscale, tuple) or len(self.lengthscale) < MANY

    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.profile(self._squared_distance(A, B))

    def _diagonal(self, A: FloatArray) -> FloatArray:
        self._lengthscales(A.shape[-1])
        return np.ones(A.shape[:-1])

    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.with_gradient(A, B)[1]

    def with_gradient(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the matrix and its gradient, from one array of differences."""
        lengthscale = self._lengthscales(A.shape[-1])
        z = A[..., :, None, :] - B[..., None, :, :]
        z /= lengthscale
        r2 = np.einsum("...d,...d->...", z, z)
        k, slope = self.with_slope(r2)
        z *= slope[..., None] * (2.0 / lengthscale)  # d(r2)/d(a_j) = 2 z_j / l_j
        return k, z

    def _squared_distance(self, A: FloatArray, B: FloatArray) -> FloatArray:
        if not self.entrywise and A.ndim == B.ndim == 2 and min(len(A), len(B)) >= FEW_ROWS:
            r2 = self._by_products(A, B)
            if r2 is not None:
                return r2
        r2 = np.zeros(matrix_shape(A, B))
        for z in self._scaled_differences(A, B):
            z *= z
            r2 += z  # R&W Eq. (5.1), (5.2), M = diag(l)^-2
        return r2

    def _by_products(self, A: FloatArray, B: FloatArray) -> FloatArray | None:
        """Return r2 from inner products around the middle of B; `None` if too many points are close."""
        lengthscale, middle = self._lengthscales(A.shape[-1]), B.mean(axis=0)
        a, b = (A - middle) / lengthscale, (B - middle) / lengthscale
        size = np.add.outer(np.einsum("nd,nd->n", a, a), np.einsum("md,md->m", b, b))
        r2: FloatArray = a @ (-2.0 * b.T)
        r2 += size
        size *= CLOSE
        i, j = np.nonzero(r2 < size)
        if len(i) > FEW_CLOSE * r2.size:
            return None
        z = (A[i] - B[j]) / lengthscale
        r2[i, j] = np.einsum("kd,kd->k", z, z)
        return r2

    def _scaled_differences(self, A: FloatArray, B: FloatArray) -> Iterator[FloatArray]:
        """Yield z_j for each dimension j, reusing the same memory, which the caller may overwrite."""
        z = np.empty(matrix_shape(A, B))
        for j, rate in enumerate(1.0 / self._lengthscales(A.shape[-1])):
            a, b = np.ascontiguousarray(A[..., j]), np.ascontiguousarray(B[..., j])
            # Scale after subtracting: the difference of close points is exact. A product is faster than a quotient.
            np.subtract(a[..., :, None], b[..., None, :], out=z)
            z *= rate
            yield z

    def _lengthscales(self, d: int) -> FloatArray:
        given = self.lengthscale
        if isinstance(given, tuple) and len(given) != d:
            raise ValueError(f"`lengthscale` must have one entry per dimension of the points, {d}, got {given}")
        return np.full(d, given)


@dataclass(frozen=True, init=False)
class RBF(Stationary):
    """The squared exponential kernel, exp(-r2 / 2): f has derivatives of every order.

    Args:
        lengthscale: The distance over which f changes: a positive number, or one per dimension.

    Example:
        >>> RBF(0.5)([[0.0], [1.0]], [[0.0]]).round(4)
        array([[1.    ], [0.1353]])
        >>> RBF([0.5, 2.0])
        RBF(lengthscale=(0.5, 2.0))
    """

    @staticmethod
    def profile(r2: FloatArray) -> FloatArray:
        """Return k as a function of the squared scaled distance, elementwise."""
        return np.exp(-0.5 * r2)  # R&W Eq. (4.9)

    @staticmethod
    def slope(r2: FloatArray) -> FloatArray:
        """Return dk/d(r2), elementwise."""
        return -0.5 * np.exp(-0.5 * r2)


@dataclass(frozen=True, init=False)
class Matern32(Stationary):
    """The Matern kernel of smoothness 3/2: f is once differentiable.

    Args:
        lengthscale: The distance over which f changes: a positive number, or one per dimension.

    Example:
        >>> Matern32(0.5)([[0.0], [1.0]], [[0.0]]).round(4)
        array([[1.    ], [0.1397]])
    """

    @staticmethod
    def profile(r2: FloatArray) -> FloatArray:
        """Return k as a function of the squared scaled distance, elementwise."""
        s = np.sqrt(3.0 * r2)
        return (1.0 + s) * np.exp(-s)  # R&W Eq. (4.17), nu = 3/2

    @staticmethod
    def slope(r2: FloatArray) -> FloatArray:
        """Return dk/d(r2), elementwise."""
        return -1.5 * np.exp(-np.sqrt(3.0 * r2))  # (dk/ds)(ds/dr2) = (-s exp(-s)) (3 / 2s)


@dataclass(frozen=True, init=False)
class Matern52(Stationary):
    """The Matern kernel of smoothness 5/2: f is twice differentiable.

    Args:
        lengthscale: The distance over which f changes: a positive number, or one per dimension.

    Example:
        >>> Matern52(0.5)([[0.0], [1.0]], [[0.0]]).round(4)
        array([[1.    ], [0.1387]])
    """

    @staticmethod
    def profile(r2: FloatArray) -> FloatArray:
        """Return k as a function of the squared scaled distance, elementwise."""
        s = np.sqrt(5.0 * r2)
        return _matern52(s, np.exp(-s))

    @staticmethod
    def slope(r2: FloatArray) -> FloatArray:
        """Return dk/d(r2), elementwise."""
        s = np.sqrt(5.0 * r2)
        return (-5.0 / 6.0) * (1.0 + s) * np.exp(-s)  # (-s (1 + s) exp(-s) / 3) (5 / 2s)

    @classmethod
    def with_slope(cls, r2: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the results of `profile` and `slope`, using one exponential for both."""
        s = np.sqrt(5.0 * r2)
        decay = np.exp(-s)
        k = _matern52(s, decay)
        s += 1.0
        s *= -5.0 / 6.0
        s *= decay
        return k, s


def _matern52(s: FloatArray, decay: FloatArray) -> FloatArray:
    """Return (1 + s + s^2/3) exp(-s): R&W Eq. (4.17), nu = 5/2."""
    k = s / 3.0  # in place from here: fresh memory costs more than the arithmetic
    k += 1.0
    k *= s
    k += 1.0
    k *= decay
    return k


def _lengthscale(value: Any) -> float | tuple[float, ...]:
    if not isinstance(value, Sequence) and np.ndim(value) == 0:
        return check.positive("lengthscale", value)
    result = check.array("lengthscale", value, (None,))
    if not (result > 0).all():
        raise ValueError(f"`lengthscale` must be positive in every dimension, got {value!r}")
    return tuple(result.tolist())
