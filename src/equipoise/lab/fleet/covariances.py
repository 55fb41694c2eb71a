"""Covariances of many learners at once, conditioned one direction each.

    symbol   meaning                                                        shape
    L, m     number of learners, of points
    d        number of features: f(x) = <phi(x), theta>
    X        phi(x) of every point, one list for all or one each            (m, d) or (L, m, d)
    C        covariance of theta, or of f at the points                     (L, d, d), (L, m, m)
    u        direction of a datum: phi(first) - phi(second)                 (L, d)
    c        covariance of f at the points with f(u)                        (L, m)
    q        u'C u                                                          (L,)
    s        lambda + u'C u, variance of the next outcome                   (L, 1)

Conditioning is `C <- C - (C u)(C u)'/s` (METHOD section 3) for all learners in one array operation. A direction of
length zero, a point against itself, changes nothing.
"""

from dataclasses import dataclass

from equipoise.belief import SMALL, TAIL, Array, namespace, pick
from equipoise.lab.fleet.array_math import outer, placed, times


@dataclass(frozen=True, eq=False)
class Directions:
    """The direction of each learner's outcome: a point, two points, or a point and a mixture.

    Attributes:
        first: Index of the point whose merit the outcome estimates, shape (L,); `None` until it is drawn.
        second: Index of the point it is compared with, shape (L,); `None` if there is no such point.
        mixture: Probabilities of the points it is compared with, shape (L, m); `None` if it is no mixture.
    """

    first: Array = None
    second: Array = None
    mixture: Array = None

    def of(self, values: Array) -> Array:
        """Return the value in each direction, from values at the points, shape (L, m), to shape (L,)."""
        result = pick(values, self.first)
        if self.second is not None:
            result = result - pick(values, self.second)
        if self.mixture is not None:
            result = result - namespace(values).sum(self.mixture * values, axis=-1)
        return result


@dataclass(frozen=True, eq=False)
class FeatureCovariances:
    """Covariances of linear functions, stored as the covariance of theta: its size does not depend on the points."""

    X: Array
    C: Array

    def column(self, j: Array) -> Array:
        """Return the covariance of f at all points with f at point j of each learner, shape (L, m)."""
        return self.spread(times(self.C, self.features(j)))

    def apply(self, u: Directions) -> tuple[Array, Array, Array]:
        """Return C u, c and q; shapes (L, d), (L, m), (L,)."""
        direction = self.direction(u)
        Cu = times(self.C, direction)
        return Cu, self.spread(Cu), namespace(Cu).sum(direction * Cu, axis=-1)

    def downdate(self, Cu: Array, s: Array, overwrite: bool = False) -> "FeatureCovariances":
        """Return C after an outcome of variance s, shape (L, 1); `overwrite` if this object is no longer needed."""
        return FeatureCovariances(self.X, self.C - outer(Cu, Cu / s))  # METHOD section 3

    def full(self) -> Array:
        """Return the covariance of f at all points, shape (L, m, m)."""
        return self.X @ self.C @ namespace(self.X).matrix_transpose(self.X)

    def taken(self, rows: Array) -> "FeatureCovariances":
        """Return the covariances of some learners."""
        return FeatureCovariances(self.X if self.X.ndim == 2 else self.X[rows], self.C[rows])

    def put(self, rows: Array, part: "Covariances") -> None:
        """Overwrite the covariances of some learners."""
        assert isinstance(part, FeatureCovariances)
        self.C[rows] = part.C

    def owned(self) -> "FeatureCovariances":
        """Return itself: no two learners share numbers, so `put` is safe."""
        return self

    def direction(self, u: Directions) -> Array:
        """Return u as a combination of features, shape (L, d)."""
        result = self.features(u.first)
        if u.second is not None:
            result = result - self.features(u.second)
        if u.mixture is not None:
            result = result - self.center(u.mixture)
        return result

    def center(self, mixture: Array) -> Array:
        """Return the mean feature under probabilities of shape (L, m), shape (L, d)."""
        return (mixture[:, None, :] @ self.X)[:, 0, :]

    def features(self, j: Array) -> Array:
        """Return phi of one point of each learner, shape (L, d)."""
        return namespace(j).take(self.X, j, axis=0) if self.X.ndim == 2 else pick(self.X, j)

    def spread(self, w: Array) -> Array:
        """Return <phi(x), w> at all points, from (L, d) to (L, m)."""
        return w @ namespace(w).matrix_transpose(self.X) if self.X.ndim == 2 else times(self.X, w)


