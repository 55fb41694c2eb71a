"""The leader against its most promising rival."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Array, Belief, fair_argmax, namespace
from equipoise.data import Proposal
from equipoise.policies.policy import Candidates, Chance, chosen
from equipoise.policies.search import Score, optimism
from equipoise.reductions import TwoPoint

SURELY = 0.95
"""A setting counts as usable if it holds its limits with this probability."""

WARINESS = 0.5
"""Power of the probability that limits hold, by which optimism is multiplied: what is not known of a limit is no reason
to stay away. With 1, 23 % were left to gain on the beam line instead of 17 %, and 14 % with six knobs instead of 11 %
(20 runs each)."""

WIDER = (1.0, 1.5, 2.0, 3.0)
"""By which factors intervals are widened, one after the other, until somewhere a gain of a noise deviation is
plausible: a smaller one no reading shows, and a model that sees nothing else is sure of too much. Of eight runs whose
second half brought nothing all ended better (on average 6 % left to gain instead of 32 %, `company.SPARE` included)."""

EXPECTED_SHARE = 0.5
"""A limit is measured for itself once what is expected beyond it, times the probability that it holds there, is at
least this share of what optimism promises anywhere. With a quarter 22 % were left to gain, with a half 24 % and more of
the runs within 5 %, and 34 % if no limit is measured for itself (20 runs each)."""


def safest(mean: FloatArray, holds: FloatArray, rng: Generator) -> int:
    """Return the best candidate that surely holds all limits; the one that most probably does if none surely does.

    Example:
        >>> safest(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.96, 0.5]), np.random.default_rng(0))
        1
    """
    sure = holds >= SURELY
    return fair_argmax(np.where(sure, mean, -np.inf) if sure.any() else holds, rng)


@dataclass(frozen=True)
class Challenger:
    """Duel the leader with the candidate that may plausibly beat it by the most.

    The one pair the proof of KK21 Theorem 1 needs, always played. Its value is the certificate delta_t, no ratio is
    taken, and its maximum has no pole, so it suits continuous domains. If no candidate may be better than the
    leader, the leader is played twice.

    Args:
        boldness: Each duel multiplies beta by `1 + boldness e`, e exponential of mean one, drawn each time: so that
            even a rival that seems beaten gets its duel, and no interval that is too narrow locks the leader in for
            ever (after Takeno, Inatsu, Karasuyama and Takeuchi 2023). With 0 and a theory coefficient the regret
            bound is that of `IDS`.
        scale: Factor on the half-width of the confidence interval. If a start design and scouts look at all of the
            space, three quarters of it are enough; for judges, with a kernel given, 1.5 was best (docs/judge.md); a
            guarantee needs 1.
        climb: In a continuous space, climb from the best candidate to the very top of its score. In many dimensions
            that top lies in a corner, where little is known and little to be found: measured on hartmann6, the plain
            candidates do better, so that is the default.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.1], [1.0]], eq.RBF(0.5))
        >>> posterior = posterior.condition(eq.Comparison([0.0], [1.0], 0.4))
        >>> Challenger(boldness=0)(posterior.at(posterior.points), np.random.default_rng(0)).points.ravel()
        array([0., 1.])
    """

    boldness: float = 0.25
    scale: float = 1.0
    climb: bool = False
    proposal_size = 2
    reduction = TwoPoint()

    def __post_init__(self) -> None:
        check.nonnegative("boldness", self.boldness)
        check.positive("scale", self.scale)

    @property
    def scores(self) -> tuple[Score, ...]:
        """Its own value, if it is to climb."""
        return (optimism,) if self.climb else ()

    def widening(self, e: float | FloatArray) -> FloatArray:
        """Return the factor on the half-width of a duel, given its exponential draw, shape (...)."""
        factor: FloatArray = self.scale * namespace(e).sqrt(1.0 + self.boldness * e)  # METHOD section 7
        return factor

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the leader and its challenger."""
        return chosen(self, belief, rng)

    def within(self, belief: Belief, holds: FloatArray, rng: Generator, origin: FloatArray | None = None) -> Proposal:
        """Propose a leader that holds all limits, and the candidate of largest optimism, weighed by whether it does.

        Optimism is about what the next pair may show: beside the noise of a pair, small differences count less. If a
        candidate is expected to be better than the leader and only a limit is in doubt, what the limit is counted from
        is the better partner, and comes second: that pair is about the limit itself.

        Args:
            belief: The candidates.
            holds: The probability that each of them holds all limits, shape (m,).
            rng: The source of randomness.
            origin: What limits are counted from, shape (d,); `None` if the leader serves as well.
        """
        leader = safest(belief.mean, holds, rng)
        widening = float(self.widening(rng.exponential()))
        psi, ahead = belief.psi(leader), belief.mean - belief.mean[leader]
        weights = holds**WARINESS
        if holds[leader] < SURELY:
            gain = np.sqrt(psi)  # no limit was ever seen to hold: first find settings where they do
        else:
            shown = np.sqrt(psi / (psi + 2.0 * belief.regularizer))  # METHOD section 19
            gain = _plausible(ahead, widening * shown * belief.width(psi), weights, belief.regularizer**0.5)
            if (doubted := _doubted(ahead, gain, holds, rng)) is not None:
                partner = belief.points[leader] if origin is None else origin
                return Proposal.pair(belief.points[doubted], partner)
        merit = gain * weights  # METHOD section 19
        rival = fair_argmax(merit, rng) if merit.max() > 0 else leader
        return Proposal.pair(belief.points[leader], belief.points[rival])

    def choose(self, belief: Candidates, chance: Chance) -> tuple[Array, ...]:
        """Return the indices of the leader and of the candidate that may beat it by the most."""
        leader = chance.argmax(belief.mean)
        widening = self.widening(chance.exponential(belief.mean[..., 0]))[..., None]
        upper = belief.mean + widening * belief.width(belief.psi(leader))  # METHOD section 7
        return leader, chance.argmax(upper)


def _plausible(ahead: FloatArray, width: FloatArray, weights: FloatArray, least: float) -> FloatArray:
    """Return by how much each candidate may plausibly be better; under wider intervals until one may be by the least.

    Example:
        >>> _plausible(np.array([0.0, -1.0]), np.array([0.0, 0.6]), np.ones(2), least=0.1)
        array([0. , 0.2])
    """
    gain = np.zeros_like(ahead)
    for factor in WIDER:
        gain = np.maximum(ahead + factor * width, 0.0)
        if (gain * weights).max() >= least:
            break
    return gain


def _doubted(ahead: FloatArray, gain: FloatArray, holds: FloatArray, rng: Generator) -> int | None:
    """Return the candidate from which most is expected if its limits hold; `None` if optimism promises more anywhere.

    Example:
        >>> _doubted(np.array([0.0, 1.0]), np.array([0.2, 1.1]), np.array([1.0, 0.5]), np.random.default_rng(0))
        1
    """
    expected = np.where(holds < SURELY, ahead * holds, 0.0)
    enough = expected.max() > 0 and expected.max() >= EXPECTED_SHARE * float((gain * holds).max())
    return fair_argmax(expected, rng) if enough else None
