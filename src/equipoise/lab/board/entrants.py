"""What takes part on the board: three functions, `ask`, `tell` and `best`; and how our own learners are seen so."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.data import Trial
from equipoise.lab.board.instruments import Point
from equipoise.lab.experiments import Learner
from equipoise.spaces import Float, Space

ROUNDING = 1e-9
"""A rival's number may miss its range by this share of it: units are changed on the way."""

MOST_RANDOM = 20
"""Rivals that start by chance take two settings a parameter and two more, at most this many."""


class Entrant(Protocol):
    """A learner on the board: it is asked for a setting and told its reading, in turn."""

    def ask(self) -> Point:
        """Return the setting to read next."""

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the setting that was asked for."""

    def best(self) -> tuple[Point, float]:
        """Return the setting recommended, and a bound on what it loses, in the readings' unit; nan without a claim."""


Maker = Callable[[Space, int, int], Entrant]
"""Makes a learner: takes the space, the number of readings and a seed."""


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings of a rival: they are not ours to repair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def admitted(space: Space, x: Any) -> Point:
    """Return a setting as it may be read, numbers that miss their range by rounding put back into it; refuse others.

    Example:
        >>> import equipoise as eq
        >>> admitted(eq.Space(q=eq.Float(0, 1)), {"q": 1.0000000000000002})
        {'q': 1.0}
    """
    point = (
        {name: _in_range(space.parameters.get(name), value) for name, value in x.items()} if isinstance(x, dict) else x
    )
    if not space.valid(space.encode(point)[None])[0]:
        raise ValueError(f"a setting must satisfy the constraint, got {x!r}")
    return point


def _in_range(parameter: Any, value: Any) -> Any:
    if not isinstance(parameter, Float) or not isinstance(value, Real):
        return value
    nearest = min(max(float(value), parameter.low), parameter.high)
    return nearest if abs(float(value) - nearest) <= ROUNDING * (parameter.high - parameter.low) else value


class Seated:
    """A learner of this library, or one dressed as such, on the board.

    Args:
        learner: What asks with trials and recommends.

    Example:
        >>> import equipoise as eq
        >>> entrant = Seated(eq.Optimizer(eq.Space(q=eq.Float(0, 1)), rng=0))
        >>> for _ in range(12):
        ...     x = entrant.ask()
        ...     entrant.tell(x, -((x["q"] - 0.7) ** 2))
        >>> sorted(entrant.best()[0])
        ['q']
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._trial: Trial | None = None

    def ask(self) -> Point:
        """Return the setting to read next."""
        self._trial = self._learner.ask()
        point: Point = self._trial.x
        return point

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the setting that was asked for."""
        if self._trial is None:
            raise RuntimeError("`tell` must follow an `ask`")
        self._learner.tell(self._trial, reading)
        self._trial = None

    def best(self) -> tuple[Point, float]:
        """Return what is recommended, and its bound."""
        found = self._learner.recommend()
        return found.x, found.gap_bound


class Memory:
    """The settings and readings that a rival has seen, encoded; it recommends the best reading and claims nothing.

    Args:
        space: Where settings lie.
        rng: Draws candidates.

    Attributes:
        X: Settings, each shape (d,).
        y: Their readings.
    """

    def __init__(self, space: Space, rng: Generator) -> None:
        self.space, self.rng = space, rng
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def tell(self, x: Point, reading: float) -> None:
        """Keep a reading."""
        self.X.append(self.space.encode(x))
        self.y.append(reading)

    def best(self) -> tuple[Point, float]:
        """Return the setting of the best reading."""
        return self.space.decode(self.X[int(np.argmax(self.y))]), math.nan

    def anywhere(self) -> Point:
        """Return a random setting that may be read."""
        candidates = self.space.candidates(self.rng)
        return self.space.decode(candidates[int(self.rng.integers(len(candidates)))])


class AtRandom:
    """Random settings; the best reading is recommended.

    Args:
        space: Where settings lie.
        readings: Is not needed.
        seed: Of the settings.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        self._memory = Memory(space, np.random.default_rng(seed))
        self.tell, self.best = self._memory.tell, self._memory.best

    def ask(self) -> Point:
        """Return the setting to read next."""
        return self._memory.anywhere()
