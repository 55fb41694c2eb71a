"""Many benchmarks at once: which of them have changed, with few false discoveries among all claims.

    symbol   meaning                                                                            shape
    d        differences of one benchmark, signed so that a positive one is worse               (n,)
    E(t)     evidence that its center is above t, `E(t) <= 1` in expectation if it is not       ()
    m, R     benchmarks, and those that are claimed                                             ()

Each benchmark is one question, and e-BH (Wang and Ramdas 2022) says which answers may be claimed together: at most
alpha of them are false on average, however benchmarks depend on each other and whenever one looks. Claims of a change
are one family; claims that two are the same, or that one passes, are another. The interval of a benchmark has the level
`alpha R / m`, so that a claimed change and an interval without 0 are the same thing (e-BY, Xu, Wang and Ramdas 2022). A
claim about one side has twice that level, since the other side may miss as often.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer.sequential import e_bh, evidence, in_steps, log_wealth
from equipoise.programs.findings import FAILED, PASSED, UNDECIDED, Finding, Standing, finding
from equipoise.programs.question import Question


@dataclass(frozen=True)
class Member:
    """A benchmark of a family.

    Attributes:
        question: The question about its two arms.
        differences: The second arm minus the first, round by round, on the scale of the question.
    """

    question: Question
    differences: tuple[float, ...]

    @cached_property
    def changed(self) -> float:
        """The evidence that the second arm differs from the first, or that it is worse by more than the limit."""
        worse, limit = self._worse, self.question.fail_above
        if limit is not None:
            return self._above(worse, self.question.on_scale(limit))
        return max(self._above(worse, 0.0), self._above(-worse, 0.0)) / 2

    @cached_property
    def settled(self) -> float:
        """The evidence that the two are the same within the margin, or that the second is within the limit."""
        worse, limit, margin = self._worse, self.question.fail_above, self.question.on_scale(self.question.margin)
        if limit is not None:
            return self._above(-worse, -self.question.on_scale(limit))
        return min(self._above(worse, -margin), self._above(-worse, -margin)) if margin else 0.0

    def finding(self, alpha: float) -> Finding:
        """Return the finding about the pair, with an interval that misses with a probability of at most alpha."""
        first, second = self.question.arms
        interval = self.question.interval(self.differences, alpha)
        return finding(replace(self.question, alpha=alpha), (first, second), interval, len(self.differences))

    def _above(self, d: FloatArray, theta: float) -> float:
        return above(d, theta, stepped=self.question.scale == "difference")

    @property
    def _worse(self) -> FloatArray:
        return self.question.sign * np.array(self.differences)


@dataclass(frozen=True)
class BenchmarkFamily:
    """The claims about many benchmarks together.

    Attributes:
        members: The benchmarks, by name.
        alpha: The expected share of false claims among all claimed changes; likewise among claims of no change.

    Example:
        >>> question = Question(("old", "new"), margin=0.01)
        >>> slower = Member(question, (0.031, 0.029, 0.033, 0.030, 0.032, 0.034, 0.028, 0.031, 0.030, 0.029))
        >>> noise = Member(question, (0.01, -0.02, 0.03, -0.01))
        >>> family = BenchmarkFamily({"parse": slower, "sort": noise})
        >>> family.standing("parse"), family.standing("sort")
        ('worse', 'open')
    """

    members: Mapping[str, Member]
    alpha: float = 0.05

    @cached_property
    def changed(self) -> frozenset[str]:
        """The benchmarks that have changed, or are worse by more than their limit."""
        return self._claimed([each.changed for each in self.members.values()])

    @cached_property
    def settled(self) -> frozenset[str]:
        """The benchmarks that are the same, or within their limit."""
        return self._claimed([each.settled for each in self.members.values()])

    def _claimed(self, e: Sequence[float]) -> frozenset[str]:
        return frozenset(name for name, found in zip(self.members, e_bh(e, self.alpha), strict=True) if found)

    @property
    def decided(self) -> frozenset[str]:
        """The benchmarks with a claim."""
        return self.changed | self.settled

    def finding(self, name: str) -> Finding:
        """Return the finding about a benchmark, with a claim that accounts for all benchmarks."""
        claims = len(self.changed if name in self.changed else self.settled) or 1
        one_sided = name in self.settled or self.members[name].question.fail_above is not None
        found = self.members[name].finding((1 + one_sided) * self.alpha * claims / len(self.members))
        return replace(found, standing=self.standing(name), gate=self.gate(name))

    def standing(self, name: str) -> Standing:
        """Return whether the second arm of a benchmark is better, worse, the same, or open."""
        question, d = self.members[name].question, self.members[name].differences
        if name in self.changed:
            return "worse" if question.fail_above is not None or question.sign * float(np.median(d)) > 0 else "better"
        return "same" if name in self.settled else "open"

    def gate(self, name: str) -> int:
        """Return whether a benchmark is worse by more than its limit."""
        if self.members[name].question.fail_above is None:
            return UNDECIDED
        return FAILED if name in self.changed else PASSED if name in self.settled else UNDECIDED


def above(d: FloatArray, theta: float, stepped: bool = False) -> float:
    """Return the evidence that the center of differences is above theta: the typical one, or the mean.

    Args:
        d: Differences, shape (n,).
        theta: The value that the center is compared with.
        stepped: Whether to use the mean, for differences that come in steps, as those of passes do.

    Example:
        >>> round(above(np.array([0.1, 0.2, 0.15, 0.12, 0.3, 0.25]), 0.0))
        39
    """
    if not len(d) or not d.any():
        return 1.0 if theta >= 0 or not len(d) else float(evidence(d, theta)[-1])
    if theta == 0.0 or not stepped or not in_steps(d) or not np.ptp(d):
        return float(evidence(d, theta)[-1])
    bound = float(np.abs(d).max())
    m = (theta / bound + 1.0) / 2.0
    if not 0.0 < m < 1.0 or d.mean() <= theta:
        return 0.0
    values, counts = np.unique((d / bound + 1.0) / 2.0, return_counts=True)
    return math.exp(min(log_wealth(m, values, counts), 700.0))
