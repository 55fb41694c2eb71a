"""The belief of a study: all that readings, duels and judgements teach under its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from equipoise.belief import judgements as judging
from equipoise.belief.confidence import error_scale, is_theory
from equipoise.belief.learned import LearnedBelief, LearnedModel
from equipoise.belief.posterior import Lazy, exact, trusted

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief.judgements import Judged, JudgeFit, Mixed
    from equipoise.belief.model import Learned
    from equipoise.belief.posterior import Posterior, Source
    from equipoise.data import Comparison
    from equipoise.likelihoods import Judgement

LARGEST_MISFIT = 25.0
"""How many times as large as expected the mean square of the outcomes may be before the kernel is contradicted."""

FEWEST_OUTCOMES = 4
"""The fewest outcomes for such a statement."""


def infer(lessons: Sequence[Comparison], model: Posterior | LearnedModel) -> StudyBelief:
    """Return what lessons teach under a model.

    Args:
        lessons: Comparisons, in their order.
        model: The posterior before any data under a model that is given; or what is to be learned of one: then it is
            fitted on its schedule.

    Example:
        >>> import equipoise as eq
        >>> prior = eq.belief.AnywherePosterior(eq.RBF(0.5), regularizer=0.1)
        >>> belief = infer([eq.Comparison([1.0], [0.0], 0.7)], prior)
        >>> belief.comparisons, belief.posterior.difference([[1.0]], [0.0])[0].round(3)
        (1, array([0.662]))
    """
    belief = StudyBelief(LearnedBelief.prior(model) if isinstance(model, LearnedModel) else model)
    for lesson in lessons:
        belief = belief.condition(lesson)
    return belief


@dataclass(frozen=True, eq=False)
class StudyBelief(Lazy):
    """What readings, duels and judgements teach; immutable.

    Attributes:
        source: What has learned from comparisons.
        judged: What has learned from judgements; `None` if nothing has.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> belief = infer((), eq.belief.AnywherePosterior(eq.RBF(0.5)))
        >>> for answer in ("first", "much first", "first", "equal"):
        ...     belief = belief.judge(eq.likelihoods.Judgement(np.array([1.0]), np.array([0.0]), answer))
        >>> belief.comparisons, belief.posterior.difference([[1.0]], [0.0])[0].round(2)
        (4, array([0.93]))
    """

    source: Source
    judged: Judged | None = None

    @property
    def learned(self) -> LearnedBelief | None:
        """What was learned of the model; `None` if it was given."""
        return self.source if isinstance(self.source, LearnedBelief) else None

    @property
    def posterior(self) -> Posterior:
        """The exact posterior of all data that answers: answers of judges are pseudo-outcomes."""
        return trusted(self.source) if self.judged is None else self._mixed.posterior

    @property
    def comparisons(self) -> int:
        """How many comparisons and judgements it has learned from."""
        return exact(self.source).comparisons + len(self.judgements)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The judgements it has learned from."""
        return () if self.judged is None else self.judged.judgements

    @property
    def fit(self) -> JudgeFit:
        """The fit to judgements, with the parameters of each judge."""
        return judging.JudgeFit() if self.judged is None else self.judged.fit

    @property
    def knows_unit(self) -> bool:
        """Whether there are enough data to learn how large f is."""
        return self.learned is None or self.learned.knows_unit or self._mixed.knows_unit

    @property
    def proven(self) -> bool:
        """Whether its intervals are a theorem: its coefficient is one, and nothing about the model was learned."""
        return self.judged is None and self.learned is None and is_theory(exact(self.source).confidence)

    @property
    def judge_variance(self) -> float:
        """The variance of what the judge who gave most answers feels, in the squared unit of f."""
        return self._mixed.felt_variance

    @property
    def compared(self) -> Source:
        """What comparisons teach under the kernel that judgements have taught, if readings have not."""
        return self.source if self.judged is None else self._mixed.compared

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading, and what the leader would have read then; `None` if not modeled or wrong."""
        learned = self.learned
        if learned is None:
            return exact(self.source).offsets(leader)
        found = None if learned.contradicted else learned.exact.offsets(leader)
        return None if found is None else (found[0], found[1] + learned.origins.get("", 0.0))

    def condition(self, comparison: Comparison, fit: bool = True) -> Self:
        """Return the belief that has also learned from a comparison.

        Args:
            comparison: What is learned.
            fit: Whether a fit that is due is made.
        """
        learned = self.learned
        if learned is not None:
            return self.on(learned.condition(comparison, fit))
        return self.on(exact(self.source).condition(comparison))

    def caught_up(self) -> Self:
        """Return it with the fit of the model that is overdue, if one is."""
        learned = self.learned
        return self if learned is None or not learned.overdue else self.on(learned.caught_up())

    def relearned(self, comparisons: Sequence[Comparison], fit: Learned) -> Self:
        """Return what all of these comparisons teach under what was fitted before, learned at once."""
        if self.learned is None:
            raise ValueError("`fit` must be of a model that is learned, and this one was given")
        return self.on(self.learned.relearned(comparisons, fit))

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the belief as if all comparisons came out as expected."""
        judged = None if self.judged is None else replace(self.judged, grown=None)
        return replace(self, source=self.source.anticipate_all(comparisons), judged=judged)

    def expecting(self, pairs: FloatArray) -> Self:
        """Return the belief as if pairs that are still to be judged, shape (k, 2, d), came out as expected."""
        mixed = self._mixed
        return replace(self, judged=replace(mixed.judged, open=pairs, grown=mixed.settled))

    def judge(self, judgement: Judgement) -> Self:
        """Return the belief that has also learned from a judgement."""
        return replace(self, judged=self._mixed.judge(judgement))

    def with_judgements(self, judgements: Sequence[Judgement], fit: JudgeFit) -> Self:
        """Return the belief that has learned from judgements what was fitted to them.

        Args:
            judgements: As many as there were.
            fit: What was fitted to them beside the same comparisons.
        """
        return replace(self, judged=self._mixed.recalled(judgements, fit))

    def on(self, source: Source) -> Self:
        """Return the same judgements with other comparisons: judges are fitted again if the unit of f is another."""
        if source is self.source:
            return self
        return replace(self, source=source, judged=None if self.judged is None else self._mixed.on(source))

    def with_answers(self, posterior: Posterior) -> Posterior:
        """Return a posterior of the comparisons with the answers of judges added."""
        return posterior if self.judged is None else self._mixed.with_answers(posterior)

    @cached_property
    def _mixed(self) -> Mixed:
        """The judgements along with the comparisons; none of them if there are none."""
        return judging.Mixed(self.source, judging.Judged() if self.judged is None else self.judged)


def pair_variance(belief: StudyBelief) -> float:
    """Return the variance of the difference of two readings of a pair at one point; without readings, of the judge."""
    read = belief.judged is None or exact(belief.source).comparisons
    return judging.pair_variance(belief.source) if read else belief.judge_variance


def contradiction(belief: StudyBelief) -> float:
    """Return how many times as large as a given kernel allows the squares of the outcomes are; 0 if they fit it."""
    if belief.learned is not None or belief.comparisons < FEWEST_OUTCOMES:
        return 0.0
    posterior = belief.posterior
    allowed = max(1.0, 1.0 / error_scale(posterior.confidence, posterior.regularizer))
    times = posterior.misfit / belief.comparisons / allowed
    return times if times > LARGEST_MISFIT else 0.0
