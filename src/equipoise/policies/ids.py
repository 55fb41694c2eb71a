"""Information-directed sampling over pairs that contain the leader: KK21 Algorithm 1, in closed form.

symbol   meaning                                                          shape
xh       leader: the candidate of largest posterior mean
g        mean(xh) - mean(z) >= 0                                          (..., m)
psi      posterior variance of f(xh) - f(z)                               (..., m)
delta    largest plausible regret of the leader, the certificate          (..., 1)
I        information gain of the duel (xh, z)                             (..., m)
p        probability of dueling (xh, z) rather than (xh, xh)              (..., m)
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Array, Belief, gap_bound, namespace, pick
from equipoise.data import Proposal
from equipoise.policies.policy import Candidates, Chance, chosen
from equipoise.policies.search import optimism
from equipoise.reductions import TwoPoint


def ratio(g: FloatArray, delta: FloatArray, information: FloatArray) -> FloatArray:
    """Return KK21 Eq. (11), minimized over p for each candidate; infinite if it teaches nothing."""
    xp = namespace(g)
    numerator = xp.where(g > delta, 4.0 * delta * g, (delta + g) ** 2)  # METHOD section 4
    learns = information > 0
    result: FloatArray = xp.where(learns, numerator / xp.where(learns, information, 1.0), xp.inf)
    return result


def probability(g: FloatArray, delta: FloatArray) -> FloatArray:
    """Return the p that minimizes KK21 Eq. (11) for a candidate of gap g, shape (...)."""
    xp, mixed = namespace(g), g > delta
    p: FloatArray = xp.where(mixed, delta / xp.where(mixed, g, 1.0), 1.0)  # METHOD section 2, row 7: none is 0/0
    return p


def merits(g: FloatArray, psi: FloatArray, width: FloatArray, regularizer: float) -> tuple[FloatArray, FloatArray]:
    """Return minus the ratio of each candidate, shape (..., m), and delta, shape (..., 1)."""
    delta = gap_bound(g, width)
    information = namespace(psi).log1p(psi / regularizer)  # KK21 Eq. (9); METHOD section 2, row 2
    return -ratio(g, delta, information), delta


def information_ratio(
    g: FloatArray, psi: FloatArray, delta: float, beta: float, regularizer: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score a point by minus the logarithm of its ratio, for the search over continuous spaces."""
    information = np.log1p(psi / regularizer)
    value = -np.log(np.maximum(ratio(g, np.array([delta]), information), 1e-300))
    by_g = -np.where(g > delta, 1.0 / np.maximum(g, 1e-300), 2.0 / np.maximum(delta + g, 1e-300))
    gain = information * (regularizer + psi)
    return value, by_g, np.divide(1.0, gain, out=np.zeros_like(psi), where=gain > 0)


@dataclass(frozen=True)
class IDS:
    """Information-directed sampling: the duel with least squared regret per unit of information.

    It duels the leader with the most instructive candidate, with the probability that balances regret and
    information, and otherwise measures the leader twice. Regret O(sqrt(n beta (gamma_n + log(1/delta)))) when the
    confidence coefficient is a theorem (KK21 Theorem 1).

    Args:
        floor: Least probability of a duel with the rival. The paper's is 0; with a fixed coefficient a small one keeps
            an unlucky duel from locking in a wrong leader forever.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> points = np.array([[0.0], [1.0]])
        >>> posterior = eq.belief.FinitePosterior(points, eq.RBF(0.5))
        >>> sorted(eq.IDS()(posterior.at(posterior.points), np.random.default_rng(0)).points.ravel().tolist())
        [0.0, 1.0]
    """

    floor: float = 0.0
    proposal_size = 2
    reduction = TwoPoint()
    scores = (optimism, information_ratio)

    def __post_init__(self) -> None:
        check.fraction("floor", self.floor)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the leader and its rival, or the leader twice."""
        return chosen(self, belief, rng)

    def choose(self, belief: Candidates, chance: Chance) -> tuple[Array, ...]:
        """Return the indices of the leader and of its rival of least ratio, or of the leader twice."""
        leader = chance.argmax(belief.mean)
        psi, g = belief.psi(leader), belief.gaps(leader)
        merit, delta = merits(g, psi, belief.width(psi), belief.regularizer)
        rival, xp = chance.argmax(merit), namespace(g)
        p = xp.where(pick(merit, rival) > -xp.inf, probability(pick(g, rival), delta[..., 0]), 0.0)
        p = xp.maximum(p, self.floor) if self.floor else p
        mixed = p < 1.0
        return leader, xp.where(mixed & (chance.random(p, mixed) >= p), leader, rival)
