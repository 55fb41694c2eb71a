"""The coins of many learners: the interface that policies use, and a single stream that serves all learners.

A policy requests random numbers for all learners at once: a uniform number each, the largest score with ties broken
fairly, or draws from the posterior. `SharedCoins` throws them for all in one call, from one stream; `own_coins.py`
does it if every learner has a separate stream.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Array, namespace, pick, tied
from equipoise.lab.fleet.array_math import placed
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.posterior_draws import best_counts_of_all, draws_of_all, normals_needed
from equipoise.policies import Chance


class Throws(Chance, Protocol):
    """The coins of one duel of every learner, in the order in which a policy throws them."""

    def draws(self, beliefs: Beliefs, count: int, scale: float) -> Array:
        """Return draws of f from each posterior, its deviations scaled, shape (L, count, m)."""
        ...

    def best_counts(self, beliefs: Beliefs, count: int, scale: Array) -> Array:
        """Return how often each point is the best of `count` draws, shape (L, m); `scale` has shape (L,)."""
        ...


class Coins(Protocol):
    """The source of the coins of a run."""

    def at(self, n: int, purpose: int) -> Throws:
        """Return the coins of duel n; `purpose` is one of `log/streams.py`."""
        ...


@dataclass(frozen=True, eq=False)
class SharedCoins:
    """One stream for all learners: independent numbers for each, thrown in one call.

    Draws that estimate how often each point is the best are shared; each learner sees them with a separate rotation:
    see `posterior_draws.py`.

    Args:
        rng: The stream.

    Example:
        >>> throws = SharedCoins(np.random.default_rng(0)).at(0, 0)
        >>> sorted(set(throws.argmax(np.zeros((100, 3))).tolist()))
        [0, 1, 2]
    """

    rng: Generator

    def at(self, n: int, purpose: int) -> "SharedCoins":
        """Return itself: the stream continues."""
        return self

    def argmax(self, scores: Array) -> Array:
        """Return the index of the largest score of each learner."""
        xp = namespace(scores)
        best = xp.argmax(scores, axis=-1)
        ties = tied(scores, pick(scores, best)[:, None])
        if int(xp.count_nonzero(ties)) == best.shape[0]:
            return best
        order = xp.cumulative_sum(xp.astype(ties, xp.int32), axis=-1)
        wanted = self.random(pick(scores, best)) * xp.astype(order[:, -1], scores.dtype)  # from 0 to below their number
        return xp.argmax(xp.astype(xp.astype(order, scores.dtype) > wanted[:, None], xp.int32), axis=-1)

    def random(self, like: Array, needed: Array | None = None) -> Array:
        """Return a uniform number for each learner."""
        return alike(like, self.rng.random(like.shape[0]))

    def exponential(self, like: Array) -> Array:
        """Return an exponential number for each learner."""
        return alike(like, self.rng.exponential(size=like.shape[0]))

    def integers(self, like: Array, high: int) -> Array:
        """Return a number below `high` for each learner."""
        return namespace(like).asarray(self.rng.integers(high, size=like.shape[0]), **placed(like))

    def draws(self, beliefs: Beliefs, count: int, scale: float) -> Array:
        """Return draws of f from each posterior."""
        return draws_of_all(beliefs, count, scale, self.rng)

    def best_counts(self, beliefs: Beliefs, count: int, scale: Array) -> Array:
        """Return how often each point is the best of a draw."""
        r = normals_needed(beliefs)
        z = self.rng.standard_normal((count, r), dtype=np.float32)
        turns = self.rng.standard_normal((beliefs.mean.shape[0], 2, r))
        return best_counts_of_all(beliefs, scale, z, turns)


def alike(like: Array, values: FloatArray | Any) -> Array:
    """Return NumPy numbers as an array of the same library, type and device as another one."""
    if isinstance(like, np.ndarray):
        return values if values.dtype == like.dtype else values.astype(like.dtype)
    return namespace(like).asarray(values, dtype=like.dtype, **placed(like))
