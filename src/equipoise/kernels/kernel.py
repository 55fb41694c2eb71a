"""The base class of kernels and their combinations, with exact gradients.

Notation (R&W is Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006):

    symbol   meaning                                                 shape
    A, B     two lists of points                                     (..., n, d), (..., m, d)
    K        kernel matrix, k(a, b) for each a in A and b in B       (..., n, m)

Leading axes broadcast.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray

BLOCK = 2**15
"""The number of matrix entries computed at once: fresh memory for more costs several times the arithmetic."""


class Kernel(ABC):
    """A positive semidefinite function of two points.

    Kernels are immutable values: `+` adds two of them; `*` multiplies two, or one by a positive number.
    A custom kernel derives from this class and defines `_matrix`, `_diagonal` and `_gradient`. They implement
    `__call__`, `diagonal` and `gradient` for checked arrays.

    Example:
        >>> from equipoise.kernels import RBF, Linear
        >>> kernel = 2.0 * RBF(0.5) + Linear()
        >>> kernel
        Sum(first=Scaled(kernel=RBF(lengthscale=0.5), factor=2.0), second=Linear())
        >>> kernel([[0.0], [1.0]], [[1.0]]).round(4)
        array([[0.2707], [3.    ]])
        >>> kernel.gradient([[0.0]], [[1.0]]).round(4)
        array([[[2.0827]]])
    """

    # Otherwise NumPy would evaluate `np.ones(2) * kernel` to an array of kernels.
    __array_ufunc__: ClassVar[None] = None

    def __call__(self, A: ArrayLike, B: ArrayLike) -> FloatArray:
        """Return k(a, b) for each a in `A` (..., n, d) and b in `B` (..., m, d): shape (..., n, m)."""
        A, B = checked_pair(A, B)
        m = B.shape[-2]
        if not self.entrywise or A.ndim > 2 or B.ndim > 2 or len(A) * m <= BLOCK:
            return self._matrix(A, B)
        rows, K = max(1, BLOCK // m), np.empty((len(A), m))
        for i in range(0, len(A), rows):
            K[i : i + rows] = self._matrix(A[i : i + rows], B)
        return K

    @property
    def entrywise(self) -> bool:
        """True if each entry of the matrix is computed separately, bit-identical for any choice of the others."""
        return False

    def diagonal(self, A: ArrayLike) -> FloatArray:
        """Return k(a, a) for each a in `A` (..., n, d) without forming the matrix: shape (..., n)."""
        return self._diagonal(checked_points("A", A))

    def gradient(self, A: ArrayLike, B: ArrayLike) -> FloatArray:
        """Return the gradient of k(a, b) with respect to a, the first argument: shape (..., n, m, d)."""
        return self._gradient(*checked_pair(A, B))

    def with_gradient(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the results of `__call__` and `gradient`, for little more than the cost of one, without checks."""
        return self._matrix(A, B), self._gradient(A, B)

    @abstractmethod
    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _diagonal(self, A: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray: ...

    def __add__(self, other: "Kernel") -> "Sum":
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Product | Scaled":
        return Product(self, other) if isinstance(other, Kernel) else self.__rmul__(other)

    def __rmul__(self, other: float) -> "Scaled":
        if not isinstance(other, Real):
            return NotImplemented
        return Scaled(self, other)


@dataclass(frozen=True)
class _Two(Kernel):
    """Two kernels over the same points."""

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        require_kernel("first", self.first)
        require_kernel("second", self.second)

    @property
    def entrywise(self) -> bool:
        """True if each entry of the matrix is computed separately."""
        return self.first.entrywise and self.second.entrywise


@dataclass(frozen=True)
class Sum(_Two):
    """The sum of two kernels over the same points, written `first + second`.

    Example:
        >>> from equipoise.kernels import RBF, Linear
        >>> float((RBF(0.2) + Linear()).diagonal([[2.0]])[0])
        5.0
    """

    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.first._matrix(A, B) + self.second._matrix(A, B)  # R&W Section 4.2.4

    def _diagonal(self, A: FloatArray) -> FloatArray:
        return self.first._diagonal(A) + self.second._diagonal(A)

    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.first._gradient(A, B) + self.second._gradient(A, B)


@dataclass(frozen=True)
class Product(_Two):
    """The product of two kernels over the same points, written `first * second`.

    Example:
        >>> float((Linear() * Linear()).diagonal([[2.0]])[0])
        16.0
    """

    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.first._matrix(A, B) * self.second._matrix(A, B)  # R&W Section 4.2.4

    def _diagonal(self, A: FloatArray) -> FloatArray:
        return self.first._diagonal(A) * self.second._diagonal(A)

    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray:
        K1, K2 = self.first._matrix(A, B)[..., None], self.second._matrix(A, B)[..., None]
        return self.first._gradient(A, B) * K2 + K1 * self.second._gradient(A, B)


@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel times a positive number, written `factor * kernel`: this multiplies the variance k(x, x).

    Example:
        >>> from equipoise.kernels import RBF
        >>> float((2.0 * RBF(0.2)).diagonal([[0.3]])[0])
        2.0
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        require_kernel("kernel", self.kernel)
        object.__setattr__(self, "factor", check.positive("factor", self.factor))

    @property
    def entrywise(self) -> bool:
        """True if each entry of the matrix is computed separately."""
        return self.kernel.entrywise

    def with_gradient(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the matrix and its gradient."""
        K, dK = self.kernel.with_gradient(A, B)
        return self.factor * K, self.factor * dK

    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.factor * self.kernel._matrix(A, B)

    def _diagonal(self, A: FloatArray) -> FloatArray:
        return self.factor * self.kernel._diagonal(A)

    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.factor * self.kernel._gradient(A, B)


@dataclass(frozen=True)
class Linear(Kernel):
    """The inner product, k(a, b) = <a, b>: f is linear and zero at the origin.

    Example:
        >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
        array([[11., 2.]])
    """

    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray:
        K: FloatArray = A @ B.swapaxes(-1, -2)  # R&W Section 4.2.2, sigma_0 = 0
        return K

    def _diagonal(self, A: FloatArray) -> FloatArray:
        variance: FloatArray = np.sum(A * A, axis=-1)
        return variance

    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return np.broadcast_to(B[..., None, :, :], (*matrix_shape(A, B), A.shape[-1])).copy()


def require_kernel(name: str, value: object) -> None:
    """Refuse anything that is not a kernel."""
    if not isinstance(value, Kernel):
        raise TypeError(f"`{name}` must be a Kernel, got {value!r}")


def checked_points(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as an array of points."""
    # The space checks once, not at each evaluation, that points are finite.
    try:
        result = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"`{name}` must be an array of real numbers, got {value!r}") from error
    if result.ndim < 2:
        raise ValueError(f"`{name}` must have shape (..., n, d), got {result.shape}")
    return result


def checked_pair(A: ArrayLike, B: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both as arrays of points of the same dimension."""
    A, B = checked_points("A", A), checked_points("B", B)
    if A.shape[-1] != B.shape[-1]:
        raise ValueError(f"`A` and `B` must have points of one dimension, got shapes {A.shape} and {B.shape}")
    try:
        matrix_shape(A, B)
    except ValueError as error:
        rule = "must have leading axes that broadcast"
        raise ValueError(f"`A` and `B` {rule}, got shapes {A.shape} and {B.shape}") from error
    return A, B


def matrix_shape(A: FloatArray, B: FloatArray) -> tuple[int, ...]:
    """Return the shape of k(A, B)."""
    return (*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), A.shape[-2], B.shape[-2])
