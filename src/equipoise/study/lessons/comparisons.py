"""The lessons of readings and duels in their order, and the fits made between them."""

from __future__ import annotations

import copy
from abc import ABC
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from equipoise._linalg import one_thread
from equipoise.belief import Milestone
from equipoise.data import Comparison

if TYPE_CHECKING:
    from equipoise.belief import StudyBelief

FEW_POINTS = 64
"""The number of points up to which BLAS uses no threads, so that limiting them wastes microseconds."""

Lesson = TypeVar("Lesson")
Kept = TypeVar("Kept")


def overdue(belief: StudyBelief) -> bool:
    """Return whether a deferred fit of the model is due."""
    return belief.learned is not None and belief.learned.overdue


def calmly(prior: StudyBelief) -> AbstractContextManager[None]:
    """Return a context that limits BLAS to one thread, if the computation is large enough to use more."""
    points = prior.posterior.points
    return nullcontext() if points is not None and len(points) <= FEW_POINTS else one_thread()


class LessonsOfOneKind(ABC, Generic[Lesson, Kept]):
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
        """The last known fit."""
        return self._fits[max(self._fits)] if self._fits else None

    def _extend(self, lessons: Sequence[Lesson], belief: StudyBelief | None) -> None:
        self._lessons.extend(lessons)
        if belief is not None:
            self._made = belief, len(self._lessons)

    def _last_fit(self, known: int, count: int) -> int | None:
        """Return the number of lessons at the last fit between two numbers of them; `None` if there is none."""
        return max((n for n in self._fits if known < n <= count), default=None)

    def copied(self) -> Self:
        """Return an independent copy."""
        new = copy.copy(self)
        new._lessons, new._fits = list(self._lessons), dict(self._fits)
        return new


class Comparisons(LessonsOfOneKind[Comparison, Milestone]):
    """The lessons of readings and duels, and the resulting belief.

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
        self._deferred: set[int] = set()  # the lessons after which a due fit was not made

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
        """Return whether there are this many lessons and no fit is known from as many or more."""
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
        """Return the belief after more lessons, and the last fit made in between, without changing anything.

        A known fit is reused, and refused if it is impossible. With `later` no belief is returned: it is computed on
        demand. With `deferred` a fit that may be due is skipped.
        """
        for lesson in lessons:
            self._prior.posterior.noise(lesson.variance)  # refused now, if a theorem allows for no error
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
        """Add lessons, with the results of `after` for them."""
        self._deferred.update(_numbers(len(self._lessons), lessons) if deferred else ())
        self._extend(lessons, belief)
        self.recall(fit)

    def recall(self, fit: Milestone | None) -> None:
        """Use an earlier fit."""
        if fit is not None:
            self._fits[fit.lessons] = fit

    def refit(self, fit: Milestone) -> None:
        """Use a deferred fit: the belief is rebuilt with it."""
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
        """Return an independent copy."""
        new = super().copied()
        new._deferred = set(self._deferred)
        return new

    def _learned(
        self, belief: StudyBelief, known: int, lessons: Sequence[Comparison], deferred: Collection[int] = ()
    ) -> tuple[StudyBelief, list[Milestone]]:
        """Return the belief after further lessons, learned one by one, and all fits made in between."""
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


def _numbers(known: int, lessons: Sequence[Comparison]) -> range:
    """Return the numbers, from 1, of the lessons after the known ones."""
    return range(known + 1, known + len(lessons) + 1)
