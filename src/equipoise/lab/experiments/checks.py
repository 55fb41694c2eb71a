"""Statements about curves, each decided by a rule and shown with its numbers.

statement            rule
sublinear, linear    median over repetitions of the growth exponent log2(R(n) / R(n/2)) below, above 0.75: halfway
                     between a root and a line. A median, since a few runs that lock onto a wrong point dominate any
                     mean; the share of runs above 0.75 is printed beside it.
ahead                mean of the paired difference in final regret larger than two standard errors
on a par             that mean within two standard errors of zero
best                 ahead of, or on a par with, each of the others
close                median final regret at most three times the other's
much worse           mean final regret at least three times the other's
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.lab.experiments.results import Curves
from equipoise.lab.experiments.statistics import growth, lead, level, median_interval, short

LINEAR = 0.75
"""Growth exponent between sublinear and linear."""

FACTOR = 3.0
"""The factor that defines "close" and "much worse"."""


@dataclass(frozen=True)
class Check:
    """A statement, whether it holds, and the numbers that decide it.

    Example:
        >>> print(Check("the sky is blue", True, "450 nm"))
        PASS  the sky is blue: 450 nm
    """

    statement: str
    passed: bool
    numbers: str

    def __str__(self) -> str:
        return f"{'PASS' if self.passed else 'FAIL'}  {self.statement}: {self.numbers}"


def sublinear(statement: str, curves: Curves) -> Check:
    """State that regret grows more slowly than the number of readings."""
    return Check(statement, bool(np.median(growth(curves)) < LINEAR), _growth(curves))


def linear(statement: str, curves: Curves) -> Check:
    """State that regret grows like the number of readings."""
    return Check(statement, bool(np.median(growth(curves)) >= LINEAR), _growth(curves))


def on_a_par(statement: str, first: Curves, second: Curves, bias: bool = False) -> Check:
    """State that two learners have the same regret; `bias` adds their biases to the names."""
    difference = lead(first, second)
    numbers = f"{_levels([first, second], bias)}; the second pays {difference} more"
    return Check(statement, abs(difference.mean) <= difference.error, numbers)


def ahead(statement: str, first: Curves, others: Sequence[Curves]) -> Check:
    """State that the first has less regret than each of the others."""
    passed = all(each.mean > each.error for each in (lead(first, other) for other in others))
    return Check(statement, passed, _levels([first, *others]))


def best(statement: str, first: Curves, others: Sequence[Curves]) -> Check:
    """State that none of the others has less regret than the first."""
    passed = all(each.mean >= -each.error for each in (lead(first, other) for other in others))
    return Check(statement, passed, _levels([first, *others]))


def behind(statement: str, last: Curves, others: Sequence[Curves]) -> Check:
    """State that each of the others has less regret than the last."""
    passed = all(each.mean > each.error for each in (lead(other, last) for other in others))
    return Check(statement, passed, _levels([last, *others]))


def close(statement: str, first: Curves, second: Curves) -> Check:
    """State that the typical regret of the first is not many times that of the second."""
    medians = level(first.final).median, level(second.final).median
    numbers = f"median {short(medians[0])} against {short(medians[1])}, ratio {short(medians[0] / medians[1])}"
    return Check(statement, medians[0] <= FACTOR * medians[1], numbers)


def much_worse(statement: str, first: Curves, second: Curves) -> Check:
    """State that the regret of the first is many times that of the second."""
    passed = level(first.final).mean >= FACTOR * level(second.final).mean
    return Check(statement, passed, _levels([first, second], bias=True))


def _growth(curves: Curves) -> str:
    exponents = growth(curves)
    low, high = median_interval(exponents)
    linear_runs = int(np.count_nonzero(exponents >= LINEAR))
    median = float(np.median(exponents))
    return f"growth exponent {median:.2f} [{low:.2f}, {high:.2f}], {linear_runs} of {len(exponents)} runs linear"


def _levels(curves: Sequence[Curves], bias: bool = False) -> str:
    names = [f"{c.experiment.learner} ({c.experiment.bias})" if bias else c.experiment.learner for c in curves]
    return ", ".join(f"{name} {level(c.final)}" for name, c in zip(names, curves, strict=True))
