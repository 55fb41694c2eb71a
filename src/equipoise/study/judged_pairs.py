"""Pairs that people judge: their answers and judges, and the next pair to repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise import likelihoods
from equipoise.data import Preference
from equipoise.likelihoods import SCALES, Judgement, Pair, answered

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.data import Answer, PairToJudge
    from equipoise.likelihoods import Judge, JudgeReport
    from equipoise.study.ledger import Ledger
    from equipoise.study.requests import GivenAnswer


def must_be_pair(ledger: Ledger, i: int) -> PairToJudge:
    """Return a pair; refuse any other number."""
    if i not in ledger.pairs:
        raise ValueError(f"`pair` must be one that was asked for, got {i}")
    return ledger.pairs[i].pair


def must_be_open_pair(ledger: Ledger, i: int) -> None:
    """Refuse a pair that was judged or skipped."""
    must_be_pair(ledger, i)
    if i in ledger.skipped:
        raise ValueError(f"`pair` must be open, got {i}, which was skipped ({ledger.skipped[i]})")
    if i in ledger.judgements:
        raise ValueError(f"`pair` must be open, got {i}, which was judged {ledger.judgements[i].answer!r}")


def judgement(ledger: Ledger, i: int, said: Preference) -> Judgement:
    """Return the lesson of a preference about a pair, or refuse it."""
    asked = must_be_pair(ledger, i)
    first, second = asked.points
    return Judgement(first, second, answered(said.answer, asked.steps), asked.steps, said.judge)


def named(judge: Any) -> str:
    """Return the name of a judge; refuse anything but a text."""
    if not isinstance(judge, str):
        raise TypeError(f"`judge` must be a name, got {judge!r}")
    return judge


def preference(said: GivenAnswer, pair: PairToJudge) -> Preference:
    """Return the judgement of a pair, by the judge who was asked unless it names another; or refuse it."""
    for name in ("x", "time", "error", "block", "covariates", "missing"):
        if getattr(said, name) not in (None, ()):
            raise ValueError(f"`{name}` is for a reading: a judgement has none, got {getattr(said, name)!r}")
    judge = pair.judge if said.judge is None else named(said.judge)
    return Preference(answered(said.value, pair.steps, "value"), judge)


def judged_alike(ledger: Ledger, i: int, said: Preference) -> bool:
    """Return whether a pair was judged alike before; refuse another judgement, and a pair that is not open."""
    now, before = judgement(ledger, i, said), ledger.judgements.get(i)
    if before is None:
        must_be_open_pair(ledger, i)
    elif (before.answer, before.judge) != (now.answer, now.judge):
        raise ValueError(f"`value` of pair {i} must stay {before.answer!r}, as told before: see `correct`")
    return before is not None


def must_be_answered(ledger: Ledger, i: int) -> Answer:
    """Return the answer of a trial or pair; refuse one that has none."""
    if i in ledger.judgements:
        said = ledger.judgements[i]
        return Preference(said.answer, said.judge)
    if i in ledger.pairs:
        raise ValueError(f"`pair` must be one that was judged, got {i}")
    if i not in ledger.readings:
        raise ValueError(f"`trial` must be one whose reading was told, got {i}")
    return ledger.readings[i]


def shown(ledger: Ledger, i: int) -> Pair:
    """Return a pair of the ledger in the form that users see."""
    pair = ledger.pairs[i].pair
    judge = ledger.judgements[i].judge if i in ledger.judgements else pair.judge
    first, second = map(ledger.decode, pair.points)
    return Pair(i, first, second, SCALES[pair.steps], judge, pair.again)


def answers(ledger: Ledger) -> list[tuple[Pair, str | float]]:
    """Return the judged pairs with their answers, in the order of judging."""
    return [(shown(ledger, i), said.answer) for i, said in ledger.judgements.items()]


def waiting(ledger: Ledger) -> FloatArray:
    """Return the points of the pairs that wait for an answer, shape (k, 2, d)."""
    return np.array([ledger.pairs[i].pair.points for i in ledger.open_pairs])


def levels(ledger: Ledger) -> dict[int, float]:
    """Return by how many steps the first setting of each pair was preferred, if a coin chose the order.

    One coin decides the order of a pair and of its repetition in the other order: both answers count as one, so that an
    advantage of a place cancels.
    """
    thrown = [i for i, entry in ledger.pairs.items() if entry.pair.again is None and not entry.added]
    found = {i: float(ledger.judgements[i].level) for i in thrown if i in ledger.judgements}
    for once, again in _twice(ledger):
        found[once] = found[once] - again.level if once in found else 0.0
    return found


def due_again(ledger: Ledger, judge: str, every: int, lag: int = 1) -> int | None:
    """Return the pair that a judge should judge again in the other order, if one is due.

    It is due after `every` new pairs, never for 0; `lag` 1 means the last judged one, 2 the one before.
    """
    asked = {i: entry.pair for i, entry in ledger.pairs.items() if entry.complete and not entry.added}
    mine = {i: pair for i, pair in asked.items() if pair.judge == judge}
    new = [i for i, pair in mine.items() if pair.again is None]
    checks = len(mine) - len(new)
    return new[-lag] if every and len(new) >= every * (checks + 1) else None


def reports(ledger: Ledger, judges: tuple[Judge, ...]) -> list[JudgeReport]:
    """Return a report on each judge, in the order of appearance."""
    known, said = {judge.name: judge for judge in judges}, list(ledger.judgements.values())
    skipped = [ledger.pairs[i].pair.judge for i in ledger.skipped]
    twice = [(ledger.judgements[i], again) for i, again in _twice(ledger)]
    return [
        likelihoods.reported(
            name,
            [each for each in said if each.judge == name],
            skipped.count(name),
            known.get(name),
            [both for both in twice if both[0].judge == both[1].judge == name],
        )
        for name in dict.fromkeys(each.judge for each in said)
    ]


def _twice(ledger: Ledger) -> list[tuple[int, Judgement]]:
    """Return the pairs that were judged in both orders, with the second judgement."""
    repeats = [(i, entry.pair.again) for i, entry in ledger.pairs.items() if entry.pair.again is not None]
    return [(j, ledger.judgements[i]) for i, j in repeats if i in ledger.judgements and j in ledger.judgements]
