"""Coins of many learners with separate streams: a run does not depend on the others in its batch.

The coins equal those that `Optimizer` would throw for the same learner. Streams are numbered by duel and
counter-based (`log/streams.py`), so the first words of each are one array expression for many learners and duels. A
caller that needs more words, or another kind of number, uses the learner's generator.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Array, Indices, namespace, pick, tied
from equipoise.lab.fleet.array_math import placed, to_numpy
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.philox import HALF, LOW, Words, blocks, uniforms
from equipoise.lab.fleet.posterior_draws import Mask, best_counts_of_all, normals_needed
from equipoise.lab.fleet.throwing import alike
from equipoise.log import COINS, Streams
from equipoise.policies import best_counts, factor

AT_ONCE = 4096
"""The number of blocks computed at a time: about as many as fit a processor's closest cache with their inputs."""

WORDS = 4
"""The number of words of a duel that are computed for all learners: a block of the generator."""

TURNS = 256
"""The number of duels whose reflections are drawn at a time."""


class OwnCoins:
    """A stream for each learner, and the coins that `Optimizer` throws from it.

    Args:
        streams: The streams of the optimizers, `Optimizer(..., rng=streams)`.
        common: The stream of the draws that estimate how often each point is the best, for expensive draws: every
            learner sees the common draws with a reflection from its own stream, see `posterior_draws.py`. Its run then
            depends on both streams, and differs from that of `Optimizer`.

    Example:
        >>> OwnCoins([Streams(0), Streams(1)]).at(0, 0).random(np.zeros(2)).round(3)
        array([0.955, 0.357])
    """

    def __init__(self, streams: Sequence[Streams], common: Streams | None = None) -> None:
        self.streams, self.common = tuple(streams), common
        self._keys = np.array([each.key for each in self.streams]).T
        self._duels = max(1, AT_ONCE // len(self.streams))
        self._words: tuple[object, Words] = None, np.empty(0, dtype=np.uint64)  # which block, and its words
        self._turns: tuple[object, FloatArray] = None, np.empty(0)

    def at(self, n: int, purpose: int) -> "_Throws":
        """Return the coins of duel n."""
        return _Throws(self, n, purpose)

    def words(self, n: int, purpose: int) -> Words:
        """Return the first words that each learner's generator would make for duel n, shape (WORDS, L)."""
        number, duel = divmod(n, self._duels)
        if self._words[0] != (number, purpose):
            duels = np.arange(number * self._duels, (number + 1) * self._duels, dtype=np.uint64)[:, None]
            made = blocks((np.ones_like(duels), np.zeros_like(duels), duels, np.full_like(duels, purpose)), self._keys)
            self._words = (number, purpose), np.stack(made)
        words: Words = self._words[1][:, duel]
        return words

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
    """The coins of one duel of every learner, in the order in which each learner alone would throw them."""

    def __init__(self, coins: OwnCoins, n: int, purpose: int) -> None:
        self._coins, self._n, self._purpose = coins, n, purpose
        self._rows = np.arange(len(coins.streams))
        self._used = np.zeros_like(self._rows)  # words used, until a learner switches to its generator
        self._thrown: list[tuple[Mask, Indices]] = []  # the learners that threw, and their bounds; below 1, any number
        self._asking: dict[int, Generator] = {}

    def argmax(self, scores: Array) -> Array:
        values = to_numpy(scores)
        best = values.argmax(axis=-1)
        ties = tied(values, pick(values, best)[:, None])
        count = np.count_nonzero(ties, axis=-1)
        if (count > 1).any():
            which = self._below(count)
            best = (np.cumsum(ties, axis=-1) > which[:, None]).argmax(axis=-1)
        return _indices(scores, best)

    def random(self, like: Array, needed: Array | None = None) -> Array:
        asked = np.ones(len(self._rows), dtype=np.bool_) if needed is None else to_numpy(needed).astype(np.bool_)
        numbers = np.where(asked, uniforms(self._next_words(asked)), 0.0)
        for i, rng in self._asking.items():
            numbers[i] = rng.random() if asked[i] else 0.0
        self._note(asked, np.ones_like(self._rows))
        return alike(like, numbers)

    def exponential(self, like: Array) -> Array:
        return alike(like, np.array([self._generator(i).exponential() for i in self._rows.tolist()]))

    def integers(self, like: Array, high: int) -> Array:
        return _indices(like, self._below(np.full_like(self._rows, high)))

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

    def _below(self, high: Indices) -> Indices:
        """Return a whole number below each bound, as `Generator.integers`; a bound of one gives zero without a coin.

        It is the upper half of the product of bound and half a word. If the lower half is less than the bound, which is
        very rare, the generator may throw again; and the other half of the word serves the next whole number.
        """
        asked = high > 1
        product = (self._next_words(asked) & LOW) * high.astype(np.uint64)
        again = (product & LOW) < high.astype(np.uint64)
        for who, bound in self._thrown:
            again |= who & (bound > 1)
        for i in np.flatnonzero(asked & (again | (high > LOW))).tolist():
            self._generator(i)
        result = np.where(asked, product >> HALF, 0).astype(np.intp)
        for i, rng in self._asking.items():
            result[i] = rng.integers(high[i])
        self._note(asked, high)
        return result

    def _next_words(self, asked: Mask) -> Words:
        """Return the next word of each learner, shape (L,); a learner that has used all of them asks its generator."""
        for i in np.flatnonzero(asked & (self._used == WORDS)).tolist():
            self._generator(i)
        words: Words = self._coins.words(self._n, self._purpose)[np.minimum(self._used, WORDS - 1), self._rows]
        return words

    def _note(self, asked: Mask, high: Indices) -> None:
        self._used += asked
        self._thrown.append((asked, high))

    def _generator(self, i: int) -> Generator:
        """Return the generator of a learner, advanced past its throws: from now on all its coins come from there."""
        if i not in self._asking:
            rng = self._asking[i] = self._coins.streams[i].at(self._n, self._purpose)
            for asked, high in self._thrown:
                if asked[i]:
                    rng.integers(high[i]) if high[i] > 1 else rng.random()
        return self._asking[i]


def _indices(like: Array, values: Indices) -> Array:
    return namespace(like).asarray(values, dtype=namespace(like).int64, **placed(like))
