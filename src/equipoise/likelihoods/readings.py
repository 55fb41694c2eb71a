"""Readings with their own likelihood: what expectation propagation needs to know of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.likelihoods.likelihood import Likelihood, Tilt


@dataclass(frozen=True, slots=True, eq=False)
class ReadAnswers:
    """Readings of f plus the offset, less an origin; f is mirrored where the smallest value is looked for.

    Attributes:
        likelihood: How they depend on f.
        y: Their numbers, shape (n, k).
        sign: 1, or -1 where values are minimized, shape (n,).
        origin: What is subtracted from f, shape (n,).
        glanced: Whether they are taken at a glance: their sites are not made consistent.

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
        """Return a single one."""
        return cls(likelihood, np.array([numbers]), np.ones(1), np.zeros(1))

    @classmethod
    def joining(cls, some: "Sequence[ReadAnswers]") -> "ReadAnswers":
        """Return some, at least one, one after the other."""
        y, sign, origin = (np.concatenate([getattr(a, name) for a in some]) for name in ("y", "sign", "origin"))
        return cls(some[0].likelihood, y, sign, origin, some[0].glanced)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, kept: NDArray[np.intp] | slice) -> Self:
        """Return some of them."""
        return replace(self, y=self.y[kept], sign=self.sign[kept], origin=self.origin[kept])

    def joined(self, others: "ReadAnswers") -> "ReadAnswers":
        """Return these and others behind them."""
        return self.joining((self, others))

    def alike(self, others: "ReadAnswers") -> bool:
        """Return whether others are the same."""
        return all(np.array_equal(getattr(self, name), getattr(others, name)) for name in ("y", "sign", "origin"))

    def signed(self, sign: float) -> Self:
        """Return them with f mirrored, if the sign is -1."""
        return self if sign == 1.0 else replace(self, sign=sign * self.sign, origin=sign * self.origin)

    def less(self, origin: FloatArray | float) -> Self:
        """Return them with something more subtracted from f."""
        return replace(self, origin=self.origin + origin)

    def glance(self) -> tuple[FloatArray, FloatArray]:
        """Return the outcome that each suggests by itself, and its variance, shape (n,) each."""
        outcome, variance = self.likelihood.glance(self.y)
        return self.sign * outcome - self.origin, variance

    def tilt(self, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z and its derivatives, for beliefs N(mu, v) about f plus the offset, shape (n,) each."""
        found = self.likelihood.tilt(self.y, self.sign * (mu + self.origin), v)
        return replace(found, slope=self.sign * found.slope)
