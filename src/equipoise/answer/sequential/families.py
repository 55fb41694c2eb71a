"""Many questions at once, or one after another: the share of false discoveries among all that are claimed.

    symbol   meaning                                                                    shape
    e        evidence: expected to be 1 at most if there is nothing to discover     (n,)
    alpha    the share of false discoveries among all discoveries, in the mean         ()
    W        wealth: the part of alpha that is left                                     ()
    s        stake: the part of W that one question is given                            ()
    R        discoveries so far                                                         ()

**All at once** (e-BH, Wang and Ramdas 2022): discover the k questions of most evidence, for the largest k with
`e_(k) >= n / (alpha k)`. It holds however the questions depend on each other.

**One after another** (e-LOND, Xu and Ramdas 2024): a question is discovered when `e >= 1 / (s (R + 1))`, and the stakes
sum to alpha. Here the stakes may depend on everything before, and a question that is given up at evidence e < 1 pays
e back: since a false discovery costs `1/(R + 1) <= s e`, the wealth with all that false discoveries have cost is a
supermartingale that begins at alpha. Whether something was there to discover or not, a question never pays more back
than its stake. For this the evidence of a question must be expected to be 1 at most *given all earlier questions*: the
data must be fresh. A question that shares data with others may pay nothing back (`settled(..., fresh=False)`).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise import _validation as check


def e_bh(evidence: ArrayLike, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Return which of several questions are discoveries, shape (n,): at most alpha of them are false, in the mean.

    Args:
        evidence: For each question, expected to be 1 at most if there is nothing to discover; shape (n,).
        alpha: The share of false discoveries.

    Example:
        >>> e_bh([500.0, 45.0, 25.0, 0.4])
        array([ True,  True, False, False])
    """
    e = check.array("evidence", evidence, (None,)) if np.size(evidence) else np.empty(0)
    n, ordered = len(e), np.sort(e)[::-1]
    enough = np.flatnonzero(ordered * np.arange(1, n + 1) * check.probability("alpha", alpha) >= n)  # WR22 Sec. 4
    found: NDArray[np.bool_] = e >= (ordered[enough[-1]] if len(enough) else math.inf)
    return found


@dataclass(frozen=True)
class Budget:
    """The remaining false discoveries that a stream of questions is allowed.

    Attributes:
        alpha: The share of false discoveries among all, in the mean, whenever one looks.
        wealth: What is left of it; alpha at first.
        found: Discoveries so far.
        part: Which part of the wealth a question is given.

    Example:
        >>> budget = Budget(0.1)
        >>> round(budget.needed, 1)
        50.0
        >>> budget = budget.settled(0.3, kept=False)  # given up: 0.3 of the stake comes back
        >>> round(budget.needed, 1)
        58.1
        >>> budget.settled(120.0, kept=True).needed < budget.needed
        True
    """

    alpha: float = 0.1
    wealth: float = math.nan
    found: int = 0
    part: float = 0.2

    def __post_init__(self) -> None:
        check.probability("alpha", self.alpha)
        check.probability("part", self.part)
        if math.isnan(self.wealth):
            object.__setattr__(self, "wealth", self.alpha)

    @property
    def stake(self) -> float:
        """The share for the next question."""
        return self.part * self.wealth

    @property
    def needed(self) -> float:
        """The evidence at which the next question is a discovery."""
        return 1.0 / (self.stake * (self.found + 1))

    def settled(self, evidence: float, *, kept: bool, fresh: bool = True) -> "Budget":
        """Return the budget after a question.

        Args:
            evidence: What it had in the end.
            kept: Whether it is claimed: it must have the evidence that was needed.
            fresh: Whether its data were read for it alone, so that what it did not use up comes back.
        """
        check.nonnegative("evidence", evidence)
        if kept and evidence < self.needed:
            raise ValueError(f"`evidence` must be at least {self.needed:.4g} for a discovery, got {evidence:g}")
        back = min(evidence, 1.0) * self.stake if fresh and not kept else 0.0
        return replace(self, wealth=self.wealth - self.stake + back, found=self.found + kept)
