"""BOSE: bandit orthogonalized semiparametric estimation.

    symbol   meaning                                                              shape
    G        lambda I + sum_s u_s u_s'; |phi_a - phi_b|^2 in G^-1 is psi_ab / lambda
    gamma    half-width of a confidence interval per unit of the G^-1 norm        ()
    psi      posterior variance of f(x_a) - f(x_b)                                (n, n)
    S, w     indices of some candidates, their probabilities                      (k,), (k,)
    m_w      sum_i w_i phi(x_i), the center
    rho      w' psi w, twice the weighted variance sum_i w_i |phi_i - m_w|^2      ()
    score    psi w = |phi_a - m_w|^2 + rho / 2                                    (n,)

BOSE plays x ~ w such that no plausible candidate's squared distance from the center exceeds their weighted mean:

    |phi_a - m_w|^2 <= sum_i w_i |phi_i - m_w|^2   for all plausible a, in the metric of G^-1.

That is `score <= rho`: the Karush-Kuhn-Tucker conditions for the largest w'psi w over the simplex, where it is
concave. So w is the dual of the smallest ball around the candidates, and a few small linear systems find it exactly,
without many gradient steps. Scaling psi changes nothing, so lambda is left out.

KWS18 is Krishnamurthy, Wu and Syrgkanis, Semiparametric Contextual Bandits, ICML 2018.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise import _linalg
from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Belief, Indices, namespace
from equipoise.data import CERTAIN, EVEN, Proposal
from equipoise.policies.pairs import pairwise_psi, plausible
from equipoise.reductions import Centered

TOLERANCE = 1e-7
"""Tolerated violation of the condition, relative to its right-hand side, the weighted variance rho / 2."""

SWAPS = 10_000
"""Most steps of the second method, which finishes if rounding stops the first; a few hundred were ever needed."""

NEGLIGIBLE = 1e-12
"""Weights up to this are dropped."""


def coefficient(t: float | FloatArray, dimension: int, delta: float) -> FloatArray:
    """Return gamma in round t, shape (...)."""
    xp = namespace(t)
    gamma: FloatArray = xp.sqrt(dimension * xp.log(1 + t / dimension) + 2 * xp.log(t / delta)) + 1  # KK21 beta_DR
    return gamma


def balanced(psi: FloatArray) -> tuple[Indices, FloatArray]:
    """Return S and w such that `score <= rho`, up to `TOLERANCE`: the points that hold the smallest ball.

    Active-set method: start with the two points farthest apart, and add the farthest point outside until there is none.
    Each time rho grows, so no support comes twice. S stays affinely independent: it has at most d + 1 points in R^d.
    """
    S, w = np.array(divmod(int(psi.argmax()), len(psi))), EVEN
    if S[0] == S[1]:  # all distances vanish
        return S[:1], CERTAIN
    last = 0.0
    while True:
        score = w @ psi.take(S, axis=0)
        rho = float(w @ score[S])
        farthest = int(score.argmax())
        if score[farthest] - rho <= TOLERANCE * rho / 2:
            return S, w
        if rho <= last or farthest in S:  # rounding: no points of any space have these distances
            return swapped(psi, S, w)
        S, w, last = *climbed(psi, np.append(S, farthest), np.append(w, 0.0)), rho


def climbed(psi: FloatArray, S: Indices, w: FloatArray) -> tuple[Indices, FloatArray]:
    """Return the support and weights of largest rho, reached from w by dropping points of S whose weight vanishes.

    With `psi_SS z = 1`, the stationary point on S is z / sum(z). If the points of S are affinely dependent, sum(z)
    vanishes and z is the direction that keeps the center in place. `z - sum(z) w` leads uphill in both cases.
    """
    while len(S) > 1:
        _, _, z, singular = _linalg.lapack().dgesv(psi.take(S, axis=0).take(S, axis=1), np.ones(len(S)))
        if singular:
            break
        total = float(z.sum())
        d = z - total * w
        limit = np.divide(w, -d, out=np.full_like(w, np.inf), where=d < 0)
        first = int(limit.argmin())
        if limit[first] * total >= 1:
            return S, np.maximum(z / total, 0.0)
        w = np.maximum(w + limit[first] * d, 0.0)
        left = np.arange(len(S)) != first
        S, w = S[left], w[left] / w[left].sum()
    return S, w


def swapped(psi: FloatArray, S: Indices, w: FloatArray) -> tuple[Indices, FloatArray]:
    """Return S and w as `balanced` does, by shifting weight from the nearest point to the farthest.

    Slow but safe: rho grows in each step for any nonnegative psi, even one with rounding errors.
    """
    v = np.zeros(len(psi))
    v[S] = w
    score = v @ psi
    for _ in range(SWAPS):
        rho, a = float(v @ score), int(score.argmax())
        if score[a] - rho <= TOLERANCE * rho / 2:
            break
        b = int(np.where(v > 0, score, np.inf).argmin())
        gap, all_of_it = float(score[a] - score[b]), float(v[b])
        curvature = 2 * float(psi[a, b])
        step = gap / curvature if gap < curvature * all_of_it else all_of_it  # the largest rho on this line
        v[a] += step
        v[b] -= step
        score = v @ psi
    support = np.flatnonzero(v)
    return support, v[support]


@dataclass(frozen=True)
class BOSE:
    """Eliminate points that are beaten with confidence; measure the rest with balanced weights.

    The doubly-robust elimination method of Krishnamurthy, Wu and Syrgkanis (2018), here for any kernel: distances in
    its information matrix are posterior variances. Robust to offsets, but slow to learn. Once one candidate is left, it
    is measured forever and teaches nothing more. The weights come from an exact method; the KK21 authors' public code
    differs, since it descends a gradient that lacks a term, `2 x_i'G^-1 m_w`.

    Args:
        delta: Probability with which a confidence interval may fail.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.4], [1.0]], eq.Linear())
        >>> proposal = BOSE()(posterior.at(posterior.points), np.random.default_rng(0))
        >>> proposal.points.ravel(), proposal.weights
        (array([0., 1.]), array([0.5, 0.5]))
    """

    delta: float = 0.05
    proposal_size = None
    reduction = Centered()
    scores = None

    def __post_init__(self) -> None:
        check.probability("delta", self.delta)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the support of the weights; a lone survivor with certainty."""
        psi = pairwise_psi(belief.covariance())
        gamma = coefficient(belief.comparisons + 1.0, belief.points.shape[1], self.delta)
        width = np.sqrt(gamma**2 / belief.regularizer * psi)
        alive = np.flatnonzero(plausible(belief.mean, width))  # KWS18 Algorithm 1
        S, w = balanced(psi.take(alive, axis=0).take(alive, axis=1))
        kept = w > NEGLIGIBLE
        return Proposal(belief.points[alive[S[kept]]], w[kept] / w[kept].sum())
