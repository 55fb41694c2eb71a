"""The objective of a trial that is a duel: an unchanged one, called for both members of the pair."""

import functools
import math
from collections.abc import Callable
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, Trial

from equipoise.integrations.optuna.records import FIRST, SECOND, Pair
from equipoise.integrations.optuna.rival import Rival
from equipoise.integrations.optuna.sampler import DuelSampler, sampler_of
from equipoise.integrations.optuna.translation import internal


def paired(objective: Callable[[Any], float]) -> Callable[[Trial], float]:
    """Return an objective that measures both members of a trial's pair, in random order, and returns the difference.

    The trial's own parameters are measured with the trial itself, its rival's with an `optuna.trial.FixedTrial` that
    has the trial's `study`. Both readings become user attributes, `duel_first` and `duel_second`; user attributes that
    the objective sets for the rival get the prefix `second:`. Where a reading fails, is pruned, or is not finite, so
    does or is the trial.

    Args:
        objective: An objective as Optuna knows it, unchanged.

    Example:
        >>> import optuna
        >>> from equipoise.integrations.optuna import DuelSampler, best_params, paired
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=1))
        >>> study.optimize(paired(lambda trial: 5.0 + trial.suggest_int("n", 0, 3)), n_trials=8)
        >>> best_params(study), sorted(study.trials[0].user_attrs)
        ({'n': 3}, ['duel_first', 'duel_second'])
    """

    @functools.wraps(objective)
    def measure(trial: Trial) -> float:
        sampler = sampler_of(trial.study)
        if sampler is None:
            found = type(trial.study.sampler).__name__
            raise RuntimeError(f"paired(objective) must meet a DuelSampler, got a study with {found}")
        if sampler.reduction.baseline is not None:
            raise RuntimeError("paired(objective) measures two points a trial, got a sampler for one: drop `paired`")
        _ = trial.relative_params  # the pair is proposed now, where the space is known
        pair = Pair.of(_stored(trial))
        rival = Rival(trial, None if pair is None else pair.second(), _drawing(sampler, trial))
        swapped = sampler.coin(trial.number) if pair is None else pair.swapped
        readings = {member: _number(objective(member)) for member in ((rival, trial) if swapped else (trial, rival))}
        first, second = readings[trial], readings[rival]
        _record(trial, rival, swapped, (first, second))
        return first - second if math.isfinite(first - second) else math.nan  # Optuna fails a trial whose value is nan

    return measure


def _drawing(sampler: DuelSampler, trial: Trial) -> Callable[[str, BaseDistribution], Any]:
    def draw(name: str, distribution: BaseDistribution) -> Any:
        return sampler.independent_sampler.sample_independent(trial.study, _stored(trial), name, distribution)

    return draw


def _record(trial: Trial, rival: Rival, swapped: bool, readings: tuple[float, float]) -> None:
    """Keep what was compared and read; only parameters that both have can be learned from."""
    shown = {f"second:{key}": value for key, value in rival.user_attrs.items()}
    for key, value in (shown | {FIRST: readings[0], SECOND: readings[1]}).items():
        trial.set_user_attr(key, value)
    own, other = (
        {name: internal(d, member.params[name]) for name, d in member.distributions.items()}
        for member in (trial, rival)
    )
    values = {name: (own[name], other[name]) for name in own if name in other}
    finite = readings if math.isfinite(readings[0] - readings[1]) else None
    Pair(values, swapped, trial.number, finite).keep(trial.storage, trial._trial_id)


def _stored(trial: Trial) -> FrozenTrial:
    return trial.storage.get_trial(trial._trial_id)


def _number(reading: Any) -> float:
    """Return a reading as a number; what is none fails the trial as Optuna fails it, without an exception."""
    try:
        return float(reading)
    except (TypeError, ValueError):
        return math.nan
