"""The open duels of the learners of a live fleet."""

from dataclasses import dataclass, fields

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief import Array, Indices
from equipoise.lab.fleet.blueprint import Blueprint
from equipoise.lab.fleet.reducing import SIZES, Duels
from equipoise.reductions import TwoPoint

NOTHING = -1
"""The stage of a learner without an open trial."""


@dataclass(frozen=True, eq=False)
class OpenDuels:
    """The open duels of all learners, not yet learned from; the arrays change in place.

    Attributes:
        stage: The index of the awaited reading of the duel, `NOTHING` without a duel, shape (L,).
        points: The index of the point of each reading, shape (L, r).
        signs: The sign of each reading in the outcome, shape (L, r).
        told: The readings so far, shape (L, r).
        first: The point whose merit is estimated, shape (L,).
        second: The point it is compared with, shape (L, 1); without columns if it is not a point.
        mixture: The probabilities of the mixture it is compared with, shape (L, m); without columns if it is not one.
    """

    stage: Indices
    points: Indices
    signs: FloatArray
    told: FloatArray
    first: Indices
    second: Indices
    mixture: FloatArray

    @classmethod
    def none(cls, count: int, blueprint: Blueprint) -> "OpenDuels":
        """Return the state of `count` learners before the first duel."""
        kind = type(blueprint.reduction)
        r, pair = 2 if kind is TwoPoint else 1, int(SIZES[kind] == 2)
        m = blueprint.points.shape[-2] if SIZES[kind] is None else 0
        stage, first = np.full(count, NOTHING, dtype=np.intp), np.zeros(count, dtype=np.intp)
        points, second = np.zeros((count, r), dtype=np.intp), np.zeros((count, pair), dtype=np.intp)
        return cls(stage, points, np.zeros((count, r)), np.zeros((count, r)), first, second, np.zeros((count, m)))

    def enter(self, rows: Indices | slice, duels: Duels) -> None:
        """Open a duel for each of some learners."""
        u = duels.directions
        self.stage[rows], self.points[rows], self.signs[rows] = 0, duels.points, duels.signs
        self.first[rows] = u.first
        if u.second is not None:
            self.second[rows, 0] = u.second
        if u.mixture is not None:
            self.mixture[rows] = u.mixture

    def next(self, rows: Indices | slice) -> Indices:
        """Return the index of the next point to measure, for each of some learners, shape (n,)."""
        points, stage = self.points[rows], self.stage[rows]
        index: Indices = points[np.arange(len(stage)), stage]
        return index

    def record(self, rows: Indices | slice, y: FloatArray) -> Array:
        """Record readings of some learners, shape (n,), and return who completed a duel; a failure ends its duel."""
        stage, told = self.stage[rows], self.told[rows]
        told[np.arange(len(stage)), stage] = y
        self.told[rows] = told
        done = (stage + 1 == self.points.shape[1]) & ~np.isnan(y)
        self.stage[rows] = np.where(done | np.isnan(y), NOTHING, stage + 1)
        return done

    def directions(self, rows: Indices | slice) -> tuple[Array, Array | None, Array | None]:
        """Return the directions of the outcomes of some learners: first, second and mixture."""
        second = self.second[rows, 0] if self.second.shape[1] else None
        return self.first[rows], second, self.mixture[rows] if self.mixture.shape[1] else None

    def arrays(self) -> dict[str, Array]:
        """Return its arrays by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
