"""Many learners of one utility at once, told which of two settings is better: expectation propagation on a grid.

    symbol    meaning                                                                   shape
    L, m      number of learners, of settings
    C         prior covariance of f: C = R R'                                           (m, m)
    n         how often i was preferred to j                                            (L, m, m)
    tau, nu   precision, and precision times outcome, of one such answer                (L, m, m)
    s         noise of the judge                                                        ()

What a study does (judging/propagation.py), with a leading axis. All answers that prefer i to j have the same site, as
all sites are updated at once; so an answer costs the same however many there were. A new answer gets the site that its
own cavity suggests; whenever there are a tenth more of them, all sites are made consistent.
"""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief import FixedConfidence
from equipoise.lab.experiments.preferences.utilities import Utility
from equipoise.lab.fleet import Beliefs, SharedCoins
from equipoise.lab.fleet.choices import chooser
from equipoise.lab.fleet.covariances import PointCovariances
from equipoise.policies import Policy

Indices = NDArray[np.intp]

PRIOR_FACTOR = 1.0 / 0.25
"""The prior variance of f is that of the kernel over PKK24's lambda."""

NOISE = 1.7
"""The standard deviation of the normal noise that is nearest to the logistic noise of the judges."""

GROWTH, LEAST = 1.1, 5
"""Sites are made consistent when there are so many times as many answers, and at least so many more."""

SWEEPS, TOLERANCE = 5, 0.03
"""Most sweeps for that; a sweep is the last where no mean of a difference moves by more, in units of f."""

LEAST_PRECISION = 1e-8


class Listeners:
    """Learners that choose by a policy and learn by expectation propagation, as a study with a kernel given.

    Args:
        utility: What they are told the kernel of.
        policy: Chooses pairs; one of a fleet.
        count: How many learners, L.
        rng: The source of randomness.

    Example:
        >>> from equipoise.lab.experiments.preferences import UTILITIES
        >>> from equipoise.policies import DoubleThompson
        >>> learners = Listeners(UTILITIES["ackley"], DoubleThompson(), 3, np.random.default_rng(0))
        >>> learners.learn(np.array([44, 44, 44]), np.array([0, 1, 2]))
        >>> learners.mean.argmax(axis=1)
        array([44, 44, 44])
    """

    def __init__(self, utility: Utility, policy: Policy, count: int, rng: Generator) -> None:
        C = PRIOR_FACTOR * utility.covariance
        values, vectors = np.linalg.eigh(C)
        kept = values > 1e-9 * values.max()
        self._root: FloatArray = vectors[:, kept] * np.sqrt(values[kept])
        self._policy, self._throws, self._rows = policy, SharedCoins(rng), np.arange(count)
        self._wins, self._tau, self._nu = (np.zeros((count, len(C), len(C))) for _ in range(3))
        self.mean: FloatArray = np.zeros((count, len(C)))
        self.covariance: FloatArray = np.repeat(C[None], count, axis=0)
        self._answers, self._next = 0, LEAST

    @property
    def beliefs(self) -> Beliefs:
        """What they believe."""
        L, m = self.mean.shape
        none = np.zeros(L)
        covariances = PointCovariances(self.covariance, np.empty((L, 0, m)))
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        width = FixedConfidence(NOISE**2)  # of one standard deviation
        return Beliefs(self.mean, variance, covariances, none, none, NOISE**2, width, 2)

    def choose(self) -> tuple[Indices, Indices]:
        """Return the two settings that each wants compared, shapes (L,); they may be the same."""
        chosen = chooser(self._policy)(self._policy, self.beliefs, self._throws, None)
        return chosen.first, chosen.second

    def learn(self, winner: Indices, loser: Indices) -> None:
        """Learn an answer each; nothing from a setting and itself."""
        rows, told = self._rows, winner != loser
        c = self.covariance[rows, :, winner] - self.covariance[rows, :, loser]
        mu, v = self.mean[rows, winner] - self.mean[rows, loser], np.maximum(c[rows, winner] - c[rows, loser], 1e-12)
        slope, curvature = _tilted(mu, v)
        n, at = self._wins[rows, winner, loser], (rows, winner, loser)
        for kept, new in zip((self._tau, self._nu), _site(mu, v, slope, curvature), strict=True):
            kept[at] = np.where(told, (n * kept[at] + new) / (n + 1), 0.0)  # one site for all answers of the kind
        self._wins[at] = n + told
        self.mean = self.mean + c * (slope * told)[:, None]
        step = c * np.sqrt(curvature * told)[:, None]
        self.covariance -= step[:, :, None] * step[:, None, :]
        self._answers += 1
        if self._answers >= self._next:
            self.settle()

    def settle(self) -> None:
        """Make all sites consistent."""
        self._next = max(self._answers + LEAST, int(GROWTH * self._answers))
        kind = np.nonzero(self._wins)
        rows, i, j = kind
        if not len(rows):
            return
        n, tau, nu = self._wins[kind], self._tau[kind], self._nu[kind]
        damping, last = 1.0, np.inf
        for _ in range(SWEEPS):
            self._condition(kind, n * tau, n * nu)
            V = self.covariance[rows, i, i] + self.covariance[rows, j, j] - 2.0 * self.covariance[kind]
            M, V = self.mean[rows, i] - self.mean[rows, j], np.maximum(V, 1e-12)
            left = 1.0 - np.minimum(tau * V, 1.0 - 1e-9)
            mu, v = (M - V * nu) / left, V / left
            slope, curvature = _tilted(mu, v)
            moved = float(np.abs(mu + v * slope - M).max())
            if moved <= TOLERANCE:
                break
            damping, last = max(0.5 * damping, 0.1) if moved > last else damping, moved
            found = _site(mu, v, slope, curvature)
            tau, nu = ((1 - damping) * old + damping * new for old, new in zip((tau, nu), found, strict=True))
        self._tau[kind], self._nu[kind] = tau, nu

    def _condition(self, kind: tuple[Indices, ...], precision: FloatArray, shift: FloatArray) -> None:
        """Compute mean and covariance given sites, shape (k,) each."""
        rows, i, j = kind
        L, m = self.mean.shape
        A, b, own = np.zeros((L, m, m)), np.zeros((L, m)), np.arange(m)
        A[kind] = -precision
        A += A.swapaxes(1, 2)
        A[:, own, own] = -A.sum(axis=2)
        np.add.at(b, (rows, i), shift)
        np.add.at(b, (rows, j), -shift)
        B = np.eye(self._root.shape[1]) + self._root.T @ A @ self._root
        self.covariance = self._root @ np.linalg.inv(B) @ self._root.T
        self.mean = (self.covariance @ b[..., None])[..., 0]


def _tilted(mu: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the slope in mu of the log probability that the winner is preferred, and minus its second derivative."""
    from scipy.special import log_ndtr

    t2 = NOISE**2 + v
    z = mu / np.sqrt(t2)
    ratio = np.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - log_ndtr(z))  # Rasmussen and Williams, Eq. (3.58)
    return ratio / np.sqrt(t2), ratio * (z + ratio) / t2


def _site(mu: FloatArray, v: FloatArray, slope: FloatArray, curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
    tau = np.maximum(curvature / (1.0 - v * curvature), LEAST_PRECISION)
    return tau, tau * mu + slope * (1.0 + v * tau)
