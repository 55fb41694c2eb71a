"""The lessons of a study: what its answers teach, the fits made on the way, and the belief they lead to.

The belief is made when it is asked for. Up to the last fit that is known it is made at once, under what was fitted
then; later lessons are learned one by one. Live it is no different: after every fit the belief is what learning all at
once under that fit comes to. So a study that is resumed from a log, which keeps the fits, is the one that was left, to
the last bit, and fits nothing again; if only its trials are looked at, nothing is computed at all.

A fit that is due may be deferred: the lesson is learned under the fit before, and the fit is taken up later, as if it
had been made after its own lesson. The log tells of both.

Readings and duels teach comparisons. A judgement is learned beside the readings that were known when it was given.
"""

import copy
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from equipoise._linalg import one_thread
from equipoise.belief import JudgeFit, Milestone, StudyBelief
from equipoise.data import Comparison
from equipoise.likelihoods import Judge, Judgement
from equipoise.log import KeptFit

FEW_POINTS = 64
"""On a set of at most this number of points BLAS uses no threads, and limiting them costs microseconds for nothing."""

Lesson = TypeVar("Lesson")
Kept = TypeVar("Kept")


def overdue(belief: StudyBelief) -> bool:
    """Return whether a fit of the model is due that was deferred."""
    return belief.learned is not None and belief.learned.overdue


def calmly(prior: StudyBelief) -> AbstractContextManager[None]:
    """Return what keeps BLAS to one thread, if there is enough to compute for more."""
    points = prior.posterior.points
    return nullcontext() if points is not None and len(points) <= FEW_POINTS else one_thread()


class _Course(Generic[Lesson, Kept]):
    """Lessons of one kind in their order, the fits by how many lessons led to each, and the belief so far."""

    def __init__(self, prior: StudyBelief) -> None:
        self._prior = prior
        self._lessons: list[Lesson] = []
        self._fits: dict[int, Kept] = {}
        self._made = prior, 0  # the belief after a number of lessons; one attribute, since other threads may look

    def __len__(self) -> int:
        return len(self._lessons)

    @property
    def last_known(self) -> Kept | None:
        """The last fit that is known."""
        return self._fits[max(self._fits)] if self._fits else None

    def _extend(self, lessons: Sequence[Lesson], belief: StudyBelief | None) -> None:
        self._lessons.extend(lessons)
        if belief is not None:
            self._made = belief, len(self._lessons)

    def _last_fit(self, known: int, count: int) -> int | None:
        """Return after how many lessons the last fit was made, between two numbers of them; `None` if none was."""
        return max((n for n in self._fits if known < n <= count), default=None)

    def copied(self) -> Self:
        """Return a copy that learns by itself."""
        new = copy.copy(self)
        new._lessons, new._fits = list(self._lessons), dict(self._fits)
        return new


