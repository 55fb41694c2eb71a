"""How often a pruner stops a trial as good as the best one, and how soon it stops a worse one.

    python benchmarks/racing.py --seeds 0-299

A study has 30 complete trials, all equally good, of 60 pieces each; the best one is the luckiest. A reading is the
merit of the trial, the difficulty of the piece (sd 3), and noise of sd 1. Then a candidate reports piece by piece.
Effects are in standard deviations of a paired difference.
"""

import argparse
import math
from collections.abc import Sequence

import numpy as np
import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, TrialState

from equipoise._typing import FloatArray
from equipoise.integrations.optuna import RacePruner

PIECES, EARLIER = 60, 30
EFFECTS = {"equal": 0.0, "better by 0.1 sd": 0.1, "worse by 1 sd": -1.0, "worse by 2 sd": -2.0}


def trial(number: int, values: FloatArray, complete: bool) -> FrozenTrial:
    """Return a trial that has reported given values."""
    state = TrialState.COMPLETE if complete else TrialState.RUNNING
    made = optuna.trial.create_trial(
        state=state if complete else TrialState.WAITING,
        params={"x": 0.5},
        distributions={"x": FloatDistribution(0, 1)},
        values=[float(values.mean())] if complete else None,
        intermediate_values=dict(enumerate(map(float, values))),
    )
    made.number, made.state = number, state
    return made


def stopped(pruner: optuna.pruners.BasePruner, effect: float, seed: int) -> float:
    """Return after how many pieces a candidate is stopped; infinite if never."""
    rng = np.random.default_rng(seed)
    pieces = 3.0 * rng.standard_normal(PIECES)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    for number in range(EARLIER):
        study.add_trial(trial(number, pieces + rng.standard_normal(PIECES), complete=True))
    values = pieces + math.sqrt(2.0) * effect + rng.standard_normal(PIECES)
    for n in range(1, PIECES + 1):
        if pruner.prune(study, trial(EARLIER, values[:n], complete=False)):
            return n
    return math.inf


def row(pruner: optuna.pruners.BasePruner, effect: float, seeds: Sequence[int]) -> tuple[float, float, float]:
    """Return the share that is stopped, its standard error, and the median number of pieces."""
    found = np.array([stopped(pruner, effect, seed) for seed in seeds])
    share = float(np.isfinite(found).mean())
    return share, math.sqrt(share * (1 - share) / len(found)), float(np.median(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0-299", help="first and last seed")
    first, last = map(int, parser.parse_args().seeds.split("-"))
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print(f"{'':20}{'stopped':>18}{'median piece':>14}")
    for name, effect in EFFECTS.items():
        for pruner in (RacePruner(), optuna.pruners.WilcoxonPruner()):
            share, error, median = row(pruner, effect, range(first, last + 1))
            kind = type(pruner).__name__
            print(f"{name:20}{share:8.3f} ± {error:.3f}{median:14.0f}  {kind}")


if __name__ == "__main__":
    main()
