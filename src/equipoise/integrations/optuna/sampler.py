"""The sampler, and the recommendation of a study."""

import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from equipoise import _validation as check
from equipoise._linalg import one_thread
from equipoise.answer import FrontPoint, Recommendation, recommended
from equipoise.belief import StudyBelief
from equipoise.integrations.optuna.knowledge import MEMORY_DUELS, StudyModel
from equipoise.integrations.optuna.records import PAIR, TrialPair, fit_to_json
from equipoise.integrations.optuna.study_numbers import Constraints
from equipoise.integrations.optuna.translation import Translation, must_tell_apart
from equipoise.likelihoods import Gaussian, Likelihood
from equipoise.log import FRONT, PROPOSE, RECOMMEND, Streams
from equipoise.offsets import Offset
from equipoise.policies import Policy, Seeds
from equipoise.reductions import OnePoint, TwoPoint
from equipoise.study import default_offset, default_policy
from equipoise.study.outputs import Named, compromised, limited, must_be_learned, wanted
from equipoise.study.outputs import front as undominated


class NotModeled(UserWarning):
    """Some trials do not have a parameter, so it is drawn at random and not optimized."""


class DuelSampler(BaseSampler):
    """Proposes pairs instead of points.

    Use it with `paired(objective)`. The trial's own parameters are those of a challenger, and its rival is the best
    setting known so far, so the value of a trial is its gain over the best.

    Args:
        policy: Chooses the pair after the start design; as in `Optimizer` by default.
        reduction: `TwoPoint()`, or `OnePoint(...)` for plain objectives that are measured once a trial.
        offset: What is assumed of the bias, over the trials by number; that of the reduction by default.
        likelihood: How a reading depends on f: `Gaussian()` by default, a number; `likelihoods.Poisson()`, a count;
            `likelihoods.Binomial()`, a share, which the objective returns as (17, 200).
        search_space: The parameters to optimize; by default those that every finished trial has.
        block: The block, such as a day or a host, of the readings of this process; a trial's user attribute `block`
            takes precedence.
        seeds: Whether both settings of a trial are measured under the same seed: `True`, or a list of seeds, folds or
            instances that are taken in turn. It is the user attribute `seed`, and `paired` passes it to an objective
            that takes `seed`.
        limits: Limits such as `"loss <= 3"` or `"size <= start + 1"`, of an objective by its metric name or of a user
            attribute that the objective sets. The start is the first measured trial: enqueue it.
        constraints_func: Returns numbers of a trial, each at most zero if it may be used, as other samplers take it;
            `trial.set_constraint` needs no function.
        memory: The number of duels to keep individually; older ones are folded into a few outcomes.
        independent_sampler: Draws the parameters that are not optimized; at random by default.
        seed: The seed of random numbers. The proposal of trial n depends on the seed, n and the trials finished before.

    Example:
        >>> import optuna
        >>> from equipoise.integrations.optuna import DuelSampler, best_params, paired
        >>> clock = iter(range(1000))
        >>> def objective(trial):  # drifts by more than the signal: it does not matter
        ...     return -((trial.suggest_float("x", 0, 1) - 0.7) ** 2) + 0.1 * next(clock)
        >>> study = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=0))
        >>> study.optimize(paired(objective), n_trials=30)
        >>> round(best_params(study)["x"], 1)
        0.7
    """

    def __init__(
        self,
        *,
        policy: Policy | None = None,
        reduction: TwoPoint | OnePoint | None = None,
        offset: Offset | None = None,
        likelihood: Likelihood | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        block: str | None = None,
        seeds: Any = None,
        limits: Sequence[str] = (),
        constraints_func: Constraints | None = None,
        memory: int = MEMORY_DUELS,
        independent_sampler: BaseSampler | None = None,
        seed: int | None = None,
    ) -> None:
        self.policy: Policy = default_policy() if policy is None else policy
        self.reduction = TwoPoint() if reduction is None else reduction
        if not isinstance(self.reduction, (TwoPoint, OnePoint)):
            raise TypeError(f"`reduction` must be TwoPoint() or OnePoint(...), got {reduction!r}")
        if self.policy.proposal_size != 2:
            raise ValueError(f"`policy` must propose pairs, got {policy!r}")
        self.seeds = Seeds.of("seeds", seeds)
        self.offset: Offset = default_offset(self.reduction, None, None, self.seeds) if offset is None else offset
        if not hasattr(self.offset, "learns_readings") or isinstance(self.offset, type):
            raise TypeError(f"`offset` must be an object such as Tracked(), got {offset!r}")
        if self.reduction.baseline is not None and self.offset.learns_readings:
            raise ValueError(f"`offset` must be Arbitrary() for duels of a single reading, got {offset!r}")
        self.likelihood: Likelihood = Gaussian() if likelihood is None else likelihood
        if not hasattr(self.likelihood, "tilt") or isinstance(self.likelihood, type):
            raise TypeError(f"`likelihood` must be an object such as Poisson(), got {likelihood!r}")
        if self.reduction.baseline is not None and not self.likelihood.exact:
            raise ValueError(f"`likelihood` must be Gaussian() for duels of a single reading, got {likelihood!r}")
        self.search_space = search_space and dict(search_space)
        self.block = None if block is None else check.name("block", block)
        self.memory = check.count("memory", memory, at_least=2)
        self.limits, self.constraints_func = limited(limits), constraints_func
        self.independent_sampler = RandomSampler(seed) if independent_sampler is None else independent_sampler
        self._streams, self._warned = Streams(seed), set[str]()
        self.__setstate__({})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_known", "_read_for")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock, self._read_for = threading.RLock(), -1
        self._known: tuple[BaseStorage, int, StudyModel] | None = None  # a cache: all of it is in the storage

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; the numbers of this sampler depend on the trial alone."""
        self.independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the parameters to optimize."""
        with self._lock:
            model = self._model(study, trial.number)
            if model.numbers.several and self.reduction.baseline is not None:
                rule = "`reduction` must be TwoPoint() with several objectives or limits"
                raise ValueError(f"{rule}, got {self.reduction!r}")
            must_be_learned(model.numbers.outputs, self.likelihood)
            return model.search_space()

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Propose a pair, store it with the trial, and return the member to measure."""
        if not search_space:
            return {}
        pair = TrialPair.of(trial)  # a retried trial brings one along
        if pair is None or not search_space.keys() <= pair.values.keys():
            pair = self._propose(study, trial, search_space)
        return {name: d.to_external_repr(pair.picked[name]) for name, d in search_space.items()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draw a parameter that is not optimized, with a warning once the space is known."""
        must_tell_apart(param_name, param_distribution)
        if param_name not in self._warned and TrialPair.of(trial) is not None:
            self._warned.add(param_name)
            what = f"parameter {param_name!r} is drawn at random and not optimized in trial {trial.number}"
            why = "not every finished trial has it in this range. Suggest it always, or make a study for each branch"
            warnings.warn(f"{what}: {why}", NotModeled, stacklevel=2)
        return self.independent_sampler.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Prepare the independent sampler, which draws the parameters that are not optimized."""
        self.independent_sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Refuse a trial whose rival was not measured, since it teaches nothing."""
        self.independent_sampler.after_trial(study, trial, state, values)
        if state != TrialState.COMPLETE or self.reduction.baseline is not None:
            return
        pair = TrialPair.of(trial)
        if pair is None or pair.measured != trial.number:
            advice = "wrap the objective, or give the sampler reduction=OnePoint(...)"
            got = f"got a value without a rival for trial {trial.number}"
            raise RuntimeError(f"a trial must be measured by paired(objective), {got}: {advice}")

    def recommend(
        self, study: Study, weights: Mapping[str, float] | None = None, prefer: str | None = None
    ) -> Recommendation:
        """Return the best known setting, with a bound on the remaining gain, as `recommend(study)` does."""
        with self._lock, one_thread():
            model, translation, beliefs, named = self._known_of(study)
            outputs, space = model.numbers.outputs, translation.space
            if not outputs.several and (weights is not None or prefer is not None):
                raise ValueError("`weights` and `prefer` choose among several objectives; this study has one")
            known = model.standing(translation, named)
            best = recommended(space, beliefs[outputs.first.name], known, self._streams.at(known.readings, RECOMMEND))
            if named is not None:
                best = best.within(named.usability(space.encode(best.x)))
            if scale := self.likelihood.scale:
                best = replace(best, unit=f"in {scale}")
            if named is not None and outputs.several:
                points = self._front(model, translation, named) or self._front(model, translation, named, sure=False)
                best = compromised(best, points, named, space, wanted(outputs, weights, prefer))
            if self.seeds is not None:
                complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
                best = best.on_seeds(len({trial.user_attrs.get("seed") for trial in complete} - {None}))
            return translation.shown(best)

    def front(self, study: Study) -> list[FrontPoint]:
        """Return the settings that are not dominated in several objectives; use it instead of `study.best_trials`."""
        with self._lock, one_thread():
            model, translation, _, named = self._known_of(study)
            if named is None or not named.outputs.several:
                raise ValueError("`study` must have several objectives to have a front, got one")
            return list(map(translation.shown, self._front(model, translation, named)))

    def _front(self, model: StudyModel, translation: Translation, named: Named, sure: bool = True) -> list[FrontPoint]:
        standing = model.standing(translation, named)
        part = translation.space if standing.attainable is None else standing.attainable
        return undominated(named, part, standing, self._streams.at(standing.readings, FRONT), sure=sure)

    def _known_of(self, study: Study) -> tuple[StudyModel, Translation, dict[str, StudyBelief], Named | None]:
        model = self._model(study)
        translation = model.translation(model.search_space()) if model.search_space() else None
        if translation is None or not model.taught(translation):
            raise ValueError("`study` must have a finished duel for a recommendation, got none")
        beliefs, _ = model.beliefs(translation, self.memory)
        return model, translation, beliefs, model.named(translation, beliefs)

    def coin(self, number: int) -> bool:
        """Toss the coin for a trial whose pair was not proposed; return whether its rival is measured first."""
        with self._lock:
            return bool(self._streams.at(number, PROPOSE).random() < 0.5)

    def _propose(self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]) -> TrialPair:
        with self._lock, one_thread():
            model = self._model(study, trial.number)
            translation, rng = model.translation(search_space), self._streams.at(trial.number, PROPOSE)
            beliefs, fits = model.beliefs(translation, self.memory, trial.number)
            proposal = model.proposed(beliefs, translation, self.policy, rng)
            belief = beliefs[model.numbers.outputs.first.name]
            means, baseline = belief.posterior.at(proposal.points).mean, self.reduction.baseline
            forecast = None if baseline is None else model.forecast(baseline)
            c = None if forecast is None else forecast.predict(float(means.mean()))
            signs = self.reduction(proposal, rng, c or 0.0).signs
        fixed = trial.system_attrs.get("fixed_params", {}) if len(signs) == 2 else {}
        swapped = len(signs) == 2 and signs[0] < 0
        pair = TrialPair(translation.members(proposal.points, fixed), swapped)
        if len(signs) == 1:
            pair = replace(pair, sign=signs[0], block=self.block, baseline=c, predicted=float(means[int(signs[0] < 0)]))
        kept = {key: fit_to_json(fit) for key, fit in fits.items()} | {PAIR: pair.to_json()}
        for key, content in kept.items():
            study._storage.set_trial_system_attr(trial._trial_id, key, content)
        return pair

    def _model(self, study: Study, trial: int = -1) -> StudyModel:
        """Return the knowledge of a study; data just read from the storage for the same trial are not read again."""
        storage, number = study._storage, study._study_id
        if self._known is None or self._known[:2] != (storage, number):
            given = self._streams, self.limits, self.seeds is not None, self.likelihood
            model = StudyModel(self.offset, self.search_space, *given)
            self._known, self._read_for = (storage, number, model), -1
        if trial < 0 or trial != self._read_for:
            self._known[2].update(study)
        self._read_for = trial
        return self._known[2]


def sampler_of(study: Study) -> DuelSampler | None:
    """Return the sampler of a study if its trials are duels; it may be inside a `PartialFixedSampler`."""
    sampler = getattr(study.sampler, "_base_sampler", study.sampler)
    return sampler if isinstance(sampler, DuelSampler) else None


def recommend(study: Study, weights: Mapping[str, float] | None = None, prefer: str | None = None) -> Recommendation:
    """Return the best setting by a study's duels, even if the study was loaded with another sampler.

    Args:
        study: The study.
        weights: With several objectives, a weight for each, by metric name; equal by default.
        prefer: Instead, the one objective that counts.
    """
    return (sampler_of(study) or DuelSampler(seed=0)).recommend(study, weights, prefer)


def front(study: Study) -> list[FrontPoint]:
    """Return the front of several objectives; under drift, `study.best_trials` is wrong."""
    return (sampler_of(study) or DuelSampler(seed=0)).front(study)


def best_params(study: Study) -> dict[str, Any]:
    """Return the parameters of the best known setting, constants too; under drift, `study.best_params` is wrong."""
    best, *_, last = recommend(study), *study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return {name: last.params[name] for name, each in last.distributions.items() if each.single()} | dict(best.x)
