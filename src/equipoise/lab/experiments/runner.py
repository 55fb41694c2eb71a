"""The runner: one learner in one environment; every reading costs its own regret."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer import Recommendation
from equipoise.data import Trial
from equipoise.lab.environments import Environment
from equipoise.lab.fleet import Trace

BLOCK = 256
"""The number of readings between two progress reports; their regrets are computed together."""


class Learner(Protocol):
    """A learner that takes readings: an `Optimizer`, or an adapter of another program."""

    def ask(self) -> Trial:
        """Return the next trial to measure."""

    def tell(self, trial: Trial, value: float) -> object:
        """Report the reading of a trial."""

    def recommend(self) -> Recommendation:
        """Return the best known point."""


def run(
    optimizer: Learner,
    environment: Environment,
    readings: int,
    progress: Callable[[int], object] | None = None,
) -> Trace:
    """Let a learner take readings and return their regret.

    Args:
        optimizer: The learner; it may have learned before.
        environment: The environment to measure.
        readings: The number of readings to take.
        progress: Called now and then with the number of readings taken since the last call.

    Example:
        >>> import equipoise as eq
        >>> from equipoise.lab.environments import Drift, Environment, linear
        >>> f = linear(rng=0)
        >>> learner = eq.Optimizer(eq.Finite(f.points), kernel=eq.Linear(), rng=1)
        >>> trace = run(learner, Environment(f, Drift(), noise=0.1, rng=2), readings=300)
        >>> bool(trace.regrets[-100:].mean() < trace.regrets[:100].mean())
        True
    """
    n = check.count("readings", readings)
    blocks: list[FloatArray] = []
    start = time.thread_time()
    for first in range(0, n, BLOCK):
        taken = _take(optimizer, environment, min(BLOCK, n - first))
        blocks.append(environment.function.regret(np.array(taken)))
        if progress is not None:
            progress(len(taken))
    seconds = time.thread_time() - start
    best = optimizer.recommend()
    return Trace(np.concatenate(blocks), best, environment.regret(best.x), seconds)


def _take(optimizer: Learner, environment: Environment, n: int) -> list[Any]:
    """Take n readings and return their points."""
    ask, tell, measure = optimizer.ask, optimizer.tell, environment.measure
    taken = []
    for _ in range(n):
        trial = ask()
        tell(trial, measure(trial.x))
        taken.append(trial.x)
    return taken