class Comparisons(_Course[Comparison, Milestone]):
    """What readings and duels teach, and the belief that this leads to.

    Args:
        prior: The belief before any lesson.

    Example:
        >>> import equipoise as eq
        >>> lessons = Comparisons(eq.belief.infer((), eq.belief.AnywherePosterior(eq.RBF(0.5), regularizer=0.1)))
        >>> lessons.add([eq.Comparison([1.0], [0.0], 0.7)])
        >>> lessons.belief.comparisons
        1
    """

    def __init__(self, prior: StudyBelief) -> None:
        super().__init__(prior)
        self._deferred: set[int] = set()  # after which lessons no fit was made, though one was due

    @property
    def belief(self) -> StudyBelief:
        """The belief after all lessons."""
        belief, known = self._made
        count = len(self._lessons)
        if known < count:
            last = self._last_fit(known, count)
            with calmly(self._prior):
                if last is not None:
                    belief, known = self._at(self._fits[last], (), belief), last
                belief, fits = self._learned(belief, known, self._lessons[known:count])
            self._fits.update({fit.lessons: fit for fit in fits})
            self._made = belief, count
        return belief

    def through(self, counts: Iterable[int]) -> Iterator[StudyBelief]:
        """Yield the belief after each of some numbers of lessons, ascending; one object while they are the same."""
        belief, known = self._prior, 0
        for count in counts:
            if count == len(self._lessons):
                belief, known = self.belief, count
            last = self._last_fit(known, count)
            if last is not None:
                belief, known = self._at(self._fits[last], (), belief), last
            belief, _ = self._learned(belief, known, self._lessons[known:count])
            known = count
            yield belief

    def awaits(self, lessons: int) -> bool:
        """Whether no later fit is known than one after this number of lessons would be."""
        return lessons <= len(self._lessons) and max(self._fits, default=0) < lessons

    def caught_up(self, belief: StudyBelief, lessons: int) -> Milestone:
        """Return the fit that is due in a belief after a number of lessons."""
        with calmly(self._prior):
            learned = belief.caught_up().learned
        if not overdue(belief) or learned is None:
            raise ValueError(f"a fit must be due after lesson {lessons}, and none is")
        return Milestone(lessons, learned.fitted)

    def after(
        self, lessons: Sequence[Comparison], fit: Milestone | None = None, later: bool = False, deferred: bool = False
    ) -> tuple[StudyBelief | None, Milestone | None]:
        """Return the belief once more lessons are learned, and the last fit made on the way; nothing changes.

        Args:
            lessons: What is taught, in this order.
            fit: The fit that was made with them, if that is known: it is refused if it cannot be.
            later: Whether they are to be learned when the belief is asked for: then it is not returned.
            deferred: Whether nothing is fitted with them, though it may be due.
        """
        for lesson in lessons:
            self._prior.posterior.noise(lesson.variance)  # refused now, where a theorem allows for no error
        count = len(self._lessons)
        if fit is not None:
            self.must_have_led_to(fit, count + 1, count + len(lessons))
        if later or fit is not None:
            return None, fit
        left = _numbers(count, lessons) if deferred else ()
        with calmly(self._prior):
            belief, fits = self._learned(self.belief, count, lessons, left)
        return belief, fits[-1] if fits else None

    def add(
        self,
        lessons: Sequence[Comparison],
        fit: Milestone | None = None,
        belief: StudyBelief | None = None,
        deferred: bool = False,
    ) -> None:
        """Take up lessons, with what `after` has returned of them."""
        self._deferred.update(_numbers(len(self._lessons), lessons) if deferred else ())
        self._extend(lessons, belief)
        self.recall(fit)

    def recall(self, fit: Milestone | None) -> None:
        """Take up a fit that was made before."""
        if fit is not None:
            self._fits[fit.lessons] = fit

    def refit(self, fit: Milestone) -> None:
        """Take up a fit that was deferred: the belief is made anew with it."""
        self.recall(fit)
        self._made = self._made[0], 0

    def must_have_led_to(self, fit: Milestone, least: int = 1, most: int | None = None) -> None:
        """Refuse a fit that cannot have been made with one of the lessons, all of them by default."""
        self.must_have_had(fit.lessons, least, most)
        if self._prior.learned is None:
            raise ValueError("there must be no fit: the model was given")
        self._prior.learned.form.must_have(fit.learned)

    def must_have_had(self, lessons: int, least: int = 1, most: int | None = None) -> None:
        """Refuse a fit after other lessons than there were."""
        most = len(self._lessons) if most is None else most
        if not least <= lessons <= most:
            raise ValueError(f"its fit must be after lesson {least} to {most}, as the lines before say, got {lessons}")

    def copied(self) -> Self:
        """Return a copy that learns by itself."""
        new = super().copied()
        new._deferred = set(self._deferred)
        return new

    def _learned(
        self, belief: StudyBelief, known: int, lessons: Sequence[Comparison], deferred: Collection[int] = ()
    ) -> tuple[StudyBelief, list[Milestone]]:
        """Return the belief after more lessons than it knows of, learned one by one, and all fits made on the way."""
        fits = []
        for k, lesson in enumerate(lessons, 1):
            if known + k in self._deferred or known + k in deferred:
                belief = belief.condition(lesson, fit=False)
                continue
            before, belief = belief.learned, belief.condition(lesson)
            learned = belief.learned
            if before is not None and learned is not None and learned.due != before.due:
                fits.append(Milestone(known + k, learned.fitted))
                belief = self._at(fits[-1], lessons[:k], belief)
        return belief, fits

    def _at(self, fit: Milestone, more: Sequence[Comparison], belief: StudyBelief) -> StudyBelief:
        """Return the belief when a fit was just made; one from about that time has done some of the work."""
        return belief.relearned([*self._lessons, *more][: fit.lessons], fit.learned)


