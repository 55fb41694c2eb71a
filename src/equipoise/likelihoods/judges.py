"""The parameters of judges, with their priors.

    symbol      meaning                                                            unit
    s           noise of a judge                                                   f
    b           advantage of the first place                                       s
    T_1, T_2..  thresholds between the steps of a scale, the same on both sides    s
    q           number that a judge gives for a perceived difference of s          s
    theta       log s, b, logarithms of the gaps between thresholds, log q         of all judges, shape (k,)

If f has no unit, since there are no readings and no given kernel, the noise of the first judge is the unit.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.likelihoods.likelihood import Tilt
from equipoise.likelihoods.ordered import OrderedAnswers
from equipoise.likelihoods.scale import Judgement

GAPS: dict[int, tuple[float, ...]] = {2: (), 3: (0.4,), 5: (0.4, 1.2), 7: (0.3, 0.6, 1.2)}
"""Prior medians of the gaps between thresholds, in units of the judge's noise: "equal" within 0.4, "much" from 1.6."""

GAP_DEVIATION = 0.7
"""Standard deviation of the prior of their logarithms: a factor of two in either direction is common."""

ADVANTAGE_DEVIATION = 0.7
"""Standard deviation of the prior of b: choosing the first place in 76 % of toss-ups is common."""

NOISE_DEVIATION = 0.7
"""Standard deviation of the prior of log s, relative to the first judge."""

UNIT_DEVIATION = 2.0
"""Standard deviation of the prior of log s if f has a unit, and of log q: nearly uninformative."""

MOST_ADVANTAGE, MOST_NOISE = 6.0, 1e100
"""The largest parameters that possible answers can produce."""


@dataclass(frozen=True)
class Judge:
    """The learned parameters of a judge.

    Attributes:
        name: The name of the judge.
        noise: Standard deviation of the judge's perception, in the unit of f.
        advantage: The advantage of the first place, in units of the noise.
        thresholds: The beginnings of the steps of each scale, in units of the noise, by the number of steps.
        unit: The number that the judge gives for a perceived difference of one noise, if the judge gives numbers.

    Example:
        >>> Judge("anna", advantage=0.5).toss_up
        0.69
    """

    name: str
    noise: float = 1.0
    advantage: float = 0.0
    thresholds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    unit: float | None = None

    @property
    def toss_up(self) -> float:
        """The share of equal settings for which the judge prefers the first one, if "equal" is not allowed."""
        return round(0.5 * math.erfc(-self.advantage / math.sqrt(2.0)), 2)


def must_be_fitted(judge: Judge) -> None:
    """Refuse impossible parameters, since a log may come from anybody."""
    if abs(judge.advantage) > MOST_ADVANTAGE:
        raise ValueError(f"`advantage` of its fit must be at most {MOST_ADVANTAGE:g}, got {judge.advantage!r}")
    for steps, thresholds in judge.thresholds.items():
        gaps = np.diff(thresholds, prepend=0.0)
        if len(gaps) != len(GAPS[steps]) or not all(
            math.exp(-5.0) < gap / median < math.exp(5.0) for gap, median in zip(gaps, GAPS[steps], strict=True)
        ):
            raise ValueError(f"`thresholds` of its fit must be those of {steps} steps, got {list(thresholds)}")
    sizes = judge.noise, 1.0 if judge.unit is None else judge.unit
    if not all(1.0 / MOST_NOISE < size < MOST_NOISE for size in sizes):
        raise ValueError(f"`noise` and `unit` of its fit must be numbers that can be, got {sizes}")


class _Parameter(NamedTuple):
    """A learned number with its normal prior and its bounds."""

    mean: float
    deviation: float
    low: float
    high: float


