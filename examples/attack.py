"""An attack: somebody who knows the function, the data and the learner's program shifts every reading.

The attacker wants the search to fail. To each reading it may add an offset between -1 and 1, as large as the signal. It
knows everything but the learner's coins: it runs a copy of the learner, tells it the same readings, and so predicts the
next measurement, as far as no coin decides it. If the next setting is better than the last one, the attacker makes it
look worse, and vice versa, as if the function were upside down.

- LinUCB tosses no coin. The attacker predicts it exactly, and it ends near the smallest value of the function.
- Two-point duels measure a pair in random order. They withstand an attacker who must fix the offsets of both readings
  beforehand. An attacker who may wait for the first reading knows the second setting, and succeeds.
- One-point duels measure one of two points, chosen by a coin. No offset fixed before the coin can mislead them.

The problem is the paper's: 20 actions on the unit sphere of R^4 and a linear function, with a known kernel. "default"
is the optimizer of a user who gives only a space: two-point duels, with a learned kernel and a learned offset.

    python examples/attack.py                              # about half a minute on two cores
    python examples/attack.py --readings 100 --seeds 2     # a quick look
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from tqdm import tqdm

import equipoise as eq
from equipoise.lab.environments import BiasProcess, Environment, Function, Measurement, NoBias, linear
from equipoise.lab.experiments import LEARNERS, problem, run
from equipoise.lab.experiments.charts import STYLE, band, pyplot, save
from equipoise.lab.experiments.experiment import streams
from equipoise.lab.experiments.reports import markdown
from equipoise.lab.experiments.statistics import level
from equipoise.plots.style import METHODS

CONTESTANTS = {"LinUCB": "UCB", "two-point duels": "IDS-two", "one-point duels": "IDS-one", "default": "default"}
"""The learners: their names here, and those in `LEARNERS`."""

ATTACKS: Mapping[str, bool | None] = {
    "no attack": None,
    "offset fixed before each pair": False,
    "offset fixed before each reading": True,
}
"""The times at which the attacker decides, and whether it may wait for the first reading of a pair."""

STRONGEST = list(ATTACKS)[-1]
COLORS = {
    "LinUCB": METHODS["UCB"],
    "two-point duels": METHODS["two-point"],
    "one-point duels": METHODS["one-point"],
    "default": METHODS["default"],
}
NOISE, STRENGTH = 0.3, 1.0
HEADLINE = "An attacker turns the function upside down, knowing everything but the coin"


@dataclass(frozen=True, eq=False)
class DoubleAgent:
    """An attacker with a copy of the learner: an example for writing a bias.

    Args:
        copy: A learner like the one attacked, with its own coin.
        function: The function that the learner maximizes.
        waits: Whether it may decide on the second offset of a pair after the first reading.
        strength: The largest offset.
    """

    copy: eq.Optimizer
    function: Function
    waits: bool
    strength: float = STRENGTH

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Spy(self)


class _Spy:
    """The attacker's expectation of the present duel, and the values of the last readings."""

    def __init__(self, agent: DoubleAgent) -> None:
        self._agent = agent
        self._halves = 2 if isinstance(agent.copy.study.setup.reduction, eq.TwoPoint) else 1
        self._expected: list[eq.Trial] = []
        self._planned: list[float] = []
        self._usual = 0.0

    def offset(self) -> float:
        """Return the offset that reverses the expected difference from the usual value."""
        if not self._expected:
            self._expected = [self._agent.copy.ask() for _ in range(self._halves)]
            self._planned = [self._against(trial) for trial in self._expected]
        planned = self._planned.pop(0)
        return self._against(self._expected[0]) if self._agent.waits else planned

    def record(self, reading: Measurement) -> None:
        """Tell the reading to the copy: to the matching trial if there is one, so that the other one stays open."""
        met = [trial for trial in self._expected if np.array_equal(trial.x, reading.x)]
        trial = (met or self._expected)[0]
        self._expected.remove(trial)
        self._agent.copy.tell(trial, reading.y, x=reading.x)
        self._usual += 0.1 * (reading.value - self._usual)

    def _against(self, trial: eq.Trial) -> float:
        surplus = float(self._agent.function(trial.x)) - self._usual
        return float(np.clip(-2 * surplus, -self._agent.strength, self._agent.strength))


@dataclass(frozen=True, eq=False)
class Outcome:
    """One run: cumulative regret, regret of the recommendation, and the true and the believed value of every action."""

    regret: NDArray[np.float64]
    recommended: float
    truth: NDArray[np.float64]
    belief: NDArray[np.float64]


