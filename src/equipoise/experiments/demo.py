"""The demonstration: an instrument that drifts, an ordinary optimizer, and one that compares.

The camelback function on a 30 x 30 grid, read with noise of variance 0.1 and the offset sin(0.2 t) - 0.1 t, as in the
paper's second figure. Both learners are told the same and meet the same noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise._typing import FloatArray
from equipoise.environments import Environment, Measurement, PeriodicDrift, camelback
from equipoise.experiments.experiment import streams
from equipoise.experiments.learners import LEARNERS
from equipoise.experiments.problems import problem
from equipoise.experiments.runner import Trace, run
from equipoise.experiments.statistics import level, short
from equipoise.experiments.tables import markdown

READINGS = 600
CONTESTANTS = {"GP-UCB": "UCB", "IDS, two-point": "IDS-two"}
"""What the learners are called here, and their names in `LEARNERS`."""


@dataclass(frozen=True, eq=False)
class Contestant:
    """One learner and how it fared.

    Attributes:
        name: What it is called.
        traces: One run for each seed.
        readings: What it read in the first run.
    """

    name: str
    traces: Sequence[Trace]
    readings: Sequence[Measurement]

    @property
    def regret(self) -> FloatArray:
        """Cumulative regret, shape (seeds, readings)."""
        return np.array([trace.cumulative for trace in self.traces])


def contest(
    seeds: int = 5, readings: int = READINGS, progress: Callable[[int], object] | None = None
) -> list[Contestant]:
    """Let both learners take readings, once for each seed.

    Args:
        seeds: How many runs of each.
        readings: How many readings a run takes.
        progress: Called now and then with the number of readings taken since the last call.

    Example:
        >>> ucb, ids = contest(seeds=1, readings=300)
        >>> bool(ids.regret[0, -1] < ucb.regret[0, -1])
        True
    """
    return [_contestant(name, learner, seeds, readings, progress) for name, learner in CONTESTANTS.items()]


def _contestant(
    name: str, learner: str, seeds: int, readings: int, progress: Callable[[int], object] | None
) -> Contestant:
    function = camelback().on_grid(30)
    told = problem("camelback-grid", function)
    traces, histories = [], []
    for seed in range(seeds):
        _, environment_rng, learner_rng = streams(0, seed)
        environment = Environment(function, PeriodicDrift(), told.noise, environment_rng, keep_history=True)
        traces.append(run(LEARNERS[learner](told, learner_rng), environment, readings, progress))
        histories.append(environment.history)
    return Contestant(name, traces, histories[0])


def regret_table(contestants: Sequence[Contestant]) -> str:
    """Return the regret after some readings, mean and two standard errors, in Markdown."""
    n = contestants[0].regret.shape[1]
    at = sorted({max(n // 6, 1), max(n // 2, 1), n})
    rows = [[c.name, *(str(level(c.regret[:, i - 1])) for i in at)] for c in contestants]
    return markdown(["regret after", *(f"{i} readings" for i in at)], rows)


def recommendation_table(contestants: Sequence[Contestant]) -> str:
    """Return what each recommends at the end, what it claims of that, and what is true, in Markdown.

    The point is that of the first run; the other columns are about all runs.
    """
    columns = ["", "recommends", "claims a regret below", "true regret", "in the worst run", "claim held"]
    return markdown(columns, [_recommendation(contestant) for contestant in contestants])


def _recommendation(contestant: Contestant) -> list[str]:
    x = ", ".join(f"{value:.2f}" for value in contestant.traces[0].recommendation.x)
    claims = np.array([trace.recommendation.gap_bound for trace in contestant.traces])
    truth = np.array([trace.recommended_regret for trace in contestant.traces])
    held = f"{np.count_nonzero(truth <= claims)} of {len(claims)}"
    claimed = str(level(claims)) if np.isfinite(claims).all() else "nothing yet"
    return [contestant.name, f"({x})", claimed, str(level(truth)), short(float(truth.max())), held]
