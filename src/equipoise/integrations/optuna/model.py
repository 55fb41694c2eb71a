"""What a process knows of a study: its duels, read from the storage, and the belief they lead to.

No process knows more than another: everything is in the storage. What is kept here is how trials read as points, which
never changes.
"""

import math
from collections.abc import Mapping

from optuna.distributions import BaseDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from equipoise.belief import Form, Schedule
from equipoise.data import Reading, teaches, will_teach
from equipoise.integrations.optuna.learning import Fit, Learner, Lessons, learn, model_name, prior
from equipoise.integrations.optuna.records import FIT, Pair, read
from equipoise.integrations.optuna.translation import Translation
from equipoise.offsets import Offset
from equipoise.reductions import Baseline

STALE_TRIALS = 64
"""A running trial is thought to be lost once so many were begun after it: nothing is expected of it any more."""

FORECAST_READINGS = 256
"""How many of the last readings the baseline of one-point duels is made from."""

PATIENCE = 0.3
"""By how much more than usual the data may have grown before a worker fits whose turn it is not."""


class StudyModel:
    """What a process knows of a study.

    Args:
        law: What is assumed of the offset.
        search_space: The parameters to model, where they are not to be found out from the trials.
    """

    def __init__(self, law: Offset, search_space: Mapping[str, BaseDistribution] | None = None) -> None:
        self.law, self._sign = law, 1.0
        self._given = None if search_space is None else dict(search_space)
        self._settled: set[int] = set()
        self._told: dict[int, tuple[Pair, list[Reading]]] = {}
        self._singles: dict[int, tuple[float, float]] = {}
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
        fits = {t.number: fit for t in (*new, *running) if (fit := read(t, FIT, Fit.from_json)) is not None}
        self._fits |= fits

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

    def belief(self, translation: Translation, memory: int, *, turn: bool = True) -> tuple[Learner, Fit | None]:
        """Return the belief, and where it was fitted anew, that fit, for others to use.

        Args:
            translation: The space.
            memory: How many duels to learn from.
            turn: Whether it is our turn to fit, where others are at work too.
        """
        form = Form(translation.space.extent, translation.space.groups, self.law)
        name, taught = model_name(translation.signature, form), [*self.taught(translation).values()]
        known = [(fit.duels, n) for n, fit in self._fits.items() if fit.model == name and fit.duels <= len(taught)]
        growth = Schedule().growth + (PATIENCE if self._pending and not turn else 0.0)
        return learn(prior(form, growth), taught, memory, name, self._fits[max(known)[1]] if known else None)

    def anticipating(self, belief: Learner, translation: Translation) -> Learner:
        """Return the belief as if what is being measured now came out as expected, so that the next pair differs."""
        for number, pair in self._pending:
            duel = pair.duel(translation.encode)
            nothing = [] if duel is None else [None] * len(duel.points)
            for lesson in (
                ()
                if duel is None
                else will_teach(duel, nothing, self.law, number=float(number), place=pair.place(number))
            ):
                belief = belief.anticipate(lesson)
        return belief

    def forecast(self, baseline: Baseline) -> Baseline | None:
        """Return the forecast after the last single readings, in the order of the trials; `None` without any."""
        for number in sorted(self._singles)[-FORECAST_READINGS:]:
            reading, predicted = self._singles[number]
            baseline = baseline.update(self._sign * reading, predicted)
        return baseline if self._singles else None

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
        readings = [] if pair is None else pair.told(trial)
        if pair is not None and readings:
            self._told[trial.number] = pair, readings
        if trial.state != TrialState.COMPLETE or not trial.distributions:
            return
        names = set(trial.distributions) & (trial.distributions if pair is None else pair.values).keys()
        self._names = names if self._names is None else self._names & names
        if self._latest is None or trial.number > self._latest.number:
            self._latest = trial
        value = math.nan if trial.value is None else trial.value
        if math.isfinite(value) and (pair is None or (pair.sign is not None and readings)):
            self._singles[trial.number] = value, 0.0 if pair is None else pair.predicted
