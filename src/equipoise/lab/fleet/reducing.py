"""Reductions for many learners at once: the points each learner measures for its choice, and their signs.

    symbol   meaning                                                          shape
    L, r     number of learners, of readings of a duel
    points   index of the point of each reading, in the order of measuring    (L, r)
    signs    with which each reading enters the outcome                       (L, r)

`outcome = signs @ readings`, as in `Duel`; the baseline is always zero. To add a reduction, add an entry to `MEASURES`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from equipoise.belief import Array, namespace
from equipoise.lab.fleet.covariances import Directions
from equipoise.lab.fleet.throwing import Throws
from equipoise.reductions import Centered, Direct, OnePoint, Reduction, TwoPoint, Zero


@dataclass(frozen=True, eq=False)
class Duels:
    """The points to measure for each learner's choice, their order, and the way to combine their readings.

    Attributes:
        points: The index of the point of each reading, shape (L, r).
        signs: The sign of each reading in the outcome, shape (L, r).
        directions: The directions of the outcomes.
    """

    points: Array
    signs: Array
    directions: Directions

    def outcome(self, readings: Array) -> Array:
        """Return `signs @ readings`, shape (L, r) to (L,)."""
        return namespace(readings).sum(self.signs * readings, axis=-1)


def direct(u: Directions, throws: Throws, like: Array) -> Duels:
    """Measure the single point."""
    return Duels(u.first[:, None], namespace(like).ones_like(like)[:, None], u)


def two_point(u: Directions, throws: Throws, like: Array) -> Duels:
    """Measure both points, in the order of a fair coin: KK21 Eq. (3)."""
    xp = namespace(like)
    heads = throws.random(like) < 0.5
    points = xp.stack((xp.where(heads, u.first, u.second), xp.where(heads, u.second, u.first)), axis=-1)
    sign = xp.where(heads, xp.ones_like(like), -xp.ones_like(like))
    return Duels(points, xp.stack((sign, -sign), axis=-1), u)


def one_point(u: Directions, throws: Throws, like: Array) -> Duels:
    """Measure one of the points, chosen by a fair coin; its reading counts twice: KK21 Eq. (4)."""
    xp = namespace(like)
    heads = throws.random(like) < 0.5
    sign = xp.where(heads, xp.full_like(like, 2.0), xp.full_like(like, -2.0))
    return Duels(xp.where(heads, u.first, u.second)[:, None], sign[:, None], u)


def centered(u: Directions, throws: Throws, like: Array) -> Duels:
    """Measure a point drawn by its weight, against the mixture: KK21 Eq. (16)."""
    weights, xp = u.mixture, namespace(like)
    several = xp.count_nonzero(weights, axis=-1) > 1
    up_to = xp.cumulative_sum(weights, axis=-1)
    threshold = throws.random(like, several) * up_to[:, -1]
    drawn = xp.argmax(xp.astype(up_to > threshold[:, None], xp.int32), axis=-1)
    return Duels(drawn[:, None], xp.ones_like(like)[:, None], Directions(drawn, mixture=weights))


Measure = Callable[[Directions, Throws, Array], Duels]
"""The type of a function from the choice, the coins and an array of shape (L,) of the right kind to the duels."""

MEASURES: dict[type, Measure] = {
    Direct: direct,
    TwoPoint: two_point,
    OnePoint: one_point,
    Centered: centered,
}
"""The fleet versions of the reductions."""


def measure(reduction: Reduction) -> Measure:
    """Return the fleet version of a reduction; refuse a reduction that has none.

    Example:
        >>> measure(TwoPoint()) is two_point
        True
    """
    forecasts = isinstance(reduction, OnePoint) and reduction.baseline != Zero()
    if type(reduction) not in MEASURES or forecasts:
        names = ", ".join(each.__name__ for each in MEASURES)
        raise ValueError(f"`reduction` must be one of {names}, without a forecast, for a fleet, got {reduction!r}")
    return MEASURES[type(reduction)]


SIZES: dict[type, int | None] = {Direct: 1, TwoPoint: 2, OnePoint: 2, Centered: None}
"""The number of points that a proposal must have for each reduction; `None` for a mixture of all."""
