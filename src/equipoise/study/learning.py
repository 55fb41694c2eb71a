"""What a study has learned: its lessons in their order, the fits made on the way, and the belief they lead to.

The belief is made when it is asked for. Up to the last fit that is known it is made at once, under what was fitted
then; what came since is learned one by one. Live it is no different: after every fit the belief is what learning all at
once under that fit comes to. So a study that is taken up from a log, which keeps the fits, is the one that was left, to
the last bit, and fits nothing again; one that is only looked at for its trials computes nothing at all.

A fit that is due may be deferred: the lesson is learned under what was fitted before, and the fit is taken up later, as
if it had been made after its own lesson. The log says of both.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from equipoise._linalg import one_thread
from equipoise.belief import Milestone, Posterior
from equipoise.data import Comparison

FEW_POINTS = 64
"""On a set of so few points BLAS does not use threads, and limiting them costs a few microseconds for nothing."""


def calmly(prior: Posterior) -> AbstractContextManager[None]:
    """Return what keeps BLAS to one thread, where there is enough to compute for more."""
    points = prior.points
    return nullcontext() if points is not None and len(points) <= FEW_POINTS else one_thread()


@dataclass(frozen=True, eq=False)
class Overdue:
    """A fit that was deferred and is still to be made.

    Attributes:
        learning: Whose lessons it is made from.
        belief: What they have led to.
        lessons: How many there were.
    """

    learning: "Learning"
    belief: Posterior
    lessons: int

    def made(self) -> Milestone:
        """Make it: that may take a while, and changes nothing."""
        return self.learning.caught_up(self.belief, self.lessons)


class Learning:
    """The lessons of a study and the belief that they lead to.

    Args:
        prior: The belief before any lesson.

    Example:
        >>> import equipoise as eq
        >>> learning = Learning(eq.belief.AnywherePosterior(eq.RBF(0.5), regularizer=0.1))
        >>> learning.add([eq.Comparison([1.0], [0.0], 0.7)])
        >>> learning.belief.comparisons
        1
    """

    def __init__(self, prior: Posterior) -> None:
        self._prior = prior
        self._lessons: list[Comparison] = []
        self._fits: dict[int, Milestone] = {}
        self._deferred: set[int] = set()  # after which lessons no fit was made, though one was due
        self._made = prior, 0  # the belief after so many lessons; one attribute, for whoever looks from another thread

    @property
    def belief(self) -> Posterior:
        """The belief after all lessons."""
        belief, known = self._made
        count = len(self._lessons)
        if known < count:
            last = max((n for n in self._fits if known < n <= count), default=None)
            with calmly(self._prior):
                if last is not None:
                    belief, known = self._at(self._fits[last], (), belief), last
                belief, fits = self._learned(belief, known, self._lessons[known:count])
            self._fits.update({fit.lessons: fit for fit in fits})
            self._made = belief, count
        return belief

    @property
    def lessons(self) -> int:
        """How many lessons there were."""
        return len(self._lessons)

    def through(self, counts: Iterable[int]) -> Iterator[Posterior]:
        """Yield the belief as it was after so many lessons each, ascending; one object while they are the same."""
        belief, known = self._prior, 0
        for count in counts:
            if count == len(self._lessons):
                belief, known = self.belief, count
            last = max((n for n in self._fits if known < n <= count), default=known)
            if last > known:
                belief, known = self._at(self._fits[last], (), belief), last
            belief, _ = self._learned(belief, known, self._lessons[known:count])
            known = count
            yield belief

    @property
    def last_fit(self) -> Milestone | None:
        """The last fit of the belief, made now where it has not been asked for; `None` where nothing was fitted."""
        _ = self.belief
        return self._fits[max(self._fits)] if self._fits else None

    @property
    def overdue(self) -> Overdue | None:
        """The fit that was deferred and is still to be made; `None` where there is none."""
        belief = self.belief
        return Overdue(self, belief, len(self._lessons)) if belief.overdue else None

    def awaits(self, lessons: int) -> bool:
        """Whether no later fit is known than one after so many lessons would be."""
        return lessons <= len(self._lessons) and max(self._fits, default=0) < lessons

    def fit_after(self, lessons: int) -> Milestone:
        """Return the fit that was due after so many lessons, made now."""
        return self.caught_up(next(self.through([lessons])), lessons)

    def caught_up(self, belief: Posterior, lessons: int) -> Milestone:
        """Return the fit that is due in a belief after so many lessons."""
        with calmly(self._prior):
            fitted = belief.caught_up().fitted
        if not belief.overdue or fitted is None:
            raise ValueError(f"a fit must be due after lesson {lessons}, and none is")
        return Milestone(lessons, fitted)

    def after(
        self, lessons: Sequence[Comparison], fit: Milestone | None = None, later: bool = False, deferred: bool = False
    ) -> tuple[Posterior | None, Milestone | None]:
        """Return the belief once more lessons are learned, and the last fit made on the way; nothing changes.

        Args:
            lessons: What is taught, in this order.
            fit: The fit that was made with them, where that is known: it is refused where it cannot be.
            later: Whether they are to be learned when the belief is asked for: then it is not returned.
            deferred: Whether nothing is fitted with them, though it may be due.
        """
        for lesson in lessons:
            self._prior.noise(lesson.variance)  # refused now, where a theorem allows for no error
        if fit is not None:
            self.must_have_led_to(fit, len(lessons))
        if later or fit is not None:
            return None, fit
        count = len(self._lessons)
        left = _numbers(count, lessons) if deferred else ()
        with calmly(self._prior):
            belief, fits = self._learned(self.belief, count, lessons, left)
        return belief, fits[-1] if fits else None

    def add(
        self,
        lessons: Sequence[Comparison],
        fit: Milestone | None = None,
        belief: Posterior | None = None,
        deferred: bool = False,
    ) -> None:
        """Take up lessons.

        Args:
            lessons: What is taught, in this order.
            fit: The fit that was made with them, where that is known.
            belief: What they lead to, where that is known.
            deferred: Whether nothing was fitted with them, though it was due.
        """
        self._deferred.update(_numbers(len(self._lessons), lessons) if deferred else ())
        self._lessons.extend(lessons)
        self.fit(fit)
        if belief is not None:
            self._made = belief, len(self._lessons)

    def fit(self, fit: Milestone | None) -> None:
        """Take up a fit that was made before."""
        if fit is not None:
            self._fits[fit.lessons] = fit

    def refit(self, fit: Milestone) -> None:
        """Take up a fit that was deferred: the belief is made anew with it."""
        self.fit(fit)
        self._made = self._made[0], 0

    def must_have_led_to(self, fit: Milestone, more: int | None = None) -> None:
        """Refuse a fit that cannot have been made with the last of all lessons, or with one of so many more."""
        count = len(self._lessons)
        _must_be_among(fit.lessons, *((1, count) if more is None else (count + 1, count + more)))
        self._prior.must_understand(fit.learned)

    def must_have_had(self, lessons: int) -> None:
        """Refuse a fit after more lessons than there were."""
        _must_be_among(lessons, 1, len(self._lessons))

    def copied(self) -> "Learning":
        """Return a copy that learns by itself."""
        new = Learning(self._prior)
        new._lessons, new._fits, new._made = list(self._lessons), dict(self._fits), self._made
        new._deferred = set(self._deferred)
        return new

    def _learned(
        self, belief: Posterior, known: int, lessons: Sequence[Comparison], deferred: Collection[int] = ()
    ) -> tuple[Posterior, list[Milestone]]:
        """Return the belief after more lessons than it knows of, learned one by one, and all fits made on the way."""
        fits = []
        for k, lesson in enumerate(lessons, 1):
            if known + k in self._deferred or known + k in deferred:
                belief = belief.condition_only(lesson)
                continue
            due, belief = belief.due, belief.condition(lesson)
            if belief.due != due:
                assert belief.fitted is not None
                fits.append(Milestone(known + k, belief.fitted))
                belief = self._at(fits[-1], lessons[:k], belief)
        return belief, fits

    def _at(self, fit: Milestone, more: Sequence[Comparison], belief: Posterior) -> Posterior:
        """Return the belief when a fit was just made; one from about that time has done some of the work."""
        return belief.told([*self._lessons, *more][: fit.lessons], fit.learned)


def _must_be_among(lessons: int, least: int, most: int) -> None:
    if not least <= lessons <= most:
        raise ValueError(f"its fit must be after lesson {least} to {most}, as the lines before say, got {lessons}")


def _numbers(known: int, lessons: Sequence[Comparison]) -> range:
    """Return the numbers, from 1, of lessons that follow on so many."""
    return range(known + 1, known + len(lessons) + 1)
