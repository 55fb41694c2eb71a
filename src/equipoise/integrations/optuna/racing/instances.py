"""An objective that is measured on one instance after the other, and pruned once it is worse."""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from optuna import TrialPruned
from optuna.trial import FixedTrial, FrozenTrial, Trial

from equipoise import _validation as check
from equipoise.integrations.optuna.racing.race import differences, race, worse


def raced(
    objective: Callable[[Any, Any], float], instances: Iterable[Any], *, alpha: float = 0.05, again: bool = False
) -> Callable[[Trial], float]:
    """Return an objective that measures a trial on one instance after the other, and prunes it once it is worse.

    The first half of the instances stops trials, the second half chooses the best trial; see `RacePruner`. The study
    needs no pruner. The value of a trial is the mean over all instances.

    Args:
        objective: Takes a trial and an instance (a fold, a seed, a data set) and returns the reading.
        instances: A trial is measured on these, in this order. Shuffle them if they are sorted.
        alpha: How often a trial that is as good as the incumbent is stopped, at most.
        again: Whether the incumbent is measured again beside each trial, in random order: for readings that drift.
            Otherwise its earlier readings count, and a trial costs one reading an instance.

    Example:
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        >>> def distance(trial, instance):
        ...     return (trial.suggest_float("x", 0, 1) - 0.7) ** 2 + math.sin(37.0 * instance)
        >>> study.optimize(raced(distance, range(20)), n_trials=10)
        >>> sum(len(trial.intermediate_values) for trial in study.trials), round(study.best_params["x"], 1)
        (88, 0.7)
    """
    if not isinstance(instances, Iterable):
        raise TypeError(f"`instances` must be a list such as range(20), got {instances!r}")
    pieces = list(instances)
    if len(pieces) < 2:
        raise ValueError(f"`instances` must be at least two, got {len(pieces)}")
    check.probability("alpha", alpha)

    @functools.wraps(objective)
    def measure(trial: Trial) -> float:
        racing, incumbent = race(trial.study, trial.number)
        beside, values = incumbent if again else None, dict[int, float]()
        for k, instance in enumerate(pieces):
            values[k] = _reading(objective, trial, beside, k, instance)
            trial.report(values[k], k)
            if incumbent is None or k not in racing:
                continue
            if worse(differences(trial.study, values, incumbent, racing), alpha):
                raise TrialPruned(f"worse than trial {incumbent.number}, by {len(values)} instances")
        return math.fsum(values.values()) / len(pieces)

    return measure


def _reading(
    objective: Callable[[Any, Any], float], trial: Trial, incumbent: FrozenTrial | None, k: int, instance: Any
) -> float:
    """Return the reading of a trial on an instance; beside an incumbent, without the drift since its reading."""
    known = None if incumbent is None else incumbent.intermediate_values.get(k)
    if incumbent is None or known is None:
        return float(objective(trial, instance))
    rival = FixedTrial(incumbent.params, incumbent.number)
    first = np.random.default_rng((trial.number, k)).random() < 0.5  # METHOD section 1: the order is a coin's
    read = {one: float(objective(one, instance)) for one in ((trial, rival) if first else (rival, trial))}
    return float(known + read[trial] - read[rival])