def attacked(name: str, attack: str, seed: int, readings: int) -> Outcome:
    """Let a learner search under attack; one seed gives every learner the same function and the same noise."""
    function_rng, environment_rng, learner_rng = streams(0, seed)
    function, waits = linear(rng=function_rng), ATTACKS[attack]
    told, make = problem("linear", function, NOISE), LEARNERS[CONTESTANTS[name]]
    optimizer, copy = (make(told, rng) for rng in learner_rng.spawn(2))
    bias = NoBias() if waits is None else DoubleAgent(copy, function, waits)
    trace = run(optimizer, Environment(function, bias, NOISE, environment_rng), readings)
    points = np.asarray(function.points)
    values, belief = function(points), optimizer.posterior.at(points).mean
    return Outcome(trace.cumulative, trace.recommended_regret, values - values.mean(), belief - belief.mean())


Outcomes = Mapping[tuple[str, str], Sequence[Outcome]]
"""The runs of each learner under each attack."""


def contest(seeds: int, readings: int, jobs: int) -> Outcomes:
    """Let every learner meet every attack, once for each seed."""
    pairs = [(name, attack) for attack in ATTACKS for name in CONTESTANTS]
    tasks = [(*pair, seed) for seed in range(seeds) for pair in pairs]
    runs = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(attacked)(*task, readings) for task in tasks
    )
    results = dict(zip(tasks, tqdm(runs, total=len(tasks), unit="run"), strict=True))
    return {pair: [results[*pair, seed] for seed in range(seeds)] for pair in pairs}


def table(outcomes: Outcomes) -> str:
    """Return the regret under each attack, and the regret of the recommendation under the strongest."""
    columns = ["regret", *ATTACKS, "recommended (last attack)"]
    return markdown(columns, [_row(name, outcomes) for name in CONTESTANTS])


def _row(name: str, outcomes: Outcomes) -> list[str]:
    regrets = [np.array([run.regret[-1] for run in outcomes[name, attack]]) for attack in ATTACKS]
    worst = np.array([run.recommended for run in outcomes[name, STRONGEST]])
    return [name, *(str(level(values)) for values in (*regrets, worst))]


def draw(outcomes: Outcomes, path: Path) -> Path:
    """Draw the regret under each attack, and the believed against the true values under the strongest."""
    plt = pyplot()
    with plt.rc_context(dict(STYLE)):
        canvas, axes = plt.subplots(1, 4, figsize=(15, 4.0), layout="constrained")
        canvas.suptitle(HEADLINE, fontsize=12.5, fontweight="bold")
        top = max(run.regret[-1] for runs in outcomes.values() for run in runs)
        for ax, attack in zip(axes, ATTACKS, strict=False):
            for name, color in COLORS.items():
                R = np.array([run.regret for run in outcomes[name, attack]])
                band(ax, np.arange(1, R.shape[1] + 1), R, color, name)
            ax.set(title=attack, xlabel="readings", xlim=(0, R.shape[1]), ylim=(0, 1.02 * top))
        axes[0].set_ylabel(f"cumulative regret\n(mean of {len(R)} runs ± 2 standard errors)")
        axes[0].legend(loc="upper left")
        _beliefs(axes[-1], outcomes)
        written = save(canvas, path.with_suffix(""), (path.suffix.removeprefix(".") or "png",))
        plt.close(canvas)
    return written[0]


def _beliefs(ax: Any, outcomes: Outcomes) -> None:
    for name in ("LinUCB", "one-point duels"):
        runs = outcomes[name, STRONGEST]
        truth, belief = np.concatenate([run.truth for run in runs]), np.concatenate([run.belief for run in runs])
        ax.scatter(truth, belief, s=10, color=COLORS[name], alpha=0.6, linewidths=0, label=name)
    ax.axline((0, 0), slope=1, color="#555555", linewidth=0.9)
    ax.set(title="what they believe in the end", xlabel="true value of an action    (last attack)")
    ax.set_ylabel("believed value")
    ax.legend(loc="upper left", markerscale=2)


def main(arguments: Sequence[str] | None = None) -> None:
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=text)
    parser.add_argument("--readings", type=int, default=300, help="readings in each run (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=6, help="runs of each learner and attack (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes to use (default: one for each core)")
    parser.add_argument("--out", type=Path, default=Path("out/attack.png"), help="picture (default: %(default)s)")
    options = parser.parse_args(arguments)
    outcomes = contest(options.seeds, options.readings, options.jobs)
    print(f"\n{table(outcomes)}\nPicture: {draw(outcomes, options.out)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; nothing was written.")
