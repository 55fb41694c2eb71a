"""The fitted judge model without its data: the part that a log stores.

The sites of few answers follow from the fit; those of many are stored. Rounding them to six digits moves a mean by 3e-6
standard deviations, while they are inconsistent by 1e-5 anyway (600 answers in two dimensions).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.judgements.fitting import ANSWERED_VARIANCE, JudgedKernel
from equipoise.belief.model import Form, Schedule
from equipoise.likelihoods import FEW, Judge, Judgement, Sites, must_be_fitted

REFITS = Schedule()
"""The schedule of fits of judges and the kernel: the same as that of a kernel's fits to readings."""

DIGITS = 6
"""The number of digits of a stored site."""

ROUNDING = 1e-6
"""The relative amount by which a fitted value may exceed its range: other machines round differently."""


@dataclass(frozen=True, eq=False)
class JudgeFit:
    """The fitted judge model without its data.

    Attributes:
        answers: The number of answers when all sites were last made consistent.
        fitted: The number of answers when the judges and the kernel were last fitted; 0 before that.
        judges: The parameters of each judge; empty before that.
        kernel: The kernel of f, if it is learned from answers.
        sites: All answers as Gaussian pseudo-outcomes, including later ones.

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
        """The number of answers at which the next fit is made."""
        return REFITS.after(self.fitted)

    def marks(self, before: "JudgeFit") -> bool:
        """Return whether this fit is new since the earlier one and worth storing."""
        swept = self.answers > FEW and self.answers != before.answers
        return swept or self.fitted != before.fitted

    def kept(self) -> "JudgeFit":
        """Return the part stored in a log: without the sites of few answers, with rounded ones of many."""
        n = len(self.sites.precision)
        sites = Sites(_rounded(self.sites.precision), _rounded(self.sites.shift)) if n > FEW else Sites.none()
        return replace(self, answers=n, sites=sites)

    def must_be_of(self, judgements: Sequence[Judgement], form: Form | None) -> None:
        """Refuse a fit that as many judgements cannot have produced: a log may come from anybody."""
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
