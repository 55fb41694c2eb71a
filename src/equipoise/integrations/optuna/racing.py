"""Racing: a trial is measured piece by piece on the pieces of the incumbent, and stopped once it is shown to be worse.

    symbol   meaning                                                                            shape
    d        by how much the incumbent is better, on each piece that both have                  (n,)
    v        d over the root mean square of those so far, its own one included                  (n,)
    b        stakes that are mixed equally                                                      (4,)
    alpha    how often a trial that is as good as the incumbent is stopped, at most             ()

The incumbent is the best of many trials, so its readings on the pieces that chose it are lucky ones: on these an equal
trial looks worse. Therefore the pieces are parted. The first half of them, the race, stops trials and chooses nothing;
the second half chooses the incumbent and stops nothing. If a trial is as good as the incumbent, d is as likely positive
as negative, and `sum_b prod_i (1 + tanh(b v_i)) / 4` ever reaches 1/alpha with a probability of alpha at most.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from optuna import TrialPruned
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FixedTrial, FrozenTrial, Trial, TrialState

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer.sequential import coin_wealth

STAKES = np.array([0.4, 0.7, 1.2, 2.0])
"""For effects of half a deviation of a difference to two: one that is worse by one deviation is stopped after 9 pieces
in the median; with the stakes of `betting`, which are for a verdict on one pair, after 11."""


def worse(d: FloatArray, alpha: float) -> bool:
    """Return whether paired differences ever showed that what they are of is worse: that their center is above 0.

    Example:
        >>> worse(np.array([1.0, 1.2, 0.8, 1.1, 0.9, 1.3]), 0.05)
        True
        >>> worse(np.array([1.0, 1.2, -0.8, 1.1, 0.9, -1.3]), 0.05)
        False
    """
    size = np.sqrt(np.cumsum(d**2) / np.arange(1, len(d) + 1))
    v = np.divide(d, size, out=np.zeros(len(d)), where=size > 0)
    wealth = coin_wealth(v, STAKES, np.full(len(STAKES), 1 / len(STAKES)))
    return bool(len(d)) and bool(wealth.max() >= 1.0 / alpha)


class RacePruner(BasePruner):
    """Prunes a trial that is shown to be worse than the best one on the same pieces, in place of `WilcoxonPruner`.

    Report the reading of each piece (a fold, a seed, an instance of a problem) as an intermediate value, the number of
    the piece as its step, and measure every trial on the same pieces. In the first complete trial the first half of the
    pieces is set aside for the race.

    Args:
        alpha: How often a trial that is as good as the incumbent is pruned, at most, over all its pieces.

    Example:
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> def objective(trial):
        ...     x = trial.suggest_float("x", 0, 1)
        ...     for piece in range(20):
        ...         trial.report((x - 0.7) ** 2 + math.sin(37.0 * piece), piece)  # the piece matters more than x
        ...         if trial.should_prune():
        ...             raise optuna.TrialPruned
        ...     return sum(trial.study.trials[trial.number].intermediate_values.values()) / 20
        >>> study = optuna.create_study(pruner=RacePruner(), sampler=optuna.samplers.RandomSampler(seed=0))
        >>> study.optimize(objective, n_trials=10)
        >>> [len(trial.intermediate_values) for trial in study.trials]
        [20, 20, 6, 6, 6, 6, 6, 6, 6, 6]
    """

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = check.probability("alpha", alpha)

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether a trial is shown to be worse than the incumbent by what it has reported."""
        pieces, incumbent = race(study, trial.number)
        if incumbent is None:
            return False
        return worse(differences(study, trial.intermediate_values, incumbent, pieces), self.alpha)


def race(study: Study, number: int) -> tuple[list[int], FrozenTrial | None]:
    """Return the pieces of the race, and the incumbent of a trial: the best one on the others; `None` if there is none.

    Args:
        study: Its complete trials, without the given one, may be the incumbent.
        number: The number of the trial that races.
    """
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    known = [each for each in complete if each.number != number and _finite(each)]
    if not known:
        return [], None
    steps = list(min(known, key=lambda each: each.number).intermediate_values)
    choosing = steps[(len(steps) + 1) // 2 :]
    fair = [each for each in known if each.intermediate_values.keys() >= set(choosing)] if choosing else []
    sign = _sign(study)
    best = max(fair, key=lambda each: sign * sum(each.intermediate_values[i] for i in choosing), default=None)
    return steps[: (len(steps) + 1) // 2], best


def differences(study: Study, values: Mapping[int, float], incumbent: FrozenTrial, pieces: Sequence[int]) -> FloatArray:
    """Return by how much the incumbent is better than a trial on the pieces of the race, shape (n,).

    Args:
        study: Says whether larger or smaller values are better.
        values: What the trial has reported, by piece, in this order.
        incumbent: The incumbent.
        pieces: Those of the race.
    """
    best, counts = incumbent.intermediate_values, set(pieces)
    both = [best[i] - y for i, y in values.items() if i in counts and i in best]
    d = _sign(study) * np.array(both, dtype=np.float64)
    return d[np.isfinite(d)]


def raced(
    objective: Callable[[Any, Any], float], instances: Iterable[Any], *, alpha: float = 0.05, again: bool = False
) -> Callable[[Trial], float]:
    """Return an objective that measures a trial on one instance after the other, and prunes it once it is worse.

    The first half of the instances stops trials, the second half says which trial is best; see `RacePruner`, which the
    study need not have. The value of a trial is the mean over all instances.

    Args:
        objective: Takes a trial and an instance (a fold, a seed, a data set) and returns the reading.
        instances: What a trial is measured on, in this order: shuffle them if they have one.
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
    """Return the reading of a trial on an instance; beside an incumbent as if what has drifted since it were undone."""
    known = None if incumbent is None else incumbent.intermediate_values.get(k)
    if incumbent is None or known is None:
        return float(objective(trial, instance))
    rival = FixedTrial(incumbent.params, incumbent.number)
    first = np.random.default_rng((trial.number, k)).random() < 0.5  # METHOD section 1: the order is a coin's
    read = {one: float(objective(one, instance)) for one in ((trial, rival) if first else (rival, trial))}
    return float(known + read[trial] - read[rival])


def _sign(study: Study) -> float:
    """Return 1 if a larger value is better, else -1."""
    return 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0


def _finite(trial: FrozenTrial) -> bool:
    """Return whether a trial has reported anything, and nothing that is no number."""
    return bool(trial.intermediate_values) and all(map(math.isfinite, trial.intermediate_values.values()))
