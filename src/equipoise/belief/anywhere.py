"""The posterior at points anywhere, kept as the data and a Cholesky factor.

symbol   meaning                                                       shape
u_i      direction of datum i: a combination of points                 weights of its points
K        prior covariance of the data: u_i'k u_j + offset              (n, n)
L        Cholesky factor of K + lambda I                               (n, n)
k_t(x)   prior covariance of f(x) with each datum                      (n,)
V        L^-1 k_t(x) for each candidate x                              (n, m)

Counts and shares are learned by expectation propagation: their outcome and variance are the site of their latent, f
plus the offset plus the noise. All sites are made consistent under every model. While they are few, this is also done
after every answer, later after a tenth more. In between, an answer gets the site that its cavity suggests.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from equipoise import _linalg
from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief.confidence import Confidence
from equipoise.belief.folding import Data, Digest, Folding, between, fold, folded_offsets, lasting
from equipoise.belief.landscape import Landscape
from equipoise.belief.model import Model
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Belief, Posterior, direction, says_nothing, squared_surprise
from equipoise.data import Comparison
from equipoise.kernels import Kernel
from equipoise.likelihoods import FEW, GROWTH, Few, Sites, propagate
from equipoise.offsets import Arbitrary, Moments, Offset, OffsetModel

RESOLUTION = 1e-14
"""The least share of a datum's noise-free variance that remains unknown: less is rounding, which would add up."""


