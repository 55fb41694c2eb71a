"""What was fitted to the answers of judges, without the answers: what a log keeps.

The sites of few answers follow from what was fitted; those of many are kept. Rounded to six digits they move a mean by
3e-6 standard deviations, and are inconsistent by 1e-5 anyway (600 answers in two dimensions).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.judgements.fitting import ANSWERED_VARIANCE, JudgedKernel
from equipoise.belief.model import Form, Schedule
from equipoise.likelihoods import FEW, Judge, Judgement, Sites, must_be_fitted

REFITS = Schedule()
"""When judges, and the kernel, are fitted: as a kernel is to readings."""

DIGITS = 6
"""How many digits of a site are kept."""

ROUNDING = 1e-6
"""By how much what was fitted may lie outside of its range, relative to itself: other machines round otherwise."""


@dataclass(frozen=True, eq=False)
class JudgeFit:
    """What was fitted to the answers of judges, without the answers.

    Attributes:
        answers: How many there were when all sites were last made consistent.
        fitted: How many there were when the judges, and the kernel, were last fitted; 0 before that.
        judges: The parameters of each judge; empty before that.
        kernel: The kernel of f, where answers teach it.
        sites: The answers as Gaussian pseudo-outcomes, those since too.

    Example:
        >>> JudgeFit().marks(JudgeFit()), JudgeFit(answers=6, fitted=6).marks(JudgeFit(answers=5))
        (False, True)
    """

    answers: int = 0
    fitted: int = 0
    judges: tuple[Judge, ...] = ()
    kernel: JudgedKernel | None = None
    sites: Sites = field(default_factory=Sites.none)

    @property
    def due(self) -> int:
        """How many answers there will be when the next fit is made."""
        return REFITS.after(self.fitted)

    def marks(self, before: "JudgeFit") -> bool:
        """Return whether so much was learned since that it is worth keeping."""
        swept = self.answers > FEW and self.answers != before.answers
        return swept or self.fitted != before.fitted

    def kept(self) -> "JudgeFit":
        """Return what is kept of it in a log: sites of few answers are not, those of many are rounded."""
        n = len(self.sites.precision)
        sites = Sites(_rounded(self.sites.precision), _rounded(self.sites.shift)) if n > FEW else Sites.none()
        return replace(self, answers=n, sites=sites)

    def must_be_of(self, judgements: Sequence[Judgement], form: Form | None) -> None:
        """Refuse what cannot have been learned from these: a log may come from anybody.

        Args:
            judgements: As many as there were.
            form: The form of the model where that is learned.
        """
        n, names = len(judgements), {each.judge for each in judgements}
        if not 1 <= self.fitted <= n:
            raise ValueError(f"its fit must be after answer 1 to {n}, as the lines before say, got {self.fitted}")
        for judge in self.judges:
            must_be_fitted(judge)
            if judge.name not in names:
                raise ValueError(f"its fit must be of judges of the lines before, got {judge.name!r}")
        if self.kernel is not None:
            _must_be_possible(self.kernel, form)
        if len(self.sites.precision) != (n if n > FEW else 0):
            raise ValueError(f"its fit must have {n} sites where there are more than {FEW} answers, else none")


def _must_be_possible(kernel: JudgedKernel, form: Form | None) -> None:
    """Refuse a kernel that cannot have been fitted."""
    if form is None:
        raise ValueError("its fit must have no kernel: that was given")
    table = (*[form.table[0]] * form.parameters, ANSWERED_VARIANCE)
    values = (*kernel.lengthscales, kernel.variance)
    if len(values) != len(table):
        raise ValueError(f"its fit must have {form.parameters} lengthscales, got {len(kernel.lengthscales)}")
    for value, each in zip(values, table, strict=True):
        if not each.low * (1 - ROUNDING) <= value <= each.high * (1 + ROUNDING):
            raise ValueError(f"`{each.name}` of its fit must be from {each.low:.3g} to {each.high:.3g}, got {value!r}")


def _rounded(values: FloatArray) -> FloatArray:
    return np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
