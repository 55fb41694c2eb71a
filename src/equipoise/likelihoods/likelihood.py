"""How answers depend on what they are about: all that expectation propagation needs to know of them.

    symbol   meaning                                                                  shape
    u        what an answer is about: a difference of f, or f plus the offset         (n,)
    mu, v    mean and variance of u before the answer (the cavity)                    (n,)
    Z        probability of the answer: E[P(answer | u)], u normal of mean mu, var v  (n,)

A likelihood of your own is a class with these three methods. It should be log-concave in u: then -log Z is convex in
mu, every site has a positive precision, and the sweeps converge.
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """log Z of each answer and its derivatives, all of shape (n,).

    Attributes:
        log_z: log Z.
        slope: Its derivative in mu.
        curvature: Minus its second derivative in mu.
        spread: Variance of what is observed, in squared units of u: v plus the noise of the answer, if it has one.
        noise: Least variance of a site, above 0: the noise of the answer alone, or what rounding leaves of v.
        by: The derivatives of log Z in the parameters of the likelihood, in its own order.
    """

    log_z: FloatArray
    slope: FloatArray
    curvature: FloatArray
    spread: FloatArray
    noise: FloatArray
    by: tuple[FloatArray, ...] = ()


class Answers(Protocol):
    """Answers, with the parameters of their likelihood."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def take(self, kept: NDArray[np.intp]) -> Self:
        """Return some of them."""
        ...

    def tilt(self, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z and its derivatives, for beliefs N(mu, v), shape (n,) each."""
        ...
