"""Rounds: each is a random order of all arms still in play, which are asked for and told one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equipoise._typing import Seed
from equipoise.answer import Interval
from equipoise.programs.question import Pair, Question
from equipoise.programs.verdict import Verdict, judge

LOOK_AFTER = 0.02
"""Rounds between two checks of which arms to drop, as a share of the rounds so far: one up to 50, then 2 %."""


@dataclass(frozen=True)
class Turn:
    """A turn of an arm to be measured.

    Attributes:
        id: The number of the turn.
        arm: The name of the arm.
        round: Number of its round.
    """

    id: int
    arm: str
    round: int


class Contest:
    """A comparison by ask and tell, in rounds of random order, with a verdict at any time.

    Readings may come later and in any order, so several turns may be open at once. A pair of readings counts when both
    are told. Losing arms drop out.

    Args:
        arms: The names of the arms, two or more; or a `Question`, and no options.
        rng: Seed of the random orders, as for `numpy.random.default_rng`.
        **options: The options of `Question`: `higher`, `scale`, `margin`, `fail_above`, `center`, `alpha`, `null`.

    Example:
        >>> contest = Contest(["old", "new"], scale="difference", higher=True, rng=0)
        >>> first, second = contest.ask(), contest.ask()
        >>> sorted([first.arm, second.arm]), first.round == second.round
        (['new', 'old'], True)
        >>> contest.tell(second, 0.83)
        >>> contest.tell(first, failed="no answer")
        >>> contest.verdict().findings[0].rounds
        0
    """

    def __init__(self, arms: Question | Sequence[str], *, rng: Seed = None, **options: Any) -> None:
        if isinstance(arms, Question) and options:
            raise TypeError(f"`arms` must be names where options are given, got a Question and {sorted(options)}")
        self.question = arms if isinstance(arms, Question) else Question(tuple(arms), **options)
        self._rng = np.random.default_rng(rng)
        self._asked = 0
        self._open: dict[int, Turn] = {}
        self._waiting: list[Turn] = []
        self._rounds: list[dict[str, float]] = []
        self._differences: dict[Pair, list[float]] = {pair: [] for pair in self.question.pairs}
        self._known: dict[Pair, tuple[Interval, int]] = {}
        self._looked = self.verdict()
        self._next_look = 1

    @property
    def begun(self) -> int:
        """The number of rounds that have begun."""
        return len(self._rounds)

    @property
    def told(self) -> tuple[Mapping[str, float], ...]:
        """The readings of every round, by arm."""
        return tuple(self._rounds)

    @property
    def differences(self) -> tuple[float, ...]:
        """Differences of the second arm from the first, round by round, on the scale of the question."""
        return tuple(self._differences[self.question.pairs[0]])

    def ask(self) -> Turn:
        """Return the next turn; a new round begins when all arms of the last one have had their turns.

        Once everything is decided, all arms continue.
        """
        if not self._waiting:
            self._waiting = self._drawn()
        turn = self._waiting.pop(0)
        self._open[turn.id] = turn
        return turn

    def ask_round(self) -> list[Turn]:
        """Return the remaining turns of the present round, or those of a new one if none remains."""
        turns = [self.ask()]
        while self._waiting:
            turns.append(self.ask())
        return turns

    def tell(self, turn: Turn, value: float | None = None, *, failed: str | None = None) -> None:
        """Tell a reading.

        Args:
            turn: The turn that `ask` returned.
            value: The reading.
            failed: The reason why there is no reading, instead. The round then says nothing about this arm.
        """
        if self._open.get(turn.id) != turn:
            raise ValueError(f"`turn` must be one that was asked for here and is not told yet, got {turn!r}")
        if (value is None) == (failed is None):
            raise ValueError(f"`value` or `failed` must be given, and not both, got {value!r} and {failed!r}")
        if value is not None:
            self._enter(turn, self.question.reading(value))
        del self._open[turn.id]

    def take(self, readings: Mapping[str, float]) -> None:
        """Count a round that was drawn and measured for another contest, with other readings of the same runs."""
        self._rounds.append({})
        for arm, value in readings.items():
            self._enter(Turn(self._asked, arm, len(self._rounds) - 1), self.question.reading(value))
            self._asked += 1

    def verdict(self) -> Verdict:
        """Return the present verdict; frequent checks do not weaken it."""
        for pair, d in self._differences.items():
            if self._known.get(pair, (None, -1))[1] != len(d):
                self._known[pair] = (self.question.interval(d, self.question.alpha_each), len(d))
        return replace(judge(self.question, self._known), rounds=tuple(dict(told) for told in self._rounds))

    def look(self) -> Verdict:
        """Return the verdict by which arms are dropped: computed again after each round, or 2 % of all rounds."""
        if self.begun >= self._next_look:
            self._looked = self.verdict()
            self._next_look = int(self.begun * (1 + LOOK_AFTER)) + 1
        return self._looked

    def _drawn(self) -> list[Turn]:
        """Return the turns of a new round."""
        live = self.look().live or self.question.arms
        order = self._rng.permutation(len(live))
        drawn = [Turn(self._asked + i, live[arm], self.begun) for i, arm in enumerate(order)]
        self._asked += len(drawn)
        self._rounds.append({})
        return drawn

    def _enter(self, turn: Turn, value: float) -> None:
        """Count a reading, and its difference from each other reading of its round."""
        told = self._rounds[turn.round]
        new: dict[Pair, float] = {}
        for first, second in self._differences:
            if turn.arm in (first, second) and {first, second} <= {turn.arm, *told}:
                a, b = (value if arm == turn.arm else told[arm] for arm in (first, second))
                new[first, second] = self.question.difference(a, b)
        told[turn.arm] = value
        for pair, d in new.items():
            self._differences[pair].append(d)