class Panel:
    """All judges of some judgements, and their likelihood.

    Args:
        judgements: At least one.
        reference: The expected noise of a judge, in the unit of f.
        standard: The judge whose noise is the reference, if f has no unit.
    """

    def __init__(self, judgements: Sequence[Judgement], reference: float = 1.0, standard: str | None = None) -> None:
        self.names = tuple(dict.fromkeys(each.judge for each in judgements))
        self.reference, self.standard = reference, standard
        number = {name: j for j, name in enumerate(self.names)}
        self._who: NDArray[np.intp] = np.array([number[each.judge] for each in judgements])
        self._is_number = np.array([not isinstance(each.answer, str) for each in judgements])
        self._value = np.array([0.0 if isinstance(each.answer, str) else each.answer for each in judgements])
        self._level = np.array([each.level for each in judgements])
        self._steps = np.array([each.steps for each in judgements])
        self._table: list[_Parameter] = []
        self._noise = [self._noise_of(name) for name in self.names]
        self._advantage = [self._new(0.0, ADVANTAGE_DEVIATION, -MOST_ADVANTAGE, MOST_ADVANTAGE) for _ in self.names]
        self._gaps = {key: self._gaps_of(key[1]) for key in self._scales()}
        self._unit = {j: self._unit_of(j) for j in sorted(set(self._who[self._is_number].tolist()))}

    @property
    def guess(self) -> FloatArray:
        """The guess before any answer, shape (k,)."""
        return np.array([each.mean for each in self._table])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The smallest and largest value of each."""
        return [(each.low, each.high) for each in self._table]

    def prior(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density of the prior, up to a constant, and its gradient."""
        mean, deviation = np.array([(each.mean, each.deviation) for each in self._table]).reshape(-1, 2).T
        z = (theta - mean) / deviation
        return float(-0.5 * z @ z), -z / deviation

    def answers(self, theta: FloatArray) -> OrderedAnswers:
        """Return the answers with their parameters under theta."""
        low, high = (np.where(self._level > 0, 0.0, -np.inf), np.where(self._level > 0, np.inf, 0.0))
        for (j, steps), places in self._gaps.items():
            edges = np.append(np.cumsum(np.exp(theta[places])), np.inf)
            low, high = self._between(low, high, edges, (self._who == j) & (self._steps == steps))
        unit = np.ones(len(self._who))
        for j, place in self._unit.items():
            unit[self._who == j] = math.exp(theta[place])
        noise = np.array([self.reference if place is None else math.exp(theta[place]) for place in self._noise])
        advantage = theta[self._advantage]
        return OrderedAnswers(low, high, self._value, unit, noise[self._who], advantage[self._who], self._is_number)

    def gradient(self, theta: FloatArray, tilt: Tilt) -> FloatArray:
        """Return the derivative of the sum of log Z in theta, shape (k,)."""
        total, judges = np.zeros(len(self._table)), len(self.names)
        by_noise, by_advantage, by_low, by_high, by_unit = tilt.by
        noises = np.bincount(self._who, by_noise, judges)
        for j, place in enumerate(self._noise):
            if place is not None:
                total[place] = noises[j]
        total[self._advantage] = np.bincount(self._who, by_advantage, judges)
        for (j, steps), places in self._gaps.items():
            ours = (self._who == j) & (self._steps == steps) & ~self._is_number
            by_edge = self._by_edge(len(places), self._level[ours], by_low[ours], by_high[ours])
            total[places] = np.exp(theta[places]) * np.cumsum(by_edge[::-1])[::-1]
        for j, place in self._unit.items():
            total[place] = by_unit[self._who == j].sum()
        return total

    def judges(self, theta: FloatArray) -> tuple[Judge, ...]:
        """Return the judges with parameters theta."""
        found = []
        for j, name in enumerate(self.names):
            place, unit = self._noise[j], self._unit.get(j)
            scales = {
                steps: tuple(np.cumsum(np.exp(theta[places])).tolist())
                for (who, steps), places in self._gaps.items()
                if who == j
            }
            noise = self.reference if place is None else math.exp(theta[place])
            q = None if unit is None else math.exp(theta[unit])
            found.append(Judge(name, noise, float(theta[self._advantage[j]]), scales, q))
        return tuple(found)

    def theta(self, judges: Sequence[Judge]) -> FloatArray:
        """Return the known parameters of some judges and guesses for the rest, as a start."""
        theta, known = self.guess, {judge.name: judge for judge in judges}
        for j, name in enumerate(self.names):
            judge, place = known.get(name), self._noise[j]
            if judge is None:
                continue
            theta[self._advantage[j]] = judge.advantage
            if place is not None:
                theta[place] = math.log(judge.noise)
            for (who, steps), places in self._gaps.items():
                if who == j and steps in judge.thresholds:
                    theta[places] = np.log(np.diff(judge.thresholds[steps], prepend=0.0))
            if j in self._unit and judge.unit is not None:
                theta[self._unit[j]] = math.log(judge.unit)
        return theta

    def _new(self, mean: float, deviation: float, low: float, high: float) -> int:
        self._table.append(_Parameter(mean, deviation, low, high))
        return len(self._table) - 1

    def _noise_of(self, name: str) -> int | None:
        """Return the index of a judge's noise in theta; none if the noise is the unit."""
        if name == self.standard:
            return None
        middle = math.log(self.reference)
        reach = UNIT_DEVIATION if self.standard is None else NOISE_DEVIATION
        return self._new(middle, reach, middle - 5.0, middle + 5.0)

    def _scales(self) -> list[tuple[int, int]]:
        """Return the judges and their scales with thresholds."""
        used = {
            (int(j), int(s)) for j, s in zip(self._who[~self._is_number], self._steps[~self._is_number], strict=True)
        }
        return [key for key in sorted(used) if GAPS[key[1]]]

    def _gaps_of(self, steps: int) -> list[int]:
        logs = [math.log(gap) for gap in GAPS[steps]]
        return [self._new(log, GAP_DEVIATION, log - 4.0, log + 3.0) for log in logs]

    def _unit_of(self, j: int) -> int:
        """Return the index of a judge's unit in theta: numbers are expected to be about twice the noise."""
        values = self._value[self._is_number & (self._who == j)]
        size = float(np.sqrt(np.mean(values**2))) or 1.0  # root mean square: one slip makes all other numbers small
        middle = math.log(size / 2.0)
        return self._new(middle, UNIT_DEVIATION, middle - 7.0, middle + 7.0)

    def _between(
        self, low: FloatArray, high: FloatArray, edges: FloatArray, ours: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Return l and u of all answers after setting those of `ours` from the edges T_1, T_2, ..., infinity."""
        away, last = np.abs(self._level), len(edges) - 1
        near, far = edges[np.clip(away - 1, 0, last)], edges[np.minimum(away, last)]
        inner = np.where(away == 0, -far, near)  # "equal" lies between -T_1 and T_1
        flipped = self._level < 0
        lower, upper = np.where(flipped, -far, inner), np.where(flipped, -inner, far)
        return np.where(ours, lower, low), np.where(ours, upper, high)

    @staticmethod
    def _by_edge(edges: int, level: NDArray[np.intp], low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the derivative of the sum of log Z in T_1, T_2, ..., for the answers of one judge and scale."""
        outer, inner = np.where(level < 0, -low, high), np.where(level < 0, -high, np.where(level == 0, 0.0, low))
        outer = np.where(level == 0, high - low, outer)
        away = np.abs(level)
        total = np.zeros(edges)
        total += np.bincount(away, outer, edges + 1)[:edges]  # the last edge is infinity
        total += np.bincount(np.maximum(away - 1, 0), inner, edges)[:edges]
        return total
