"""The lessons of a duel: from its readings to comparisons.

A `Comparison` is the one kind of datum every method here learns from:

    outcome = f(first) - f(second) + something independent of the choice.

`teaches` is the one rule for what a duel teaches: live, in a replay, for duels still open, and in every integration.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from equipoise import _validation as check
from equipoise import likelihoods
from equipoise._typing import FloatArray
from equipoise.data.questions import PairToJudge, Preference, Proposal, Side
from equipoise.offsets import NOTHING_TOLD, Circumstances

if TYPE_CHECKING:
    from equipoise.likelihoods import Likelihood, ReadAnswers
    from equipoise.offsets import Offset

OF = "of"
"""The name of the number of trials of a share, among the values of a reading."""
UNBALANCED = 1e-12
"""Signs whose sum is larger than this, relative to their size, need the baseline: it does not cancel."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """An observation of f: `outcome = f(first) - f(second) + noise`.

    Attributes:
        first: A point, shape (d,); or a `Proposal`, read as the mixture of its points under its weights.
        second: Likewise; or `None` if the outcome is an absolute reading of `first`.
        outcome: The measured difference.
        time: The time of measurement, counted in readings; used only if the offset is modeled.
        variance: The variance that the error of its readings adds to the outcome's noise.
        pair: The number of the duel it belongs to; below zero if there is none.
        duel: The duel it came from, if there was one.
        circumstances: The circumstances of the reading, if the outcome is a reading.
        answers: The raw reading, if it is a count or a share: the outcome is then its Gaussian approximation.

    Example:
        >>> import equipoise as eq
        >>> eq.Comparison([0.2], [0.7], 0.31).outcome
        0.31
    """

    first: Side
    second: Side | None
    outcome: float
    time: float = 0.0
    variance: float = 0.0
    pair: float = -1.0
    duel: Duel | None = None
    circumstances: Circumstances = NOTHING_TOLD
    answers: ReadAnswers | None = None

    def with_site(self, mu: float, v: float) -> Comparison:
        """Return the same with the site of its answer, if that is not exact, for a belief N(mu, v) of its latent."""
        if self.answers is None:
            return self
        mean, variance = np.array([mu]), np.array([v])
        site = likelihoods.Sites.of(self.answers.tilt(mean, variance), mean, variance)
        return replace(self, outcome=float(site.outcome[0]), variance=float(1.0 / site.precision[0]))

    def less(self, origin: float) -> Comparison:
        """Return the same with something subtracted from the outcome."""
        answers = None if self.answers is None else self.answers.less(origin)
        return replace(self, outcome=self.outcome - origin, answers=answers)

    def __post_init__(self) -> None:
        if self.duel is not None:  # built by the library from checked parts: nothing left to check
            return
        first = self.first
        if not isinstance(first, Proposal):
            first = check.array("first", first, (None,))
            object.__setattr__(self, "first", first)
        shape = first.points.shape[1:] if isinstance(first, Proposal) else first.shape
        if not (self.second is None or isinstance(self.second, Proposal)):
            object.__setattr__(self, "second", check.array("second", self.second, shape))
        object.__setattr__(self, "outcome", check.number("outcome", self.outcome))
        object.__setattr__(self, "time", check.number("time", self.time))
        object.__setattr__(self, "variance", check.nonnegative("variance", self.variance))
        object.__setattr__(self, "pair", check.number("pair", self.pair))


Said = float | tuple[float, float] | dict[str, float]
"""A reading as programs give it: a number, a share, or numbers by name."""


def as_said(value: float, values: Mapping[str, float]) -> Said:
    """Return a reading as programs give it, from its value and all its numbers by name.

    Example:
        >>> as_said(0.5, {}), as_said(17.0, {"of": 200.0}), as_said(3.1, {"flux": 3.1, "loss": 0.4})
        (0.5, (17.0, 200.0), {'flux': 3.1, 'loss': 0.4})
    """
    return (value, values[OF]) if OF in values else dict(values) or value


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of a trial.

    Attributes:
        value: The number read, from which the study learns; for a share the successes.
        point: The encoded setting that was actually measured, if it is not the requested one.
        time: The time in the user's clock.
        error: The standard error of the reading.
        place: Its number among the readings of its campaign, from 1 in the order of telling.
        circumstances: Its block, campaign and covariates.
        answers: The answer under the likelihood of the study, if that is not exact.
        values: All numbers that were read, by name, if there are several; for a share the number of trials, as `OF`.
    """

    value: float
    point: FloatArray | None = None
    time: float | None = None
    error: float = 0.0
    place: int = 0
    circumstances: Circumstances = NOTHING_TOLD
    answers: ReadAnswers | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def of(self) -> float | None:
        """The number of trials, if it is a share."""
        return self.values.get(OF)

    @property
    def said(self) -> Said:
        """The answer as programs give it: the value; of a share with the number of trials; or numbers by name."""
        return as_said(self.value, self.values)

    @property
    def outcome(self) -> float:
        """The number on the scale of f: the value; of a count or a share what it suggests at a glance."""
        return self.value if self.answers is None else float(self.answers.glance()[0][0])

    def under(self, likelihood: Likelihood) -> Reading:
        """Return it as an answer under a likelihood; refuse one that is none."""
        numbers = likelihood.check("value", self.value if self.of is None else self.said)
        if likelihood.exact:
            return self
        if self.error:
            raise ValueError(f"`error` must be 0 for {likelihood!r}, which has its own, got {self.error!r}")
        return replace(self, answers=likelihoods.ReadAnswers.of(likelihood, numbers))

    @property
    def deviation(self) -> float:
        """The standard error of that number: the reading's own; of a count or a share what it suggests at a glance."""
        return self.error if self.answers is None else math.sqrt(float(self.answers.glance()[1][0]))


