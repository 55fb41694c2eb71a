"""The belief of a study: all that readings, duels and judgements teach under its model.

What is known from comparisons is the prior of what judges say. If there are enough readings to know the unit of f, or a
kernel was given, the judgements teach f and what the judges are like; else also the kernel, and the first judge's noise
is the unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.confidence import is_theory
from equipoise.belief.judgements import (
    FEW,
    REFITS,
    Judged,
    JudgeFit,
    Pairing,
    appended,
    consistent,
    fitted,
    outcome,
)
from equipoise.belief.learned import LearnedBelief, LearnedModel
from equipoise.belief.model import Form, Learned
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Lazy, Posterior
from equipoise.data import Comparison
from equipoise.likelihoods import Judgement
from equipoise.offsets import Moments

Source = Posterior | LearnedBelief
"""What has learned from comparisons: under a model that was given, or under one that is learned."""


def infer(lessons: Sequence[Comparison], model: Posterior | LearnedModel, fit: Learned | None = None) -> "StudyBelief":
    """Return what lessons teach under a model.

    Args:
        lessons: Comparisons, in their order.
        model: The posterior before any data under a model that is given; or what is to be learned of one.
        fit: What was fitted to the lessons before: then nothing is fitted now. Else they are learned one by one, and
            the model is fitted on its schedule.

    Example:
        >>> import equipoise as eq
        >>> prior = eq.belief.AnywherePosterior(eq.RBF(0.5), regularizer=0.1)
        >>> belief = infer([eq.Comparison([1.0], [0.0], 0.7)], prior)
        >>> belief.comparisons, belief.posterior.difference([[1.0]], [0.0])[0].round(3)
        (1, array([0.662]))
    """
    belief = StudyBelief(LearnedBelief.prior(model) if isinstance(model, LearnedModel) else model)
    if fit is not None:
        return belief.relearned(lessons, fit)
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
        ...     belief = belief.judge(Judgement(np.array([1.0]), np.array([0.0]), answer))
        >>> belief.comparisons, belief.posterior.difference([[1.0]], [0.0])[0].round(2)
        (4, array([0.93]))
    """

    source: Source
    judged: Judged | None = None

    @property
    def learned(self) -> LearnedBelief | None:
        """What was learned of the model; `None` if it was given."""
        return self.source if isinstance(self.source, LearnedBelief) else None

    @cached_property
    def posterior(self) -> Posterior:
        """The exact posterior of all data that answers: answers of judges are pseudo-outcomes."""
        posterior = self._settled
        for first, second in () if self.judged is None else self.judged.open:
            (mean,), _ = posterior.difference(first[None], second)
            posterior = posterior.with_outcomes(outcome(first, second, float(mean), self.judge_variance))
        return posterior

    @property
    def comparisons(self) -> int:
        """How many comparisons and judgements it has learned from."""
        return _exact(self.source).comparisons + len(self.judgements)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The judgements it has learned from."""
        return () if self.judged is None else self.judged.judgements

    @property
    def fit(self) -> JudgeFit:
        """What was fitted to judgements: what is known of each judge."""
        return JudgeFit() if self.judged is None else self.judged.fit

    @property
    def knows_unit(self) -> bool:
        """Whether there are enough data to learn how large f is."""
        return self._read_unit or len(self.judgements) >= REFITS.first

    @property
    def proven(self) -> bool:
        """Whether its intervals are a theorem: its coefficient is one, and nothing about the model was learned."""
        return self.judged is None and self.learned is None and is_theory(_exact(self.source).confidence)

    @property
    def judge_variance(self) -> float:
        """The variance of what the judge who gave most answers feels, in the squared unit of f."""
        judges, names = self.fit.judges, [each.judge for each in self.judgements]
        return max(judges, key=lambda judge: names.count(judge.name)).noise ** 2 if judges else self._reference**2

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading, and what the leader would have read then; `None` if not modeled or wrong."""
        learned = self.learned
        if learned is None:
            return _exact(self.source).offsets(leader)
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
        return self.on(_exact(self.source).condition(comparison))

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
        judged = Judged() if self.judged is None else self.judged
        return replace(self, judged=replace(judged, open=pairs, grown=self._settled))

    def judge(self, judgement: Judgement) -> Self:
        """Return the belief that has also learned from a judgement."""
        judged = Judged() if self.judged is None else self.judged
        new = replace(self, judged=replace(judged, judgements=(*judged.judgements, judgement)))
        due = len(new.judgements) >= judged.fit.due
        new = new._fitted() if due else new
        assert new.judged is not None
        if due or new.judged.needs_sweep:
            return new._consistent()
        return replace(new, judged=appended(new.judged, self._settled, self._taught_form, self._reference))

    def with_judgements(self, judgements: Sequence[Judgement], fit: JudgeFit) -> Self:
        """Return the belief that has learned from judgements what was fitted to them.

        Args:
            judgements: As many as there were.
            fit: What was fitted to them beside the same comparisons.
        """
        new = replace(self, judged=Judged(tuple(judgements), fit))
        return new._consistent() if len(judgements) <= FEW else new

    def on(self, source: Source) -> Self:
        """Return the same judgements beside other comparisons: judges are fitted again if the unit of f is another."""
        if source is self.source:
            return self
        if self.judged is None:
            return type(self)(source)
        new = replace(self, source=source, judged=replace(self.judged, grown=None))
        n, other = len(self.judgements), new._unit != self._unit
        if other and n >= REFITS.first:
            new = new._fitted()
        return new._consistent() if 0 < n <= FEW or (other and n) else new

    def with_answers(self, posterior: Posterior) -> Posterior:
        """Return a posterior of the comparisons with the answers of judges beside them."""
        return posterior if self._outcomes is None else posterior.with_outcomes(self._outcomes)

    @cached_property
    def compared(self) -> Source:
        """What comparisons teach under the kernel that judgements have taught, if readings have not."""
        form, learned = self._taught_form, self.learned
        if form is None or learned is None or self.judged is None or self.judged.fit.kernel is None:
            return self.source
        return learned.under(self.judged.fit.kernel.hyperparameters(form, self._reference))

    @property
    def _read_unit(self) -> bool:
        """Whether readings, or a kernel that was given, say how large f is."""
        return self.learned is None or self.learned.knows_unit

    @property
    def _taught_form(self) -> Form | None:
        """The form of the model if judgements are to teach the kernel."""
        return None if self.learned is None or self._read_unit else self.learned.form

    @property
    def _unit(self) -> float | None:
        """The unit of f if a judge's noise is it; `None` if f has its own."""
        return None if self._taught_form is None else self._reference

    @property
    def _reference(self) -> float:
        """The noise that a judge is expected to have: the unit of f if that has none."""
        if self._taught_form is not None and self.learned is not None:
            return self.learned.hyperparameters.step
        return float(np.sqrt(_pair_variance(self.source)))

    @cached_property
    def _settled(self) -> Posterior:
        """The posterior of all data, without the pairs that are still to be judged."""
        if self.judged is not None and self.judged.grown is not None:
            return self.judged.grown
        return self.with_answers(trusted(self.compared))

    @cached_property
    def _outcomes(self) -> Observations | None:
        """The answers as pseudo-outcomes, those of one pair of points together."""
        return Pairing.of(self.judgements).outcomes(self.fit.sites) if self.judgements else None

    def _fitted(self) -> Self:
        assert self.judged is not None
        return replace(self, judged=fitted(self.judged, trusted(self.source), self._taught_form, self._reference))

    def _consistent(self) -> Self:
        assert self.judged is not None
        prior = trusted(self.compared)
        return replace(self, judged=consistent(self.judged, prior, self._taught_form, self._reference))


def pair_variance(belief: StudyBelief) -> float:
    """Return the variance of the difference of two readings of a pair at one point; without readings, of the judge."""
    read = belief.judged is None or _exact(belief.source).comparisons
    return _pair_variance(belief.source) if read else belief.judge_variance


def trusted(source: Source) -> Posterior:
    """Return the posterior of comparisons that answers."""
    return source.trusted if isinstance(source, LearnedBelief) else source


def _exact(source: Source) -> Posterior:
    return source.exact if isinstance(source, LearnedBelief) else source


def _pair_variance(source: Source) -> float:
    """Return the variance of the difference of two readings of one pair at one point, noise and offset."""
    if not isinstance(source, LearnedBelief):
        return source.regularizer
    noise, offset = source.exact.regularizer, source.exact.offset
    offset = None if offset is None else replace(offset, jumps=(), blips=())  # what is past cancels: both had it
    if not source.law.learns_readings:
        return noise
    n = float(len(source.exact.observations or ()))
    pair = Moments(np.array([n, n + 1.0]), np.zeros(2))
    K = np.zeros((2, 2)) if offset is None else offset(pair, pair)
    return 2 * noise + float(K[0, 0] + K[1, 1] - 2 * K[0, 1])
