"""The belief of a study, learned from readings, duels and judgements under its model."""

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
"""The factor by which the mean square of the outcomes may exceed its expectation before the kernel is contradicted."""

FEWEST_OUTCOMES = 4
"""The fewest outcomes for such a conclusion."""


def infer(lessons: Sequence[Comparison], model: Posterior | LearnedModel) -> StudyBelief:
    """Return the belief learned from lessons under a model.

    Args:
        lessons: Comparisons, in their order.
        model: The posterior before any data under a given model; or a model to be learned, which is then fitted on its
            schedule.

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
    """The belief learned from readings, duels and judgements; immutable.

    Attributes:
        source: The posterior or belief learned from comparisons.
        judged: The judgements and their fit; `None` if there are none.

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
        """The belief with its learned model; `None` if the model was given."""
        return self.source if isinstance(self.source, LearnedBelief) else None

    @property
    def posterior(self) -> Posterior:
        """The exact posterior of all data used for claims: judges' answers enter as pseudo-outcomes."""
        return trusted(self.source) if self.judged is None else self._mixed.posterior

    @property
    def comparisons(self) -> int:
        """The number of comparisons and judgements learned from."""
        return exact(self.source).comparisons + len(self.judgements)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The judgements learned from."""
        return () if self.judged is None else self.judged.judgements

    @property
    def fit(self) -> JudgeFit:
        """The fit to judgements, with the parameters of each judge."""
        return judging.JudgeFit() if self.judged is None else self.judged.fit

    @property
    def knows_unit(self) -> bool:
        """True if there are enough data to learn the scale of f."""
        return self.learned is None or self.learned.knows_unit or self._mixed.knows_unit

    @property
    def proven(self) -> bool:
        """True if a theorem proves its intervals: one covers its coefficient, and no part of the model was learned."""
        return self.judged is None and self.learned is None and is_theory(exact(self.source).confidence)

    @property
    def judge_variance(self) -> float:
        """The perception variance of the judge with most answers, in the squared unit of f."""
        return self._mixed.felt_variance

    @property
    def compared(self) -> Source:
        """The comparisons under the kernel learned from judgements, if readings do not determine it."""
        return self.source if self.judged is None else self._mixed.compared

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading and the leader's expected reading; `None` if not modeled or contradicted."""
        learned = self.learned
        if learned is None:
            return exact(self.source).offsets(leader)
        found = None if learned.contradicted else learned.exact.offsets(leader)
        return None if found is None else (found[0], found[1] + learned.origins.get("", 0.0))

    def condition(self, comparison: Comparison, fit: bool = True) -> Self:
        """Return the belief that has also learned from a comparison, with a fit if one is due and `fit` allows it."""
        learned = self.learned
        if learned is not None:
            return self.on(learned.condition(comparison, fit))
        return self.on(exact(self.source).condition(comparison))

    def caught_up(self) -> Self:
        """Return the belief after an overdue fit of its model, if there is one."""
        learned = self.learned
        return self if learned is None or not learned.overdue else self.on(learned.caught_up())

    def relearned(self, comparisons: Sequence[Comparison], fit: Learned) -> Self:
        """Return the belief learned from all these comparisons at once, under an earlier fit."""
        if self.learned is None:
            raise ValueError("`fit` must be of a learned model, but this model was given")
        return self.on(self.learned.relearned(comparisons, fit))

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the belief as if all comparisons came out as expected."""
        judged = None if self.judged is None else replace(self.judged, grown=None)
        return replace(self, source=self.source.anticipate_all(comparisons), judged=judged)

    def expecting(self, pairs: FloatArray) -> Self:
        """Return the belief as if open pairs, shape (k, 2, d), were judged as expected."""
        mixed = self._mixed
        return replace(self, judged=replace(mixed.judged, open=pairs, grown=mixed.settled))

    def judge(self, judgement: Judgement) -> Self:
        """Return the belief that has also learned from a judgement."""
        return replace(self, judged=self._mixed.judge(judgement))

    def with_judgements(self, judgements: Sequence[Judgement], fit: JudgeFit) -> Self:
        """Return the belief learned from all judgements under an earlier fit, made with the same comparisons."""
        return replace(self, judged=self._mixed.recalled(judgements, fit))

    def on(self, source: Source) -> Self:
        """Return the same judgements with other comparisons: refit the judges if the unit of f differs."""
        if source is self.source:
            return self
        return replace(self, source=source, judged=None if self.judged is None else self._mixed.on(source))

    def with_answers(self, posterior: Posterior) -> Posterior:
        """Return a posterior of the comparisons with the judges' answers added."""
        return posterior if self.judged is None else self._mixed.with_answers(posterior)

    @cached_property
    def _mixed(self) -> Mixed:
        """The comparisons with the judgements, which may be empty."""
        return judging.Mixed(self.source, judging.Judged() if self.judged is None else self.judged)


def pair_variance(belief: StudyBelief) -> float:
    """Return the variance of the difference of a pair's readings at one point; without readings, that of the judge."""
    read = belief.judged is None or exact(belief.source).comparisons
    return judging.pair_variance(belief.source) if read else belief.judge_variance


def contradiction(belief: StudyBelief) -> float:
    """Return the factor by which squared outcomes exceed what a given kernel allows; 0 if they fit it."""
    if belief.learned is not None or belief.comparisons < FEWEST_OUTCOMES:
        return 0.0
    posterior = belief.posterior
    allowed = max(1.0, 1.0 / error_scale(posterior.confidence, posterior.regularizer))
    times = posterior.misfit / belief.comparisons / allowed
    return times if times > LARGEST_MISFIT else 0.0
