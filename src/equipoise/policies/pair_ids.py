"""Information-directed sampling over all pairs: the reference that `IDS` approximates, for small sets.

    symbol   meaning                                                          shape
    m, P     number of candidates, of unordered pairs: m (m + 1) / 2
    i, j     the two candidates of each pair                                  (P,), (P,)
    C, S     covariance of f, of f(x_i) + f(x_j)                              (m, m), (P, P)
    D        gap of a pair: the most a better pair may plausibly gain         (..., P)
    I        information gain of a pair's duel                                (..., P)
    p        probability of the second of two pairs                           (..., P, P)

KLK20 is Kirschner, Lattimore and Krause, Information Directed Sampling for Linear Partial Monitoring, COLT 2020.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Belief, Indices, fair_argmax
from equipoise.data import Proposal
from equipoise.policies.pairs import pairwise_psi
from equipoise.reductions import TwoPoint

LARGEST = 40
"""Most candidates taken: time and memory grow with the fourth power of their number."""


def pair_gaps(belief: Belief, C: FloatArray, i: Indices, j: Indices) -> FloatArray:
    """Return D, shape (P,): `max_b <phi_b - phi_a, th> + sqrt(beta) |phi_b - phi_a|` with phi = phi_i + phi_j."""
    rows = C[i] + C[j]
    S = rows[:, i] + rows[:, j]
    value = belief.mean[i] + belief.mean[j]
    bound = value[None, :] - value[:, None] + belief.width(pairwise_psi(S))
    gaps: FloatArray = bound.max(axis=1)  # METHOD section 4, last paragraph
    return gaps


def mixtures(D: FloatArray, information: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimize `(E gap)^2 / E information` over the mixtures of two pairs, for every two at once.

    Two pairs suffice for the least ratio over all distributions (KLK20).

    Returns:
        The least ratio (zero without regret, else infinite if nothing is learned) and the probability p of the
        second pair, shapes (..., P, P); p = 0 unless that one has more information and no smaller gap.
    """
    D1, I1 = D[..., :, None], information[..., :, None]
    loss, gain = D[..., None, :] - D1, information[..., None, :] - I1
    useful = (loss >= 0) & (gain > 0)
    p = useful.astype(np.float64)  # an equal gap with more information: p = 1
    mixed = useful & (loss > 0)
    root = D1 / np.where(mixed, loss, 1.0) - 2 * I1 / np.where(mixed, gain, 1.0)
    np.clip(root, 0.0, 1.0, out=p, where=mixed)  # METHOD section 4; the ratio is convex in p
    regret, total = D1 + p * loss, I1 + p * gain
    ratio = np.where(regret > 0, np.inf, 0.0)
    np.divide(regret**2, total, out=ratio, where=(total > 0) & (regret > 0))
    return ratio, p


@dataclass(frozen=True)
class PairIDS:
    """Information-directed sampling over all pairs, not only those that contain the leader.

    The method of Kirschner, Lattimore and Krause (2020) for dueling feedback: draws one of two pairs such that the
    squared expected gap per unit of expected information is least. On small sets `IDS`, whose cost is linear in the
    number of candidates, has had the same regret; this one is the reference, and takes 40 candidates at most.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [1.0]], eq.RBF(0.5))
        >>> sorted(PairIDS()(posterior.at(posterior.points), np.random.default_rng(0)).points.ravel().tolist())
        [0.0, 1.0]
    """

    proposal_size = 2
    reduction = TwoPoint()
    scores = None

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose a pair, possibly of equal points."""
        if len(belief.points) > LARGEST:
            raise ValueError(
                f"`candidates` must be at most {LARGEST} for PairIDS, got {len(belief.points)}: use IDS for more"
            )
        C = belief.covariance()
        i, j = np.triu_indices(len(belief.points))
        D = pair_gaps(belief, C, i, j)
        information = np.log1p(pairwise_psi(C)[i, j] / belief.regularizer)  # KK21 Eq. (9); METHOD section 2, row 2
        pair = _drawn(*mixtures(D, information), rng)
        return Proposal.pair(belief.points[i[pair]], belief.points[j[pair]])


def _drawn(ratio: FloatArray, p: FloatArray, rng: Generator) -> int:
    """Draw one of the two pairs of least ratio."""
    first, second = divmod(fair_argmax(-ratio.ravel(), rng), len(ratio))
    probability = float(p[first, second])
    return second if probability == 1 or rng.random() < probability else first
