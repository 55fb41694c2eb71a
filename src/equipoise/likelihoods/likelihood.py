"""The contract of likelihoods, for a study and for expectation propagation.

    symbol   meaning                                                                  shape
    u        latent of an answer: a difference of f, or f plus the offset             (n,)
    mu, v    mean and variance of u before the answer (the cavity)                    (n,)
    Z        probability of the answer: E[P(answer | u)], u normal of mean mu, var v  (n,)
    y        the numbers of an answer: a count; or successes and trials               (n, k)

A `Likelihood` defines how a reading depends on u; `Answers` are given answers with the parameters of their likelihood.
Both should be log-concave in u: then -log Z is convex in mu, every site has a positive precision, and the sweeps
converge.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """log Z of each answer and its derivatives, all of shape (n,).

    Attributes:
        log_z: log Z.
        slope: Its derivative in mu.
        curvature: Minus its second derivative in mu.
        spread: Variance of the observation, in squared units of u: v plus the noise of the answer, if any.
        noise: Least variance of a site, above 0: the noise of the answer alone, or the rounding error of v.
        by: The derivatives of log Z in the parameters of the likelihood, in its order.
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
        """Return the number of answers."""
        ...

    def take(self, kept: NDArray[np.intp]) -> Self:
        """Return the answers at the given indices."""
        ...

    def tilt(self, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z and its derivatives, for beliefs N(mu, v), shape (n,) each."""
        ...


class Likelihood(Protocol):
    """The dependence of a reading on f plus the offset; `LogConcave` has the code shared by most likelihoods."""

    @property
    def exact(self) -> bool:
        """True if a reading is f plus the offset plus Gaussian noise, which needs no approximation."""
        ...

    @property
    def scale(self) -> str:
        """The scale of f, such as "log rate"; empty if it is the scale of the readings."""
        ...

    @property
    def example(self) -> str:
        """An example of an answer, as text."""
        ...

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return the numbers of an answer, the first of which is its value; refuse invalid answers.

        Args:
            name: The name of the answer in error messages.
            value: The answer, as a program passes it.
        """
        ...

    def glance(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a Gaussian approximation of each answer: its mean and variance on the scale of f, shapes (n,)."""
        ...

    def tilt(self, y: FloatArray, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z of each answer and its derivatives, for beliefs N(mu, v) about u, shape (n,) each."""
        ...

    def expected(self, u: FloatArray) -> FloatArray:
        """Return the mean reading at u: a value, a rate or a share."""
        ...

    def draw(self, u: float, rng: Generator) -> Any:
        """Return a random answer at u, for simulations."""
        ...