class Judgements(_Course[Judgement, JudgeFit]):
    """What judges teach, and the belief that this, beside the comparisons, leads to.

    Args:
        comparisons: The other lessons of the study.
        prior: The belief before any lesson.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> prior = eq.belief.infer((), eq.belief.AnywherePosterior(eq.RBF(0.5)))
        >>> lessons = Judgements(Comparisons(prior), prior)
        >>> lessons.add(Judgement(np.array([1.0]), np.array([0.0]), "first"))
        >>> lessons.belief.comparisons
        1
    """

    def __init__(self, comparisons: Comparisons, prior: StudyBelief) -> None:
        super().__init__(prior)
        self._comparisons = comparisons
        self._rested = prior, prior, prior  # the last belief beside comparisons: of what, on what, and what it came to
        self._beside: list[int] = []  # how many comparisons there were when each judgement was given

    @property
    def belief(self) -> StudyBelief:
        """The belief after all lessons of either kind."""
        judged, base = self._judged, self._comparisons.belief
        if not self._lessons:
            return base
        known = self._rested
        if known[0] is not judged or known[1] is not base:
            known = self._rested = judged, base, judged.on(base.source)
        return known[2]

    @property
    def judges(self) -> tuple[Judge, ...]:
        """What is known of each judge: nothing is computed if no fit is due since the last one that is known."""
        last = self.last_known
        if last is not None and last.due > len(self) and self._beside[last.answers - 1] == len(self._comparisons):
            return last.judges
        return self.belief.fit.judges

    def news(self) -> JudgeFit | None:
        """Return the last fit of the belief, if it had to be made now."""
        before = self.last_known
        _ = self._judged
        return None if self.last_known is before else self.last_known

    def after(
        self, said: Judgement, fit: JudgeFit | None = None, later: bool = False
    ) -> tuple[StudyBelief | None, JudgeFit | None]:
        """Return the belief once a judgement is learned, and the fit made by it; nothing changes.

        Args:
            said: What was said.
            fit: The fit that was made with it, if that is known: it is refused if it cannot be.
            later: Whether it is to be learned when the belief is asked for: then it is not returned.
        """
        if fit is not None:
            self._must_be_of(fit, [*self._lessons, said])
        if later or fit is not None:
            return None, fit
        with calmly(self._prior):
            belief, fit = self._next(self._judged, said, self._comparisons.belief)
            if not self._lessons:
                _ = belief.posterior  # refused now, if the prior cannot learn from judgements
        return belief, fit

    def add(self, said: Judgement, fit: JudgeFit | None = None, belief: StudyBelief | None = None) -> None:
        """Take up a judgement, with what `after` has returned of it."""
        self._beside.append(len(self._comparisons))
        self._extend([said], belief)
        self.recall(fit)

    def recall(self, fit: JudgeFit | None) -> None:
        """Take up a fit that was made before."""
        if fit is not None:
            self._fits[fit.answers] = fit

    def restart(self) -> None:
        """Make the belief anew: a fit of the readings was taken up that it did not rest on."""
        self._made = self._prior, 0

    def must_have_led_to(self, fit: JudgeFit) -> None:
        """Refuse a fit that cannot have been made with one of the judgements."""
        if not 1 <= fit.answers <= len(self):
            raise ValueError(f"its fit must be after answer 1 to {len(self)}, got {fit.answers}")
        self._must_be_of(fit, self._lessons[: fit.answers])

    def beside(self, comparisons: Comparisons) -> "Judgements":
        """Return a copy that learns by itself, beside a copy of the comparisons."""
        new = self.copied()
        new._comparisons, new._beside = comparisons, list(self._beside)
        return new

    @property
    def _judged(self) -> StudyBelief:
        """The belief after all judgements, beside the readings that were known at the last of them."""
        judged, known = self._made
        count = len(self._lessons)
        if known < count:
            last = self._last_fit(known, count)
            begin = known if last is None else last - 1
            with calmly(self._prior):
                bases = self._comparisons.through(self._beside[begin:count])
                for n, base in enumerate(bases, begin + 1):
                    if n == last:
                        judged = self._at(self._fits[n], self._lessons[:n], base)
                    else:
                        judged, fit = self._next(judged, self._lessons[n - 1], base)
                        self.recall(fit)
            self._made = judged, count
        return judged

    def _next(self, judged: StudyBelief, said: Judgement, base: StudyBelief) -> tuple[StudyBelief, JudgeFit | None]:
        """Return the belief after one more judgement, and what is kept of it if it was fitted."""
        after = judged.on(base.source).judge(said)
        if not after.fit.marks(judged.fit):
            return after, None
        fit = after.fit.kept()
        return self._at(fit, after.judgements, base), fit

    def _at(self, fit: JudgeFit, said: Sequence[Judgement], base: StudyBelief) -> StudyBelief:
        """Return the belief when a fit was just made."""
        return base.with_judgements(said, fit)

    def _must_be_of(self, fit: JudgeFit, said: list[Judgement]) -> None:
        if fit.answers != len(said):
            raise ValueError(f"its fit must be after answer {len(said)}, as the lines before say, got {fit.answers}")
        learned = self._prior.learned
        fit.must_be_of(said, None if learned is None else learned.form)


