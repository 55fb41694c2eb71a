"""A live fleet: thousands of named learners, one per device, page or patient, through ask and tell."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.random import default_rng
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray, Seed
from equipoise.belief import Indices
from equipoise.kernels import Kernel
from equipoise.lab.fleet.blueprint import Blueprint
from equipoise.lab.fleet.covariances import Directions
from equipoise.lab.fleet.openings import OpenDuels
from equipoise.lab.fleet.reducing import Duels
from equipoise.lab.fleet.saving import load, save
from equipoise.lab.fleet.throwing import SharedCoins
from equipoise.log import PROPOSE, RECOMMEND

Rows = Indices | slice
"""The numbers of some learners, or a slice for all of them."""


class Fleet:
    """Many independent learners by name: one call to `ask` or `tell` serves all.

    Each has at most one open trial: asking again before telling returns the same point. Everything is in memory; `save`
    writes one file and `resume` reads it. The same calls in the same order give the same run.

    Args:
        names: A name for each learner; if each has its own list of points, in the order of these lists.
        blueprint: The common parts of the learners.
        minimize: Find the smallest value instead of the largest.
        rng: The seed of all coins.

    Example:
        >>> import equipoise as eq
        >>> from equipoise.lab.fleet import Fleet, Blueprint
        >>> blueprint = Blueprint(np.linspace(0, 1, 9)[:, None], eq.RBF(0.3), eq.Challenger(), regularizer=0.02)
        >>> fleet = Fleet([f"pump {i}" for i in range(100)], blueprint, rng=0)
        >>> for day in range(60):  # every pump reads 0.1 more each day: it does not matter
        ...     settings = fleet.ask()
        ...     fleet.tell(-4 * (settings[:, 0] - 0.75) ** 2 + 0.1 * day)
        >>> best, bound = fleet.recommend(["pump 7"])
        >>> best
        array([[0.75]])
    """

    def __init__(self, names: Iterable[str], blueprint: Blueprint, *, minimize: bool = False, rng: Seed = None) -> None:
        self.names = tuple(names)
        self.blueprint = blueprint
        self.minimize = bool(minimize)
        self._rows = _numbered(self.names)
        self._rng = default_rng(rng)
        self._beliefs = blueprint.prior(len(self.names))
        self._beliefs = replace(self._beliefs, covariances=self._beliefs.covariances.owned())
        self._open = OpenDuels.none(len(self.names), blueprint)
        self.readings: Indices = np.zeros(len(self.names), dtype=np.intp)

    def ask(self, names: Sequence[str] | None = None) -> FloatArray:
        """Return the point that each learner should measure next, shape (n, d).

        Args:
            names: The learners; all by default.
        """
        rows = self._which(names)
        idle = np.arange(len(self.names))[rows][self._open.stage[rows] < 0]
        if len(idle) == len(self.names):
            self._propose(slice(None))
        elif len(idle):
            self._propose(idle)
        return self._settings(rows, self._open.next(rows))

    def tell(self, values: ArrayLike, names: Sequence[str] | None = None) -> None:
        """Report the readings at the points that `ask` returned.

        Args:
            values: One reading per learner, shape (n,); nan if there is none, which cancels that duel.
            names: The learners; all by default.
        """
        rows = self._which(names)
        y = np.asarray(values, dtype=np.float64)
        if y.shape != self.readings[rows].shape:
            raise ValueError(f"`values` must have one entry a learner, {len(self.readings[rows])}, got shape {y.shape}")
        if np.isinf(y).any():
            raise ValueError("`values` must be finite, or not a number if a reading failed, got an infinite one")
        if (self._open.stage[rows] < 0).any():
            raise RuntimeError("there is a reading of a learner that was not asked: call `ask` first")
        done = self._open.record(rows, -y if self.minimize else y)
        self.readings[rows] += np.isfinite(y)
        told = np.arange(len(self.names))[rows][done]
        if len(told):
            self._learn(slice(None) if len(told) == len(self.names) else told)

    def recommend(self, names: Sequence[str] | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the best known setting of each learner, and a bound on the remaining gain.

        Args:
            names: The learners; all by default.

        Returns:
            Arrays of shapes (n, d) and (n,).
        """
        rows = self._which(names)
        beliefs = self._beliefs if isinstance(rows, slice) else self._beliefs.taken(rows)
        leaders = SharedCoins(self._rng).at(0, RECOMMEND).argmax(beliefs.mean)
        bounds: FloatArray = beliefs.gap_bounds(leaders)
        return self._settings(rows, leaders), bounds

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file atomically: a file that exists is complete."""
        state = self._rng, self._beliefs, self._open, self.readings
        save(Path(path), self.names, self.blueprint, self.minimize, state)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Fleet of {len(self)}, {int(self.readings.sum())} readings, {self.blueprint.policy!r}"

    def _propose(self, rows: Rows) -> None:
        beliefs = self._beliefs if isinstance(rows, slice) else self._beliefs.taken(rows)
        throws = SharedCoins(self._rng).at(0, PROPOSE)
        duels = self.blueprint.propose(beliefs, throws)
        self._open.enter(rows, duels)

    def _learn(self, rows: Rows) -> None:
        opened = self._open
        everyone = isinstance(rows, slice)
        beliefs = self._beliefs if everyone else self._beliefs.taken(rows)
        directions = Directions(*opened.directions(rows))
        duels = Duels(opened.points[rows], opened.signs[rows], directions)
        learned = self.blueprint.learn(beliefs, duels, opened.told[rows])
        if everyone:
            self._beliefs = replace(learned, covariances=learned.covariances.owned())
        else:
            self._beliefs.put(rows, learned)

    def _settings(self, rows: Rows, index: Indices) -> FloatArray:
        points = self.blueprint.points
        if points.ndim == 2:
            return points[index]
        return points[np.arange(len(self.names))[rows], index]

    def _which(self, names: Sequence[str] | None) -> Rows:
        if names is None:
            return slice(None)
        try:
            rows = np.fromiter(map(self._rows.__getitem__, names), dtype=np.intp, count=len(names))
        except KeyError as error:
            raise ValueError(f"`names` must be of this fleet, got {error.args[0]!r}") from None
        if len(set(names)) < len(names):
            raise ValueError("`names` must differ, got one twice")
        return rows


def resume(path: str | os.PathLike[str], *, kernel: Kernel | None = None) -> Fleet:
    """Return the fleet saved to a file, so that it can continue.

    Args:
        path: The file.
        kernel: The kernel, if it is a custom one: the file only names it.

    Example:
        >>> import tempfile, equipoise as eq
        >>> from equipoise.lab.fleet import Fleet, Blueprint, resume
        >>> fleet = Fleet(["a", "b"], Blueprint([[0.0], [1.0]], eq.RBF(0.5)), rng=0)
        >>> asked = fleet.ask()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fleet.save(f"{folder}/fleet.npz")
        ...     bool((resume(f"{folder}/fleet.npz").ask() == asked).all())
        True
    """
    names, blueprint, minimize, state = load(Path(path), kernel)
    fleet = Fleet(names, blueprint, minimize=minimize)
    fleet._rng, fleet._beliefs, fleet._open, fleet.readings = state
    return fleet


def _numbered(names: tuple[str, ...]) -> dict[str, int]:
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError("`names` must be at least one name, each a string")
    rows = {name: i for i, name in enumerate(names)}
    if len(rows) < len(names):
        raise ValueError("`names` must differ, got one twice")
    return rows
