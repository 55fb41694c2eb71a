"""A posterior that learns its own hyperparameters, refitted on a growing schedule."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.confidence import Confidence, CredibleConfidence
from equipoise.dual import Data, DualPosterior
from equipoise.duel import Comparison
from equipoise.hyperparameters import MOST, Evidence, Hyperparameters, fit, typical_step
from equipoise.kernels import Scaled
from equipoise.offsets import Arbitrary, Offset, Tracked

RECENT = 16
"""How many of the last readings are looked at for a jump before them."""


CAUTIOUS = 12
"""Before there are so many readings nothing is taken for a jump: too little is known of f and of the noise."""

LEAST = 2.0
"""Smaller jumps than so many typical steps are left to the random walk."""

LIVELY = 0.35
"""Least standard deviation of f, in units of the range of values it was seen to take."""

FEW = 4
"""An offset that seems to need more jumps than so many, all overlooked since the last fit, does not jump but wander."""

BOLD = 5.0
"""What f would explain if it varied so many times as much as believed is not taken for a jump."""


@dataclass(frozen=True)
class Schedule:
    """When to refit: after `first` data, then whenever their number has grown by `growth`.

    So the cost of all refits together grows like that of the last one.
    """

    first: int = 6
    growth: float = 1.2

    def after(self, data: int) -> int:
        """Return the number of data at which to fit next."""
        return max(self.first, data + 2, math.ceil(self.growth * data))


class LearnedPosterior(DualPosterior):
    """The dual form with kernel and noise, and where asked the law of the offset, learned from the data.

    Args:
        extent: Range of each encoded coordinate, shape (d,).
        groups: The user's parameter each coordinate belongs to, shape (d,): one lengthscale each.
        law: What is assumed of the offset: under `Arbitrary` it learns from comparisons, else from readings.
        confidence: Gives the confidence coefficient; two standard deviations by default.
        schedule: When to refit.
        jump: The offset is allowed to jump where that explains the readings by this many standard deviations.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.LearnedPosterior(np.ones(1), np.arange(1), eq.Tracked())
        >>> for t in range(20):
        ...     x = (t * 0.618) % 1
        ...     posterior = posterior.condition(eq.Comparison([x], None, 5 * np.sin(3 * x) + t, time=t))
        >>> mean, variance = posterior.difference([[0.5]], [0.0])
        >>> bool(abs(mean[0] - 5 * np.sin(1.5)) < 0.2)
        True
    """

    def __init__(
        self,
        extent: FloatArray,
        groups: NDArray[np.intp],
        law: Offset,
        confidence: Confidence | None = None,
        schedule: Schedule | None = None,
        jump: float = 4.5,
    ) -> None:
        guess = Hyperparameters.guess(int(groups.max()) + 1)
        confidence = CredibleConfidence() if confidence is None else confidence
        super().__init__(guess.kernel(extent, groups, law), guess.noise, confidence, guess.offset(law))
        self.hyperparameters = guess
        self.extent, self.groups, self.law = extent, groups, law
        self.learns_readings = not isinstance(law, Arbitrary)
        self.schedule = Schedule() if schedule is None else schedule
        self.jump = jump
        self._next_fit = self.schedule.first
        self._nulls = np.empty(0)
        self._origin: float | None = None

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`, refitted where the schedule says so."""
        if not self._understands(comparison):
            return self
        origin = (comparison.outcome if self.learns_readings else 0.0) if self._origin is None else self._origin
        centered = replace(comparison, outcome=comparison.outcome - origin)
        new = super().condition(centered)
        new._origin = origin
        if not self.learns_readings and np.array_equal(comparison.first, np.asarray(comparison.second)):
            new._nulls = np.append(self._nulls, comparison.outcome)
        n = 0 if new._data is None else len(new._data.outcomes)
        if n < self.schedule.first:
            return new._rescaled() if n else new
        return new._with_jumps()._refitted() if n >= new._next_fit else new._with_jumps()

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, never refitted."""
        return super().anticipate(comparison) if self._understands(comparison) else self

    def _understands(self, comparison: Comparison) -> bool:
        """Whether it learns from such: not from a reading if from duels, nor from a duel if from its readings."""
        return self.learns_readings == (comparison.second is None)

    def _with_jumps(self) -> Self:
        """Return the posterior that allows for a jump of the offset wherever the last readings insist on one."""
        if not isinstance(self.law, Tracked) or self._data is None or len(self._data.times) < CAUTIOUS:
            return self
        found = self._jump(RECENT)
        if found is None or self._bolder()._jump(RECENT) is None:
            return self
        return self._jumping(found)._with_jumps()

    def _bolder(self) -> Self:
        """Return the same with an f that may vary far more: what it explains need not be a jump."""
        return self.under(Scaled(self.kernel, BOLD**2), self.regularizer, self.offset)

    def _jumping(self, *jumps: tuple[float, float]) -> Self:
        """Return the same with more jumps of the offset."""
        assert self.offset is not None
        new = self._copy()
        new.offset = replace(self.offset, jumps=(*self.offset.jumps, *jumps))
        return new._with(self.hyperparameters)

    def _jump(self, recent: int) -> tuple[float, float] | None:
        """Return time and variance of the jump of the offset that explains the readings best, if one does.

        A jump at time s adds h h' to the covariance, h the indicator of the readings from s on. With a = h'K^-1 h and
        b = h'K^-1 y the likelihood is largest at variance (b^2/a - 1)/a, and b^2/a is chi-squared without a jump. What
        the last reading alone explains best must wait: it cannot tell a jump of the offset from a surprise of f.
        """
        data = self._required()
        n = len(data.times)
        first = np.arange(max(1, n - recent), n)
        solved = self._solve((np.arange(n)[:, None] >= first).astype(np.float64))
        a = np.einsum("nj,nj->j", solved, solved)
        z2 = (self._whitened @ solved) ** 2 / a
        variance = np.maximum(z2 - 1.0, 0.0) / a
        z2[variance < (LEAST * self.hyperparameters.step) ** 2] = 0.0
        best = int(z2.argmax())
        if first[best] == n - 1 or z2[best] <= self.jump**2:
            return None
        return float(data.times[first[best]]), float(variance[best])

    def _overlooked(self, guess: Hyperparameters) -> list[tuple[float, float]]:
        """Return the jumps of all times, beside those known, that an f and an offset would need which vary little.

        Before anything is known of f, a jump passes for a step of f or for a random walk, and the fit then holds on to
        that. Among very many data it is too late to ask, and too costly.
        """
        found: list[tuple[float, float]] = []
        n = len(self._required().times)
        if not isinstance(self.law, Tracked) or n > MOST:
            return found
        lengthscales = tuple(np.maximum(self.hyperparameters.lengthscales, guess.lengthscales).tolist())
        variance = min(self.hyperparameters.variance, guess.variance)
        little = {"variance": variance, "walk": guess.walk, "wave": guess.wave}
        calm = self._with(replace(self.hyperparameters, lengthscales=lengthscales, **little))
        while len(found) <= FEW and (jump := calm._jump(n)) is not None:
            found.append(jump)
            calm = calm._jumping(jump)
        return found if len(found) <= FEW else []

    def _rescaled(self) -> Self:
        """Take the unit of the outcomes from the few there are; too few to fit more."""
        data = self._required()
        step = typical_step(data, self.law)
        return self._with(Hyperparameters.guess(len(self.hyperparameters.lengthscales), step))

    def _refitted(self) -> Self:
        """Fit the hyperparameters; with the jumps that were overlooked, where these explain the readings better."""
        guess = Hyperparameters.guess(len(self.hyperparameters.lengthscales))
        new, density = self._fitted(self.hyperparameters, guess)
        overlooked = new._overlooked(guess)
        if overlooked:
            rival, rival_density = self._jumping(*overlooked)._fitted(guess)
            if rival_density - density > len(overlooked) * self.jump**2 / 2:
                new = rival
        new = new._lively()
        new._next_fit = self.schedule.after(len(self._required().outcomes))
        return new

    def _fitted(self, *starts: Hyperparameters) -> tuple[Self, float]:
        """Fit the hyperparameters from the given starts; return the logarithm of their density too."""
        data = self._required()
        step = typical_step(data, self.law)
        some = data.thinned(MOST)
        relative = replace(some, outcomes=some.outcomes / step, variances=some.variances / step**2)
        jumps = 0.0 if self.offset is None else self.offset.jump_covariance(some.times, some.times) / step**2
        evidence = Evidence(relative, self.extent, self.groups, self.law, jumps, self._nulls / step)
        fitted, density = fit(evidence, starts, step)
        return self._with(fitted), density

    def _lively(self) -> Self:
        """Let f vary at least as much as it was seen to: after a climb most data lie on top and say otherwise."""
        mean = self.mean(self._required().points)
        least = (LIVELY * float(np.ptp(mean)) / self.hyperparameters.step) ** 2
        if self.hyperparameters.variance >= least:
            return self
        return self._with(replace(self.hyperparameters, variance=least))

    def _with(self, hyperparameters: Hyperparameters) -> Self:
        """Return the posterior of the same data under other hyperparameters."""
        kernel = hyperparameters.kernel(self.extent, self.groups, self.law)
        offset = hyperparameters.offset(self.law)
        if offset is not None and self.offset is not None:
            offset = replace(offset, jumps=self.offset.jumps)
        new = self.under(kernel, hyperparameters.noise * hyperparameters.step**2, offset)
        new.hyperparameters = hyperparameters
        return new

    def _required(self) -> Data:
        if self._data is None:
            raise RuntimeError("there are no data to fit")
        return self._data
