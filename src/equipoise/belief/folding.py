"""Folding: very many old data are compressed into a few outcomes about f, so that cost and memory do not grow.

    symbol   meaning                                                          shape
    Z        inducing points: the points of the data that tell most about f   (m, d)
    R        Cholesky factor of k(Z, Z)                                        (m, m)
    w        R^-1 f(Z): independent, of variance 1, before there are data      (m,)
    B        I - cov(w | data)                                                 (m, m)
    b, q     eigenvalues and eigenvectors of B                                 (m,), (m, m)
    S        1 if two points were read in one block                            (m, m)

The data tell as much about f(Z) as one outcome q_j'w for each j, with noise variance (1 - b_j) / b_j. These outcomes
replace the data. Elsewhere they tell about f only through f(Z); at Z nothing is lost. The change of the offset from the
last folded datum to the first kept one is lost, which is worth about one reading (docs/method.md, section 16).

If the offset of a block repeats f, an inducing point is a point in a block, and f(Z) is f there plus the part that the
offset repeats, of covariance (1 + effect S) k(Z, Z): so a long block tells no more about f than before.

The data are folded in chunks that are always the same: the data that a digest replaces depend on the data and on the
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
"""The least share of the variance of f that other inducing points must leave unknown at a new one."""

LEAST_KNOWN = 1e-9
"""The least share of a direction of f(Z) that the data must explain: others are left out."""


class Data(Protocol):
    """Outcomes, each of a combination of points."""

    @property
    def points(self) -> FloatArray:
        """All points of all data, shape (p, d)."""
        ...

    @property
    def circumstances(self) -> Moments:
        """The circumstances in which each point was read."""
        ...

    @property
    def outcomes(self) -> FloatArray:
        """The outcomes, shape (n,)."""
        ...

    def combine(self, columns: FloatArray) -> FloatArray:
        """Turn columns indexed by points, shape (..., p), into columns indexed by data, shape (..., n)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Digest:
    """Outcomes that replace data.

    Attributes:
        points: Z, shape (m, d).
        circumstances: The circumstances of each: only its block counts.
        weights: The combination of f(Z) that each outcome observes, shape (m, r).
        outcomes: Shape (r,).
        variances: The noise variance of each, shape (r,).
        source: The data that they replace.
        model: The model of these data.
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
        """Turn columns indexed by points, shape (..., m), into columns indexed by outcomes, shape (..., r)."""
        combined: FloatArray = columns @ self.weights
        return combined

    def stands_for(self, data: Observations, model: Model) -> bool:
        """Return whether it replaces the first of the given data under the model."""
        n, known = len(self.source), self.source
        if n > len(data) or self.model != model.until(known.moments.last):
            return False
        return known.alike(data.since(0, n))


def digest(posterior: "AnywherePosterior", source: Observations) -> Digest:
    """Return the digest of a posterior, given all its data."""
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
    """Choose points of the data one by one, each where f is least known given the others.

    Return the points, the circumstances of each and the Cholesky factor of their covariance.
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
    """Return the prior covariance of the outcomes of data a and b, shape (n, m).

    Noise and offset are left out, except for the part of f that the offset repeats.
    """
    K = model.kernel(a.points, b.points)
    return b.combine(a.combine(model.repeating(a.circumstances, b.circumstances, K).T).T)


@dataclass(frozen=True)
class Folding:
    """The rule that selects unfolded data: all of few, the last of many.

    Attributes:
        exact: The number up to which all data are kept.
        window: The least number kept of more data.
        chunk: The number of data folded at a time.

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
        """The same rule for the differences of this many data."""
        return Folding(self.exact // 2, self.window // 2, max(self.chunk // 2, 1))

    def folded(self, data: int) -> int:
        """Return the number folded of this many data: a multiple of a chunk."""
        return 0 if data <= self.exact else (data - self.window) // self.chunk * self.chunk

    def after(self, data: int) -> int:
        """Return the number of data at which the next chunk is folded."""
        return max(self.exact + 1, self.window + self.chunk + self.folded(data))


def fold(posterior: "AnywherePosterior", data: Observations, model: Model) -> Digest | None:
    """Return the digest of the old ones among very many data under a model; `None` if the data are few.

    The digest of the posterior is reused if it replaces some of these data.
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
    """Return the offset without blips, which spoil single readings."""
    return replace(offset, blips=())


def folded_offsets(posterior: "AnywherePosterior") -> FloatArray:
    """Return the offset at the folded data given the present belief about f, shape (n,)."""
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
