"""The share of judgements that prefer one setting: an exact interval that is valid whenever one looks.

Answers are 1 if it was preferred, 1/2 if the two were called equal, else 0: bounded numbers, whose mean is the share
(`sequential/bounded.py`). For answers without ties the interval is that of Robbins (1970), with a flat prior.
"""

from dataclasses import dataclass

from equipoise._typing import FloatArray
from equipoise.answer.sequential import bounded_mean
from equipoise.answer.wording import shared


@dataclass(frozen=True)
class Share:
    """The share of fresh judgements that prefer one setting to another, with its interval.

    Attributes:
        value: The share of the judgements; a tie counts half.
        low: The lower limit, with a confidence of 95 %.
        high: The upper limit, likewise.
        judgements: The number of fresh judgements.

    Example:
        >>> print(Share(0.79, 0.52, 0.94, 24))
        79 % [52 %, 94 %] of cases, verified by 24 fresh judgements
        >>> print(-Share(0.75, 0.5, 1.0, 4))
        25 % [0 %, 50 %] of cases, verified by 4 fresh judgements
    """

    value: float
    low: float
    high: float
    judgements: int

    def __neg__(self) -> "Share":
        return Share(1.0 - self.value, 1.0 - self.high, 1.0 - self.low, self.judgements)

    def __str__(self) -> str:
        return shared(self)


def share(scores: FloatArray, alpha: float = 0.05) -> Share:
    """Return the share of judgements that preferred one setting, with an interval that is valid at every look.

    Args:
        scores: 1 where it was preferred, 1/2 if the two were called equal, else 0; shape (n,).
        alpha: How often the interval may miss, over all looks.

    Example:
        >>> import numpy as np
        >>> found = share(np.array([1, 1, 1, 0.5, 1, 1, 0, 1, 1, 1]))
        >>> found.value, round(found.low, 2), round(found.high, 2)
        (0.85, 0.43, 0.99)
    """
    found = bounded_mean(scores, alpha)
    return Share(found.value, found.low, found.high, len(scores))