Answer = Reading | Preference
"""An answer to a question: a reading or a preference."""


@dataclass(frozen=True, slots=True, eq=False)
class Duel:
    """The points to measure for a proposal, their order, and the combination of their readings.

    `outcome = signs @ (readings - baseline)`. A reduction is bias-robust when the expected sum of the signs,
    over its coin, is zero: then no offset fixed before the coin can move the outcome's expectation.

    Attributes:
        proposal: The proposal of the policy.
        points: The points to measure, in this order, shape (r, d).
        signs: The sign and size with which each reading enters the outcome, shape (r,).
        first: The point whose merit the outcome estimates.
        second: The point or mixture it is compared with (see `Comparison`).
        baseline: A number fixed before the coin, subtracted from each reading.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> pair = eq.Proposal.pair([0.0], [1.0])
        >>> duel = eq.Duel(pair, pair.points[[0, 1, 0]], (0.5, -1.0, 0.5), *pair.points)  # a steady drift cancels
        >>> duel.outcome([10.0, 3.0, 12.0])
        8.0
    """

    proposal: Proposal
    points: FloatArray
    signs: tuple[float, ...]
    first: Side
    second: Side | None
    baseline: float = 0.0

    def outcome(self, readings: Sequence[float]) -> float:
        """Return `signs @ (readings - baseline)`.

        Args:
            readings: The readings, in the order of `points`.
        """
        signs = self.signs
        if len(readings) != len(signs):
            raise ValueError(f"`readings` must have {len(signs)} entries, got {len(readings)}")
        c = self.baseline if self.needs_baseline else 0.0  # left out where it cancels, so that offsets cancel exactly
        outcome = sum(s * (y - c) for s, y in zip(signs, readings, strict=True))
        if not math.isfinite(outcome):
            raise ValueError(f"`readings` must have a finite difference, got {list(readings)}")
        return outcome

    @property
    def needs_baseline(self) -> bool:
        """True if the readings' signs do not cancel, so that the outcome depends on the baseline."""
        return abs(sum(self.signs)) > UNBALANCED * sum(map(abs, self.signs))

    def comparison(self, readings: Sequence[Reading], pair: float = -1.0, sign: float = 1.0) -> Comparison:
        """Combine one reading per measured point into a comparison.

        Args:
            readings: The readings, in the order of `points`.
            pair: The number of the duel.
            sign: -1 if values are minimized.
        """
        outcome = self.outcome([sign * reading.outcome for reading in readings])
        variance = sum((s * reading.deviation) ** 2 for s, reading in zip(self.signs, readings, strict=True))
        time, first, second = float(max(reading.place for reading in readings)), self.first, self.second
        if any(reading.point is not None for reading in readings):
            first = self._side(first, readings, 1.0)
            second = None if second is None else self._side(second, readings, -1.0)
        return Comparison(first, second, outcome, time, variance, pair, self)

    def _side(self, planned: Side, readings: Sequence[Reading], side: float) -> Side:
        """Return a side of the comparison where it was really measured: readings of positive sign are of the first."""
        weighed = [(s * side, x, r.point) for s, x, r in zip(self.signs, self.points, readings, strict=True)]
        moved = [(s, x if at is None else at) for s, x, at in weighed if s > 0]
        if all(at is None for s, _, at in weighed if s > 0):
            return planned
        if len(moved) == 1:
            return moved[0][1]
        weights = np.array([s for s, _ in moved])
        return Proposal(np.array([x for _, x in moved]), weights / weights.sum())


