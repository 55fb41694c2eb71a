"""Observations as arrays: outcomes, each of a combination of points, with their circumstances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief.posterior import direction
from equipoise.data import Comparison
from equipoise.likelihoods import ReadAnswers
from equipoise.offsets import Moments


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Outcomes, each of a combination of points; datum i begins at `starts[i]` among the points.

    Attributes:
        points: All points of all data, shape (p, d).
        weights: Their coefficients, shape (p,).
        starts: The index of the first point of each datum, shape (n,).
        moments: The circumstances of each datum.
        outcomes: The measured values, shape (n,).
        variances: The variance that the error of each adds to the noise, shape (n,).
        answers: The raw readings, if they are counts or shares: outcomes and variances are then their sites.
    """

    points: FloatArray
    weights: FloatArray
    starts: NDArray[np.intp]
    moments: Moments
    outcomes: FloatArray
    variances: FloatArray
    answers: ReadAnswers | None = None

    @classmethod
    def none(cls, dimension: int) -> "Observations":
        """Return no data about points of the given dimension."""
        none = np.empty(0)
        return cls(np.empty((0, dimension)), none, np.empty(0, dtype=np.intp), Moments(none, none), none, none)

    @classmethod
    def of(cls, comparisons: Sequence[Comparison]) -> "Observations":
        """Return at least one comparison as data."""
        points, weights = zip(*map(direction, comparisons), strict=True)
        starts = np.cumsum([0, *map(len, weights[:-1])])
        columns = [(c.time, c.pair, c.outcome, c.variance) for c in comparisons]
        time, pair, outcomes, variances = np.array(columns, dtype=np.float64).T
        moments = Moments.of(time, pair, [c.circumstances for c in comparisons])
        said = [c.answers for c in comparisons if c.answers is not None]
        answers = ReadAnswers.joining(said) if len(said) == len(comparisons) else None
        return cls(np.concatenate(points), np.concatenate(weights), starts, moments, outcomes, variances, answers)

    def __len__(self) -> int:
        return len(self.outcomes)

    def add(
        self,
        points: FloatArray,
        u: FloatArray,
        moment: Moments,
        outcome: float,
        variance: float,
        answers: ReadAnswers | None = None,
    ) -> "Observations":
        """Return the data with one datum added."""
        return Observations(
            np.concatenate((self.points, points)),
            np.concatenate((self.weights, u)),
            np.append(self.starts, len(self.weights)),
            self.moments.add(moment),
            np.append(self.outcomes, outcome),
            np.append(self.variances, variance),
            self._and(answers),
        )

    def joined(self, others: "Observations") -> "Observations":
        """Return the data followed by others."""
        return Observations(
            np.concatenate((self.points, others.points)),
            np.concatenate((self.weights, others.weights)),
            np.concatenate((self.starts, others.starts + len(self.weights))),
            self.moments.add(others.moments),
            np.concatenate((self.outcomes, others.outcomes)),
            np.concatenate((self.variances, others.variances)),
            self._and(others.answers),
        )

    def _and(self, answers: ReadAnswers | None) -> ReadAnswers | None:
        """Return the answers followed by others; none if some data have none, such as anticipated ones."""
        if not len(self):
            return answers
        return None if self.answers is None or answers is None else self.answers.joined(answers)

    @property
    def sited(self) -> bool:
        """True if outcomes and variances are sites, which depend on the model."""
        return self.answers is not None and not self.answers.glanced

    def at_a_glance(self, only: bool = False) -> "Observations":
        """Return the data with the outcome that each answer suggests alone; `only` keeps it under every model."""
        if self.answers is None:
            return self
        outcomes, variances = self.answers.glance()
        answers = replace(self.answers, glanced=only or self.answers.glanced)
        return replace(self, outcomes=outcomes, variances=variances, answers=answers)

    def closely(self) -> "Observations":
        """Return the data without the restriction to a glance."""
        return self if self.answers is None else replace(self, answers=replace(self.answers, glanced=False))

    def less(self, origin: FloatArray) -> "Observations":
        """Return the data with `origin`, shape (n,), subtracted from the outcomes."""
        answers = None if self.answers is None else self.answers.less(origin)
        return replace(self, outcomes=self.outcomes - origin, answers=answers)

    def alike(self, others: "Observations") -> bool:
        """Return whether the data equal others."""
        if self.answers is not None and others.answers is not None:
            return np.array_equal(self.points, others.points) and self.answers.alike(others.answers)
        compared = ("outcomes", "variances", "points")
        return all(np.array_equal(getattr(self, each), getattr(others, each)) for each in compared)

    def without_copies(self) -> "Observations":
        """Return the readings without exact repetitions of the previous reading at the same point.

        A person read the number again, or the instrument had not updated it: this is no evidence of low noise. Counts
        are kept, since they often agree.
        """
        if len(self.starts) < len(self.weights) or self.answers is not None:
            return self
        kept = np.ones(len(self), dtype=np.bool_)
        kept[1:] = (self.points[1:] != self.points[:-1]).any(axis=1) | (self.outcomes[1:] != self.outcomes[:-1])
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def thinned(self, most: int, run: int = 50) -> "Observations":
        """Return at most this many data, in runs of successive ones spread evenly over time.

        Successive readings separate noise from offset: from every tenth one alone, all variation looks like offset.
        """
        n = len(self)
        if n <= most:
            return self
        first = np.linspace(0, n - run, most // run).astype(np.intp)
        return self.take(np.unique(first[:, None] + np.arange(run)))

    def since(self, first: int, end: int | None = None) -> "Observations":
        """Return the data from index `first` up to, but not including, `end`."""
        bounds = np.append(self.starts, len(self.weights))
        some, rows = slice(first, end), slice(bounds[first], None if end is None else bounds[end])
        moments, outcomes, variances = self.moments.take(some), self.outcomes[some], self.variances[some]
        starts, answers = self.starts[some] - bounds[first], None if self.answers is None else self.answers.take(some)
        return Observations(self.points[rows], self.weights[rows], starts, moments, outcomes, variances, answers)

    def take(self, kept: NDArray[np.intp]) -> "Observations":
        """Return the data at the given indices."""
        ends = np.append(self.starts[1:], len(self.weights))
        rows = np.concatenate([np.arange(self.starts[i], ends[i]) for i in kept])
        lengths = (ends - self.starts)[kept]
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.intp)
        moments, outcomes, variances = self.moments.take(kept), self.outcomes[kept], self.variances[kept]
        answers = None if self.answers is None else self.answers.take(kept)
        return Observations(self.points[rows], self.weights[rows], starts, moments, outcomes, variances, answers)

    def in_units_of(self, step: float) -> "Observations":
        """Return the data with outcomes in another unit."""
        return replace(self, outcomes=self.outcomes / step, variances=self.variances / step**2)

    @property
    def circumstances(self) -> Moments:
        """The circumstances in which each point was read."""
        lengths = np.diff(self.starts, append=len(self.weights))
        return self.moments if (lengths == 1).all() else self.moments.take(np.repeat(np.arange(len(self)), lengths))

    def combine(self, columns: FloatArray) -> FloatArray:
        """Turn columns indexed by points, shape (..., p), into columns indexed by data, shape (..., n)."""
        if len(self.starts) == len(self.weights):  # every datum has a single point
            return columns if (self.weights == 1.0).all() else columns * self.weights
        if self._pairs:
            difference: FloatArray = columns[..., ::2] - columns[..., 1::2]  # bit-identical, in half the time
            return difference
        combined: FloatArray = np.add.reduceat(columns * self.weights, self.starts, axis=-1)
        return combined

    @property
    def _pairs(self) -> bool:
        """True if every datum is the difference of two points."""
        n = len(self.starts)
        if len(self.weights) != 2 * n or (self.starts != 2 * np.arange(n)).any():
            return False
        return bool((self.weights[::2] == 1.0).all() and (self.weights[1::2] == -1.0).all())
