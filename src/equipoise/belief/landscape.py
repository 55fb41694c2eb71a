"""The belief as a landscape: gap and variance of every point against a fixed one, with their gradients."""

from collections.abc import Callable, Sequence

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.arrays import difference_variance
from equipoise.belief.folding import Data
from equipoise.kernels import Kernel


class Landscape:
    """Gap and variance of every point against a fixed one, with their gradients, for a search to climb.

    Args:
        kernel: Prior covariance of f.
        leader: The fixed point z, shape (d,).
        data: The observations, in parts.
        cross: Prior covariance of f(z) with each datum, shape (n,).
        coefficients: (K + lambda I)^-1 outcomes, shape (n,).
        inverse: Multiplies by (K + lambda I)^-1.
    """

    def __init__(
        self,
        kernel: Kernel,
        leader: FloatArray,
        data: Sequence[Data],
        cross: FloatArray,
        coefficients: FloatArray,
        inverse: Callable[[FloatArray], FloatArray],
    ) -> None:
        self._kernel, self._z, self._data = kernel, leader[None], data
        self._coefficients, self._inverse = coefficients, inverse
        self._solved_z = inverse(cross)
        self._mean_z = float(cross @ coefficients)
        self._variance_z = float(kernel.diagonal(self._z)[0] - cross @ self._solved_z)

    def gap(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return g(x) = mean(z) - mean(x) and its gradient, shape (d,)."""
        k, dk = self._cross_gradient(x[None])
        return self._mean_z - float(k @ self._coefficients), -(dk @ self._coefficients)

    def gap_and_psi(self, x: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        """Return g(x), psi(x, z) and their gradients, shape (d,) each."""
        X = x[None]
        k, dk = self._cross_gradient(X)
        both = np.concatenate((self._z, X))
        (prior, _), (d_prior, d_self) = (t[0] for t in self._kernel.with_gradient(X, both))
        solved = self._inverse(k)
        variance = self._kernel.diagonal(X) - k @ solved
        psi = difference_variance(variance, prior - k @ self._solved_z, self._variance_z)[0]
        slope = 2.0 * (d_self - dk @ solved - d_prior + dk @ self._solved_z)  # dk(x, x)/dx is twice d_self
        return self._mean_z - float(k @ self._coefficients), float(psi), -(dk @ self._coefficients), slope

    def _cross_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return k_t(x), shape (n,), and its gradient, shape (d, n)."""
        k, dk = [np.empty(0)], [np.empty((X.shape[1], 0))]
        for part in self._data:
            K, dK = self._kernel.with_gradient(X, part.points)
            k.append(part.combine(K[0]))
            dk.append(part.combine(dK[0].T))
        return (k[1], dk[1]) if len(k) == 2 else (np.concatenate(k), np.concatenate(dk, axis=1))
