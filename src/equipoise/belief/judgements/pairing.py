"""The points that judgements compare: from answers to arrays, and back to pseudo-outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Posterior
from equipoise.likelihoods import Differences, Few, Judgement, Many, Sites
from equipoise.offsets import Moments


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """The distinct points of judgements, and the two that each judgement compares.

    Attributes:
        points: Shape (p, d).
        first: The index of the first point of each, shape (n,).
        second: The index of the second one, shape (n,).
    """

    points: FloatArray
    first: NDArray[np.intp]
    second: NDArray[np.intp]

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> "Pairing":
        """Return the pairing of at least one judgement."""
        places: dict[bytes, int] = {}
        table: list[FloatArray] = []
        found = []
        for point in (side for each in judgements for side in (each.first, each.second)):
            key = point.tobytes()
            if key not in places:
                places[key] = len(table)
                table.append(point)
            found.append(places[key])
        index = np.array(found, dtype=np.intp)
        return cls(np.array(table), index[::2], index[1::2])

    def prior(self, posterior: Posterior) -> Differences:
        """Return the posterior of the differences, in the cheaper form."""
        belief = posterior.at(self.points)
        C, a, b = belief.covariance(), self.first, self.second
        C = _linalg.semidefinite(0.5 * (C + C.T))
        if len(self.points) < len(a):
            return Many(C, belief.mean, a, b)
        rows = C[a] - C[b]
        return Few(rows[:, a] - rows[:, b], belief.mean[a] - belief.mean[b])

    def outcomes(self, sites: Sites) -> Observations | None:
        """Return sites as outcomes of differences, merged for each pair of points; skip pairs of equal points."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        sign = np.where(self.first <= self.second, 1.0, -1.0)
        pairs, group = np.unique(low * len(self.points) + high, return_inverse=True)
        precision = np.bincount(group, sites.precision)
        shift = np.bincount(group, sign * sites.shift)
        a, b = np.divmod(pairs, len(self.points))
        differ = a != b
        a, b, precision, shift = a[differ], b[differ], precision[differ], shift[differ]
        n = len(a)
        if not n:
            return None
        points = self.points[np.stack((a, b), axis=1).ravel()]
        return _differences(points, shift / precision, 1.0 / precision)


def outcome(first: FloatArray, second: FloatArray, value: float, variance: float) -> Observations:
    """Return f(first) - f(second) = value, up to noise of a given variance, as a single datum."""
    return _differences(np.array([first, second]), np.array([value]), np.array([variance]))


def _differences(points: FloatArray, values: FloatArray, variances: FloatArray) -> Observations:
    """Return outcomes of differences of successive points, shape (2n, d); they have no circumstances."""
    n = len(values)
    nowhere = np.full(n, -1.0)
    moments = Moments(nowhere, nowhere)
    return Observations(points, np.tile([1.0, -1.0], n), 2 * np.arange(n), moments, values, variances)
