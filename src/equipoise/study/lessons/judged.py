"""The lessons of judges, each added to the comparisons known when the judgement was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from equipoise.study.lessons.comparisons import LessonsOfOneKind, calmly

if TYPE_CHECKING:
    from equipoise.belief import JudgeFit, StudyBelief
    from equipoise.likelihoods import Judge, Judgement
    from equipoise.study.lessons.comparisons import Comparisons


class Judgements(LessonsOfOneKind["Judgement", "JudgeFit"]):
    """The lessons of judges, and the belief from these and the comparisons.

    Args:
        comparisons: The other lessons of the study.
        prior: The belief before any lesson.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> from equipoise.study.lessons import Comparisons
        >>> prior = eq.belief.infer((), eq.belief.AnywherePosterior(eq.RBF(0.5)))
        >>> lessons = Judgements(Comparisons(prior), prior)
        >>> lessons.add(eq.likelihoods.Judgement(np.array([1.0]), np.array([0.0]), "first"))
        >>> lessons.belief.comparisons
        1
    """

    def __init__(self, comparisons: Comparisons, prior: StudyBelief) -> None:
        super().__init__(prior)
        self._comparisons = comparisons
        self._rested = prior, prior, prior  # the last belief beside comparisons: of what, on what, and what it came to
        self._beside: list[int] = []  # the number of comparisons when each judgement was given

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
        """The parameters of each judge; nothing is computed if no fit is due since the last known one."""
        last = self.last_known
        if last is not None and last.due > len(self) and self._beside[last.answers - 1] == len(self._comparisons):
            return last.judges
        return self.belief.fit.judges

    def news(self) -> JudgeFit | None:
        """Return the last fit of the belief, if it was not known before."""
        before = self.last_known
        _ = self._judged
        return None if self.last_known is before else self.last_known

    def after(
        self, said: Judgement, fit: JudgeFit | None = None, later: bool = False
    ) -> tuple[StudyBelief | None, JudgeFit | None]:
        """Return the belief after a judgement, and the fit made with it, without changing anything.

        A known fit is reused, and refused if it is impossible. With `later` no belief is returned: it is computed on
        demand.
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
        """Add a judgement, with the results of `after` for it."""
        self._beside.append(len(self._comparisons))
        self._extend([said], belief)
        self.recall(fit)

    def recall(self, fit: JudgeFit | None) -> None:
        """Use an earlier fit."""
        if fit is not None:
            self._fits[fit.answers] = fit

    def restart(self) -> None:
        """Discard the cached belief after a change of the fit to readings."""
        self._made = self._prior, 0

    def must_have_led_to(self, fit: JudgeFit) -> None:
        """Refuse a fit that cannot have been made with one of the judgements."""
        if not 1 <= fit.answers <= len(self):
            raise ValueError(f"its fit must be after answer 1 to {len(self)}, got {fit.answers}")
        self._must_be_of(fit, self._lessons[: fit.answers])

    def beside(self, comparisons: Comparisons) -> Judgements:
        """Return an independent copy that uses a copy of the comparisons."""
        new = self.copied()
        new._comparisons, new._beside = comparisons, list(self._beside)
        return new

    @property
    def _judged(self) -> StudyBelief:
        """The belief after all judgements, with the readings known at the last of them."""
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
        """Return the belief after one more judgement, and the fit to store if one was made."""
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
