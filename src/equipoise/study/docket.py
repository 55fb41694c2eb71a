"""The docket: which pairs were handed out to be judged, and what was said of them.

A case has a number among the trials, so that one word, `retract`, takes back a reading and a judgement alike. Whoever
changes the docket has asked it before whether the change is possible.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.likelihoods import SCALES, Judge, Judgement, JudgeReport, Pair, answered, reported
from equipoise.log import Judged, Paired, Rejudged
from equipoise.study.rules import Record


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Two settings that were handed out, and what became of them.

    Attributes:
        asked: What was asked.
        judgement: What was said.
        skipped: Why nothing was said.
    """

    asked: Paired
    judgement: Judgement | None = None
    skipped: str | None = None

    @property
    def plan(self) -> int | None:
        """The plan it serves, if any."""
        return self.asked.plan

    @property
    def void(self) -> bool:
        """Whether nothing will come of it."""
        return self.skipped is not None

    @property
    def complete(self) -> bool:
        """Whether it was judged."""
        return self.judgement is not None

    @property
    def open(self) -> bool:
        """Whether it waits for an answer."""
        return self.judgement is None and self.skipped is None


class Docket:
    """Keeps every pair from its being asked to its judgement.

    Args:
        decode: Turns an encoded point into the user's.
    """

    def __init__(self, decode: Callable[[FloatArray], Any]) -> None:
        self.cases: dict[int, Case] = {}
        self.judged: dict[int, Judgement] = {}  # in the order of judging
        self._decode = decode

    def __contains__(self, i: int) -> bool:
        return i in self.cases

    def copied(self) -> "Docket":
        """Return a docket of its own with the same cases, none of which ever changes."""
        new = Docket(self._decode)
        new.cases, new.judged = dict(self.cases), dict(self.judged)
        return new

    def pair(self, i: int) -> Pair:
        """Return a pair as the user knows it."""
        asked, said = self.cases[i].asked, self.judged.get(i)
        return self.shown(asked if said is None else replace(asked, judge=said.judge))

    def shown(self, asked: Paired) -> Pair:
        """Return a pair that is handed out as the user knows it."""
        first, second = self._decode(asked.first), self._decode(asked.second)
        return Pair(asked.trial, first, second, SCALES[asked.steps], asked.judge, asked.again)

    def answered(self) -> list[tuple[Pair, str | float]]:
        """Return the pairs that were judged, in this order, and what was said."""
        return [(self.pair(i), said.answer) for i, said in self.judged.items()]

    def records(self) -> list[Record]:
        """Return every pair: those judged, in this order, then the others."""
        order = [*self.judged, *(i for i in self.cases if i not in self.judged)]
        return [self._record(self.cases[i], self.pair(i)) for i in order]

    def _record(self, case: Case, pair: Pair) -> Record:
        return Record(
            pair.id,
            pair.id,
            pair.judge or None,
            (pair.first, pair.second),
            failed=case.skipped,
            answer=None if case.judgement is None else case.judgement.answer,
            steps=len(pair.answers),
            again=pair.again,
            plan=case.plan,
            added=case.asked.added,
        )

    @property
    def open(self) -> list[int]:
        """The pairs that wait for an answer, oldest first; of what was taken in from elsewhere nobody is asked."""
        return [i for i, case in self.cases.items() if case.open and not case.asked.added]

    @property
    def waiting(self) -> FloatArray:
        """The points of these, shape (k, 2, d)."""
        return np.array([(self.cases[i].asked.first, self.cases[i].asked.second) for i in self.open])

    @property
    def pairs(self) -> list[FloatArray]:
        """The points of all pairs there ever were, shape (2, d) each."""
        return [np.array([case.asked.first, case.asked.second]) for case in self.cases.values()]

    def serving(self, plan: int) -> list[Case]:
        """Return the cases that serve a plan."""
        return [case for case in self.cases.values() if case.plan == plan]

    def enter(self, asked: Paired) -> None:
        """Take in a pair."""
        self.cases[asked.trial] = Case(asked)

    def judgement(self, event: Judged) -> Judgement | None:
        """Return what a judgement teaches, or refuse it; `None` where it was told before and is no news."""
        i, asked = event.trial, self.must_be_asked(event.trial).asked
        said = Judgement(asked.first, asked.second, answered(event.answer, asked.steps), asked.steps, event.judge)
        before = self.judged.get(i)
        if before is not None:
            if (before.answer, before.judge) != (said.answer, said.judge):
                raise ValueError(f"`answer` to pair {i} must stay {before.answer!r}, as told before: see `correct`")
            return None
        self.must_be_open(i)
        return said

    def judge(self, i: int, said: Judgement) -> None:
        """Note a judgement."""
        self.judged[i] = said
        self.cases[i] = replace(self.cases[i], judgement=said)

    def skip(self, i: int, reason: str) -> None:
        """Note that there is no judgement."""
        self.cases[i] = replace(self.cases[i], skipped=reason)

    def rejudging(self, i: int, answer: Any) -> Rejudged:
        """Return the event of a judgement that is corrected, or refuse it."""
        before = self.judged.get(i)
        if before is None:
            raise ValueError(f"`pair` must be one that was judged, got {i}")
        return Rejudged(i, answered(answer, before.steps), before.judge)

    def must_be_asked(self, i: int) -> Case:
        """Return the case of a pair; refuse what is none."""
        if i not in self.cases:
            raise ValueError(f"`pair` must be one that was asked for, got {i}")
        return self.cases[i]

    def must_be_open(self, i: int) -> None:
        """Refuse a pair that was judged or skipped."""
        case = self.must_be_asked(i)
        if case.skipped is not None:
            raise ValueError(f"`pair` must be open, got {i}, which was skipped ({case.skipped})")
        if case.judgement is not None:
            raise ValueError(f"`pair` must be open, got {i}, which was judged {case.judgement.answer!r}")

    def answers(self, i: int) -> bool:
        """Return whether something was said of a pair that can be taken back."""
        return i in self.cases and not self.cases[i].open

    def reports(self, judges: tuple[Judge, ...]) -> list[JudgeReport]:
        """Return what is known of each judge, in the order of appearance.

        Args:
            judges: What was learned of them.
        """
        known, said = {judge.name: judge for judge in judges}, list(self.judged.values())
        names = dict.fromkeys(each.judge for each in said)
        skipped = [case.asked.judge for case in self.cases.values() if case.void]
        twice = [(self.judged[i], again) for i, again in self._twice()]
        return [
            reported(
                name,
                [each for each in said if each.judge == name],
                skipped.count(name),
                known.get(name),
                [both for both in twice if both[0].judge == both[1].judge == name],
            )
            for name in names
        ]

    def levels(self) -> dict[int, float]:
        """Return by how many steps the first setting of each pair was preferred, where a coin has put it there.

        One coin decides on a pair and on the same pair asked again in the other order: the answers to both count as
        one, and what was said of the places alone cancels.
        """
        thrown = [i for i, case in self.cases.items() if case.asked.again is None and not case.asked.added]
        found = {i: float(self.judged[i].level) for i in thrown if i in self.judged}
        for once, again in self._twice():
            found[once] = found[once] - again.level if once in found else 0.0
        return found

    def due_again(self, judge: str, every: int, lag: int = 1) -> int | None:
        """Return the pair that a judge is to be asked again, in the other order: one of every so many.

        Args:
            judge: Who judges.
            every: How many new pairs there are between two that are asked again; 0 for no such.
            lag: Which: 1 for the last one that was judged, 2 for the one before.
        """
        asked = (case.asked for case in self.cases.values() if case.complete)
        mine = [each for each in asked if each.judge == judge and not each.added]
        new = [each.trial for each in mine if each.again is None]
        checks = len(mine) - len(new)
        return new[-lag] if every and len(new) >= every * (checks + 1) else None

    def swapped(self, i: int) -> tuple[FloatArray, FloatArray, int]:
        """Return the points of a pair in the other order, and its scale."""
        asked = self.must_be_asked(i).asked
        return asked.second, asked.first, asked.steps

    def _twice(self) -> list[tuple[int, Judgement]]:
        """Return the pairs that were judged in both orders, and what was said the second time."""
        repeats = {i: case.asked.again for i, case in self.cases.items() if case.asked.again is not None}
        return [(j, self.judged[i]) for i, j in repeats.items() if i in self.judged and j in self.judged]
