"""TuRBO-1 on the board: Thompson sampling in a box around the best setting; the box grows with success, else shrinks.

symbol    meaning                                          shape
X, y      settings measured since the start, encoded       (n, d), (n,)
w         sides of the box, of geometric mean 1            (d,)
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.board.botorch import fitted, tensor
from equipoise.lab.board.entrants import Memory, quiet
from equipoise.lab.board.instruments import Point
from equipoise.spaces import Space

FIRST, LEAST, MOST = 0.8, 0.5**7, 1.6
"""The side of the box at a start, the side below which the search restarts, and the largest side."""

SUCCESSES, LEAST_FAILURES = 3, 4
"""The number of successes in a row that doubles the box; it is halved after as many failures as there are knobs, but
at least four."""

GAIN = 1e-3
"""The share of the best earlier reading by which a new reading must exceed it to count as a success."""

MOVED, CANDIDATES = 20, 2000
"""The expected number of knobs in which a candidate differs from the center, and the number of candidates. The authors
use up to 5,000 in many dimensions; a joint draw of those takes five times as long."""


@dataclass(frozen=True)
class TrustRegion:
    """The side of the box, and the current streaks of successes and failures.

    Attributes:
        side: The side in units of the space, before each knob is scaled.
        succeeded: The successes since the last failure or change.
        failed: The failures since the last success or change.

    Example:
        >>> TrustRegion().told(True, 10).told(True, 10).told(True, 10).side
        1.6
    """

    side: float = FIRST
    succeeded: int = 0
    failed: int = 0

    def told(self, success: bool, dimension: int) -> "TrustRegion":
        """Return the region after another reading."""
        now = replace(self, succeeded=(self.succeeded + 1) * success, failed=(self.failed + 1) * (not success))
        if now.succeeded == SUCCESSES:
            return TrustRegion(min(2 * self.side, MOST))
        return TrustRegion(self.side / 2) if now.failed == max(LEAST_FAILURES, dimension) else now

    def candidates(self, center: FloatArray, w: FloatArray, rng: Generator) -> FloatArray:
        """Return candidates in the box that differ from its center in some knobs, shape (m, d)."""
        shape = CANDIDATES, len(center)
        low, high = np.clip(center - self.side * w / 2, 0, 1), np.clip(center + self.side * w / 2, 0, 1)
        moved = rng.random(shape) < min(MOVED / len(center), 1.0)
        moved[np.arange(CANDIDATES), rng.integers(len(center), size=CANDIDATES)] = True
        return np.where(moved, rng.uniform(low, high, shape), center)


class Turbo:
    """TuRBO with one trust region (Eriksson, Pearce, Gardner, Turner and Poloczek 2019), on BoTorch's `SingleTaskGP`.

    The center of the box is the measured setting with the largest posterior mean, as in the paper for noisy readings.
    The recommendation is the same, over all readings; it claims no bound.

    Args:
        space: The space of settings: numbers only.
        readings: Not used.
        seed: The seed of the starts, the candidates and torch.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self._memory = Memory(space, np.random.default_rng(seed))
        self._began, self._region = 0, TrustRegion()

    def ask(self) -> Point:
        """Return the setting to read next."""
        started = len(self._memory.y) - self._began >= 2 * self._memory.space.dimension
        return self._memory.space.decode(self._drawn()) if started else self._memory.anywhere()

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the proposed setting."""
        before, dimension = self._memory.y[self._began :], self._memory.space.dimension
        self._memory.tell(x, reading)
        if len(before) >= 2 * dimension:
            self._region = self._region.told(reading > max(before) + GAIN * abs(max(before)), dimension)
            if self._region.side < LEAST:
                self._began, self._region = len(self._memory.y), TrustRegion()

    def best(self) -> tuple[Point, float]:
        """Return the measured setting with the largest posterior mean."""
        X = np.array(self._memory.X)
        return self._memory.space.decode(_leader(fitted(X, self._memory.y), X)), math.nan

    def _drawn(self) -> FloatArray:
        """Return the best candidate in a posterior draw, encoded, shape (d,)."""
        from botorch.generation import MaxPosteriorSampling

        X = np.array(self._memory.X[self._began :])
        model = fitted(X, self._memory.y[self._began :])
        lengthscale = model.covar_module.lengthscale.detach().numpy().ravel()
        w = lengthscale / np.exp(np.log(lengthscale).mean())
        candidates = self._region.candidates(_leader(model, X), w, self._memory.rng)
        with quiet():
            found: FloatArray = MaxPosteriorSampling(model)(tensor(candidates), 1).detach().numpy()[0]
        return found


def _leader(model: Any, X: FloatArray) -> FloatArray:
    """Return the setting with the largest posterior mean, shape (d,)."""
    import torch

    with torch.no_grad(), quiet():
        leader: FloatArray = X[int(model.posterior(tensor(X)).mean.argmax())]
    return leader