@dataclass(frozen=True, eq=False)
class PointCovariances:
    """Covariances of any function on few points: a base less a tail of rows not yet folded in, `C = base - tail' tail`.

    See `belief/covariance.py` for the reasons. All share one base, of shape (1, m, m), until rows are folded in.

    Attributes:
        base: The base matrices, shape (L, m, m) or (1, m, m).
        tail: The tail rows, shape (L, t, m).
        room: The memory in which the tail grows, shape (L, `TAIL`, m), if older objects are not needed.
    """

    base: Array
    tail: Array
    room: Array | None = None

    def column(self, j: Array) -> Array:
        """Return the covariance with f at point j."""
        xp = namespace(j)
        c = xp.take(self.base[0, ...], j, axis=0) if self.base.shape[0] == 1 else pick(self.base, j)
        if self.tail.shape[1]:
            weights = pick(xp.matrix_transpose(self.tail), j)
            c = c - (weights[:, None, :] @ self.tail)[:, 0, :]
        return c

    def apply(self, u: Directions) -> tuple[Array, Array, Array]:
        """Return C u, which is c, then c again, and q."""
        c = self.column(u.first)
        if u.second is not None:
            c = c - self.column(u.second)
        if u.mixture is not None:
            c = c - times(self.full(), u.mixture)
        return c, c, u.of(c)

    def downdate(self, Cu: Array, s: Array, overwrite: bool = False) -> "PointCovariances":
        """Return C after an outcome; `overwrite` reuses the memory, since fresh memory costs more than arithmetic."""
        xp = namespace(Cu)
        row = Cu / xp.sqrt(s)
        if row.shape[1] <= SMALL:
            return PointCovariances(self.base - outer(row, row), self.tail)
        room, tail = self._grown(row) if overwrite else (None, xp.concat((self.tail, row[:, None, :]), axis=1))
        if tail.shape[1] < TAIL:
            return PointCovariances(self.base, tail, room)
        owned = overwrite and self.base.shape[0] == tail.shape[0]
        base = self.base if owned else xp.broadcast_to(self.base, (tail.shape[0], *self.base.shape[1:])) + 0.0
        return PointCovariances(_folded(base, tail), tail[:, :0, :], room)

    def _grown(self, row: Array) -> tuple[Array, Array]:
        """Return the room and the tail with one more row, in place."""
        (learners, t, m), xp, room = self.tail.shape, namespace(row), self.room
        if room is None:
            room = xp.empty((learners, TAIL, m), dtype=row.dtype, **placed(row))
            room[:, :t, :] = self.tail
        room[:, t, :] = row
        return room, room[:, : t + 1, :]

    def full(self) -> Array:
        """Return the covariance of f at all points."""
        if not self.tail.shape[1] and self.base.shape[0] == self.tail.shape[0]:
            return self.base
        return self.base - namespace(self.base).matrix_transpose(self.tail) @ self.tail

    def taken(self, rows: Array) -> "PointCovariances":
        """Return the covariances of some learners, folded."""
        return PointCovariances(self.base[rows], self.tail[rows])

    def put(self, rows: Array, part: "Covariances") -> None:
        """Overwrite the covariances of some learners."""
        self.base[rows] = part.full()

    def owned(self) -> "PointCovariances":
        """Return the folded covariances, one matrix per learner."""
        return PointCovariances(self.full(), self.tail[:, :0, :])


def _folded(base: Array, tail: Array) -> Array:
    """Subtract tail' tail from the base, in place, one learner after the other."""
    for i in range(base.shape[0]):
        base[i, ...] -= namespace(base).matrix_transpose(tail[i, ...]) @ tail[i, ...]
    return base


Covariances = FeatureCovariances | PointCovariances
"""The type of the stored covariances C, in the form that suits the kernel."""
