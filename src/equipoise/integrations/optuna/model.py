"""The posterior of an Optuna study, rebuilt from its finished trials.

It is rebuilt for every trial, from what the storage holds: no process knows more than another. What is kept between is
how trials read as points, which never changes. As an optimizer does, it learns from every reading, with an offset that
is tracked over the trials in the order of their numbers, and from the differences inside trials, which no offset can
touch; where these contradict, they are trusted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from equipoise.belief.guarded import contradicts
from equipoise.data import Comparison
from equipoise.integrations.optuna.learning import FEW, Datum, Fit, StudyPosterior
from equipoise.integrations.optuna.records import FIT, Finished, Pair, common_names, sign_of
from equipoise.integrations.optuna.translation import Translation
from equipoise.offsets.offset import Arbitrary, Offset
from equipoise.offsets.tracked import Tracked
from equipoise.spaces.named import Space

FITTED = 64
"""How many duels the hyperparameters are fitted to."""

STALE = 64
"""A running trial is thought to be lost once so many were begun after it: nothing is expected of it any more."""


def remembered(data: Sequence[Datum], memory: int) -> Sequence[Datum]:
    """Return the duels to learn from: the first, which say where not to look, and the last, which say most."""
    first = memory // 2
    return data if len(data) <= memory else [*data[:first], *data[first - memory :]]


class StudyModel:
    """What a process knows of a study; everything is in the study's storage, and can be read from there again.

    Args:
        law: What is assumed of the offset.
        search_space: The parameters to model, where they are not to be found out from the trials.
    """

    def __init__(self, law: Offset, search_space: Mapping[str, BaseDistribution] | None = None) -> None:
        self.law = law
        self.finished: list[Finished] = []
        self._pending: list[tuple[int, Pair]] = []
        self._given = None if search_space is None else dict(search_space)
        self._settled: set[int] = set()
        self._names: set[str] | None = None
        self._latest: FrozenTrial | None = None
        self._oldest_open = 0
        self._fits: dict[int, Fit] = {}
        self._translation: Translation | None = None
        self._data: dict[int, Datum | None] = {}

    def update(self, study: Study) -> None:
        """Read what has happened since the last time."""
        while self._oldest_open in self._settled:
            self._oldest_open += 1
        trials = [t for t in study.get_trials(deepcopy=False) if t.number >= self._oldest_open]
        new = [t for t in trials if t.state.is_finished() and t.number not in self._settled]
        running = [t for t in trials if t.state == TrialState.RUNNING]
        if new:
            self._settle(new, sign_of(study))
        newest = max(map(_number, trials), default=0)
        alive = ((t.number, Pair.of(t)) for t in running if t.number > newest - STALE)
        self._pending = [(number, pair) for number, pair in alive if pair is not None]
        self._fits |= {t.number: Fit.from_json(t.system_attrs[FIT]) for t in (*new, *running) if FIT in t.system_attrs}

    def search_space(self) -> dict[str, BaseDistribution]:
        """Return what every finished trial had, within the ranges of the latest one; single values need no search."""
        if self._given is not None:
            space = self._given
        elif self._latest is None or self._names is None:
            return {}
        else:
            space = {name: d for name, d in self._latest.distributions.items() if name in self._names}
        return {name: space[name] for name in sorted(space) if not space[name].single()}

    def translation(self, search_space: Mapping[str, BaseDistribution]) -> Translation:
        """Return the translation of a search space."""
        if self._translation is None or self._translation.distributions != search_space:
            self._translation = Translation(search_space)
            self._data = {}
        return self._translation

    def data(self, translation: Translation) -> list[Datum]:
        """Return the finished duels that lie within the space, by number."""
        for duel in self.finished:
            if duel.number not in self._data:
                self._data[duel.number] = self._datum(duel, translation)
        known = (self._data[duel.number] for duel in self.finished)
        return [datum for datum in known if datum is not None]

    def posterior(
        self, translation: Translation, memory: int, patience: float = 0.0
    ) -> tuple[StudyPosterior, Fit | None]:
        """Return the belief, and where something was learned for it that is worth keeping, that.

        Args:
            translation: The space.
            memory: How many duels to learn from.
            patience: How much longer than usual to wait for another worker to fit.
        """
        data = self.data(translation)
        known = self._last_fit(translation)
        fit = known
        if fit is None or fit.outdated(len(data), patience):
            fit = Fit.to(remembered(data, FITTED), len(data), translation, self.law, known)
        posterior, fit = self._under(fit, remembered(data, memory), translation.space)
        return posterior, None if fit is known or len(data) < FEW else fit

    def anticipating(self, posterior: StudyPosterior, translation: Translation) -> StudyPosterior:
        """Return the posterior as if what is being measured now came out as expected, so that the next pair differs."""
        for number, pair in self._pending:
            datum = self._datum(Finished(number, pair, 0.0), translation)
            for comparison in () if datum is None else (*datum.readings, datum.difference):
                posterior = posterior.anticipate(comparison)
        return posterior

    def _last_fit(self, translation: Translation) -> Fit | None:
        """Return the fit to most duels of this space; of several, the latest."""
        known = [(fit.duels, n, fit) for n, fit in self._fits.items() if fit.signature == translation.signature]
        return max(known, key=lambda entry: entry[:2])[2] if known else None

    def _under(self, fit: Fit, kept: Sequence[Datum], space: Space) -> tuple[StudyPosterior, Fit]:
        """Return the trusted posterior of some duels, and the fit with what jumps of the offset they show."""
        duels = StudyPosterior.at_once(space, Arbitrary(), [datum.difference for datum in kept], fit.differences)
        if fit.readings is None or not fit.explained or not isinstance(self.law, Tracked):
            return duels, fit
        readings = [reading for datum in kept for reading in datum.readings]
        tracked = StudyPosterior.at_once(space, self.law, readings, fit.readings).watching()
        if tracked.learned != fit.readings:
            fit = replace(fit, readings=tracked.learned)
        guard = self.law.guard
        return duels if guard is not None and contradicts(duels, tracked, guard) else tracked, fit

    def _settle(self, new: Sequence[FrozenTrial], sign: float) -> None:
        """Take in trials that have finished."""
        self._settled.update(map(_number, new))
        duels = (Finished.of(t, sign) for t in new)
        self.finished = sorted((*self.finished, *(d for d in duels if d is not None)), key=lambda d: d.number)
        complete = [t for t in new if t.state == TrialState.COMPLETE and t.distributions]
        if complete:
            names = common_names(complete)
            self._names = names if self._names is None else self._names & names
            self._latest = max((t for t in (self._latest, *complete) if t is not None), key=_number)

    def _datum(self, duel: Finished, translation: Translation) -> Datum | None:
        first, second = translation.encode(duel.pair.first()), translation.encode(duel.pair.second())
        if first is None or second is None:
            return None
        difference = Comparison(first, second, duel.outcome)
        if not isinstance(self.law, Tracked) or duel.pair.sign is not None:
            return Datum(duel.number, difference)
        order = ((second, 1), (first, 0)) if duel.pair.swapped else ((first, 0), (second, 1))
        times = (2.0 * duel.number + 1.0, 2.0 * duel.number + 2.0)
        readings = (Comparison(x, None, duel.readings[i], t) for (x, i), t in zip(order, times, strict=True))
        return Datum(duel.number, difference, tuple(readings))


def _number(trial: FrozenTrial) -> int:
    return trial.number
