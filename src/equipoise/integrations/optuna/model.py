"""What a process knows of a study: its duels, read from the storage, the belief they lead to.

No process knows more than another: everything is in the storage. What is kept here never changes.
"""

from collections.abc import Mapping

from numpy.random import Generator
from optuna.distributions import BaseDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from equipoise.belief import Schedule
from equipoise.data import Proposal, Reading, teaches, will_teach
from equipoise.integrations.optuna.learning import Fit, Learner, Lessons, keep_up, learn, remembered
from equipoise.integrations.optuna.records import FIT, Pair, read
from equipoise.integrations.optuna.translation import Translation
from equipoise.offsets import Offset
from equipoise.policies import Policy
from equipoise.policies.search import candidates
from equipoise.reductions import Baseline, Zero
from equipoise.study.defaults import default_posterior

STALE_TRIALS = 64
"""A running trial is thought to be lost once so many were begun after it: nothing is expected of it any more."""

FORECAST_READINGS = 256
"""How many of the last readings the baseline of one-point duels is made from."""

PATIENCE = 0.1
"""By how much more than usual the duels may have grown before a worker fits whose turn it is not."""


class StudyModel:
    """What a process knows of a study whose offset is assumed to follow a law, in a space that may be given."""

    def __init__(self, law: Offset, search_space: Mapping[str, BaseDistribution] | None = None) -> None:
        self.law, self._sign = law, 1.0
        self._given = None if search_space is None else dict(search_space)
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
        space = self._given
        if space is None:
            names, latest = self._names or (), {} if self._latest is None else self._latest.distributions
            space = {name: d for name, d in latest.items() if name in names}
        return {name: space[name] for name in sorted(space) if not space[name].single()}

    def translation(self, search_space: Mapping[str, BaseDistribution]) -> Translation:
        """Return the translation of a search space."""
        if self._translation is None or self._translation.distributions != search_space:
            self._translation, self._taught = Translation(search_space), {}
        return self._translation

    def taught(self, translation: Translation) -> dict[int, Lessons]:
        """Return what the finished duels within the space teach, by number."""
        for number in self._told.keys() - self._taught.keys():
            self._taught[number] = self._lessons(number, translation)
        return {number: self._taught[number] for number in sorted(self._taught) if self._taught[number]}

    def readings(self, translation: Translation) -> int:
        """Return how many readings the belief is made from."""
        return sum(len(self._told[number][1]) for number in self.taught(translation))

    def belief(
        self, translation: Translation, memory: int, most: int | None = None, turn: bool = True
    ) -> tuple[Learner, Fit | None]:
        """Return the belief and, where it was fitted anew, that fit.

        Args:
            translation: The space.
            memory: How many duels are learned one by one; of more, so many at once.
            most: How many of more duels are learned at once, if not so many.
            turn: Whether it is our turn to fit; if not, others may do so before.
        """
        space, law, taught = translation.space, self.law, [*self.taught(translation).values()]
        prior = default_posterior(space, None, law, None, None)
        assert isinstance(prior, Learner)
        name, sizes = f"{translation.signature} {law!r}", (int(space.groups.max()) + 1, len(law.hyperparameters))
        known = sorted((f.duels, n) for n, f in self._fits.items() if (f.model, f.sizes) == (name, sizes))
        usable = [self._fits[number] for duels, number in known if duels <= len(taught)]
        if len(taught) <= memory or not usable:
            return learn(prior, remembered(taught, memory), name, usable[-1] if usable else None)
        growth = Schedule().growth + (0.0 if turn else PATIENCE)
        return keep_up(prior, taught, most or memory, usable[-1], growth)

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
        choice = expecting.at(candidates(translation.space, expecting, policy.scores, rng))
        best, challenger = policy(choice, rng).points
        return Proposal.pair(challenger, best)

    def forecast(self, baseline: Baseline | None) -> Baseline | None:
        """Return the forecast after the last single readings, by the number of trials; `None` if there is none."""
        if baseline is None:
            return None
        told = [entry for _, entry in sorted(self._told.items()) if entry[0].sign is not None][-FORECAST_READINGS:]
        for pair, (reading,) in told:
            baseline = baseline.update(self._sign * reading.value, pair.predicted)
        return baseline if told or baseline == Zero() else None

    def _lessons(self, number: int, translation: Translation) -> Lessons:
        pair, readings = self._told[number]
        duel, comparable = pair.duel(translation.encode), pair.sign is None or pair.baseline is not None
        if duel is None:
            return ()
        return teaches(duel, readings, self.law, number=float(number), sign=self._sign, comparable=comparable)

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
