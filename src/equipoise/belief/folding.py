"""Folding: very many old data are replaced by a few outcomes about f, so that cost and memory do not grow.

    symbol   meaning                                                          shape
    Z        inducing points: those of the data from which f is known best    (m, d)
    R        Cholesky factor of k(Z, Z)                                        (m, m)
    w        R^-1 f(Z): independent, of variance 1, before there are data      (m,)
    B        I - cov(w | data)                                                 (m, m)
    b, q     eigenvalues and eigenvectors of B                                 (m,), (m, m)
    S        1 if two points were read in one block                            (m, m)

The data say as much about f(Z) as one outcome q_j'w for each j, of noise variance (1 - b_j) / b_j, would. So these take
their place. What the data say of f elsewhere is what f(Z) says of it; nothing is lost at Z. How the offset went on from
the last of them to the first that is kept is lost, which is worth about one reading (docs/method.md, section 17).

If the offset of a block repeats f, an inducing point is a point in a block, and f(Z) is f there with what the offset
repeats of it, of covariance (1 + effect S) k(Z, Z): so a long block says no more of f than it did before.

The data are folded a chunk at a time, always the same chunks: what a digest stands for depends on the data and on the
model alone, not on when it was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Protocol

import numpy as np

from equipoise import _linalg
from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief.model import Model
from equipoise.belief.observations import Observations
from equipoise.offsets import Moments, OffsetModel

if TYPE_CHECKING:
    from equipoise.belief.anywhere import AnywherePosterior

MAX_INDUCING = 128
"""The most inducing points: more would cost as much as the data they stand for."""

LEAST_NEWS = 1e-5
"""An inducing point of which the others leave less than this share of the variance of f unknown tells nothing."""

LEAST_KNOWN = 1e-9
"""Directions of f(Z) of which the data explain less than this share are left out."""


class Data(Protocol):
    """Outcomes, each of a combination of points."""

    @property
    def points(self) -> FloatArray:
        """All points of all data, shape (p, d)."""
        ...

    @property
    def circumstances(self) -> Moments:
        """Under which circumstances each point was read."""
        ...

    @property
    def outcomes(self) -> FloatArray:
        """What was found, shape (n,)."""
        ...

    def combine(self, columns: FloatArray) -> FloatArray:
        """Turn columns that belong to points, shape (..., p), into columns that belong to data, shape (..., n)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Digest:
    """Outcomes that take the place of data.

    Attributes:
        points: Z, shape (m, d).
        circumstances: Under which circumstances each was read: only its block counts.
        weights: Of which combination of f(Z) each outcome is, shape (m, r).
        outcomes: What was found, shape (r,).
        variances: Of the noise of each, shape (r,).
        source: The data that they stand for.
        model: What explained these.
    """

    points: FloatArray
    circumstances: Moments
    weights: FloatArray
    outcomes: FloatArray
    variances: FloatArray
    source: Observations
    model: Model

    def __len__(self) -> int:
        return len(self.outcomes)

    def combine(self, columns: FloatArray) -> FloatArray:
        """Turn columns that belong to points, shape (..., m), into columns that belong to outcomes, shape (..., r)."""
        combined: FloatArray = columns @ self.weights
        return combined

    def stands_for(self, data: Observations, model: Model) -> bool:
        """Return whether it is what some of given data, the first, come to under a model."""
        n, known = len(self.source), self.source
        if n > len(data) or self.model != model.until(known.moments.last):
            return False
        return known.alike(data.since(0, n))


def digest(posterior: "AnywherePosterior", source: Observations) -> Digest:
    """Return what a posterior has learned from data.

    Args:
        posterior: The posterior.
        source: All its data.
    """
    model = posterior.model
    Z, told, R = inducing(model, [part for part in (posterior.digest, posterior.observations) if part is not None])
    H = _linalg.solve_lower(R, posterior.solve(posterior.cross(Z, told).T).T)  # L^-1 cov(data, w), transposed
    b, Q = np.linalg.eigh(H @ H.T)
    known = b > LEAST_KNOWN
    b, Q = np.minimum(b[known], 1.0 - LEAST_KNOWN), Q[:, known]
    weights = _linalg.solve_lower(R, Q, transposed=True)  # q'w = q'R^-1 f(Z)
    outcomes = Q.T @ (H @ posterior.whitened) / b  # E[q'w | data] is b times the outcome
    return Digest(Z, told, weights, outcomes, (1.0 - b) / b, source, model.until(source.moments.last))


