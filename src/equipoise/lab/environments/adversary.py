"""An adversary: an adaptive bias that tries to make the learner's favorite look bad."""

from collections import Counter, deque
from dataclasses import dataclass
from itertools import pairwise

from numpy.random import Generator

from equipoise._validation import count, nonnegative
from equipoise.lab.environments.reading import BiasProcess, Measurement


@dataclass(frozen=True)
class Adversary:
    """An offset of -strength where it expects the leader to be measured next, +strength elsewhere.

    It sees every past reading, with the exact value and the noise, but not the next point. Its guess of the leader is
    the point measured most often recently (among equals, the better one). It predicts if the leader comes next from
    how often the leader followed a reading like the last one. So it learns the order of a learner that measures its
    pairs in a fixed order, and the pauses of one that explores now and then.

    Args:
        strength: The size of the offset; the first is 0.
        window: The number of past readings that it considers.

    Examples:
        >>> import numpy as np
        >>> process = Adversary(strength=2.0).start(np.random.default_rng(0))
        >>> for time in (1, 2, 3):
        ...     process.record(Measurement(time, np.zeros(1), value=1.0, noise=0.0, offset=0.0, y=1.0))
        >>> process.offset()
        -2.0
    """

    strength: float = 1.0
    window: int = 20

    def __post_init__(self) -> None:
        nonnegative("strength", self.strength)
        count("window", self.window, at_least=2)

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Spy(self)


class _Spy:
    """The recent points of one run, keyed by their bytes, each with its value."""

    def __init__(self, bias: Adversary) -> None:
        self._strength = bias.strength
        self._recent: deque[tuple[bytes, float]] = deque(maxlen=bias.window)

    def offset(self) -> float:
        if not self._recent:
            return 0.0
        return -self._strength if self._expects_leader() else self._strength

    def record(self, reading: Measurement) -> None:
        self._recent.append((reading.x.tobytes(), reading.value))

    def _expects_leader(self) -> bool:
        leader = self._leader()
        led = [point == leader for point, _ in self._recent]
        followers = [after for before, after in pairwise(led) if before == led[-1]]
        return 2 * sum(followers) > len(followers) if followers else led[-1]

    def _leader(self) -> bytes:
        values = dict(self._recent)
        counts = Counter(point for point, _ in self._recent)
        return max(values, key=lambda point: (counts[point], values[point]))