Question = Duel | PairToJudge
"""A question: a duel to measure or a pair to judge."""


def teaches(
    duel: Duel,
    readings: Sequence[Reading | None],
    offset: Offset,
    *,
    number: float = -1.0,
    sign: float = 1.0,
    comparable: bool = True,
) -> tuple[Comparison, ...]:
    """Return the lessons of the present readings of a duel: the only rule for learning from duels.

    If the offset is modeled, each reading is a lesson, in the order of telling. If the duel is complete, its outcome
    comes last, for the guard or, if the offset is arbitrary, as the only lesson. So the lessons of a duel with one
    more reading begin with those without it.

    Args:
        duel: The duel.
        readings: The readings, in the order of `duel.points`; `None` for a missing one.
        offset: The law of the offset.
        number: The number of the duel.
        sign: -1 if values are minimized.
        comparable: Whether the readings may be combined: not if they were taken too far apart, or without a forecast.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> duel = eq.TwoPoint()(eq.Proposal.pair([0.0], [1.0]), np.random.default_rng(0))
        >>> told = [Reading(7.0, place=1), Reading(5.0, place=2)]
        >>> [len(teaches(duel, told, offset)) for offset in (eq.Arbitrary(), eq.Constant(), eq.Tracked())]
        [1, 2, 3]
    """
    lessons: tuple[Comparison, ...] = ()
    if offset.learns_readings:
        lessons = tuple(_single(duel, i, told, number, sign) for i, told in _in_order(readings))
    complete = [told for told in readings if told is not None]
    said_all = offset.learns_readings and (duel.second is None or offset.guard is None)
    if said_all or not comparable or len(complete) < len(duel.signs):
        return lessons
    return (*lessons, duel.comparison(complete, number, sign))


def will_teach(
    duel: Duel,
    readings: Sequence[Reading | None],
    offset: Offset,
    *,
    number: float = -1.0,
    place: int = 1,
    expected: Circumstances = NOTHING_TOLD,
    error: float = 0.0,
) -> tuple[Comparison, ...]:
    """Return the expected lessons of an open duel, with outcomes of zero.

    Args:
        duel: The duel.
        readings: The readings so far, in the order of `duel.points`.
        offset: The law of the offset.
        number: The number of the duel.
        place: The number of the next reading of the study.
        expected: The expected circumstances of the readings.
        error: The expected standard error of the readings.
    """
    places = iter(range(place, place + len(readings)))
    full = [
        Reading(0.0, error=error, place=next(places), circumstances=expected) if told is None else told
        for told in readings
    ]
    known = teaches(duel, readings, offset, number=number)
    return tuple(replace(each, outcome=0.0) for each in teaches(duel, full, offset, number=number)[len(known) :])


def _in_order(readings: Iterable[Reading | None]) -> list[tuple[int, Reading]]:
    """Return the present readings with their places in the duel, in the order of telling."""
    told = [(i, reading) for i, reading in enumerate(readings) if reading is not None]
    return sorted(told, key=lambda entry: entry[1].place)


def _single(duel: Duel, i: int, told: Reading, number: float, sign: float) -> Comparison:
    """Return the lesson of a single reading."""
    point = duel.points[i] if told.point is None else told.point
    answers = None if told.answers is None else told.answers.signed(sign)
    place, outcome = float(told.place), sign * told.outcome
    return Comparison(point, None, outcome, place, told.deviation**2, number, duel, told.circumstances, answers)
