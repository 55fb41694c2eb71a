"""Many learners of one utility at once, from judged pairs: expectation propagation on a grid.

    symbol    meaning                                                                   shape
    L, m      number of learners, of settings
    C         prior covariance of f                                                     (m, m)
    n         how often i was preferred to j                                            (L, m, m)
    tau, nu   precision, and precision times outcome, of one such answer                (L, m, m)
    s         noise of the judge                                                        ()

The algorithm is that of a study (likelihoods/propagation.py), with a leading axis. All answers that prefer i to j
share a site, since all sites are updated at once: the cost of an answer does not grow with their number. A new
answer gets the site suggested by its cavity; when their number has grown by a tenth, all sites are made consistent.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief import FixedConfidence
from equipoise.lab.experiments.preferences.utilities import Utility
from equipoise.lab.fleet import Beliefs, PointCovariances, SharedCoins, chooser
from equipoise.likelihoods import Many, OrderedAnswers, Sites, propagate
from equipoise.policies import Policy

Indices = NDArray[np.intp]

PRIOR_FACTOR = 1.0 / 0.25
"""The factor on the kernel's variance in the prior of f: one over PKK24's lambda."""

NOISE = 1.7
"""The standard deviation of the normal noise that is closest to the judges' logistic noise."""

GROWTH, LEAST = 1.1, 5
"""The factor by which the number of answers grows before all sites are made consistent, and its least increase."""

SWEEPS, TOLERANCE = 5, 0.03
"""The most sweeps for that, and the largest change of a mean difference, in units of f, in the last sweep."""


class Listeners:
    """Learners that choose by a policy and learn by expectation propagation, like a study with a given kernel.

    Args:
        utility: The utility, whose kernel they know.
        policy: A policy that chooses pairs and supports fleets.
        count: The number of learners, L.
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
        self._prior = C = PRIOR_FACTOR * utility.covariance
        self._policy, self._throws, self._rows = policy, SharedCoins(rng), np.arange(count)
        self._wins, self._tau, self._nu = (np.zeros((count, len(C), len(C))) for _ in range(3))
        self.mean: FloatArray = np.zeros((count, len(C)))
        self.covariance: FloatArray = np.repeat(C[None], count, axis=0)
        self._answers, self._next = 0, LEAST

    @property
    def beliefs(self) -> Beliefs:
        """The beliefs of the learners."""
        L, m = self.mean.shape
        none = np.zeros(L)
        covariances = PointCovariances(self.covariance, np.empty((L, 0, m)))
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        width = FixedConfidence(NOISE**2)  # of one standard deviation
        return Beliefs(self.mean, variance, covariances, none, none, NOISE**2, width, 2)

    def choose(self) -> tuple[Indices, Indices]:
        """Return the two settings that each learner wants compared, shapes (L,); they may be equal."""
        chosen = chooser(self._policy)(self._policy, self.beliefs, self._throws, None)
        return chosen.first, chosen.second

    def learn(self, winner: Indices, loser: Indices) -> None:
        """Learn one answer per learner; a pair of equal settings teaches nothing."""
        rows, told = self._rows, winner != loser
        c = self.covariance[rows, :, winner] - self.covariance[rows, :, loser]
        mu, v = self.mean[rows, winner] - self.mean[rows, loser], np.maximum(c[rows, winner] - c[rows, loser], 1e-12)
        tilt = _preferred(len(rows)).tilt(mu, v)
        site, at = Sites.of(tilt, mu, v), (rows, winner, loser)
        n = self._wins[at]
        for kept, new in ((self._tau, site.precision), (self._nu, site.shift)):
            kept[at] = np.where(told, (n * kept[at] + new) / (n + 1), 0.0)  # one site for all answers of this kind
        self._wins[at] = n + told
        self.mean = self.mean + c * (tilt.slope * told)[:, None]
        step = c * np.sqrt(tilt.curvature * told)[:, None]
        self.covariance -= step[:, :, None] * step[:, None, :]
        self._answers += 1
        if self._answers >= self._next:
            self.settle()

    def settle(self) -> None:
        """Make all sites consistent."""
        self._next = max(self._answers + LEAST, int(GROWTH * self._answers))
        kind = np.nonzero(self._wins)
        row, first, second = kind
        if not len(row):
            return
        prior = Many(self._prior, np.zeros(self.mean.shape), first, second, (row,), self._wins[kind])
        start = Sites(self._tau[kind], self._nu[kind])
        sites = propagate(prior, _preferred(len(row)), start, SWEEPS, TOLERANCE).sites
        self._tau[kind], self._nu[kind] = sites.precision, sites.shift
        self.mean, self.covariance = prior.at_points(sites)


def _preferred(n: int) -> OrderedAnswers:
    """Return n answers that prefer the first of two settings, from a judge without position bias."""
    zero, one = np.zeros(n), np.ones(n)
    return OrderedAnswers(zero, np.full(n, np.inf), zero, one, NOISE * one, zero, np.zeros(n, dtype=np.bool_))
