"""The coins that many learners throw: together, from one stream, or each from its own as it would alone.

A policy asks for what it needs of all learners at once: a uniform number each, the largest score with ties broken
fairly, draws from the posterior. `SharedCoins` throws them for all in one go. `OwnCoins` lets every learner throw, from
its own stream, the very coins that `Optimizer` would throw in its place: slow, and what the two are compared by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief.arrays import Array, namespace, pick, placed, to_numpy
from equipoise.belief.posterior import fair_argmax
from equipoise.fleet.beliefs import Beliefs
from equipoise.fleet.posterior_draws import best_counts_of_all, draws_of_all
from equipoise.policies.semits import best_counts, factor
from equipoise.study.streams import Streams


class Throws(Protocol):
    """The coins of one duel of every learner, in the order in which a policy throws them."""

    def argmax(self, scores: Array) -> Array:
        """Return the index of the largest score of each learner, shape (L, m) to (L,); ties are broken fairly."""
        ...

    def random(self, like: Array, needed: Array | None = None) -> Array:
        """Return a uniform number each, shape (L,); `needed`, shape (L,), says who throws at all."""
        ...

    def exponential(self, like: Array) -> Array:
        """Return an exponential number of mean one each, shape (L,)."""
        ...

    def integers(self, like: Array, high: int) -> Array:
        """Return a number below `high` each, shape (L,)."""
        ...

    def draws(self, beliefs: Beliefs, count: int, scale: float) -> Array:
        """Return draws of f from each posterior, its deviations scaled, shape (L, count, m)."""
        ...

    def best_counts(self, beliefs: Beliefs, count: int, scale: Array) -> Array:
        """Return how often each point is the best of `count` draws, shape (L, m); `scale` has shape (L,)."""
        ...


class Coins(Protocol):
    """Where the coins of a run come from."""

    def at(self, n: int, purpose: int) -> Throws:
        """Return the coins of duel n; `purpose` is one of `study/streams.py`."""
        ...


@dataclass(frozen=True, eq=False)
class SharedCoins:
    """One stream for all learners: independent numbers for each, thrown in one go.

    Draws that estimate how often each point is the best are shared, each learner seeing them turned by a rotation of
    its own: see `posterior_draws.py`.

    Args:
        rng: The stream.

    Example:
        >>> throws = SharedCoins(np.random.default_rng(0)).at(0, 0)
        >>> sorted(set(throws.argmax(np.zeros((100, 3))).tolist()))
        [0, 1, 2]
    """

    rng: Generator

    def at(self, n: int, purpose: int) -> "SharedCoins":
        """Return itself: the stream goes on."""
        return self

    def argmax(self, scores: Array) -> Array:
        """Return the index of the largest score of each learner."""
        xp = namespace(scores)
        best = xp.argmax(scores, axis=-1)
        ties = scores == pick(scores, best)[:, None]
        if int(xp.count_nonzero(ties)) == best.shape[0]:
            return best
        order = xp.cumulative_sum(xp.astype(ties, xp.int32), axis=-1)
        wanted = self.random(pick(scores, best)) * xp.astype(order[:, -1], scores.dtype)  # from 0 to below their number
        return xp.argmax(xp.astype(xp.astype(order, scores.dtype) > wanted[:, None], xp.int32), axis=-1)

    def random(self, like: Array, needed: Array | None = None) -> Array:
        """Return a uniform number each."""
        return _as(like, self.rng.random(like.shape[0]))

    def exponential(self, like: Array) -> Array:
        """Return an exponential number each."""
        return _as(like, self.rng.exponential(size=like.shape[0]))

    def integers(self, like: Array, high: int) -> Array:
        """Return a number below `high` each."""
        return namespace(like).asarray(self.rng.integers(high, size=like.shape[0]), **placed(like))

    def draws(self, beliefs: Beliefs, count: int, scale: float) -> Array:
        """Return draws of f from each posterior."""
        return draws_of_all(beliefs, count, scale, self.rng)

    def best_counts(self, beliefs: Beliefs, count: int, scale: Array) -> Array:
        """Return how often each point is the best of a draw."""
        return best_counts_of_all(beliefs, count, scale, self.rng)


@dataclass(frozen=True, eq=False)
class OwnCoins:
    """A stream for each learner, and the coins that `Optimizer` throws from it, one learner after the other.

    Args:
        streams: Those of the optimizers, `Optimizer(..., rng=streams)`.

    Example:
        >>> OwnCoins([Streams(0), Streams(1)]).at(0, 0).random(np.zeros(2)).round(3)
        array([0.955, 0.357])
    """

    streams: Sequence[Streams]

    def at(self, n: int, purpose: int) -> "_OwnThrows":
        """Return the coins of duel n."""
        return _OwnThrows([streams.at(n, purpose) for streams in self.streams])


@dataclass(frozen=True, eq=False)
class _OwnThrows:
    rngs: list[Generator]

    def argmax(self, scores: Array) -> Array:
        rows = zip(to_numpy(scores), self.rngs, strict=True)
        return _indices(scores, [fair_argmax(row, rng) for row, rng in rows])

    def random(self, like: Array, needed: Array | None = None) -> Array:
        asked = [True] * len(self.rngs) if needed is None else to_numpy(needed).tolist()
        return _as(like, np.array([rng.random() if ask else 0.0 for rng, ask in zip(self.rngs, asked, strict=True)]))

    def exponential(self, like: Array) -> Array:
        return _as(like, np.array([rng.exponential() for rng in self.rngs]))

    def integers(self, like: Array, high: int) -> Array:
        return _indices(like, [int(rng.integers(high)) for rng in self.rngs])

    def draws(self, beliefs: Beliefs, count: int, scale: float) -> Array:
        mean, C = to_numpy(beliefs.mean), to_numpy(beliefs.covariances.full())
        factors = [factor(each) * scale for each in C]
        drawn = [rng.standard_normal((count, F.shape[1])) @ F.T for rng, F in zip(self.rngs, factors, strict=True)]
        return _as(beliefs.mean, mean[:, None, :] + np.array(drawn))

    def best_counts(self, beliefs: Beliefs, count: int, scale: Array) -> Array:
        mean, C, v = to_numpy(beliefs.mean), to_numpy(beliefs.covariances.full()), to_numpy(scale)
        each = zip(mean, C, v, self.rngs, strict=True)
        return _as(beliefs.mean, np.array([best_counts(mu, factor(c) * k, count, rng) for mu, c, k, rng in each]))


def _as(like: Array, values: FloatArray | Any) -> Array:
    """Return NumPy's numbers as an array of the kind, type and place of another one."""
    if isinstance(like, np.ndarray):
        return values if values.dtype == like.dtype else values.astype(like.dtype)
    return namespace(like).asarray(values, dtype=like.dtype, **placed(like))


def _indices(like: Array, values: list[int]) -> Array:
    return namespace(like).asarray(values, dtype=namespace(like).int64, **placed(like))
