"""Random streams numbered by duel: the draws of duel n are a function of the seed and n alone.

So a run can be replayed, or resumed in the middle, without knowing the earlier draws.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator, Philox, default_rng

from equipoise._typing import Seed

PROPOSE, RECOMMEND, DESIGN, AUDIT, COINS, RANKS, FRONT, PAIRS = 0, 1, 2, 3, 4, 5, 6, 15
"""The purpose of a stream; streams of one number and different purposes are independent."""


class Streams:
    """A counter-based generator that can be put at the start of any of its streams.

    Args:
        rng: Seed or generator the key is drawn from.
        key: The key itself, two whole numbers below 2^64, to get the streams of an earlier run again.

    Example:
        >>> streams = Streams(0)
        >>> first = streams.at(7, PROPOSE).random()
        >>> first == streams.at(8, PROPOSE).random(), first == streams.at(7, PROPOSE).random()
        (False, True)
    """

    def __init__(self, rng: Seed = None, key: Sequence[int] | None = None) -> None:
        drawn = _generator(rng).integers(2**64, size=2, dtype=np.uint64) if key is None else key
        self.key = np.array(drawn, dtype=np.uint64)
        self._generator = Generator(Philox(key=self.key))
        self._state: dict[str, Any] = dict(self._generator.bit_generator.state)

    def at(self, n: int, purpose: int) -> Generator:
        """Return the generator at the start of stream n; it is the same object each time, so draw at once."""
        # Each stream has its own 2^128 blocks: n and purpose are the counter's two high words. Setting the
        # counter is ten times as fast as making a generator. The buffer is marked as used up (position 4).
        self._state["state"]["counter"][:] = (0, 0, n, purpose)
        self._state["buffer_pos"], self._state["has_uint32"] = 4, 0
        self._generator.bit_generator.state = self._state
        return self._generator


def _generator(rng: Seed) -> Generator:
    try:
        return default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"`rng` must be a seed, a generator or `Streams`, got {rng!r}") from error
