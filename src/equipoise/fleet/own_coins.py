"""Coins of many learners that each have a stream of their own: a run does not depend on those it is run with.

They are the very coins that `Optimizer` would throw in a learner's place. Streams are numbered by duel and
counter-based (`study/streams.py`), so the first numbers of each are one array expression for many learners and duels;
whoever needs more than those, or another kind of number, asks its generator.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief.arrays import Array, namespace, pick, placed, to_numpy
from equipoise.belief.covariance import Indices
from equipoise.belief.posterior import fair_argmax
from equipoise.fleet.beliefs import Beliefs
from equipoise.fleet.philox import blocks, uniforms
from equipoise.fleet.posterior_draws import best_counts_of_all, normals_needed
from equipoise.fleet.throwing import alike
from equipoise.policies.semits import best_counts, factor
from equipoise.study.streams import COINS, Streams

AT_ONCE = 4096
"""Blocks computed at a time: about as many as a processor's closest cache holds with what they are computed from."""

NUMBERS = 4
"""Numbers of a duel that are computed for all learners: a block of the generator."""

TURNS = 256
"""Duels whose reflections are drawn at a time."""


class OwnCoins:
    """A stream for each learner, and the coins that `Optimizer` throws from it.

    Args:
        streams: Those of the optimizers, `Optimizer(..., rng=streams)`.
        common: Stream of the draws that say how often each point is the best, where own ones would cost too much: every
            learner sees the common ones turned by a reflection from its own stream, see `posterior_draws.py`. Its run
            is then a function of both streams, and no longer that of `Optimizer`.

    Example:
        >>> OwnCoins([Streams(0), Streams(1)]).at(0, 0).random(np.zeros(2)).round(3)
        array([0.955, 0.357])
    """

    def __init__(self, streams: Sequence[Streams], common: Streams | None = None) -> None:
        self.streams, self.common = tuple(streams), common
        self._keys = np.array([each.key for each in self.streams]).T
        self._duels = max(1, AT_ONCE // len(self.streams))
        self._uniforms: tuple[object, FloatArray] = None, np.empty(0)  # which block, and its numbers
        self._turns: tuple[object, FloatArray] = None, np.empty(0)

    def at(self, n: int, purpose: int) -> "_Throws":
        """Return the coins of duel n."""
        return _Throws(self, n, purpose)

    def uniforms(self, n: int, purpose: int) -> FloatArray:
        """Return the first uniform numbers that each learner would throw for duel n, shape (NUMBERS, L)."""
        number, duel = divmod(n, self._duels)
        if self._uniforms[0] != (number, purpose):
            duels = np.arange(number * self._duels, (number + 1) * self._duels, dtype=np.uint64)[:, None]
            words = blocks((np.ones_like(duels), np.zeros_like(duels), duels, np.full_like(duels, purpose)), self._keys)
            self._uniforms = (number, purpose), uniforms(np.stack(words))
        numbers: FloatArray = self._uniforms[1][:, duel]
        return numbers

    def turns(self, n: int, r: int) -> FloatArray:
        """Return standard normal numbers for the reflections of duel n, shape (L, 2, r)."""
        number, duel = divmod(n, TURNS)
        if self._turns[0] != (number, r):
            apart = [Streams(key=each.key.tolist()) for each in self.streams]  # others may be in the middle of a duel
            drawn = [each.at(number, COINS).standard_normal((TURNS, 2, r)) for each in apart]
            self._turns = (number, r), np.stack(drawn, axis=1)
        turns: FloatArray = self._turns[1][duel]
        return turns


class _Throws:
    """The coins of one duel of every learner, in the order in which each would throw them alone."""

    def __init__(self, coins: OwnCoins, n: int, purpose: int) -> None:
        self._coins, self._n, self._purpose = coins, n, purpose
        self._rows = np.arange(len(coins.streams))
        self._thrown = np.zeros_like(self._rows)  # uniform numbers, while a learner does not ask its generator
        self._asking: dict[int, Generator] = {}

    def argmax(self, scores: Array) -> Array:
        values = to_numpy(scores)
        best = values.argmax(axis=-1)
        ties = np.count_nonzero(values == pick(values, best)[:, None], axis=-1) > 1
        for i in np.flatnonzero(ties).tolist():
            best[i] = fair_argmax(values[i], self._generator(i))
        return _indices(scores, best)

    def random(self, like: Array, needed: Array | None = None) -> Array:
        asked = np.ones(len(self._rows), dtype=np.bool_) if needed is None else to_numpy(needed).astype(np.bool_)
        for i in np.flatnonzero(self._thrown == NUMBERS).tolist():
            self._generator(i)
        known = self._coins.uniforms(self._n, self._purpose)
        numbers = np.where(asked, known[np.minimum(self._thrown, NUMBERS - 1), self._rows], 0.0)
        self._thrown += asked
        for i, rng in self._asking.items():
            numbers[i] = rng.random() if asked[i] else 0.0
        return alike(like, numbers)

    def exponential(self, like: Array) -> Array:
        return alike(like, np.array([self._generator(i).exponential() for i in self._rows.tolist()]))

    def integers(self, like: Array, high: int) -> Array:
        return _indices(like, np.array([self._generator(i).integers(high) for i in self._rows.tolist()]))

    def draws(self, beliefs: Beliefs, count: int, scale: float) -> Array:
        mean, F = to_numpy(beliefs.mean), [factor(each) * scale for each in to_numpy(beliefs.covariances.full())]
        drawn = [self._generator(i).standard_normal((count, each.shape[1])) @ each.T for i, each in enumerate(F)]
        return alike(beliefs.mean, mean[:, None, :] + np.array(drawn))

    def best_counts(self, beliefs: Beliefs, count: int, scale: Array) -> Array:
        if self._coins.common is not None:
            return self._turned_counts(self._coins.common, beliefs, count, scale)
        parts = to_numpy(beliefs.mean), to_numpy(beliefs.covariances.full()), to_numpy(scale)
        each = enumerate(zip(*parts, strict=True))
        counts = [best_counts(mu, factor(C) * v, count, self._generator(i)) for i, (mu, C, v) in each]
        return alike(beliefs.mean, np.array(counts))

    def _turned_counts(self, common: Streams, beliefs: Beliefs, count: int, scale: Array) -> Array:
        r = normals_needed(beliefs)
        z = common.at(self._n, COINS).standard_normal((count, r), dtype=np.float32)
        return best_counts_of_all(beliefs, scale, z, self._coins.turns(self._n, r))

    def _generator(self, i: int) -> Generator:
        """Return the generator of a learner, after what it has thrown: from now on all its coins come from there."""
        if i not in self._asking:
            self._asking[i] = self._coins.streams[i].at(self._n, self._purpose)
            self._asking[i].random(int(self._thrown[i]))
        return self._asking[i]


def _indices(like: Array, values: Indices) -> Array:
    return namespace(like).asarray(values, dtype=namespace(like).int64, **placed(like))
