"""Own coins are those of each learner's generator, however many learners and duels are computed at once."""

import numpy as np
import pytest

from equipoise.belief.arrays import fair_argmax
from equipoise.lab.fleet import OwnCoins
from equipoise.lab.fleet.own_coins import AT_ONCE, WORDS
from equipoise.lab.fleet.philox import blocks
from equipoise.log import COINS, PROPOSE, Streams

LEARNERS = 3


def test_words_are_those_of_numpy():
    rng = np.random.default_rng(0)
    counter, key = rng.integers(2**64, size=(4, 5), dtype=np.uint64), rng.integers(2**64, size=(2, 5), dtype=np.uint64)
    words = np.array(blocks(counter, key))
    for i in range(5):
        before = counter[:, i] - np.array([1, 0, 0, 0], dtype=np.uint64)  # NumPy counts before it draws
        assert words[:, i].tolist() == np.random.Philox(counter=before, key=key[:, i]).random_raw(4).tolist()


@pytest.mark.parametrize("n", [0, 1, AT_ONCE // LEARNERS, 10**12])
@pytest.mark.parametrize("purpose", [PROPOSE, COINS])
def test_more_numbers_than_are_computed_at_once(n, purpose):
    throws = OwnCoins([Streams(i) for i in range(LEARNERS)]).at(n, purpose)
    thrown = np.array([throws.random(np.zeros(LEARNERS)) for _ in range(WORDS + 3)])
    expected = [Streams(i).at(n, purpose).random(WORDS + 3) for i in range(LEARNERS)]
    assert thrown.T.tolist() == np.array(expected).tolist()


def test_every_kind_of_coin_in_any_order():
    """One learner has a tie and asks its generator from then on, another throws less often than the others."""
    throws = OwnCoins([Streams(i) for i in range(LEARNERS)]).at(7, PROPOSE)
    rngs, zeros = [Streams(i).at(7, PROPOSE) for i in range(LEARNERS)], np.zeros(LEARNERS)
    scores = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
    needed = np.array([True, False, True])
    for _ in range(2):
        assert throws.random(zeros).tolist() == [rng.random() for rng in rngs]
        assert throws.argmax(scores).tolist() == [fair_argmax(row, rng) for row, rng in zip(scores, rngs, strict=True)]
        assert throws.random(zeros, needed).tolist() == [rngs[0].random(), 0.0, rngs[2].random()]
    assert throws.exponential(zeros).tolist() == [rng.exponential() for rng in rngs]
    assert throws.integers(zeros, 9).tolist() == [rng.integers(9) for rng in rngs]
    assert throws.random(zeros).tolist() == [rng.random() for rng in rngs]


@pytest.mark.parametrize("high", [1, 2, 20, 3 * 2**30, 2**40])  # the large ones are often tossed again
def test_whole_numbers(high):
    for n in range(30):
        throws, zeros = OwnCoins([Streams(i) for i in range(LEARNERS)]).at(n, PROPOSE), np.zeros(LEARNERS)
        rngs = [Streams(i).at(n, PROPOSE) for i in range(LEARNERS)]
        for _ in range(2):
            assert throws.integers(zeros, high).tolist() == [rng.integers(high) for rng in rngs]
            assert throws.random(zeros).tolist() == [rng.random() for rng in rngs]
