"""What many old data come to: a few outcomes about f, in which there is no offset any more.

    symbol   meaning                                                          shape
    Z        inducing points: those of the data from which f is known best    (m, d)
    R        Cholesky factor of k(Z, Z)                                        (m, m)
    w        R^-1 f(Z): independent, of variance 1, before there are data      (m,)
    B        I - cov(w | data)                                                 (m, m)
    b, q     eigenvalues and eigenvectors of B                                 (m,), (m, m)

The data say as much about f(Z) as one outcome q_j'w for each j, of noise variance (1 - b_j) / b_j, would. So these take
their place. What the data say of f elsewhere is what f(Z) says of it; nothing is lost at Z. How the offset went on from
the last of them to the first that is kept is lost, which is worth about one reading (docs/method.md, section 17).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief.model import Model
from equipoise.belief.observations import Observations
from equipoise.kernels import Kernel

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
        weights: Of which combination of f(Z) each outcome is, shape (m, r).
        outcomes: What was found, shape (r,).
        variances: Of the noise of each, shape (r,).
        source: The data that they stand for.
        model: What explained these.
    """

    points: FloatArray
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
        same, compared = data.since(0, n), ("outcomes", "variances", "points")
        return all(np.array_equal(getattr(known, each), getattr(same, each)) for each in compared)


def digest(posterior: "AnywherePosterior", source: Observations) -> Digest:
    """Return what a posterior has learned from data.

    Args:
        posterior: The posterior.
        source: All its data.
    """
    model = posterior.model
    Z, R = inducing(model.kernel, posterior.support)
    H = _linalg.solve_lower(R, posterior.solve(posterior.cross(Z).T).T)  # L^-1 cov(data, w), transposed
    b, Q = np.linalg.eigh(H @ H.T)
    known = b > LEAST_KNOWN
    b, Q = np.minimum(b[known], 1.0 - LEAST_KNOWN), Q[:, known]
    weights = _linalg.solve_lower(R, Q, transposed=True)  # q'w = q'R^-1 f(Z)
    outcomes = Q.T @ (H @ posterior.whitened) / b  # E[q'w | data] is b times the outcome
    return Digest(Z, weights, outcomes, (1.0 - b) / b, source, model.until(source.moments.last))


def inducing(kernel: Kernel, candidates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points chosen one by one, each where the others leave f least known, and the Cholesky factor of k.

    Args:
        kernel: Prior covariance of f.
        candidates: What is chosen from, shape (p, d).
    """
    K = kernel(candidates, candidates)
    factor, order, rank, _ = _linalg.lapack().dpstrf(K, tol=LEAST_NEWS * float(K.diagonal().max()), lower=1)
    m = min(int(rank), MAX_INDUCING)
    return candidates[order[:m] - 1], np.tril(factor[:m, :m])


def prior_covariance(kernel: Kernel, parts: Sequence[Data]) -> FloatArray:
    """Return the prior covariance of the outcomes of all parts, noise and offset left out."""
    rows = [[p.combine(q.combine(kernel(q.points, p.points).T).T) for p in parts] for q in parts]
    return rows[0][0] if len(parts) == 1 else np.block(rows)
