"""Claims: what is said of an answer, and on what ground.

kind       the ground                                                             what it assumes
theorem    a confidence bound of the paper                                        kernel, noise and norm are right
verified   fresh duels in random order: bets on their signs, at any time          the coin; noise alike or symmetric
audited    an estimate, after duels that were spent on proving it wrong           the model, tried where it is weakest
estimate   draws of functions from what was learned, by a calibrated rule         the model; studies as simulated
guess      the same, of too few readings to rely on                               likewise
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from equipoise._typing import FloatArray
from equipoise.answer.shares import Share
from equipoise.answer.wording import EVERYTHING, MIN_SEEDS, as_html, claimed, differing, foreseen, sentences
from equipoise.likelihoods import Compression
from equipoise.spaces import Readout

if TYPE_CHECKING:
    from equipoise.answer.front import FrontPoint
    from equipoise.answer.usability import Usability

Kind = Literal["theorem", "verified", "audited", "estimate", "guess"]


@dataclass(frozen=True)
class Claim:
    """How much better something else may be than what is recommended.

    Attributes:
        kind: On what ground this is said.
        bound: Nothing of the scope is better by more than this; infinite where too little is known.
        scope: What it was compared with, in words.
        narrow: Whether a top may have been missed that is narrower than the gaps between readings.
        missing: How many readings an estimate needs beyond those there are, if this is a guess.
        why: Why there is no bound and will be none, if that is so.

    Example:
        >>> print(Claim("estimate", 0.04, "all settings"))
        By estimate, nothing is better by more than 0.040.
    """

    kind: Kind
    bound: float
    scope: str
    narrow: bool = False
    missing: int = 0
    why: str = ""

    def __str__(self) -> str:
        return claimed(self)

    def guessed(self) -> "Claim":
        """Return the same as a guess, unless it was verified by new seeds."""
        return self if self.kind == "verified" else replace(self, kind="guess")


@dataclass(frozen=True)
class Forecast:
    """What an audit would make of a bound.

    Attributes:
        duels: How many more duels of audit, of two readings each.
        bound: What the bound would be about then.

    Example:
        >>> print(Forecast(24, 0.25))
        24 more duels of audit would bring the bound to about 0.25.
    """

    duels: int
    bound: float

    def __str__(self) -> str:
        return foreseen(self)


@dataclass(frozen=True)
class Difference:
    """How much one setting is above another, free of the offset.

    Attributes:
        value: The estimate of f(first) - f(second).
        low: It is at least this, with a confidence of 95 %.
        high: It is at most this, likewise.
        kind: On what ground this is said.
        duels: How many fresh duels of the two it rests on; 0 where it rests on a model of f.
        chosen: In which share of cases a judge would prefer the first, by estimate; `None` where nobody judged.
        preferred: In which share of fresh judgements, planned by `verify`, the first was preferred, if there were any.
        also: What is claimed of the same difference on another ground.

    Example:
        >>> print(Difference(0.31, 0.2, 0.42, "verified", 24))
        0.31 [0.20, 0.42], verified by 24 fresh duels
    """

    value: float
    low: float
    high: float
    kind: Kind
    duels: int = 0
    chosen: float | None = None
    preferred: Share | None = None
    also: "Difference | None" = None

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def width(self) -> float:
        """How far apart the limits are."""
        return self.high - self.low

    def stretched(self, compression: Compression, depths: FloatArray) -> "Difference":
        """Return what was learned of compressed readings as the readings show it.

        How far below the best one a setting lies that is compressed is known by its order of magnitude only, and rather
        understated: it is at least so much.

        Args:
            compression: How readings were compressed.
            depths: How far below the best one both settings are, compressed, shape (2,).
        """
        value, low, high = (compression.difference(each, depths) for each in (self.value, self.low, self.high))
        if depths.max() > compression.scale:
            low, high = (low, math.inf) if value > 0 else (-math.inf, high)
        return replace(self, value=value, low=low, high=high)

    def on_seeds(self, seeds: int) -> "Difference":
        """Return the same, resting on a number of seeds: on few of them it is a guess, unless it was verified."""
        return replace(self, kind="guess") if seeds < MIN_SEEDS and self.kind != "verified" else self

    def beside(self, other: "Difference") -> "Difference":
        """Return the better one of two claims, which names the other: this one, the stronger, unless it is idle.

        It is idle if it does not exclude zero and the other one is narrower.
        """
        if self.clear or self.width <= other.width:
            return replace(self, also=other if math.isfinite(other.width) else None)
        return replace(other, also=self if math.isfinite(self.width) else None)

    def __neg__(self) -> "Difference":
        chosen = None if self.chosen is None else 1.0 - self.chosen
        preferred = None if self.preferred is None else -self.preferred
        also = None if self.also is None else -self.also
        return Difference(-self.value, -self.high, -self.low, self.kind, self.duels, chosen, preferred, also)

    def __str__(self) -> str:
        return differing(self)


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The best setting as far as is known, and what is claimed of it.

    Attributes:
        x: The setting.
        gap_bound: Nothing else is better by more than this, says the first claim; infinite if too little is known. A
            verified bound is about the start and the runners-up, any other about all settings; with `drop`
            or `max_step`, about those that they let the study reach.
        readings: How many readings were told.
        kind: On what ground: "theorem", "verified", "audited", "estimate" or "guess"; see docs/claims.md.
        against_start: How much better it is than where the study started; `None` before the first reading.
        claims: All that is claimed, the best first: a verified claim is not if one about all settings is narrower.
        judgements: How many judgements were told. Without readings the unit of f is the scatter of the first judge:
            what is better by 1 is chosen in 84 % of cases.
        preferred: The settings that it was verified against by fresh judgements, and how often it was preferred to
            each, with an interval.
        unit: Of a reading, if it is set.
        readouts: How the value of each parameter is shown, by name: its unit and its digits.
        notices: What else the user should know, such as a `WrongUnit`.
        forecast: What an audit would make of the bound about all settings; `None` if that is not known.
        signs: The numbers of the study by which that bound was calibrated; none if it was not.
        usability: How surely it holds the limits of the study; `None` if there are none.
        compromise: What it gains in each objective, if there are several; `None` if there is one.
        seeds: On how many seeds anything was read, if the study has seeds: claims are about the mean over seeds.
    """

    x: Any
    gap_bound: float
    readings: int
    kind: Kind = "estimate"
    against_start: Difference | None = None
    claims: tuple[Claim, ...] = field(default=(), repr=False)
    judgements: int = 0
    preferred: tuple[tuple[Any, Share], ...] = field(default=(), repr=False)
    unit: str = field(default="", repr=False)
    readouts: Mapping[str, Readout] = field(default_factory=dict, repr=False)
    notices: tuple[Warning, ...] = field(default=(), repr=False, compare=False)
    forecast: Forecast | None = field(default=None, repr=False)
    signs: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)
    usability: "Usability | None" = None
    compromise: "FrontPoint | None" = None
    seeds: int | None = None

    @property
    def overall(self) -> Claim:
        """What is claimed about all settings, or about all within the limits."""
        everywhere = (claim for claim in self.claims if claim.kind != "verified")
        return next(everywhere, Claim(self.kind, self.gap_bound, EVERYTHING))

    def certifies(self, eps: float, *, audit: bool = True) -> bool:
        """Return whether no setting is better by more than `eps`: by theorem or audit, or else also by estimate.

        Args:
            eps: The bound to reach.
            audit: Whether an estimate is not enough.
        """
        weak = ("estimate", "guess") if audit else ("guess",)
        return self.overall.bound <= eps and self.overall.kind not in weak

    def on_seeds(self, seeds: int) -> "Recommendation":
        """Return the same, resting on a number of seeds: on few of them all is a guess that was not verified."""
        if seeds >= MIN_SEEDS:
            return replace(self, seeds=seeds)
        claims, start = tuple(claim.guessed() for claim in self.claims), self.against_start
        kind, start = claims[0].kind if claims else "guess", None if start is None else start.on_seeds(seeds)
        return replace(self, kind=kind, claims=claims, against_start=start, forecast=None, seeds=seeds)

    def __str__(self) -> str:
        return "\n".join(sentences(self))

    def _repr_html_(self) -> str:
        return as_html(self)
