"""Common random numbers: the choice of an old or a new seed for a pair.

    symbol   meaning                                                                    shape
    l, z     the settings of a pair                                                     (d,)
    psi      posterior variance of f(l) - f(z)                                          ()
    s        a seed: of a training, a split, an instance, a scenario                    ()

A reading is `f(x) + a_s + h_s(x) + noise`: the level of its seed, and the effect of the seed on the setting. The belief
knows both (METHOD section 13, blocks), so the value of a question is its reduction of psi. On a seed with a reading at
or near l, reading z alone compares them at the cost of one reading; on a new seed both are read, which averages h. The
chosen seed has the largest reduction per reading (METHOD section 17).
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Posterior
from equipoise.data import Comparison, Duel, SeedName

MOST_OLD = 4
"""The number of old seeds considered for each setting: those with a reading near the other setting."""

CLEARLY = 1.0 + 1e-6
"""An old seed must be better than a new one by this factor, so that rounding decides nothing."""

Read = Mapping[SeedName, Sequence[FloatArray]]
"""The settings that were asked for on each seed, encoded, shape (d,) each, in the order in which these were used."""


@dataclass(frozen=True)
class Seeds:
    """The seeds of a study.

    Attributes:
        values: All there are, such as folds or instances; `None` for 0, 1, 2 and on.

    Example:
        >>> Seeds().fresh([0, 1]), Seeds(("fold 1", "fold 2")).fresh(["fold 1", "fold 2"])
        (2, None)
    """

    values: tuple[SeedName, ...] | None = None

    @classmethod
    def of(cls, name: str, given: Any) -> "Seeds | None":
        """Return seeds as the user says them: `True`, or a list of whole numbers or names; `None` for `False`."""
        if isinstance(given, cls) or given is None or given is False:
            return given or None
        if given is True:
            return cls()
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise TypeError(f"`{name}` must be True, or a list of whole numbers or names, got {given!r}")
        values = tuple(check.seed(name, value) for value in given)
        if len(values) < 2 or len(set(map(str, values))) < len(values):
            raise ValueError(f"`{name}` must be at least two, all different, got {list(values)!r}")
        return cls(values)

    def to_json(self) -> bool | list[SeedName]:
        """Return them as the user says them."""
        return True if self.values is None else list(self.values)

    def nth(self, n: int) -> SeedName:
        """Return the n-th seed, from 0; a list starts again at its end."""
        return n if self.values is None else self.values[n % len(self.values)]

    def fresh(self, used: Collection[SeedName]) -> SeedName | None:
        """Return the first one that was not used; `None` if all were."""
        return next((seed for seed in (count() if self.values is None else self.values) if seed not in used), None)


def seeded(
    duel: Duel,
    seeds: Seeds,
    read: Read,
    posterior: Posterior,
    teaching: Callable[[SeedName, Duel], Sequence[Comparison]],
    alone: bool = True,
) -> tuple[SeedName, Duel]:
    """Return the seed for a duel, and the settings to measure: on an old seed perhaps only one of them, if `alone`.

    `read` has the points asked for on each seed; `teaching` returns how much a duel on a seed will teach.
    """
    fresh = seeds.fresh(read)
    if alone and len(duel.points) == 2 and (duel.points[0] == duel.points[1]).all():
        duel = single(duel, 0)  # nothing is to be compared: the same number twice would teach nothing
    offers = [] if fresh is None else [(fresh, duel)]
    if len(duel.points) == 2 and (alone or fresh is None):
        offers += _old(duel, read, alone, fresh is None)
    if len(offers) > 1:
        return _most_informative(offers, duel.points, posterior, teaching)
    return offers[0] if offers else (_least_read(duel, read), duel)


def _least_read(duel: Duel, read: Read) -> SeedName:
    """Return the used seed on which most of the points of a duel were not read, and else with the fewest readings."""
    known = {seed: sum(_holds(points, point) for point in duel.points) for seed, points in read.items()}
    return min(read, key=lambda seed: (known[seed], len(read[seed])))


def _old(duel: Duel, read: Read, alone: bool, both: bool) -> list[tuple[SeedName, Duel]]:
    """Return the measurements on used seeds: of one setting if `alone`, of both where neither was if `both`."""
    missing = {seed: [i for i in range(2) if not _holds(known, duel.points[i])] for seed, known in read.items()}
    offers: list[tuple[SeedName, Duel]] = []
    for i in range(2 if alone else 0):
        near = {seed: _distance(read[seed], duel.points[1 - i]) for seed, left in missing.items() if i in left}
        offers += [(seed, single(duel, i)) for seed in sorted(near, key=lambda each: near[each])[:MOST_OLD]]
    least = sorted((seed for seed, left in missing.items() if both and len(left) == 2), key=lambda s: len(read[s]))
    return offers + [(seed, duel) for seed in least[:MOST_OLD]]


def _holds(known: Sequence[FloatArray], point: FloatArray) -> bool:
    return any((each == point).all() for each in known)


def _distance(known: Sequence[FloatArray], point: FloatArray) -> float:
    """Return the distance of the nearest setting; infinite if there is none."""
    return min((float(((each - point) ** 2).sum()) for each in known), default=math.inf)


def single(duel: Duel, i: int) -> Duel:
    """Return the rest of a duel of which one point is known: the other point alone."""
    return Duel(duel.proposal, duel.points[i : i + 1], (1.0,), duel.points[i], None)


def _most_informative(
    offers: Sequence[tuple[SeedName, Duel]],
    points: FloatArray,
    posterior: Posterior,
    teaching: Callable[[SeedName, Duel], Sequence[Comparison]],
) -> tuple[SeedName, Duel]:
    """Return the offer that reduces psi most per reading; the first one unless another is clearly better."""
    psi = _psi(posterior, points)
    best, most = offers[0], -1.0
    for offer in offers:
        left = _psi(posterior.anticipate_all(teaching(*offer)), points)
        gain = (psi - left) / len(offer[1].points)
        if gain > most * CLEARLY:
            best, most = offer, gain
    return best


def _psi(posterior: Posterior, points: FloatArray) -> float:
    return float(posterior.difference(points[:1], points[1])[1][0])
