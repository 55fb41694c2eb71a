"""Many learners in their environments as one array program, instead of the one-by-one runs of a sweep."""

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import default_rng

from equipoise import _validation as check
from equipoise._typing import FloatArray, Seed
from equipoise.answer import Recommendation
from equipoise.belief import Indices
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.blueprint import Blueprint
from equipoise.lab.fleet.throwing import Coins, SharedCoins
from equipoise.lab.fleet.worlds import Worlds
from equipoise.log import PROPOSE, RECOMMEND

BATCH_MEMORY = 64e6
"""The bytes of covariances per program: more do not fit the caches, and gain nothing."""

RECYCLED = 30 * 2**20
"""The bytes up to which arrays of one round should reuse the memory of the last round.

Linux's usual C library returns memory to the system if more of it is free than twice the largest piece ever freed,
not counting pieces above 32 MB. Fresh pages from the system cost more than the arithmetic: three quarters of the
time of BOSE's pairs.
"""

LARGEST_BATCH = 1024
"""The most learners worth running at once: more save nothing, as a round costs about 1 us each."""


def batch_size(points: int) -> int:
    """Return how many learners on this many points one program should run together.

    Example:
        >>> batch_size(20), batch_size(900)
        (1024, 9)
    """
    return max(1, min(LARGEST_BATCH, int(BATCH_MEMORY / (8 * points**2))))


@dataclass(frozen=True, eq=False)
class Trace:
    """The results of one run.

    Attributes:
        regrets: The regret of each reading, `max f - f(x_t)` over the domain, shape (n,).
        recommendation: The learner's recommendation at the end.
        recommended_regret: The true regret of the recommendation.
        cpu_seconds: The processor time of the loop, with the environment; the learner's share if many run in step.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> trace = Trace(np.array([1.0, 0.5]), eq.Recommendation(np.zeros(1), 0.2, 2), 0.0, 0.01)
        >>> trace.cumulative
        array([1. , 1.5])
    """

    regrets: FloatArray
    recommendation: Recommendation
    recommended_regret: float
    cpu_seconds: float

    @cached_property
    def cumulative(self) -> FloatArray:
        """The cumulative regret after each reading, shape (n,)."""
        return np.cumsum(self.regrets)


def simulate(
    blueprint: Blueprint, worlds: Worlds, readings: int, *, coins: Coins | None = None, rng: Seed = None
) -> list[Trace]:
    """Let every learner take readings in its world and return their regret.

    Args:
        blueprint: The common parts of the learners.
        worlds: The worlds to measure, one per learner.
        readings: The number of readings per learner.
        coins: The source of their coins; one stream for all by default.
        rng: The seed of that stream.

    Example:
        >>> import equipoise as eq
        >>> from equipoise.lab.environments import Drift, linear
        >>> functions = [linear(rng=i) for i in range(50)]
        >>> blueprint = Blueprint([f.points for f in functions], eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
        >>> worlds = Worlds(functions, Drift(), noise=1.0, rngs=range(50))
        >>> traces = simulate(blueprint, worlds, readings=2000, rng=0)
        >>> regrets = np.mean([trace.regrets for trace in traces], axis=0)
        >>> bool(regrets[-500:].mean() < 0.5 * regrets[:500].mean())
        True
    """
    n = check.count("readings", readings)
    coins = SharedCoins(default_rng(rng)) if coins is None else coins
    np.empty(RECYCLED, dtype=np.uint8)  # allocated and freed at once: see `RECYCLED`
    start = time.thread_time()
    beliefs, taken = _played(blueprint, worlds, n, coins)
    leaders = coins.at(n, RECOMMEND).argmax(beliefs.mean)
    bounds = beliefs.gap_bounds(leaders)
    seconds = (time.thread_time() - start) / len(leaders)
    rows = np.arange(len(leaders))
    regrets = worlds.maxima[:, None] - worlds.values[rows[:, None], taken.T]
    best = zip(worlds.points[rows, leaders], bounds, worlds.regret(leaders), strict=True)
    answers = [(Recommendation(x, float(bound), n), float(regret)) for x, bound, regret in best]
    return [Trace(each, *answer, seconds) for each, answer in zip(regrets, answers, strict=True)]


def _played(blueprint: Blueprint, worlds: Worlds, n: int, coins: Coins) -> tuple[Beliefs, Indices]:
    """Play until each learner has taken n readings; return the beliefs and the points measured, shape (n, L)."""
    beliefs = blueprint.prior(len(worlds.values))
    taken: Indices = np.empty((n, len(worlds.values)), dtype=np.intp)
    last, done, number = None, 0, 0
    while done < n:
        duels = blueprint.propose(beliefs, coins.at(number, PROPOSE), last)
        order = duels.points.T[: n - done]
        taken[done : done + len(order)] = order
        y = [worlds.measure(index) for index in order]
        if len(order) == duels.points.shape[1]:  # else the last duel stays open
            beliefs = blueprint.learn(beliefs, duels, np.stack(y, axis=-1), overwrite=True)
        last, done, number = duels.directions, done + len(order), number + 1
    return beliefs, taken
