"""The check that a proposal of a log can be reproduced: to the last bit, up to rounding, or not at all.

    symbol   meaning                                                             shape
    mu       posterior mean of f at the points of a proposal                     (k,)
    psi      posterior variance of f(x_i) - f(x_0), x_0 its first point          (k,)
    unit2    lambda plus the largest psi: the variance of a duel's outcome       ()

Another processor, or another BLAS, adds numbers in another order. So a search may end a few digits away, and may choose
another of two equally good points. Policies score a point by its mu and psi alone: two proposals with the same mu and
psi, up to rounding, are equally good for any policy.
"""

from enum import StrEnum

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief import Posterior
from equipoise.data import Duel, Proposal, Side

TOLERANCE = 1e-6
"""Largest difference of mu, in units of the root of unit2, and of psi, in units of unit2, that counts as rounding.
Measured between processors: 1e-12."""

FIT_TOLERANCE = 0.1
"""The same if each belief has its own fit: a fit ends where a tenth of a standard deviation decides nothing
(`belief/evidence.py`)."""


class Reproduction(StrEnum):
    """The result of comparing a reproduced proposal with the original."""

    SAME = "same"
    ROUNDED = "within rounding"
    DIFFERENT = "different"


def reproduction(made: Duel, again: Duel, posterior: Posterior) -> Reproduction:
    """Compare a duel of the log with the one proposed now, and the belief behind it."""
    if not _alike(made, again):
        return Reproduction.DIFFERENT
    if all(a.tobytes() == b.tobytes() for a, b in zip(_parts(made), _parts(again), strict=True)):
        return Reproduction.SAME
    unit = max(posterior.regularizer**0.5, abs(again.baseline))
    numbers = [np.concatenate((duel.proposal.weights, duel.signs, [duel.baseline / unit])) for duel in (made, again)]
    if np.abs(numbers[0] - numbers[1]).max() > TOLERANCE:
        return Reproduction.DIFFERENT
    return reproduction_of_points(_rows(made), _rows(again), posterior)


def reproduction_of_points(made: FloatArray, again: FloatArray, posterior: Posterior) -> Reproduction:
    """Compare points of a log, shape (k, d), with those proposed now, of the same shape."""
    if made.tobytes() == again.tobytes():
        return Reproduction.SAME
    return Reproduction.ROUNDED if _equivalent(posterior, made, again) else Reproduction.DIFFERENT


def _equivalent(posterior: Posterior, made: FloatArray, again: FloatArray) -> bool:
    """Return whether two lists of points, both of shape (k, d), are equally good for any policy."""
    belief = posterior.at(np.concatenate((made, again)))
    psi = belief.psi(0)[: len(made)], belief.psi(len(made))[len(made) :]
    unit2 = belief.regularizer + float(max(each.max() for each in psi))
    means = np.abs(belief.mean[: len(made)] - belief.mean[len(made) :]) <= TOLERANCE * unit2**0.5
    return bool(means.all() and (np.abs(psi[0] - psi[1]) <= TOLERANCE * unit2).all())


def agree(one: Posterior, other: Posterior) -> bool:
    """Return whether two beliefs, each with its own fit, agree at the points of the data."""
    points = one.support
    if not len(points):
        return True
    a, b = one.at(points), other.at(points)
    leader = int(a.mean.argmax())
    psi = a.psi(leader), b.psi(leader)
    unit = np.sqrt(a.regularizer + psi[0])
    gaps = np.abs(a.gaps(leader) - b.gaps(leader)) <= FIT_TOLERANCE * unit
    widths = np.abs(np.sqrt(psi[0]) - np.sqrt(psi[1])) <= FIT_TOLERANCE * unit
    return bool(gaps.all() and widths.all())


def _alike(made: Duel, again: Duel) -> bool:
    """Return whether the corresponding parts of two duels have equally many points."""
    return (
        [part.shape for part in _parts(made)] == [part.shape for part in _parts(again)]
        and (made.second is None) == (again.second is None)
        and _order(made) == _order(again)
    )


def _order(duel: Duel) -> list[int]:
    """Return the indices of the points that a duel measures in its proposal; -1 for others."""
    table = [point.tobytes() for point in duel.proposal.points]
    return [table.index(point.tobytes()) if point.tobytes() in table else -1 for point in duel.points]


def _parts(duel: Duel) -> tuple[FloatArray, ...]:
    """Return all numbers of a duel."""
    scalars = np.array([*duel.signs, duel.baseline])
    return (duel.points, duel.proposal.points, duel.proposal.weights, scalars, *map(_points, (duel.first, duel.second)))


def _rows(duel: Duel) -> FloatArray:
    """Return all points of a duel, in an order that depends on their parts alone, shape (k, d)."""
    return np.concatenate((duel.proposal.points, duel.points))


def _points(side: Side | None) -> FloatArray:
    if side is None:
        return np.empty((0, 0))
    return side.points if isinstance(side, Proposal) else side[None]
