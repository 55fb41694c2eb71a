"""Claims about an answer, with their basis.

kind       basis                                                                  assumption
theorem    a confidence bound of the paper                                        kernel, noise and norm are right
verified   fresh duels in random order: bets on their signs, at any time          the coin; noise alike or symmetric
audited    an estimate, after duels that tried to disprove it                     the model, tested where it is weakest
estimate   functions drawn from the belief, and a calibrated rule                 the model; a study like simulated ones
guess      the same, from too few readings                                        the same
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
"""The kinds of claims, by their basis: docs/claims.md."""


@dataclass(frozen=True)
class Claim:
    """A bound on how much better something else may be than the recommendation.

    Attributes:
        kind: The basis of the claim.
        bound: Nothing in the scope is better by more than this; infinite if too little is known.
        scope: The settings that it covers, in words.
        narrow: Whether the study may have missed a top that is narrower than the gaps between readings.
        missing: The number of further readings that an estimate needs, if this is a guess.
        why: The reason why there is no bound and will be none, if there is one.

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
        """Return the claim as a guess, unless new seeds verified it."""
        return self if self.kind == "verified" else replace(self, kind="guess")


@dataclass(frozen=True)
class Forecast:
    """A forecast of the bound after an audit.

    Attributes:
        duels: The number of further duels, of two readings each.
        bound: The forecast bound.

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
    """The difference of two settings, free of the offset.

    Attributes:
        value: The estimate of f(first) - f(second).
        low: The lower limit, with a confidence of 95 %.
        high: The upper limit, with a confidence of 95 %.
        kind: The basis of the claim.
        duels: The number of fresh duels behind it; 0 if it rests on a model of f.
        chosen: The estimated share of cases in which a judge would prefer the first; `None` without judgements.
        preferred: The share of fresh judgements, planned by `verify`, that preferred the first, if there are any.
        also: The claim about the same difference on another basis.

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
        """True if the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def width(self) -> float:
        """The distance of the limits."""
        return self.high - self.low

    def stretched(self, compression: Compression, depths: FloatArray) -> "Difference":
        """Return a difference of compressed readings in the unit of the readings.

        The distance of a compressed setting from the best one is known only by its order of magnitude, as a lower
        limit.

        Args:
            compression: How readings were compressed.
            depths: The compressed distances of both settings from the best one, shape (2,).
        """
        value, low, high = (compression.difference(each, depths) for each in (self.value, self.low, self.high))
        if depths.max() > compression.scale:
            low, high = (low, math.inf) if value > 0 else (-math.inf, high)
        return replace(self, value=value, low=low, high=high)

    def on_seeds(self, seeds: int) -> "Difference":
        """Return the claim based on a number of seeds: on few seeds it is a guess, unless it was verified."""
        return replace(self, kind="guess") if seeds < MIN_SEEDS and self.kind != "verified" else self

    def beside(self, other: "Difference") -> "Difference":
        """Return the better of two claims, with the other one attached: this stronger one, unless it is idle.

        A claim is idle if it does not exclude zero and the other one is narrower.
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
    """The best known setting, with claims about it.

    Attributes:
        x: The setting.
        gap_bound: The bound of the first claim: nothing else is better by more; infinite if too little is known. A
            verified bound covers the start and the runners-up, any other bound all settings; with `drop` or `max_step`,
            those that the study may reach.
        readings: The number of readings.
        kind: The basis of the first claim: "theorem", "verified", "audited", "estimate" or "guess"; see docs/claims.md.
        against_start: The gain over the start; `None` before the first reading.
        claims: All claims, the best first. A verified claim is not first if one about all settings is narrower.
        judgements: The number of judgements. Without readings the unit of f is the noise of the first judge: a setting
            that is better by 1 is chosen in 84 % of cases.
        preferred: The rivals in a verification by fresh judgements, and how often it was preferred to each, with an
            interval.
        unit: The unit of a reading, if it is set.
        readouts: How to show the value of each parameter, by name: its unit and its digits.
        notices: Other warnings, such as a `WrongUnit`.
        forecast: The bound about all settings after an audit; `None` if it is unknown.
        signs: The numbers of the study that calibrated this bound; none if it was not calibrated.
        usability: The probability to hold the limits of the study; `None` if there are none.
        compromise: The gain in each objective, if there are several; else `None`.
        seeds: The number of seeds with readings, if the study has seeds: claims are about the mean over seeds.
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
        """The claim about all settings, or about all within the limits."""
        everywhere = (claim for claim in self.claims if claim.kind != "verified")
        return next(everywhere, Claim(self.kind, self.gap_bound, EVERYTHING))

    def certifies(self, eps: float, *, audit: bool = True) -> bool:
        """Return whether no setting is better by more than `eps`: by theorem or audit, or else also by estimate.

        Args:
            eps: The bound to reach.
            audit: Require an audit or a theorem.
        """
        weak = ("estimate", "guess") if audit else ("guess",)
        return self.overall.bound <= eps and self.overall.kind not in weak

    def within(self, usability: "Usability | None") -> "Recommendation":
        """Return the recommendation with its usability; there is no bound if no setting is known to hold all limits.

        There is no forecast either: an audit lowers the bound only as far as no limit is in doubt.
        """
        if usability is None:
            return self
        if usability.usable:
            return replace(self, usability=usability, forecast=None)
        verified = tuple(claim for claim in self.claims if claim.kind == "verified")
        first, *others = (*verified, Claim("guess", math.inf, self.overall.scope))
        bare = replace(self, usability=usability, claims=(first, *others), forecast=None, signs={})
        return replace(bare, gap_bound=first.bound, kind=first.kind)

    def on_seeds(self, seeds: int) -> "Recommendation":
        """Return the recommendation based on a number of seeds: on few seeds every unverified claim is a guess."""
        if seeds >= MIN_SEEDS:
            return replace(self, seeds=seeds)
        claims, start = tuple(claim.guessed() for claim in self.claims), self.against_start
        kind, start = claims[0].kind if claims else "guess", None if start is None else start.on_seeds(seeds)
        return replace(self, kind=kind, claims=claims, against_start=start, forecast=None, seeds=seeds)

    def __str__(self) -> str:
        return "\n".join(sentences(self))

    def _repr_html_(self) -> str:
        return as_html(self)