@dataclass(frozen=True, eq=False)
class Overdue:
    """A fit that was deferred and is still to be made.

    Attributes:
        comparisons: The lessons it is made from.
        belief: What they have led to.
        lessons: How many there were.
    """

    comparisons: Comparisons
    belief: StudyBelief
    lessons: int

    def made(self) -> KeptFit:
        """Make it: that may take a while, and changes nothing."""
        return KeptFit(self.comparisons.caught_up(self.belief, self.lessons))


class Lessons:
    """All lessons of a study and the belief that they lead to.

    Args:
        prior: The belief before any lesson.
    """

    def __init__(self, prior: StudyBelief) -> None:
        self.comparisons = Comparisons(prior)
        self.judgements = Judgements(self.comparisons, prior)

    @property
    def belief(self) -> StudyBelief:
        """The belief after all lessons."""
        return self.judgements.belief

    @property
    def overdue(self) -> Overdue | None:
        """The fit that was deferred and is still to be made; `None` if there is none."""
        belief = self.comparisons.belief
        return Overdue(self.comparisons, belief, len(self.comparisons)) if overdue(belief) else None

    def awaits(self, due: Overdue) -> bool:
        """Whether a fit can still be taken up: nothing that it was made from has changed, and no later one is known."""
        return due.comparisons is self.comparisons and self.comparisons.awaits(due.lessons)

    def fit_after(self, lessons: int) -> Milestone:
        """Return the fit that was due after a number of lessons, made now."""
        return self.comparisons.caught_up(next(self.comparisons.through([lessons])), lessons)

    def refit(self, fit: Milestone) -> None:
        """Take up a fit that was deferred: the belief is made anew with it."""
        self.comparisons.refit(fit)
        self.judgements.restart()

    def fitted(self, fit: KeptFit | None, later: bool, readings: bool = True) -> KeptFit | None:
        """Return the last fits of the belief, made now unless it is to be made later; known ones are taken up.

        Args:
            fit: What is known of them; refused if it cannot be.
            later: Whether the belief is made when it is asked for.
            readings: Whether the fit to readings is wanted too.
        """
        model, judged = (None, None) if fit is None else (fit.model, fit.judged)
        if judged is not None:
            self.judgements.must_have_led_to(judged)
            self.judgements.recall(judged)
        elif not later:
            judged = self.judgements.news()
        if model is not None:
            self.comparisons.must_have_led_to(model)
            self.comparisons.recall(model)
        elif not later and readings:
            _ = self.comparisons.belief
            model = self.comparisons.last_known
        return KeptFit.of(model, judged)

    def copied(self) -> "Lessons":
        """Return a copy that learns by itself."""
        new = copy.copy(self)
        new.comparisons = self.comparisons.copied()
        new.judgements = self.judgements.beside(new.comparisons)
        return new


def _numbers(known: int, lessons: Sequence[Comparison]) -> range:
    """Return the numbers, from 1, of lessons that follow on some known ones."""
    return range(known + 1, known + len(lessons) + 1)