def inducing(model: Model, parts: Sequence[Data]) -> tuple[FloatArray, Moments, FloatArray]:
    """Return points of data chosen one by one, each where the others leave f least known.

    Args:
        model: What explains the data.
        parts: The data.

    Returns:
        The points, the circumstances of each and the Cholesky factor of their covariance.
    """
    points = np.concatenate([part.points for part in parts])
    told = reduce(Moments.add, (part.circumstances for part in parts))
    blocks = [np.unique(told.block, return_inverse=True)[1][:, None]] if model.echoes else []
    kept = _linalg.firsts(np.concatenate((points, *blocks), axis=1))
    candidates, told = points[kept], told.take(kept)
    K = model.repeating(told, told, model.kernel(candidates, candidates))
    factor, order, rank, _ = _linalg.lapack().dpstrf(K, tol=LEAST_NEWS * float(K.diagonal().max()), lower=1)
    m = min(int(rank), MAX_INDUCING)
    return candidates[order[:m] - 1], told.take(order[:m] - 1), np.tril(factor[:m, :m])


def between(model: Model, a: Data, b: Data) -> FloatArray:
    """Return the prior covariance of the outcomes of some data with those of others, shape (n, m).

    Noise and offset are left out, except for what the offset repeats of f.
    """
    K = model.kernel(a.points, b.points)
    return b.combine(a.combine(model.repeating(a.circumstances, b.circumstances, K).T).T)


@dataclass(frozen=True)
class Folding:
    """Which data are kept as they are: all of few, of many the last.

    Attributes:
        exact: Up to this many all are kept.
        window: Of more at least this many.
        chunk: The others are folded this many at a time.

    Example:
        >>> [Folding(exact=500, window=100, chunk=200).folded(n) for n in (500, 501, 699, 700)]
        [0, 400, 400, 600]
    """

    exact: int = 500
    window: int = 100
    chunk: int = 200

    def __post_init__(self) -> None:
        check.count("exact", self.exact, 0)
        check.count("window", self.window, 0)
        check.count("chunk", self.chunk, 1)
        if self.window > self.exact:
            raise ValueError(f"`window` must be at most `exact`, {self.exact}, got {self.window}")

    @property
    def of_pairs(self) -> "Folding":
        """The same for the differences of this many data."""
        return Folding(self.exact // 2, self.window // 2, max(self.chunk // 2, 1))

    def folded(self, data: int) -> int:
        """Return how many of this many data are folded: a multiple of a chunk."""
        return 0 if data <= self.exact else (data - self.window) // self.chunk * self.chunk

    def after(self, data: int) -> int:
        """Return the number of data at which more of them are folded next."""
        return max(self.exact + 1, self.window + self.chunk + self.folded(data))


def fold(posterior: "AnywherePosterior", data: Observations, model: Model) -> Digest | None:
    """Return what the old ones among very many data come to under a model; `None` if they are few.

    Args:
        posterior: The posterior, whose digest is used where it stands for some of these data.
        data: All data.
        model: What explains them.
    """
    folding, known = posterior.folding, posterior.digest
    if folding is None:
        return None
    end = folding.folded(len(data))
    known = known if known is not None and known.stands_for(data.since(0, end), model) else None
    for first in range(0 if known is None else len(known.source), end, folding.chunk):
        some = posterior.under(model, (known, data.since(first, first + folding.chunk)))
        known = digest(some, data.since(0, first + folding.chunk))
    return known


def lasting(offset: OffsetModel) -> OffsetModel:
    """Return the offset of the instrument: without what spoils single readings."""
    return replace(offset, blips=())


def folded_offsets(posterior: "AnywherePosterior") -> FloatArray:
    """Return the offset at the folded data, shape (n,), given the present belief about f."""
    if posterior.digest is None or posterior.folding is None or posterior.offset is None:
        return np.empty(0)
    data, found = posterior.digest.source, [np.empty(0)]
    rest = data.outcomes - data.combine(posterior.mean(data.points))
    for first in range(0, len(data), posterior.folding.chunk):
        some = slice(first, first + posterior.folding.chunk)
        moments, noise = data.moments.take(some), posterior.noises(data.variances[some])
        K = posterior.offset(moments, moments)
        found.append(lasting(posterior.offset)(moments, moments) @ np.linalg.solve(K + np.diag(noise), rest[some]))
    return np.concatenate(found)
