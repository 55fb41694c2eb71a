"""A stream of ideas: the next measurement, the knowledge about the candidate, and when to keep or discard it.

symbol   meaning                                                              shape
a        possible effects, in units of the residual deviation                 (k,)
p        probability of each for a new idea: learned                          (k,)
e        evidence that the candidate is better by more than the margin        ()
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer.sequential import Budget, Interval, chance, coin_wealth, prior, shrunk
from equipoise.programs.gating.whitening import Readings, Variances, Version, Whitened, fitted, whitened, worth

Decision = Literal["keep", "discard", "open"]

SIZES = np.array([0.2, 0.4, 0.8, 1.4, 2.2, 4.0, 8.0])
EFFECTS = np.concatenate([-SIZES[::-1], [0.0], SIZES])
"""Possible effects, in units of the residual deviation."""

SPREAD = 0.35
"""Relative deviation of an effect about each of these values: half the distance to the next."""

SHAPE = np.array([0.3, 0.27, 0.2, 0.11, 0.07, 0.03, 0.02])
GUESS = np.concatenate([SHAPE[::-1] / 3, [0.5], SHAPE / 6])
"""Prior probability of each effect before any idea is tried: half do nothing, a third harm."""

GUESS_WORTH = 16.0
"""Weight of the prior, in ideas."""

FUTILE, FUTILE_FACTOR, MOST_FUTILE = 0.1, 2.0, 0.4
"""An idea is discarded if its chance to be better is below the first number, or below the second number times
that of a new idea, since the next reading is then better spent on a new one; but never above the last number."""

CHAMPION_PRICE = 0.6
"""The relative cost of a reading of the champion in a pair: below 1, since later ideas reuse it."""

WINDOW = 160
"""Number of recent readings that are used: older ones tell little, and cost time."""

FIRST_LOOKS = 8
"""Readings of the first idea before it may be discarded: the variance between seeds is not known yet (docs/gate.md)."""

REFIT = 1.2
"""Variances are fitted again when the number of readings has grown by this factor."""


EFFECT = ("estimate", "deviation")


@dataclass(frozen=True)
class Look:
    """The next measurement.

    Attributes:
        version: The version to measure.
        seed: The number of the seed.
    """

    version: int
    seed: int


@dataclass(frozen=True)
class Assessment:
    """The knowledge about a candidate.

    Attributes:
        effect: The gain over the champion, with an interval of 95 %, in the unit of the readings.
        evidence: The evidence that it is better by more than the margin.
        needed: The evidence at which it is kept.
        chance: The probability that it is better by more than the margin, given the effects of earlier ideas.
        looks: The number of its readings.
        decision: The decision: keep, discard or open.
        why: The reason for discarding it, if it failed.
    """

    effect: Interval
    evidence: float
    needed: float
    chance: float
    looks: int
    decision: Decision
    why: str = ""

    @property
    def estimate(self) -> float:
        """The estimated gain of the candidate."""
        return self.effect.value

    @property
    def deviation(self) -> float:
        """The standard error of the estimate; infinite before the first reading."""
        return (self.effect.high - self.effect.low) / (2 * 1.96)


@dataclass(frozen=True)
class Rules:
    """The rules for judging a stream.

    Attributes:
        margin: A candidate is kept if its gain exceeds this, in the unit of the readings.
        alpha: The share of kept ideas that are no better.
        most: Maximum number of readings of a candidate; after them it stays undecided.
        seeds: The number of seeds; `None` for no limit.
    """

    margin: float = 0.0
    alpha: float = 0.1
    most: int = 40
    seeds: int | None = None

    def __post_init__(self) -> None:
        check.nonnegative("margin", self.margin)
        check.probability("alpha", self.alpha)
        check.count("most", self.most)
        if self.seeds is not None:
            check.count("seeds", self.seeds)


class Stream:
    """The champion, the ideas that were tried on it, and the candidate.

    Args:
        rules: The rules for judging ideas.

    Example:
        >>> stream, rng = Stream(Rules()), np.random.default_rng(0)
        >>> for seed in range(4):
        ...     stream.read(Look(stream.champion, seed), 10.0 + 0.1 * seed)
        >>> candidate = stream.begin()
        >>> while stream.standing().decision == "open":
        ...     for look in stream.next_looks(rng):
        ...         stream.read(look, 10.0 + 0.1 * look.seed + 3.0 * (look.version == candidate))
        >>> stream.settle()
        'keep'
    """

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = Rules() if rules is None else rules
        self.readings = Readings((Version(0),))
        self.champion = 0
        self.candidate: int | None = None
        self.budget = Budget(self.rules.alpha)
        self.variances = Variances()
        self.weights: FloatArray = GUESS / GUESS.sum()
        self.tried: list[Assessment] = []
        self._fitted_to = 0

    def begin(self) -> int:
        """Begin to try an idea; return the number of its version."""
        if self.candidate is not None:
            raise RuntimeError("a candidate is being tried: settle it first")
        self._refit()
        self.candidate = self._version(Version(self.champion))
        return self.candidate

    def read(self, look: Look, value: float) -> None:
        """Add a reading; higher is better."""
        self.readings = self.readings.adding(look.version, look.seed, check.number("value", value))
        if not self.tried:
            self._refit()

    def next_looks(self, rng: Generator) -> list[Look]:
        """Return the next measurements: the candidate on a seed, or champion and candidate there in random order."""
        candidate = self._trying()
        seeds = self._open_seeds(candidate)
        alone, pair = worth(self._window, candidate, self.variances, seeds)
        best = max(alone.max(), pair.max() / (1.0 + CHAMPION_PRICE))
        if alone.max() >= best * (1 - 1e-9):
            return [Look(candidate, _chosen(seeds, alone, rng))]
        seed = _chosen(seeds, pair, rng)
        order = [Look(self.champion, seed), Look(candidate, seed)]
        return order if rng.random() < 0.5 else order[::-1]

    def standing(self) -> Assessment:
        """Return the knowledge about the candidate, and the decision."""
        candidate, unit, margin = self._trying(), self.variances.unit, self.rules.margin
        looks = int((self.readings.versions == candidate).sum())
        if not looks:
            return Assessment(Interval(0.0), 1.0, self.budget.needed, self.hope, 0, "open")
        known = whitened(self._window, candidate, self.variances, margin)
        better = EFFECTS > 0
        bets = self.weights[better] / self.weights[better].sum()
        promising = self._chances(known)[:-1] >= self._futile  # so an idea that is discarded at once costs no stake
        e = float(coin_wealth(known.g * known.z * promising, EFFECTS[better], bets)[-1])
        deviation = known.information**-0.5
        found = float(self._chances(known)[-1])
        value, half = known.estimate * unit + margin, 1.96 * deviation * unit
        standing = Assessment(Interval(value, value - half, value + half), e, self.budget.needed, found, looks, "open")
        return replace(standing, decision=self._decision(standing))

    def settle(self, known: Assessment | None = None) -> Decision:
        """End the trial of the candidate; return the decision: a kept candidate becomes the champion.

        Args:
            known: The knowledge at the decision, as in a log; the present knowledge by default.
        """
        candidate = self._trying()
        known = self.standing() if known is None else known
        kept = known.decision == "keep"
        self.budget = self.budget.settled(known.evidence, kept=kept)
        self.tried.append(known)
        self.candidate = None
        if kept:  # selected readings are too good: they count only in part
            bias = (known.deviation / self.variances.unit) ** 2
            self._become(candidate, Version(self.champion, 0.0, float(EFFECTS[-1] ** 2)))
            self.champion = self._version(Version(candidate, 0.0, bias))
        else:
            mean = float(self.weights @ EFFECTS)
            self._become(candidate, Version(self.champion, mean, float(self.weights @ EFFECTS**2) - mean**2))
        self._learn()
        return known.decision

    @property
    def hope(self) -> float:
        """The probability that a new idea is better by more than the margin."""
        return float(self.weights @ (self.rules.margin / self.variances.unit < EFFECTS))

    def gain(self) -> Interval:
        """Return the gain of the champion over the first one, assuming ideas like those that were tried.

        The estimate of each kept idea is shrunk towards the mean of ideas, against the winner's curse.
        """
        kept = [each for each in self.tried if each.decision == "keep"]
        unit = self.variances.unit
        estimates, deviations = (np.array([getattr(each, name) for each in kept]) / unit for name in EFFECT)
        means, variances = shrunk(EFFECTS, self.weights, estimates, deviations, SPREAD)
        total, half = unit * float(means.sum()), 1.96 * unit * float(variances.sum()) ** 0.5
        return Interval(total, total - half, total + half)

    def _chances(self, known: Whitened) -> FloatArray:
        """Return the probability that the candidate is better by more than the margin, before and after each look."""
        information = np.cumsum(known.g**2)
        estimates = np.cumsum(known.g * known.z) / np.maximum(information, 1e-12)
        margin = self.rules.margin / self.variances.unit
        deviations = np.maximum(information, 1e-12) ** -0.5
        after = chance(EFFECTS, self.weights, estimates + margin, deviations, margin, SPREAD)
        return np.append(self.hope, np.where(information > 0, after, self.hope))

    @property
    def _window(self) -> Readings:
        return self.readings.last(WINDOW)

    def _trying(self) -> int:
        if self.candidate is None:
            raise RuntimeError("no candidate is being tried: begin one first")
        return self.candidate

    def _decision(self, standing: Assessment) -> Decision:
        if standing.evidence >= standing.needed:
            return "keep"
        enough = bool(self.tried) or standing.looks >= FIRST_LOOKS
        return "discard" if enough and standing.chance < self._futile else "open"

    @property
    def _futile(self) -> float:
        """The chance below which a candidate is discarded and gets no bets."""
        return max(FUTILE, min(FUTILE_FACTOR * self.hope, MOST_FUTILE))

    def _open_seeds(self, candidate: int) -> NDArray[np.intp]:
        """Return the seeds without a reading of the candidate, including a new one; if there is none, all."""
        known = np.unique(self.readings.seeds)
        new = int(known.max(initial=-1)) + 1
        if self.rules.seeds is None or new < self.rules.seeds:
            known = np.append(known, new)
        read = self.readings.seeds[self.readings.versions == candidate]
        left = np.setdiff1d(known, read)
        return left if len(left) else known

    def _version(self, version: Version) -> int:
        self.readings = replace(self.readings, tree=(*self.readings.tree, version))
        return len(self.readings.tree) - 1

    def _become(self, number: int, version: Version) -> None:
        tree = list(self.readings.tree)
        tree[number] = version
        self.readings = replace(self.readings, tree=tuple(tree))

    def _refit(self) -> None:
        n = len(self.readings.values)
        if n >= REFIT * self._fitted_to:
            self.variances, self._fitted_to = fitted(self._window, self.variances), n

    def _learn(self) -> None:
        """Learn the distribution of effects from all tried ideas."""
        unit = self.variances.unit
        estimates, deviations = (np.array([getattr(each, name) for each in self.tried]) / unit for name in EFFECT)
        self.weights = prior(EFFECTS, estimates, deviations, GUESS, GUESS_WORTH, SPREAD)


def _chosen(seeds: NDArray[np.intp], gains: FloatArray, rng: Generator) -> int:
    """Return a seed of the largest gain; a random one of several."""
    return int(rng.choice(seeds[gains >= gains.max() * (1 - 1e-9)]))