class AnywherePosterior(Posterior):
    """The posterior at arbitrary points, kept as the data and a Cholesky factor.

    Args:
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: Gives the confidence coefficient; a fixed 1 by default.
        offset: The law of the offset with its hyperparameters, as from `Tracked().known(walk=0.1)`. With one it learns
            from absolute readings, else from comparisons.
        folding: The number of data kept unchanged when very many are learned at once; all of them by default.

    Example:
        >>> import equipoise as eq
        >>> belief = eq.belief.AnywherePosterior(eq.RBF(0.5), regularizer=0.1)
        >>> belief = belief.condition(eq.Comparison([1.0], [0.0], 0.7))
        >>> mean, variance = belief.difference([[1.0]], [0.0])
        >>> mean.round(3), variance.round(3)
        (array([0.662]), array([0.095]))
    """

    def __init__(
        self,
        kernel: Kernel,
        regularizer: float = 1.0,
        confidence: Confidence | None = None,
        offset: OffsetModel | None = None,
        folding: Folding | None = None,
    ) -> None:
        super().__init__(kernel, regularizer, confidence)
        self.offset, self.folding = offset, folding
        self.digest: Digest | None = None
        self.observations: Observations | None = None
        self._L = np.empty((0, 0))
        self.whitened = np.empty(0)  # L^-1 outcomes
        self._swept = 0  # number of data when all sites were last made consistent

    @property
    def law(self) -> Offset:
        """The law of the offset."""
        return Arbitrary() if self.offset is None else self.offset.law

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`."""
        new = self._extended(comparison, comparison.outcome)
        n, data = new.size, new.observations
        if data is None or not data.sited or FEW < n <= GROWTH * new._swept:
            return new
        return new._factorized()

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, with the same mean."""
        return self._extended(comparison, None)

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the posterior as if all comparisons came out as expected: its factor grows by all rows at once."""
        understood = [each for each in comparisons if self.offset is None or each.second is None]
        said = [each for each in understood if not says_nothing(*direction(each))]
        new = self._grown(Observations.of(said)) if said else self._copy()
        new.comparisons = self.comparisons + len(understood)
        return new

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points."""
        V = self.solve(self.cross(points).T, overwrite=True)
        variance = np.maximum(self.kernel.diagonal(points) - np.einsum("nm,nm->m", V, V), 0.0)

        def column(j: int) -> FloatArray:
            c: FloatArray = self.kernel(points[j : j + 1], points)[0] - V[:, j] @ V
            return c

        def full() -> FloatArray:
            return self.kernel(points, points) - V.T @ V

        mean = self.whitened @ V
        return Belief(points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    def mean(self, points: FloatArray) -> FloatArray:
        """Return the posterior mean of f alone, shape (m,): much cheaper than `at`, and cached at its support."""
        known = points is self.__dict__.get("support")  # do not compute it here: it takes time
        return self._at_support if known else self.cross(points) @ self.coefficients()

    def landscape(self, leader: FloatArray) -> Landscape:
        """Return gap and variance against a leader, with their gradients."""
        cross = self.cross(leader[None])[0]
        return Landscape(self.kernel, leader, self._parts, cross, self.coefficients(), self.inverse)

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the times, and the posterior mean of f(leader) plus the offset: K_o (K + lambda I)^-1 y."""
        if self.offset is None or self.observations is None:
            return None
        moments, r = self.observations.moments, self._folded
        F = np.broadcast_to(self.cross(leader[None])[:, r:], (len(moments), len(moments)))
        recent = lasting(self.offset)(moments, moments, F) @ self.coefficients()[r:]
        found = np.concatenate((folded_offsets(self), recent)) + float(self.mean(leader[None])[0])
        when = moments if self.digest is None else self.digest.source.moments.add(moments)
        own = when.campaign == ""  # earlier campaigns had their own offsets
        return when.time[own], found[own]

    @property
    def model(self) -> Model:
        """The model of the data."""
        return Model(self.kernel, self.regularizer, self.offset)

    def under(self, model: Model, data: tuple[Digest | None, Observations | None] | None = None) -> Self:
        """Return the posterior of the same or other data, folded and rest, under another model."""
        new = self._copy()
        new.kernel, new.regularizer, new.offset = model.kernel, model.noise, model.offset
        new.digest, new.observations = (self.digest, self.observations) if data is None else data
        if new.observations is None:
            new._L, new.whitened, new.log_det = np.empty((0, 0)), np.empty(0), 0.0
            return new
        return new._factorized()

    def _factorized(self) -> Self:
        """Compute the factor of the data, in place: only for a copy not yet handed out. Return the copy."""
        data, offset = self.observations, self.offset
        assert data is not None
        r = self._folded
        model = self.model if r else Model(self.kernel, self.regularizer)
        rows = [[between(model, p, q) for q in self._parts] for p in self._parts]
        K = np.block(rows) if r else rows[0][0]
        if offset is not None:
            K[r:, r:] += offset(data.moments, data.moments, None if r else K)
        if data.sited:
            self.observations = data = self._consistent(data, K)
        noise = np.concatenate(([] if self.digest is None else self.digest.variances, self.noises(data.variances)))
        K.flat[:: len(K) + 1] += np.maximum(noise, RESOLUTION * K.diagonal())
        self._L = _linalg.safe_cholesky(K)
        self.whitened = self.solve(np.concatenate([part.outcomes for part in self._parts]))
        self.log_det = 2.0 * float(np.log(self._L.diagonal()).sum()) - float(np.log(noise).sum())
        return self

    def _consistent(self, data: Observations, K: FloatArray) -> Observations:
        """Return the unfolded data with consistent sites, starting from their present sites.

        Args:
            data: Answers that are not exact.
            K: Prior covariance of the folded data and of f plus the offset of the others, shape (r + n, r + n).
        """
        r, prior, mean = self._folded, K, np.zeros(len(data))
        if self.digest is not None:
            L = _linalg.noisy_cholesky(K[:r, :r], self.digest.variances)
            rows = _linalg.solve_lower(L, K[:r, r:])
            prior, mean = K[r:, r:] - rows.T @ rows, _linalg.solve_lower(L, self.digest.outcomes) @ rows
        latent = prior.copy()
        latent.flat[:: len(data) + 1] += self.regularizer
        assert data.answers is not None
        start = Sites(1.0 / data.variances, data.outcomes / data.variances)
        found = propagate(Few(latent, mean), data.answers, start).sites
        self._swept = self.size
        return replace(data, outcomes=found.outcome, variances=1.0 / found.precision)

    def given(self, data: Observations | None, comparisons: int, model: Model) -> Self:
        """Return the posterior of other data under a model, learned at once; old ones of very many are folded."""
        data = None if data is None else data.at_a_glance()  # the result depends on the data and the model alone
        digest = None if data is None else fold(self, data, model)
        kept = data if data is None or digest is None else data.since(len(digest.source))
        new = self.under(model, (digest, kept))
        new.comparisons, new.misfit = comparisons, 0.0
        return new

    def with_outcomes(self, outcomes: Observations) -> Self:
        """Return the posterior with added outcomes of offset-free differences, of given variances."""
        rows = self.solve(outcomes.combine(self.cross(outcomes.points).T))
        K = outcomes.combine(outcomes.combine(self.kernel(outcomes.points, outcomes.points)).T)
        return self._joined(outcomes, rows, K, outcomes.variances)

    def noises(self, errors: FloatArray) -> FloatArray:
        """Return the variance of the noise of each outcome, shape (n,)."""
        return np.array([self.noise(error) for error in errors.tolist()]) if errors.any() else self.regularizer + errors

    @cached_property
    def _at_support(self) -> FloatArray:
        return check.frozen(self.cross(self.support) @ self.coefficients())

    @cached_property
    def support(self) -> FloatArray:
        """The distinct points of all data; for folded data, their inducing points."""
        if not self._parts:
            return np.empty((0, 0))
        points = np.concatenate([part.points for part in self._parts])
        return check.frozen(points[_linalg.firsts(points)])

    def cross(self, points: FloatArray, told: Moments | None = None) -> FloatArray:
        """Return k_t(x) of each point, shape (m, n); with the part of f that the offset repeats if `told` is given.

        Args:
            points: Shape (p, d).
            told: The circumstances in which each point is read.
        """
        columns = []
        for part in self._parts:
            k = self.kernel(points, part.points)
            columns.append(part.combine(k if told is None else self.model.repeating(told, part.circumstances, k)))
        return columns[0] if len(columns) == 1 else np.concatenate((np.empty((len(points), 0)), *columns), axis=1)

    def coefficients(self) -> FloatArray:
        """Return (K + lambda I)^-1 outcomes, shape (n,)."""
        return self.solve(self.whitened, transposed=True)

    def solve(self, b: FloatArray, transposed: bool = False, overwrite: bool = False) -> FloatArray:
        """Return L^-1 b, or L'^-1 b; may reuse the memory of b if `overwrite`."""
        return _linalg.solve_lower(self._L, b, transposed, overwrite) if len(self._L) else b

    def inverse(self, b: FloatArray) -> FloatArray:
        """Return (K + lambda I)^-1 b."""
        return self.solve(self.solve(b), transposed=True)

    def _extended(self, comparison: Comparison, outcome: float | None) -> Self:
        if self.offset is not None and comparison.second is not None:  # its readings were learned already
            return self
        points, u = direction(comparison)
        if says_nothing(points, u):
            return self._next()
        data = Observations.none(points.shape[1]) if self.observations is None else self.observations
        k, prior = u @ self.cross(points), float(u @ self.kernel(points, points) @ u)
        now = Moments.at(comparison.time, comparison.pair, comparison.circumstances)
        if self.offset is not None:
            news = Observations(points, u, np.zeros(1, dtype=np.intp), now, np.zeros(1), np.zeros(1))
            k = self._biased(k[:, None], data.moments, news)[:, 0]
            prior += float(self.offset(now, now, np.array([[prior]]))[0, 0])
        row = self.solve(k)
        expected, unknown = float(row @ self.whitened), max(prior - float(row @ row), RESOLUTION * prior)
        answers = None if outcome is None else comparison.answers
        if answers is not None:
            comparison = comparison.with_site(expected, self.regularizer + unknown)
        noise = self.noise(comparison.variance)
        s = noise + unknown
        outcome = expected if outcome is None else comparison.outcome
        new = self._next(s / noise, squared_surprise(comparison, outcome - expected, s))
        new._L = extended(self._L, row, math.sqrt(s))
        new.whitened = np.append(self.whitened, (outcome - expected) / math.sqrt(s))
        new.observations = data.add(points, u, now, outcome, comparison.variance, answers)
        return new

    def _grown(self, news: Observations) -> Self:
        """Return the posterior with added data, assuming that they came out as expected."""
        data = Observations.none(news.points.shape[1]) if self.observations is None else self.observations
        k = news.combine(self.cross(news.points).T)  # shape (n, news)
        K = news.combine(news.combine(self.kernel(news.points, news.points)).T)
        if self.offset is not None:
            k = self._biased(k, data.moments, news)
            K = K + self.offset(news.moments, news.moments, K)
        rows = self.solve(k)
        return self._joined(replace(news, outcomes=self.whitened @ rows), rows, K, self.noises(news.variances))

    def _joined(self, news: Observations, rows: FloatArray, K: FloatArray, noise: FloatArray) -> Self:
        """Return the posterior with added data, given their L^-1 k, prior covariance and noise."""
        new, n, data = self._copy(), len(self._L), self.observations
        corner = _linalg.noisy_cholesky(K - rows.T @ rows, noise)
        new._L = np.zeros((n + len(news), n + len(news)))
        new._L[:n, :n], new._L[n:, :n], new._L[n:, n:] = self._L, rows.T, corner
        surprise = _linalg.solve_lower(corner, news.outcomes - self.whitened @ rows)
        new.whitened = np.append(self.whitened, surprise)
        new.log_det = self.log_det + float(2 * np.log(corner.diagonal()).sum() - np.log(noise).sum())
        new.observations = news if data is None else data.joined(news)
        return new

    def _biased(self, k: FloatArray, known: Moments, news: Observations) -> FloatArray:
        """Return the covariance of known and new data with the offset; for folded data only its part that repeats f."""
        assert self.offset is not None
        r = self._folded
        old = between(self.model, self.digest, news) if self.digest is not None and self.offset.echoes else k[:r]
        return np.concatenate((old, k[r:] + self.offset(known, news.moments, k[r:])))

    @property
    def size(self) -> int:
        """The number of data, including folded ones."""
        folded = 0 if self.digest is None else len(self.digest.source)
        return folded + (0 if self.observations is None else len(self.observations))

    @property
    def source(self) -> Observations | None:
        """All data, including folded ones."""
        data = self.observations
        return data if self.digest is None or data is None else self.digest.source.joined(data)

    @property
    def _parts(self) -> tuple[Data, ...]:
        """The data, folded and unfolded, in the order of the rows of L."""
        return tuple(part for part in (self.digest, self.observations) if part is not None)

    @property
    def _folded(self) -> int:
        """The number of rows of L that belong to the digest."""
        return 0 if self.digest is None else len(self.digest)


def extended(L: FloatArray, row: FloatArray, corner: float) -> FloatArray:
    """Return the Cholesky factor with one row added."""
    n = len(L)
    new = np.zeros((n + 1, n + 1))
    new[:n, :n] = L
    new[n, :n] = row
    new[n, n] = corner
    return new
