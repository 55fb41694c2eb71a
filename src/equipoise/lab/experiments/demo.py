"""The demonstration: an instrument that drifts, ordinary optimizers, and one that compares.

The camelback function, read with noise of variance 0.1 while the offset wanders off by sin(0.2 t) - 0.1 t. `contest`
has two continuous knobs and the learners know only their ranges; `paper_contest` is the setting of the paper's
second figure, a grid of 30 x 30 points and a kernel that is known. All learners meet the same noise.
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
"""What the learners of the paper's setting are called here, and their names in `LEARNERS`."""

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


def contenders() -> dict[str, Maker]:
    """Return who turns the continuous knobs: a plain GP, TPE where Optuna is installed, and the default."""
    box = Box(np.asarray(camelback().bounds))
    tpe: dict[str, Maker] = {"Optuna's TPE": lambda rng: Optuna(box, seed=int(rng.integers(2**31)))}
    return {
        "plain GP": lambda rng: Optimizer(box, policy=UCB(), rng=rng),
        **(tpe if importlib.util.find_spec("optuna") is not None else {}),
        "eq.Optimizer(space)": lambda rng: Optimizer(box, rng=rng),
    }


def contest(seeds: int = 3, readings: int = 120, progress: Callable[[int], object] | None = None) -> list[Contestant]:
    """Let everybody tune two continuous knobs with nothing told but their ranges, once for each seed.

    Args:
        seeds: How many runs of each.
        readings: How many readings a run takes.
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
    """Let the paper's learner and GP-UCB take readings on the grid, once for each seed.

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
    finite = np.isfinite(claims)
    held = f"{np.count_nonzero(truth[finite] <= claims[finite])} of {finite.sum()}" if finite.any() else "-"
    claimed = str(level(claims)) if finite.all() else "nothing yet"
    return [contestant.name, f"({x})", claimed, str(level(truth)), short(float(truth.max())), held]
