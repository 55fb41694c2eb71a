"""Reports on judges: their noise, their preference for a place, and their consistency."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.likelihoods.judges import Judge
from equipoise.likelihoods.scale import Judgement


@dataclass(frozen=True)
class JudgeReport:
    """A report on a judge.

    Attributes:
        name: The name of the judge.
        answers: The number of judgements.
        skipped: The number of skipped pairs.
        first: The share of the first place among judgements that preferred one.
        toss_up: The estimated share of equal settings for which the first is preferred: 0.5 without an effect of place.
        noise: Standard deviation of the judge's perception, in the unit of f; `None` until it is learned.
        repeats: The number of pairs asked in both orders.
        consistent: The number of these with the same answer: the same one preferred, or neither.

    Example:
        >>> print(JudgeReport("anna", 40, 2, 0.6, 0.58, 1.0, 10, 9))
        anna: 40 judgements, 2 skipped; first place preferred in 60 %, of equals in 58 %; 9 of 10 alike in both orders
    """

    name: str
    answers: int
    skipped: int
    first: float
    toss_up: float | None
    noise: float | None
    repeats: int
    consistent: int

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        equals = "" if self.toss_up is None else f", of equals in {100 * self.toss_up:.0f} %"
        place = "" if math.isnan(self.first) else f"; first place preferred in {100 * self.first:.0f} %{equals}"
        both = f"; {self.consistent} of {self.repeats} alike in both orders" if self.repeats else ""
        count = f"{self.answers} judgement{'' if self.answers == 1 else 's'}"
        return f"{self.name or 'the judge'}: {count}{skipped}{place}{both}"


def reported(
    name: str,
    judgements: Sequence[Judgement],
    skipped: int,
    judge: Judge | None,
    repeats: Sequence[tuple[Judgement, Judgement]],
) -> JudgeReport:
    """Return the report on a judge; `repeats` are judgements of one pair of settings in both orders."""
    decided = [each.level > 0 for each in judgements if each.level]
    alike = sum(_sign(a) == -_sign(b) for a, b in repeats)
    share = sum(decided) / len(decided) if decided else math.nan
    toss_up = None if judge is None else judge.toss_up
    noise = None if judge is None else judge.noise
    return JudgeReport(name, len(judgements), skipped, share, toss_up, noise, len(repeats), alike)


def _sign(judgement: Judgement) -> int:
    return (judgement.level > 0) - (judgement.level < 0)
