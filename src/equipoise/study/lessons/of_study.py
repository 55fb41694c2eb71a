"""All lessons of a study, of both kinds, and the fits that a log stores."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equipoise.log import KeptFit
from equipoise.study.lessons.comparisons import Comparisons, overdue
from equipoise.study.lessons.judged import Judgements

if TYPE_CHECKING:
    from equipoise.belief import Milestone, StudyBelief


@dataclass(frozen=True, eq=False)
class Overdue:
    """A deferred fit that has not been made yet.

    Attributes:
        comparisons: The lessons to fit.
        belief: The belief after these lessons.
        lessons: Their number.
    """

    comparisons: Comparisons
    belief: StudyBelief
    lessons: int

    def made(self) -> KeptFit:
        """Return the fit without changing anything; this may take a while."""
        return KeptFit(self.comparisons.caught_up(self.belief, self.lessons))


class Lessons:
    """All lessons of a study and the resulting belief.

    Args:
        prior: The belief before any lesson.
    """

    def __init__(self, prior: StudyBelief) -> None:
        self.comparisons = Comparisons(prior)
        self.judgements = Judgements(self.comparisons, prior)

    @property
    def overdue(self) -> Overdue | None:
        """The deferred fit that has not been made yet; `None` if there is none."""
        belief = self.comparisons.belief
        return Overdue(self.comparisons, belief, len(self.comparisons)) if overdue(belief) else None

    def awaits(self, due: Overdue) -> bool:
        """Return whether a fit can still be used: its lessons are unchanged, and no later fit is known."""
        return due.comparisons is self.comparisons and self.comparisons.awaits(due.lessons)

    def fit_after(self, lessons: int) -> Milestone:
        """Make and return the fit that was due after a number of lessons."""
        return self.comparisons.caught_up(next(self.comparisons.through([lessons])), lessons)

    def refit(self, fit: Milestone) -> None:
        """Use a deferred fit: the belief is rebuilt with it."""
        self.comparisons.refit(fit)
        self.judgements.restart()

    def fitted(self, fit: KeptFit | None, later: bool, readings: bool = True) -> KeptFit | None:
        """Return the last fits of the belief, to readings too if asked, made now unless `later`.

        Known fits are reused, and refused if they are impossible.
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

    def copied(self) -> Lessons:
        """Return an independent copy."""
        new = copy.copy(self)
        new.comparisons = self.comparisons.copied()
        new.judgements = self.judgements.beside(new.comparisons)
        return new
