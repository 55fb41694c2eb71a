"""A kernel of parameters with few values, which are ordered or can only be equal or different.

Notation:

    symbol   meaning                                                              shape
    A, B     two lists of points                                                  (..., n, d), (..., m, d)
    p_g      place of a point's value of parameter g, a weighted sum of columns   (..., n)
    l, c     lengthscale of places, and contrast, of each parameter               (G,)
    r2       squared distance of places, sum over g of (p_g - p_g')^2 / l_g^2     (..., n, m)
    h        weighted Hamming distance, sum over g of c_g [p_g != p_g']           (..., n, m)

k = matern52(r2) exp(-h) is a product of two kernels. The second one is a product over g of kernels that are 1 if values
are equal and exp(-c_g) otherwise. With a contrast of zero, only order counts; with a long lengthscale, all different
values of a parameter are equally dissimilar, like those of a category.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.kernels.kernel import Kernel, matrix_shape
from equipoise.kernels.stationary import Matern52


@dataclass(frozen=True, init=False)
class Levels(Kernel):
    """A Matern 5/2 kernel times a factor for each parameter in which two points have different values.

    Args:
        lengthscale: The distance of places over which f changes, one per parameter.
        contrast: Minus the logarithm of the factor if values differ, one per parameter; zero for a parameter in which
            f is continuous.
        groups: The parameter of each column of a point; by default each column is a parameter.
        places: The factor of each column's coordinate in the place of its parameter's value; one by default.

    Example:
        >>> kernel = Levels([0.5, 2.0], contrast=[0.0, 0.3])
        >>> kernel([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]], [[0.0, 0.0]]).round(3)
        array([[1.   ],
               [0.968],
               [0.739]])
    """

    lengthscale: tuple[float, ...]
    contrast: tuple[float, ...]
    groups: tuple[int, ...]
    places: tuple[float, ...]

    def __init__(
        self,
        lengthscale: Sequence[float] | FloatArray,
        contrast: Sequence[float] | FloatArray,
        groups: Sequence[int] | None = None,
        places: Sequence[float] | FloatArray | None = None,
    ) -> None:
        scales = check.array("lengthscale", lengthscale, (None,))
        contrasts = check.array("contrast", contrast, (len(scales),))
        if not (scales > 0).all():
            raise ValueError(f"`lengthscale` must be positive for every parameter, got {lengthscale!r}")
        if not (contrasts >= 0).all():
            raise ValueError(f"`contrast` must not be negative for any parameter, got {contrast!r}")
        owner = np.arange(len(scales)) if groups is None else np.asarray(groups)
        if sorted(set(owner.tolist())) != list(range(len(scales))):
            raise ValueError(f"`groups` must name each of the {len(scales)} parameters, counted from 0, got {groups!r}")
        found: dict[str, Any] = {
            "lengthscale": tuple(scales.tolist()),
            "contrast": tuple(contrasts.tolist()),
            "groups": tuple(owner.tolist()),
            "places": tuple(np.ones(len(owner)).tolist() if places is None else _places(places, len(owner))),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def entrywise(self) -> bool:
        """True if each entry of the matrix is computed separately."""
        return True

    def _matrix(self, A: FloatArray, B: FloatArray) -> FloatArray:
        r2, left = self._distances(A, B)
        k = Matern52.profile(r2)
        k *= left
        return k

    def _diagonal(self, A: FloatArray) -> FloatArray:
        self._placed(A)
        return np.ones(A.shape[:-1])

    def _gradient(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return self.with_gradient(A, B)[1]

    def with_gradient(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the matrix and its gradient; contrasts do not contribute, since h is constant around a point."""
        r2, left = self._distances(A, B)
        k, slope = Matern52.with_slope(r2)
        z = self._placed(A)[..., :, None, :] - self._placed(B)[..., None, :, :]
        z *= (slope * left)[..., None] * (2.0 / np.square(self.lengthscale))  # d(r2)/d(p_g) = 2 (p_g - p_g') / l_g^2
        return k * left, z[..., list(self.groups)] * np.array(self.places)

    def _distances(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return r2 and exp(-h), one parameter at a time."""
        P, Q = self._placed(A), self._placed(B)
        r2, h, z = (np.zeros(matrix_shape(A, B)) for _ in range(3))
        for g, (scale, contrast) in enumerate(zip(self.lengthscale, self.contrast, strict=True)):
            p, q = np.ascontiguousarray(P[..., g]), np.ascontiguousarray(Q[..., g])
            np.subtract(p[..., :, None], q[..., None, :], out=z)
            if contrast:
                h -= contrast * (z != 0.0)
            z *= 1.0 / scale
            z *= z
            r2 += z
        return r2, np.exp(h, out=h)

    def _placed(self, A: FloatArray) -> FloatArray:
        """Return the places, shape (..., n, G): equal values have bit-identical places."""
        if A.shape[-1] != len(self.groups):
            raise ValueError(f"points must have the {len(self.groups)} columns of `groups`, got {A.shape[-1]}")
        P = np.zeros((*A.shape[:-1], len(self.lengthscale)))
        for j, (g, place) in enumerate(zip(self.groups, self.places, strict=True)):
            P[..., g] += place * A[..., j]
        return P


def _places(given: Sequence[float] | FloatArray, columns: int) -> list[float]:
    places: list[float] = check.array("places", given, (columns,)).tolist()
    return places
