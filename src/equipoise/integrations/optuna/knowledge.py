"""What a process knows of a study: its duels, read from the storage, and the belief they lead to.

A process that fits hyperparameters, the expensive part, keeps the result with the trial it proposes, and the next
process begins there (`integrations/remembering.py`).
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from optuna.distributions import BaseDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from equipoise.belief import LearnedBelief, LearnedModel, Schedule, StudyBelief
from equipoise.data import Proposal, Reading, teaches, will_teach
from equipoise.integrations.optuna.records import FIT, TrialPair, fit_from_json, read
from equipoise.integrations.optuna.translation import Translation
from equipoise.integrations.remembering import Fit, Lessons, keep_up, learn, remembered
from equipoise.log import Streams
from equipoise.offsets import Offset
from equipoise.policies import Policy, candidates
from equipoise.reductions import Baseline, TwoPoint, Zero
from equipoise.study import Explorer, default_explorer, default_posterior

MEMORY_DUELS = 96
"""How many duels a proposal learns from by default: it takes 40 ms then, a fit 0.25 s, for three knobs on one core."""

STALE_TRIALS = 64
"""A running trial counts as lost once this many were begun after it."""

FORECAST_READINGS = 256
"""How many of the last readings the baseline of one-point duels is made from: in a long study the cost must end."""

THOROUGH_DUELS = 512
"""How many duels of a long study a recommendation learns from: it may take a second, a proposal may not."""

TURN_TRIALS, PATIENCE = 8, 0.1
"""One trial in TURN_TRIALS fits a long study when that is due, the others once it grew by a share PATIENCE more, so
that not all fit at once."""


class StudyModel:
    """What a process knows of a study whose offset is assumed to follow a law, in a space that may be given."""

    def __init__(
        self, law: Offset, search_space: Mapping[str, BaseDistribution] | None = None, streams: Streams | None = None
    ) -> None:
        self.law, self._given, self._streams, self._sign = law, search_space, streams, 1.0
        self._explorer: Explorer | None = None
        self._settled: set[int] = set()
        self._told: dict[int, tuple[TrialPair, list[Reading]]] = {}
        self._pending: list[tuple[int, TrialPair]] = []
        self._names: set[str] | None = None
        self._latest: FrozenTrial | None = None
        self._fits: dict[int, Fit] = {}
        self._translation: Translation | None = None
        self._taught: dict[int, Lessons] = {}

    def update(self, study: Study) -> None:
        """Read what has happened since the last time."""
        self._sign = -1.0 if study.direction == StudyDirection.MINIMIZE else 1.0
        trials = study.get_trials(deepcopy=False)
        new = [t for t in trials if t.number not in self._settled and t.state.is_finished()]
        running = [t for t in trials[-STALE_TRIALS:] if t.state == TrialState.RUNNING]
        for trial in new:
            self._settle(trial)
        self._pending = [(t.number, pair) for t in running if (pair := TrialPair.of(t)) is not None]
        self._fits |= {t.number: fit for t in (*new, *running) if (fit := read(t, FIT, fit_from_json)) is not None}

    def search_space(self) -> dict[str, BaseDistribution]:
        """Return what every finished trial had, within the ranges of the latest one; single values need no search."""
        latest = {} if self._latest is None else self._latest.distributions
        seen = {name: latest[name] for name in self._names or () if name in latest}
        space = seen if self._given is None else self._given
        return {name: space[name] for name in sorted(space) if not space[name].single()}

    def translation(self, search_space: Mapping[str, BaseDistribution]) -> Translation:
        """Return the translation of a search space."""
        if self._translation is None or self._translation.distributions != search_space:
            self._translation, self._taught = Translation(search_space), {}
            if self._streams is not None:
                self._explorer = default_explorer(self._translation.space, TwoPoint(), None, self._streams)
        return self._translation

    def taught(self, translation: Translation) -> dict[int, Lessons]:
        """Return what the finished duels within the space teach, by number."""
        for number in self._told.keys() - self._taught.keys():
            pair, told = self._told[number][0], self._following(number)
            duel, options = pair.duel(translation.encode), {"number": float(number), "sign": self._sign}
            known = pair.sign is None or pair.baseline is not None
            self._taught[number] = () if duel is None else teaches(duel, told, self.law, comparable=known, **options)
        return {number: self._taught[number] for number in sorted(self._taught) if self._taught[number]}

    def _following(self, number: int) -> list[Reading]:
        """Return the readings of a trial, each with the one before it: an instrument may answer to that."""
        before = max((n for n in self._told if n < number), default=None)
        last = None if before is None else self._told[before][1][-1].value
        told = []
        for reading in self._told[number][1]:
            told.append(replace(reading, told=reading.told.after(last)))
            last = reading.value
        return told

    def readings(self, translation: Translation) -> int:
        """Return how many readings these were."""
        return sum(len(self._told[number][1]) for number in self.taught(translation))

    def belief(self, translation: Translation, memory: int, trial: int | None = None) -> tuple[StudyBelief, Fit | None]:
        """Return the belief for proposing a trial, or for a recommendation, and the fit, if it was fitted again."""
        taught = [*self.taught(translation).values()]
        model = default_posterior(translation.space, None, self.law, None, None)
        assert isinstance(model, LearnedModel)
        prior = LearnedBelief.prior(model)
        name = f"{translation.signature} {self.law!r} {len(prior.fitted.hyperparameters.theta)}"
        known = sorted((f.duels, n) for n, f in self._fits.items() if f.model == name and f.duels <= len(taught))
        fit = self._fits[known[-1][1]] if known else None
        if fit is None or len(taught) <= memory:
            belief, fit = learn(prior, remembered(taught, memory), name, fit)
            return StudyBelief(belief), fit
        kept = remembered(taught, max(memory, THOROUGH_DUELS) if trial is None else memory)
        growth = Schedule().growth + (0.0 if trial is not None and trial % TURN_TRIALS == 0 else PATIENCE)
        due = len(taught) >= Schedule(growth=growth).after(fit.duels)
        belief, fit = keep_up(prior, kept, fit, len(taught), due)
        return StudyBelief(belief), fit

    def anticipating(self, belief: StudyBelief, translation: Translation) -> StudyBelief:
        """Return the belief as if what is being measured now came out as expected, so that the next pair differs."""
        open_duels = ((number, pair.duel(translation.encode)) for number, pair in self._pending)
        for number, duel in ((number, duel) for number, duel in open_duels if duel is not None):
            nothing, place = [None] * len(duel.points), 2 * number + 1
            belief = belief.anticipate_all(will_teach(duel, nothing, self.law, number=float(number), place=place))
        return belief

    def proposed(self, belief: StudyBelief, translation: Translation, policy: Policy, rng: Generator) -> Proposal:
        """Return what to compare, to look around or as the policy says: the challenger, then the best setting known."""
        expecting, space = self.anticipating(belief, translation), translation.space
        begun = [*(pair for _, pair in self._pending), *(self._told[n][0] for n in self.taught(translation))]
        points = [x for pair in begun if (duel := pair.duel(translation.encode)) for x in duel.points]
        asked = np.array(points).reshape(-1, space.dimension)
        found = self._explorer(expecting, len(begun), space, asked, rng) if self._explorer else None
        if found is None:
            posterior = expecting.posterior
            found = policy(posterior.at(candidates(space, posterior, policy.scores, rng)), rng)
        return Proposal(found.points[::-1], found.weights)

    def forecast(self, baseline: Baseline) -> Baseline | None:
        """Return the forecast after the last single readings, in the order of the trials; `None` without any."""
        told = [entry for _, entry in sorted(self._told.items()) if entry[0].sign is not None][-FORECAST_READINGS:]
        for pair, (reading,) in told:
            baseline = baseline.update(self._sign * reading.value, pair.predicted or 0.0)
        return baseline if told or baseline == Zero() else None

    def _settle(self, trial: FrozenTrial) -> None:
        """Take in a trial that has finished: what it read, and which parameters it had."""
        self._settled.add(trial.number)
        pair = TrialPair.of(trial)
        duel = TrialPair({}, sign=1.0) if pair is None else pair  # a trial that was not proposed may serve the forecast
        if readings := duel.told(trial):
            self._told[trial.number] = duel, readings
        if trial.state == TrialState.COMPLETE and trial.distributions:
            names = set(trial.distributions) & (trial.distributions if pair is None else pair.values).keys()
            self._names = names if self._names is None else self._names & names
            if self._latest is None or trial.number > self._latest.number:
                self._latest = trial
