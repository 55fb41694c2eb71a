"""What a process knows of a study: its duels, read from the storage, and the belief they lead to.

Whoever fits hyperparameters, the expensive part, keeps the result with the trial it proposes, and whoever comes next
begins there: what was known then is learned at once, what came since one by one. That is an optimizer's belief to the
last bit. Of more than `memory` duels those in the middle are forgotten, and all others are learned at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from numpy.random import Generator
from optuna.distributions import BaseDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from equipoise.belief import GuardedPosterior, LearnedPosterior, Schedule
from equipoise.data import Comparison, Proposal, Reading, teaches, will_teach
from equipoise.integrations.optuna.records import FIT, Fit, Pair, read
from equipoise.integrations.optuna.translation import Translation
from equipoise.offsets import Offset
from equipoise.policies import Policy
from equipoise.policies.search import candidates
from equipoise.reductions import Baseline, Zero
from equipoise.study.defaults import default_posterior

MEMORY_DUELS = 96
"""How many duels a proposal learns from, where the user says nothing."""

STALE_TRIALS = 64
"""A running trial is thought to be lost once so many were begun after it: nothing is expected of it any more."""

FORECAST_READINGS = 256
"""How many of the last readings the baseline of one-point duels is made from."""

THOROUGH_DUELS = 512
"""How many duels of a long study a recommendation learns from: it may take a second, a proposal may not."""

TURN_TRIALS, PATIENCE = 8, 0.1
"""One trial in so many is the first to fit a long study anew; for others the duels must have grown by so much more."""

Learner = LearnedPosterior | GuardedPosterior
Lessons = tuple[Comparison, ...]


class StudyModel:
    """What a process knows of a study whose offset is assumed to follow a law, in a space that may be given."""

    def __init__(self, law: Offset, search_space: Mapping[str, BaseDistribution] | None = None) -> None:
        self.law, self._sign = law, 1.0
        self._given = search_space
        self._settled: set[int] = set()
        self._told: dict[int, tuple[Pair, list[Reading]]] = {}
        self._pending: list[tuple[int, Pair]] = []
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
        self._pending = [(t.number, pair) for t in running if (pair := Pair.of(t)) is not None]
        self._fits |= {t.number: fit for t in (*new, *running) if (fit := read(t, FIT, Fit.from_json)) is not None}

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
        return self._translation

    def taught(self, translation: Translation) -> dict[int, Lessons]:
        """Return what the finished duels within the space teach, by number."""
        for number in self._told.keys() - self._taught.keys():
            pair, told = self._told[number]
            duel, options = pair.duel(translation.encode), {"number": float(number), "sign": self._sign}
            known = pair.sign is None or pair.baseline is not None
            self._taught[number] = () if duel is None else teaches(duel, told, self.law, comparable=known, **options)
        return {number: self._taught[number] for number in sorted(self._taught) if self._taught[number]}

    def readings(self, translation: Translation) -> int:
        """Return how many readings these were."""
        return sum(len(self._told[number][1]) for number in self.taught(translation))

    def belief(self, translation: Translation, memory: int, trial: int | None = None) -> tuple[Learner, Fit | None]:
        """Return the belief for proposing a trial, or for a recommendation, and the fit, where it was fitted anew."""
        taught = [*self.taught(translation).values()]
        prior = default_posterior(translation.space, None, self.law, None, None)
        assert isinstance(prior, Learner)
        name = f"{translation.signature} {self.law!r} {len(prior.learned.hyperparameters.theta)}"
        known = sorted((f.duels, n) for n, f in self._fits.items() if f.model == name and f.duels <= len(taught))
        fit = self._fits[known[-1][1]] if known else None
        if fit is None or len(taught) <= memory:
            return learn(prior, remembered(taught, memory), name, fit)
        kept = remembered(taught, max(memory, THOROUGH_DUELS) if trial is None else memory)
        growth = Schedule().growth + (0.0 if trial is not None and trial % TURN_TRIALS == 0 else PATIENCE)
        return keep_up(prior, kept, fit, len(taught), len(taught) >= Schedule(growth=growth).after(fit.duels))

    def anticipating(self, belief: Learner, translation: Translation) -> Learner:
        """Return the belief as if what is being measured now came out as expected, so that the next pair differs."""
        for number, pair in self._pending:
            duel, place = pair.duel(translation.encode), 2 * number + 1
            if duel is not None:
                nothing = [None] * len(duel.points)
                for lesson in will_teach(duel, nothing, self.law, number=float(number), place=place):
                    belief = belief.anticipate(lesson)
        return belief

    def proposed(self, belief: Learner, translation: Translation, policy: Policy, rng: Generator) -> Proposal:
        """Return what the policy would compare: the challenger, then the best setting known."""
        expecting = self.anticipating(belief, translation)
        points = candidates(translation.space, expecting, policy.scores, rng)
        best, challenger = policy(expecting.at(points), rng).points
        return Proposal.pair(challenger, best)

    def forecast(self, baseline: Baseline) -> Baseline | None:
        """Return the forecast after the last single readings, in the order of the trials; `None` without any."""
        told = [entry for _, entry in sorted(self._told.items()) if entry[0].sign is not None][-FORECAST_READINGS:]
        for pair, (reading,) in told:
            baseline = baseline.update(self._sign * reading.value, pair.predicted or 0.0)
        return baseline if told or baseline == Zero() else None

    def _settle(self, trial: FrozenTrial) -> None:
        """Take in a trial that has finished: what it read, and which parameters it had."""
        self._settled.add(trial.number)
        pair = Pair.of(trial)
        duel = Pair({}, sign=1.0) if pair is None else pair  # a trial that was not proposed may serve the forecast
        if readings := duel.told(trial):
            self._told[trial.number] = duel, readings
        if trial.state == TrialState.COMPLETE and trial.distributions:
            names = set(trial.distributions) & (trial.distributions if pair is None else pair.values).keys()
            self._names = names if self._names is None else self._names & names
            if self._latest is None or trial.number > self._latest.number:
                self._latest = trial


def remembered(duels: Sequence[Lessons], memory: int) -> Sequence[Lessons]:
    """Return the duels to learn from: the first, which say where not to look, and the last, which say most."""
    first = memory // 2
    return duels if len(duels) <= memory else [*duels[:first], *duels[first - memory :]]


def learn(prior: Learner, taught: Sequence[Lessons], model: str, fit: Fit | None) -> tuple[Learner, Fit | None]:
    """Learn one by one what duels teach, from a fit on; return the belief and the last fit made on the way, if any."""
    belief, made, begun, seen = prior, None, 0, 0
    if fit is not None:
        begun, seen = fit.duels, fit.lessons
        known = [*taught[:begun], *(duel[:seen] for duel in taught[begun : begun + 1])]
        belief = prior.told([lesson for duel in known for lesson in duel], fit.learned)
    for i, duel in enumerate(taught[begun:], begun):
        for k, lesson in enumerate(duel[seen:], seen + 1):
            before, belief = belief.learned, belief.condition(lesson)
            if belief.knows_unit and belief.learned.hyperparameters is not before.hyperparameters:
                made = Fit(model, i, k, belief.learned)
        seen = 0
    return belief, made


def keep_up(prior: Learner, taught: Sequence[Lessons], fit: Fit, duels: int, due: bool) -> tuple[Learner, Fit | None]:
    """Learn at once, under a fit, what some of so many duels teach; where that is due, fit again."""
    belief = prior.told([lesson for duel in taught for lesson in duel], fit.learned)
    belief = belief.refitted() if due else belief.watching()
    made = Fit(fit.model, duels, 0, belief.learned) if due else replace(fit, learned=belief.learned)
    return belief, None if made == fit else made
