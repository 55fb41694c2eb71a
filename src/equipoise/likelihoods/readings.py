"""Readings with a likelihood, prepared for expectation propagation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.likelihoods.likelihood import Likelihood, Tilt


@dataclass(frozen=True, slots=True, eq=False)
class ReadAnswers:
    """Readings of f plus the offset, minus an origin; f is mirrored for minimization.

    Attributes:
        likelihood: Their likelihood.
        y: Their numbers, shape (n, k).
        sign: 1, or -1 if values are minimized, shape (n,).
        origin: The number subtracted from f, shape (n,).
        glanced: Whether they are approximated at a glance: their sites are not made consistent.

    Example:
        >>> from equipoise.likelihoods import Poisson
        >>> ReadAnswers.of(Poisson(), (17.0,)).glance()[0].round(2)
        array([2.86])
    """

    likelihood: Likelihood
    y: FloatArray
    sign: FloatArray
    origin: FloatArray
    glanced: bool = False

    @classmethod
    def of(cls, likelihood: Likelihood, numbers: tuple[float, ...]) -> "ReadAnswers":
        """Return a single reading."""
        return cls(likelihood, np.array([numbers]), np.ones(1), np.zeros(1))

    @classmethod
    def joining(cls, some: "Sequence[ReadAnswers]") -> "ReadAnswers":
        """Return the concatenation of at least one object."""
        y, sign, origin = (np.concatenate([getattr(a, name) for a in some]) for name in ("y", "sign", "origin"))
        return cls(some[0].likelihood, y, sign, origin, some[0].glanced)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, kept: NDArray[np.intp] | slice) -> Self:
        """Return the readings at the given indices."""
        return replace(self, y=self.y[kept], sign=self.sign[kept], origin=self.origin[kept])

    def joined(self, others: "ReadAnswers") -> "ReadAnswers":
        """Return these readings followed by others."""
        return self.joining((self, others))

    def alike(self, others: "ReadAnswers") -> bool:
        """Return whether others are equal."""
        return all(np.array_equal(getattr(self, name), getattr(others, name)) for name in ("y", "sign", "origin"))

    def signed(self, sign: float) -> Self:
        """Return the readings with f mirrored if the sign is -1."""
        return self if sign == 1.0 else replace(self, sign=sign * self.sign, origin=sign * self.origin)

    def less(self, origin: FloatArray | float) -> Self:
        """Return the readings with `origin` subtracted from f in addition."""
        return replace(self, origin=self.origin + origin)

    def glance(self) -> tuple[FloatArray, FloatArray]:
        """Return the outcome that each reading suggests alone, and its variance, shape (n,) each."""
        outcome, variance = self.likelihood.glance(self.y)
        return self.sign * outcome - self.origin, variance

    def tilt(self, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z and its derivatives, for beliefs N(mu, v) about f plus the offset, shape (n,) each."""
        found = self.likelihood.tilt(self.y, self.sign * (mu + self.origin), v)
        return replace(found, slope=self.sign * found.slope)
