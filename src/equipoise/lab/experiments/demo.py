"""The demonstration: a drifting instrument, ordinary optimizers, and an optimizer that compares.

The function is camelback, read with noise of variance 0.1 and an offset of sin(0.2 t) - 0.1 t. In `contest` the
learners tune two continuous knobs and know only their ranges; `paper_contest` is the setting of the paper's second
figure, a grid of 30 x 30 points and a known kernel. All learners get the same noise.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.environments import Environment, Function, Measurement, PeriodicDrift, camelback
from equipoise.lab.experiments.experiment import streams
from equipoise.lab.experiments.learners import LEARNERS
from equipoise.lab.experiments.problems import CAMELBACK_NOISE, problem
from equipoise.lab.experiments.real import Optuna
from equipoise.lab.experiments.reports import markdown
from equipoise.lab.experiments.runner import Learner, run
from equipoise.lab.experiments.statistics import level, short
from equipoise.lab.fleet import Trace
from equipoise.optimizer import Optimizer
from equipoise.policies import UCB
from equipoise.spaces import Box

PAPER = {"GP-UCB": "UCB", "IDS, two-point": "IDS-two"}
"""The learners of the paper's setting: their labels here, and their names in `LEARNERS`."""

COLORS = {
    "GP-UCB": "UCB",
    "plain GP": "UCB",
    "Optuna's TPE": "TPE",
    "IDS, two-point": "two-point",
    "eq.Optimizer(space)": "default",
}
"""The color of each contestant, by its name in `plots.style.METHODS`."""

Maker = Callable[[Generator], Learner]


@dataclass(frozen=True, eq=False)
class Contestant:
    """A learner and its results.

    Attributes:
        name: The label of the learner.
        traces: One run for each seed.
        readings: The readings of the first run.
    """

    name: str
    traces: Sequence[Trace]
    readings: Sequence[Measurement]

    @property
    def regret(self) -> FloatArray:
        """The cumulative regret, shape (seeds, readings)."""
        return np.array([trace.cumulative for trace in self.traces])


def contenders() -> dict[str, Maker]:
    """Return the learners for the continuous knobs: a plain GP, the default, and TPE if Optuna is installed."""
    box = Box(np.asarray(camelback().bounds))
    tpe: dict[str, Maker] = {"Optuna's TPE": lambda rng: Optuna(box, seed=int(rng.integers(2**31)))}
    return {
        "plain GP": lambda rng: Optimizer(box, policy=UCB(), rng=rng),
        **(tpe if importlib.util.find_spec("optuna") is not None else {}),
        "eq.Optimizer(space)": lambda rng: Optimizer(box, rng=rng),
    }


def contest(seeds: int = 3, readings: int = 120, progress: Callable[[int], object] | None = None) -> list[Contestant]:
    """Run all learners on two continuous knobs, once for each seed; they know only the ranges.

    Args:
        seeds: The number of runs per learner.
        readings: The number of readings per run.
        progress: Called now and then with the number of readings taken since the last call.

    Example:
        >>> [each.name for each in contest(seeds=1, readings=4)][-1]
        'eq.Optimizer(space)'
    """
    settings = (camelback(), CAMELBACK_NOISE, seeds, readings, progress)
    return [_contestant(name, make, *settings) for name, make in contenders().items()]


def paper_contest(
    seeds: int = 5, readings: int = 600, progress: Callable[[int], object] | None = None
) -> list[Contestant]:
    """Run the paper's learner and GP-UCB on the grid, once for each seed.

    Example:
        >>> ucb, ids = paper_contest(seeds=1, readings=300)
        >>> bool(ids.regret[0, -1] < ucb.regret[0, -1])
        True
    """
    function = camelback().on_grid(30)
    told = problem("camelback-grid", function)

    def maker(learner: str) -> Maker:
        return lambda rng: LEARNERS[learner](told, rng)

    settings = (function, told.noise, seeds, readings, progress)
    return [_contestant(name, maker(learner), *settings) for name, learner in PAPER.items()]


def _contestant(
    name: str,
    make: Maker,
    function: Function,
    noise: float,
    seeds: int,
    readings: int,
    progress: Callable[[int], object] | None,
) -> Contestant:
    traces, histories = [], []
    for seed in range(seeds):
        _, environment_rng, learner_rng = streams(0, seed)
        environment = Environment(function, PeriodicDrift(), noise, environment_rng, keep_history=True)
        traces.append(run(make(learner_rng), environment, readings, progress))
        histories.append(environment.history)
    return Contestant(name, traces, histories[0])


def regret_table(contestants: Sequence[Contestant]) -> str:
    """Return the regret at several numbers of readings, mean and two standard errors, in Markdown."""
    n = contestants[0].regret.shape[1]
    at = sorted({max(n // 6, 1), max(n // 2, 1), n})
    rows = [[c.name, *(str(level(c.regret[:, i - 1])) for i in at)] for c in contestants]
    return markdown(["regret after", *(f"{i} readings" for i in at)], rows)


def recommendation_table(contestants: Sequence[Contestant]) -> str:
    """Return each learner's final recommendation, its claim about it, and the truth, in Markdown.

    The point is that of the first run; the other columns summarize all runs.
    """
    columns = ["", "recommends", "claims a regret below", "true regret", "in the worst run", "claim held"]
    return markdown(columns, [_recommendation(contestant) for contestant in contestants])


def _recommendation(contestant: Contestant) -> list[str]:
    x = ", ".join(f"{value:.2f}" for value in contestant.traces[0].recommendation.x)
    claims = np.array([trace.recommendation.gap_bound for trace in contestant.traces])
    truth = np.array([trace.recommended_regret for trace in contestant.traces])
    finite = np.isfinite(claims)
    held = f"{np.count_nonzero(truth[finite] <= claims[finite])} of {finite.sum()}" if finite.any() else "-"
    claimed = str(level(claims)) if finite.all() else "nothing yet"
    return [contestant.name, f"({x})", claimed, str(level(truth)), short(float(truth.max())), held]
