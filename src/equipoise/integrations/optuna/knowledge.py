"""The knowledge of a process about a study: its duels, read from the storage, and their lessons for each output.

A process that fits hyperparameters, the expensive part, stores the result with the trial that it proposes, and the next
process starts from it (`integrations/remembering.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from equipoise._typing import FloatArray
from equipoise.answer import Standing
from equipoise.belief import Feasibility, Folding, LearnedBelief, LearnedModel, Schedule, StudyBelief
from equipoise.data import Duel, Proposal, Reading, teaches, will_teach
from equipoise.integrations.optuna.records import FIT, TrialPair, fit_from_json, read
from equipoise.integrations.optuna.study_numbers import StudyNumbers
from equipoise.integrations.optuna.translation import Translation
from equipoise.integrations.remembering import Fit, Lessons, keep_up, learn, remembered, unrepeated
from equipoise.likelihoods import Likelihood
from equipoise.log import Streams
from equipoise.offsets import Offset
from equipoise.policies import Policy
from equipoise.reductions import Baseline, TwoPoint, Zero
from equipoise.spaces import Restricted
from equipoise.study import Explorer, absurd, default_explorer, default_posterior
from equipoise.study.outputs import Limit, Named, likely, of_output, proposed, within_limits

MEMORY_DUELS = 96
"""Number of duels kept unfolded by default: a proposal takes 40 ms then, a fit 0.25 s, for three knobs."""

STALE_TRIALS = 64
"""A running trial counts as lost once this number of later trials has begun."""

FORECAST_READINGS = 256
"""Number of last readings that give the baseline of one-point duels: it bounds the cost in a long study."""

THOROUGH_DUELS = 512
"""Number of duels from which a recommendation learns in a long study with blocks, which cannot be folded."""

TURN_TRIALS, PATIENCE = 8, 0.1
"""One trial in TURN_TRIALS fits a long study when a fit is due, the others once it grew by a share PATIENCE more, so
that not all fit at once."""


class StudyModel:
    """The knowledge of a process about a study, under an assumed law of the offset, optionally in a given space."""

    def __init__(
        self,
        law: Offset,
        search_space: Mapping[str, BaseDistribution] | None = None,
        streams: Streams | None = None,
        limits: Sequence[Limit] = (),
        seeds: bool = False,
        likelihood: Likelihood | None = None,
    ) -> None:
        self.law, self._given, self._streams, self._limits, self._seeds = law, search_space, streams, limits, seeds
        self._likelihood = None if likelihood is None or likelihood.exact else likelihood
        self._first: dict[tuple[str, bytes], tuple[int, int]] = {}
        self._explorer: Explorer | None = None
        self._settled: set[int] = set()
        self._told: dict[int, tuple[TrialPair, list[Reading]]] = {}
        self._lost: dict[int, tuple[TrialPair, tuple[int, ...]]] = {}
        self._absurd: set[int] = set()
        self._pending: list[tuple[int, TrialPair]] = []
        self._names: set[str] | None = None
        self._latest: FrozenTrial | None = None
        self._fits: dict[tuple[int, str], Fit] = {}
        self._translation: Translation | None = None
        self._duels: dict[int, Duel | None] = {}
        self._taught: dict[str, dict[int, Lessons]] = {}
        self._before: dict[str, LearnedBelief] = {}

    def update(self, study: Study) -> None:
        """Read the changes since the last call."""
        trials = study.get_trials(deepcopy=False)
        new = [t for t in trials if t.number not in self._settled and t.state.is_finished()]
        running = [t for t in trials[-STALE_TRIALS:] if t.state == TrialState.RUNNING]
        for trial in new:
            self._settle(trial)
        told = [(number, reading.value) for number, (_, read) in self._told.items() for reading in read]
        self._absurd = {told[k][0] for k in absurd([value for _, value in told])}
        self._pending = [(t.number, pair) for t in running if (pair := TrialPair.of(t)) is not None]
        for trial in (*new, *running):
            for key in (key for key in trial.system_attrs if key.startswith(FIT)):
                if (fit := read(trial, key, fit_from_json)) is not None:
                    self._fits[trial.number, key] = fit
        kept = {key for pair, _ in self._told.values() for key in pair.others or ()}
        self.numbers = StudyNumbers(study, self._limits, kept)

    def search_space(self) -> dict[str, BaseDistribution]:
        """Return the parameters that all finished trials share, within the latest ranges; without single values."""
        latest = {} if self._latest is None else self._latest.distributions
        seen = {name: latest[name] for name in self._names or () if name in latest}
        space = seen if self._given is None else self._given
        return {name: space[name] for name in sorted(space) if not space[name].single()}

    def translation(self, search_space: Mapping[str, BaseDistribution]) -> Translation:
        """Return the translation of a search space."""
        if self._translation is None or self._translation.distributions != search_space:
            self._translation = Translation(search_space)
            self._duels, self._taught, self._before, self._first = {}, {}, {}, {}
            if self._streams is not None:
                self._explorer = default_explorer(self._translation.space, TwoPoint(), None, self._streams)
        return self._translation

    def taught(self, translation: Translation, output: str | None = None) -> dict[int, Lessons]:
        """Return the lessons of finished duels within the space about an output, by number; by default the first."""
        outputs = self.numbers.outputs
        name = outputs.first.name if output is None else output
        taught, sign = self._taught.setdefault(name, {}), outputs.sign(name)
        for number in sorted(self._told.keys() - taught.keys()):
            pair, told, law = self._told[number][0], self._following(number), self._likelihood
            read: list[Reading | None] = [each if law is None else each.under(law) for each in told]
            if name != outputs.first.name:
                read = [of_output(each, self.numbers.keys[name]) for each in told]
            duel = self._duels.setdefault(number, pair.duel(translation.encode))
            known = pair.sign is None or pair.baseline is not None
            options = {"number": float(number), "sign": sign}
            new = [*read] if duel is None or not self._seeds else unrepeated(self._first, number, duel, read)
            taught[number] = () if duel is None else teaches(duel, new, self.law, comparable=known, **options)
        left = taught.keys() - self._absurd
        return {number: taught[number] for number in sorted(left) if taught[number]}

    def _following(self, number: int) -> list[Reading]:
        """Return the readings of a trial, each with the one before it: an instrument may depend on that."""
        before = max((n for n in self._told if n < number and n not in self._absurd), default=None)
        last = None if before is None else self._told[before][1][-1].value
        told = []
        for reading in self._told[number][1]:
            told.append(replace(reading, circumstances=reading.circumstances.after(last)))
            last = reading.value
        return told

    def beliefs(
        self, translation: Translation, memory: int, trial: int | None = None
    ) -> tuple[dict[str, StudyBelief], dict[str, Fit]]:
        """Return the belief about each output, and the new fits, by the attributes that keep them."""
        outputs, beliefs, fits = self.numbers.outputs, {}, {}
        for name in outputs.names:
            beliefs[name], fit = self.belief(translation, memory, trial, name)
            if fit is not None:
                fits[FIT if name == outputs.first.name else f"{FIT}:{self.numbers.keys[name]}"] = fit
        return beliefs, fits

    def belief(
        self, translation: Translation, memory: int, trial: int | None = None, output: str | None = None
    ) -> tuple[StudyBelief, Fit | None]:
        """Return the belief for a proposal or a recommendation, and the fit, if there was a new one.

        Args:
            translation: The translation of the space.
            memory: Number of duels kept unfolded.
            trial: The number of the trial to propose; `None` for a recommendation.
            output: The output; the first objective by default.
        """
        first = self.numbers.outputs.first.name
        name = first if output is None else output
        taught = [*self.taught(translation, name).values()]
        model = default_posterior(translation.space, None, self.law, None, None)
        assert isinstance(model, LearnedModel)
        data = memory * (2 if self.law.learns_readings else 1)
        prior = LearnedBelief.prior(replace(model, folding=Folding(data, data // 5, max(data * 2 // 5 // 2 * 2, 2))))
        about = f"{translation.signature} {self.law!r} {len(prior.fitted.hyperparameters.theta)}"
        about = about if self._likelihood is None else f"{self._likelihood!r} {about}"
        about = about if name == first else f"{self.numbers.keys[name]} {about}"
        fits = {n: f for n, f in self._fits.items() if f.model == about and model.form.has(f.learned.hyperparameters)}
        known = sorted((f.duels, n) for n, f in fits.items() if f.duels <= len(taught))
        fit = self._fits[known[-1][1]] if known else None
        if fit is None or len(taught) <= memory:
            belief, fit = learn(prior, remembered(taught, memory), about, fit)
            return StudyBelief(belief), fit
        growth = Schedule().growth + (0.0 if trial is not None and trial % TURN_TRIALS == 0 else PATIENCE)
        due = len(taught) >= Schedule(growth=growth).after(fit.duels)
        if fit.learned.accounts is not None and fit.learned.accounts.blocks:
            taught = [*remembered(taught, max(memory, THOROUGH_DUELS) if trial is None else memory)]
        belief, made = keep_up(self._before.get(name, prior), taught, memory, fit, due)
        self._before[name] = belief
        return StudyBelief(belief), made

    def named(self, translation: Translation, beliefs: Mapping[str, StudyBelief]) -> Named | None:
        """Return the beliefs about the outputs, if there is more than one objective without limits."""
        started = (self._told[n][0].member(0) for n in self.taught(translation))
        start = next((x for values in started if (x := translation.encode(values)) is not None), None)
        return Named(self.numbers.outputs, beliefs, start) if self.numbers.several else None

    def standing(self, translation: Translation, named: Named | None) -> Standing:
        """Return the facts about a study besides its belief."""
        feasibility, taught = self.feasibility(translation), self.taught(translation)
        read = [x for number in taught if (duel := self._duels[number]) is not None for x in duel.points]
        standing = Standing(len(read), None if feasibility.certain else feasibility, read=np.array(read))
        if named is None:
            return standing
        within, unsure = within_limits(translation.space, named.wanted[0], feasibility, named)
        return replace(standing, start=named.start, attainable=within, doubtful=unsure)

    def feasibility(self, translation: Translation) -> Feasibility:
        """Return which settings can be measured: of a failed pair, only the failed member counts as a failure."""
        extent, told = translation.space.extent, {n: (pair, pair.measures) for n, (pair, _) in self._told.items()}
        places = [
            (x, number in told)
            for number, (pair, members) in sorted({**told, **self._lost}.items())
            for i in members
            if (x := translation.encode(pair.member(i))) is not None
        ]
        if all(was_read for _, was_read in places):
            return Feasibility(extent)
        return Feasibility.of(extent, np.array([x for x, _ in places]), np.array([was_read for _, was_read in places]))

    def anticipating(self, belief: StudyBelief, translation: Translation) -> StudyBelief:
        """Return the belief as if open trials had their expected results, so that the next pair differs."""
        open_duels = ((number, pair.duel(translation.encode)) for number, pair in self._pending)
        for number, duel in ((number, duel) for number, duel in open_duels if duel is not None):
            nothing, place = [None] * len(duel.points), 2 * number + 1
            belief = belief.anticipate_all(will_teach(duel, nothing, self.law, number=float(number), place=place))
        return belief

    def proposed(
        self, beliefs: Mapping[str, StudyBelief], translation: Translation, policy: Policy, rng: Generator
    ) -> Proposal:
        """Return the points to compare, from the explorer or the policy: the challenger, then the best setting."""
        first = self.numbers.outputs.first.name
        expecting, space = self.anticipating(beliefs[first], translation), translation.space
        feasibility = self.feasibility(translation)
        part = space if feasibility.certain else Restricted(space, feasibility.allows)
        named = self.named(translation, {**beliefs, first: expecting})
        open_duels = [pair.duel(translation.encode) for _, pair in self._pending]
        told = self.taught(translation)
        lost = [pair.duel(translation.encode) for pair, _ in self._lost.values()]
        begun = [*open_duels, *lost, *(self._duels[number] for number in told)]
        points = [x for duel in begun if duel is not None for x in duel.points]
        asked: FloatArray = np.array(points).reshape(-1, space.dimension)
        count = len(begun) if told else len(lost)  # the start design continues until something is known
        found = self._explorer(expecting, count, likely(part, named), asked, rng) if self._explorer else None
        if found is None:
            found = proposed(policy, expecting.posterior, part, named, rng)
        return Proposal(found.points[::-1], found.weights)

    def forecast(self, baseline: Baseline) -> Baseline | None:
        """Return the forecast after the last single readings, in the order of the trials; `None` without any."""
        told = [entry for _, entry in sorted(self._told.items()) if entry[0].sign is not None][-FORECAST_READINGS:]
        for pair, (reading,) in told:
            baseline = baseline.update(self.numbers.outputs.first.sign * reading.value, pair.predicted or 0.0)
        return baseline if told or baseline == Zero() else None

    def _settle(self, trial: FrozenTrial) -> None:
        """Record a finished trial: its readings and its parameters."""
        self._settled.add(trial.number)
        pair = TrialPair.of(trial)
        duel = TrialPair({}, sign=1.0) if pair is None else pair  # a trial that was not proposed may serve the forecast
        if readings := duel.told(trial):
            self._told[trial.number] = duel, readings
        elif trial.state == TrialState.FAIL and pair is not None:
            self._lost[trial.number] = pair, pair.failed(trial)
        if trial.state == TrialState.COMPLETE and trial.distributions:
            names = set(trial.distributions) & (trial.distributions if pair is None else pair.values).keys()
            self._names = names if self._names is None else self._names & names
            if self._latest is None or trial.number > self._latest.number:
                self._latest = trial
