"""Many questions at once, or one after another: the share of false discoveries among all claimed ones.

    symbol   meaning                                                                    shape
    e        evidence: expectation at most 1 if there is nothing to discover        (n,)
    alpha    the expected share of false discoveries among all discoveries             ()
    W        wealth: the remaining part of alpha                                        ()
    s        stake: the part of W for one question                                      ()
    R        discoveries so far                                                         ()

**All at once** (e-BH, Wang and Ramdas 2022): discover the k questions of most evidence, for the largest k with `e_(k)
>= n / (alpha k)`. This is valid under any dependence of the questions.

**One after another** (e-LOND, Xu and Ramdas 2024): a question is discovered when `e >= 1 / (s (R + 1))`, and the stakes
sum to alpha. Here the stakes may depend on everything before, and a question that ends with evidence e < 1 returns the
share e of its stake. Since a false discovery costs `1/(R + 1) <= s e`, the wealth plus the cost of all false
discoveries is a supermartingale that begins at alpha. A question never returns more than its stake. For this the
evidence of a question must have expectation at most 1 *given all earlier questions*: its data must be fresh. A question
that shares data with others may return nothing (`settled(..., fresh=False)`).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise import _validation as check


def e_bh(evidence: ArrayLike, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Return a mask of the questions that are discoveries, shape (n,): on average at most alpha of these are false.

    Args:
        evidence: Of each question, with expectation at most 1 if there is nothing to discover; shape (n,).
        alpha: The tolerated share of false discoveries.

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
        alpha: The expected share of false discoveries among all, whenever one looks.
        wealth: The remaining part of it; alpha at first.
        found: Discoveries so far.
        part: The part of the wealth for one question.

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
        """Return the budget after a question with this final evidence.

        It is `kept` if it is claimed, which requires the needed evidence. If its data were read `fresh`, for it alone,
        the unused stake is returned.
        """
        check.nonnegative("evidence", evidence)
        if kept and evidence < self.needed:
            raise ValueError(f"`evidence` must be at least {self.needed:.4g} for a discovery, got {evidence:g}")
        back = min(evidence, 1.0) * self.stake if fresh and not kept else 0.0
        return replace(self, wealth=self.wealth - self.stake + back, found=self.found + kept)
