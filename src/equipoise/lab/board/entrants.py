"""The interface of learners on the board, `ask`, `tell` and `best`, and an adapter for our own learners."""

import logging
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
"""The tolerance, as a share of the range, for a rival's number outside it: unit conversions round."""

MOST_RANDOM = 20
"""The most random settings that a rival starts with; otherwise it takes two per parameter and two more."""


class Entrant(Protocol):
    """A learner on the board: it proposes a setting and receives its reading, in turn."""

    def ask(self) -> Point:
        """Return the setting to read next."""

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the proposed setting."""

    def best(self) -> tuple[Point, float]:
        """Return the recommended setting and a bound on its regret, in the readings' unit; nan without a claim."""


Maker = Callable[[Space, int, int], Entrant]
"""The type of a function that makes a learner from the space, the number of readings and a seed."""


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings and the log of a rival: we cannot fix them."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def admitted(space: Space, x: Any) -> Point:
    """Return a valid setting: clip numbers that miss their range by rounding, and refuse other invalid settings.

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
    """An adapter for a learner with the interface of this library.

    Args:
        learner: A learner with trials and recommendations.

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
        """Report the reading of the proposed setting."""
        if self._trial is None:
            raise RuntimeError("`tell` must follow an `ask`")
        self._learner.tell(self._trial, reading)
        self._trial = None

    def best(self) -> tuple[Point, float]:
        """Return the recommended setting and its bound."""
        found = self._learner.recommend()
        return found.x, found.gap_bound


class Memory:
    """The encoded settings and readings that a rival has seen; it recommends the best reading and claims no bound.

    Args:
        space: The space of settings.
        rng: The generator for candidates.

    Attributes:
        X: The settings, each of shape (d,).
        y: Their readings.
    """

    def __init__(self, space: Space, rng: Generator) -> None:
        self.space, self.rng = space, rng
        self.X: list[FloatArray] = []
        self.y: list[float] = []

    def tell(self, x: Point, reading: float) -> None:
        """Store a reading."""
        self.X.append(self.space.encode(x))
        self.y.append(reading)

    def best(self) -> tuple[Point, float]:
        """Return the setting of the best reading."""
        return self.space.decode(self.X[int(np.argmax(self.y))]), math.nan

    def anywhere(self) -> Point:
        """Return a random valid setting."""
        candidates = self.space.candidates(self.rng)
        return self.space.decode(candidates[int(self.rng.integers(len(candidates)))])


class AtRandom:
    """A learner that draws random settings and recommends the best reading.

    Args:
        space: The space of settings.
        readings: Not used.
        seed: The seed of the settings.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        self._memory = Memory(space, np.random.default_rng(seed))
        self.tell, self.best = self._memory.tell, self._memory.best

    def ask(self) -> Point:
        """Return the setting to read next."""
        return self._memory.anywhere()
