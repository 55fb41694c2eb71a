"""The objective of a duel: an unchanged objective, called for both members of the pair."""

import copy
import functools
import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FixedTrial, FrozenTrial, Trial

from equipoise.data import OF, SeedName
from equipoise.integrations.optuna.records import FAILED, FIRST, PAIR, SECOND, TrialPair
from equipoise.integrations.optuna.sampler import DuelSampler, sampler_of
from equipoise.integrations.optuna.study_numbers import CONSTRAINTS, numbers
from equipoise.integrations.optuna.translation import internal
from equipoise.offsets import seed_label as label


class Rival(FixedTrial):
    """The second member of a trial's pair, as a trial: suggests proposed values, and draws all others.

    A parameter that the model does not know gets the value that it has in the trial, so that its effect cancels.
    If nothing was proposed yet, or the proposed value has left the range, it is drawn at random.
    """

    def __init__(self, trial: Trial, pair: TrialPair | None, sampler: DuelSampler) -> None:
        super().__init__({}, trial.number)
        self.study, self._trial, self._sampler = trial.study, trial, sampler
        self._proposed = None if pair is None else pair.member(1)

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:  # where all of Optuna's suggest_... end
        if name not in self._params:
            self._params[name] = self._decided(name, distribution)
        return super()._suggest(name, distribution)

    def _decided(self, name: str, distribution: BaseDistribution) -> Any:
        if self._proposed is not None and name not in self._proposed:
            return self._trial._suggest(name, distribution)
        if self._proposed is not None and distribution._contains(self._proposed[name]):
            return distribution.to_external_repr(self._proposed[name])
        stored = self._trial.storage.get_trial(self._trial._trial_id)
        return self._sampler.independent_sampler.sample_independent(self.study, stored, name, distribution)


def paired(objective: Callable[..., Any]) -> Callable[[Trial], Any]:
    """Return an objective that measures both members of a trial's pair, in random order, and returns the difference.

    The trial's own parameters are measured with the trial itself, its rival's with an `optuna.trial.FixedTrial`. Both
    readings become user attributes, `duel_first` and `duel_second`; user attributes that the objective sets for the
    rival get the prefix `second:`. An objective that takes `seed` gets that of the trial, if the sampler has seeds.
    If one reading fails, is pruned or is not finite, the whole trial is. With several objectives the differences are
    returned. Limits and constraints are stored for both members. Under a likelihood of the sampler the objective
    returns a count, or a share as (17, 200); the value of a trial is then the difference of counts or shares.
    """

    @functools.wraps(objective)
    def measure(trial: Trial) -> float | tuple[float, ...]:
        sampler = sampler_of(trial.study)
        if sampler is None:
            raise RuntimeError(f"paired(objective) needs a study with a DuelSampler, got {trial.study.sampler!r}")
        if sampler.reduction.baseline is not None:
            raise RuntimeError("paired(objective) measures two points a trial, got a sampler for one: drop `paired`")
        _ = trial.relative_params  # the pair is proposed now, where the space is known
        stored = trial.storage.get_trial(trial._trial_id)
        pair, inherited = TrialPair.of(stored), {*stored.system_attrs}  # a retried trial has what the lost one had set
        rival, swapped = Rival(trial, pair, sampler), sampler.coin(trial.number) if pair is None else pair.swapped
        seed = None if sampler.seeds is None else sampler.seeds.nth(trial.number)
        given = _given(objective, seed, (trial, rival))
        order = (rival, trial) if swapped else (trial, rival)
        study, rules = trial.study, (sampler.likelihood, sampler.limits, sampler.constraints_func)
        values = {each: _measured(objective, each, trial, given) for each in order}
        read = {each: numbers(_frozen(each, trial, inherited), value, study, *rules) for each, value in values.items()}
        block = sampler.block if seed is None else label(sampler.block, seed)
        _record(trial, rival, swapped, (read[trial], read[rival]), block)
        wins = [_shown(read[trial], i) - _shown(read[rival], i) for i in range(len(study.directions))]
        found = tuple(win if math.isfinite(win) else math.nan for win in wins)  # Optuna fails a trial with a nan
        return found if len(found) > 1 else found[0]

    return measure


def _shown(read: Mapping[str, float], i: int) -> float:
    """Return a number of a member as people see it: a share instead of its successes."""
    return read[f"values_{i}"] / (read.get(OF, 1.0) if i == 0 else 1.0)


def _measured(objective: Callable[..., Any], member: Trial | Rival, trial: Trial, given: Mapping[str, SeedName]) -> Any:
    """Return the objective at one member of the pair; if it fails, store which member failed."""
    try:
        return objective(member, **given)
    except Exception:
        trial.storage.set_trial_system_attr(trial._trial_id, FAILED, [int(isinstance(member, Rival))])
        raise


def _frozen(member: Trial | Rival, trial: Trial, inherited: Collection[str]) -> FrozenTrial:
    """Return a member of the pair as a finished trial, without the attributes that it inherited."""
    frozen = copy.copy(trial.storage.get_trial(trial._trial_id))
    frozen.system_attrs = {key: value for key, value in frozen.system_attrs.items() if key not in inherited}
    if isinstance(member, Rival):
        frozen.params, frozen.distributions = member.params, member.distributions
        frozen.user_attrs, frozen.system_attrs = member.user_attrs, member.system_attrs
    return frozen


def _given(
    objective: Callable[..., float], seed: SeedName | None, members: Sequence[Trial | Rival]
) -> dict[str, SeedName]:
    """Return the seed as an argument of the objective, if it takes one; both members have it as a user attribute."""
    takes = inspect.signature(objective).parameters.get("seed")
    if seed is None:
        if takes is not None and takes.default is takes.empty:
            raise TypeError("`objective` takes a seed, which a sampler with seeds gives: DuelSampler(seeds=True)")
        return {}
    for member in members:
        member.set_user_attr("seed", seed)
    return {} if takes is None else {"seed": seed}


def _record(
    trial: Trial, rival: Rival, swapped: bool, read: tuple[Mapping[str, float], ...], block: str | None
) -> None:
    """Store the settings and their readings; the study learns only from parameters that both have."""
    first = [each["values_0"] for each in read]
    shown = {f"second:{key}": value for key, value in rival.user_attrs.items()}
    for key, value in (shown | {FIRST: first[0], SECOND: first[1]}).items():
        trial.set_user_attr(key, value)
    both = [{name: internal(d, t.params[name]) for name, d in t.distributions.items()} for t in (trial, rival)]
    values = {name: [both[0][name], both[1][name]] for name in both[0] if name in both[1]}
    finite = first if math.isfinite(first[0] - first[1]) else None
    others = {key: [read[0][key], read[1].get(key, math.nan)] for key in read[0] if key != "values_0"}
    kept = {key: two for key, two in others.items() if math.isfinite(two[0] - two[1])}
    if failed := [i for i, value in enumerate(first) if not math.isfinite(value)]:
        trial.storage.set_trial_system_attr(trial._trial_id, FAILED, failed)
    measured = None if finite is None else trial.number
    pair = TrialPair(values, swapped, measured, finite, block=block, others=kept or None)
    trial.storage.set_trial_system_attr(trial._trial_id, PAIR, pair.to_json())
    if constraints := [two[0] for key, two in others.items() if key.removeprefix(f"{CONSTRAINTS}:").isdigit()]:
        trial.storage.set_trial_system_attr(trial._trial_id, CONSTRAINTS, constraints)
