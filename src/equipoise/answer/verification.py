"""Verification: fresh duels of the leader with its rivals, and their result without any model.

Readings show by how much it is better, judgements how often it is preferred.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer.claim import Claim, Difference
from equipoise.answer.sequential import evidence, paired
from equipoise.answer.shares import Share, share
from equipoise.belief import Posterior
from equipoise.policies import measured
from equipoise.spaces import Domain

ALPHA = 0.05
"""The probability that any interval misses, over all rivals and all looks."""

ROUNDING = 1e-9
"""The largest distance between encoded points of one setting."""

MOST_NEEDED = 64
"""The number of duels that is enough for any number of rivals if all agree."""

APART = 0.1
"""The least distance of runners-up from the leader and from each other: in each coordinate, in units of its extent, in
the root mean square."""


STAYING_DEVIATIONS = 2.0
"""A verified setting stays recommended unless another point seems better by this many standard deviations."""


@dataclass(frozen=True, eq=False)
class Verification:
    """Fresh duels of a leader with some rivals, chosen before the first of them.

    Attributes:
        leader: The verified setting, encoded, shape (d,).
        rivals: Its rivals, encoded, shape (k, d).
        differences: For each rival the readings of the leader less its own, pair by pair, in the order of telling.
        start: The start of the study, encoded; it may be one of the rivals.
        scores: For each rival the judges' answers, in their order: 1 if they preferred the leader, 1/2 if they called
            the two equal, else 0.

    Example:
        >>> found = Verification(np.array([0.7]), np.array([[0.2]]), (np.array([1.1, 0.9, 1.0, 1.2] * 5),))
        >>> print(found.against(0))
        1.05 [0.92, 1.15], verified by 20 fresh duels
    """

    leader: FloatArray
    rivals: FloatArray
    differences: tuple[FloatArray, ...]
    start: FloatArray | None = None
    scores: tuple[FloatArray, ...] = ()

    @property
    def read(self) -> bool:
        """True if there were readings."""
        return any(map(len, self.differences))

    @property
    def shares(self) -> tuple[Share | None, ...]:
        """The share of preferences for the leader over each rival, with intervals valid at all times for all rivals."""
        return tuple(share(each, ALPHA / len(self.rivals)) if len(each) else None for each in self.scores)

    def against(self, k: int) -> Difference:
        """Return the gain of the leader over rival k; the interval is valid at all times, for all rivals."""
        found = paired(self.differences[k], ALPHA / len(self.rivals))
        return Difference(found.value, found.low, found.high, "verified", len(self.differences[k]))

    def between(self, first: FloatArray, second: FloatArray) -> Difference | None:
        """Return the difference of two points, if they are the leader and one of its rivals."""
        k, turned = self._place(first, second)
        return None if k is None else -self.against(k) if turned else self.against(k)

    def preferred(self, first: FloatArray, second: FloatArray) -> Share | None:
        """Return how often one point was preferred to another, if they are the leader and one of its rivals."""
        k, turned = self._place(first, second)
        found = None if k is None or not self.scores else self.shares[k]
        return -found if turned and found is not None else found

    def holds(self, posterior: Posterior, best: FloatArray) -> bool:
        """Return whether the present leader is not shown to be better than the verified one."""
        (mean,), (variance,) = posterior.difference(best[None], self.leader)
        return bool(mean <= STAYING_DEVIATIONS * math.sqrt(variance))

    def claims(self, overall: Claim) -> tuple[Claim, ...]:
        """Return the claims: first the claim about all settings if it is a theorem, or narrower."""
        if not self.read:
            return (overall,)
        first = overall.kind == "theorem" or overall.bound < self.claim.bound
        return (overall, self.claim) if first else (self.claim, overall)

    def preferences(self, space: Domain) -> tuple[tuple[Any, Share], ...]:
        """Return the rivals that judges compared the leader with, and how often they preferred it."""
        judged = zip(self.rivals, self.shares, strict=False)
        return tuple((space.decode(rival), found) for rival, found in judged if found is not None)

    def _place(self, first: FloatArray, second: FloatArray) -> tuple[int | None, bool]:
        """Return the index of the rival that is compared with the leader, and whether the rival comes first."""
        for k, rival in enumerate(self.rivals):
            for turned, (one, other) in enumerate(((first, second), (second, first))):
                if _same(one, self.leader) and _same(other, rival):
                    return k, bool(turned)
        return None, False

    @property
    def claim(self) -> Claim:
        """The claim about the leader: no rival is better by more than a bound."""
        bound = max(0.0, *(-self.against(k).low for k in range(len(self.rivals))))
        starts = self.start is not None and self.start.tobytes() in {rival.tobytes() for rival in self.rivals}
        others = len(self.rivals) - starts
        names = ["the start"] * starts + ([f"{others} runner{'s' * (others > 1)}-up"] if others else [])
        fewest = min(map(len, self.differences))
        why = f"{fewest} fresh duels with a rival are too few, {duels_needed(len(self.rivals))} may do"
        return Claim("verified", bound, " and ".join(names), why=why if np.isinf(bound) and self.read else "")


def duels_needed(rivals: int) -> int:
    """Return the number of fresh duels with each rival that verify a leader that wins them all, by equal amounts.

    Example:
        >>> [duels_needed(rivals) for rivals in (1, 3, 10)]
        [6, 8, 10]
    """
    won = evidence(np.ones(MOST_NEEDED)) >= 2.0 * rivals / ALPHA
    return int(np.argmax(won)) + 1


def _same(a: FloatArray, b: FloatArray) -> bool:
    """Return whether two encoded points are one: a setting that was printed and read again differs by rounding."""
    return bool(np.abs(a - b).max() <= ROUNDING)


def finalists(
    space: Domain, posterior: Posterior, leader: FloatArray, start: FloatArray | None, runners_up: int
) -> FloatArray:
    """Return the leader, the start if it is known, and the best measured points that lie apart from these."""
    chosen = [leader]
    if start is not None and start.tobytes() != leader.tobytes():
        chosen.append(start)
    known = measured(space, posterior)
    wanted = len(chosen) + runners_up
    for point in known[np.argsort(-posterior.mean(known))] if len(known) else ():
        away = [np.sqrt((((point - other) / space.extent) ** 2).mean()) for other in chosen]
        if len(chosen) < wanted and min(away) > APART:
            chosen.append(point)
    return np.array(chosen)
