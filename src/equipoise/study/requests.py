"""Requests: what may be told of a question, as an event; everything else is refused before it is written."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.data import Answer, PairToJudge, Preference, Reading
from equipoise.likelihoods import answered, known_scale
from equipoise.log import Added, Asked, Corrected, Event, Expired, Failed, Retracted, Step, Told
from equipoise.spaces import Domain
from equipoise.study.ledger import Ledger


@dataclass(frozen=True, eq=False)
class Requests:
    """Turns what is told of a trial or pair into an event, or refuses it.

    If a method takes an x, that is where the caller believes that the trial should have been measured; `None` if the
    caller does not say it.

    Attributes:
        ledger: All questions.
        space: Where points lie.
        block: The block to which a reading belongs.
    """

    ledger: Ledger
    space: Domain
    block: str = ""

    def tell(self, i: int, reading: Reading, x: Any = None) -> Told | None:
        """Return the event of a reading that is told now: it belongs to the present block and to its worker."""
        told = self.telling(i, reading, x)
        if told is None or not isinstance(told.answer, Reading):
            return None
        block = labelled(reading.told.block or self.block, self.ledger.of_trial[i].worker)
        return Told(i, replace(told.answer, told=replace(reading.told, block=block)))

    def judge(self, i: int, answer: Any, judge: Any = None) -> Told | None:
        """Return the event of a judgement, by the judge who was asked unless another one is named."""
        asked = self.ledger.must_be_pair(i)
        said = Preference(answered(answer, asked.steps), asked.judge if judge is None else named(judge))
        return self.telling(i, said)

    def telling(self, i: int, answer: Answer, x: Any = None) -> Told | None:
        """Return the event of an answer, or refuse it; `None` if it was told before and is no news."""
        if isinstance(answer, Preference):
            return None if self._judged_alike(i, answer) else Told(i, answer)
        if i in self.ledger.readings:
            self._must_be_as_told(i, answer)
            return None
        entry = self.ledger.must_be_open(i)
        self._must_be_ours(i, x)
        return Told(i, answer if answer.point is not None else replace(answer, point=entry.moved.get(i)))

    def add(self, reading: Reading) -> Added:
        """Return the event of a reading that was not asked for; of another block than the present one it is earlier."""
        told = reading.told
        campaign = told.block if told.block != self.block else ""
        now = replace(told, block=told.block or self.block, campaign=campaign)
        return Added(self.ledger.trials, len(self.ledger.duels), replace(reading, told=now))

    def add_pair(self, first: FloatArray, second: FloatArray, judge: Any, steps: Any) -> Asked:
        """Return the event of a pair that was judged elsewhere."""
        pair = PairToJudge(np.array([first, second]), known_scale(steps), named(judge), added=True)
        return Asked(self.ledger.trials, pair)

    def fail(self, i: int, reason: str, x: Any = None) -> Failed | None:
        """Return the event of a failure, or of a pair that is skipped, or refuse it; `None` if that is no news."""
        if i in self.ledger.pairs:
            return self.skip(i, reason)
        if i in self.ledger.failed:
            return None
        if i in self.ledger.readings:
            raise ValueError(f"`trial` must be open to fail, got {i}, which was told {self.ledger.readings[i].said!r}")
        self.ledger.must_be_open(i)
        self._must_be_ours(i, x)
        return Failed(i, reason)

    def skip(self, i: int, reason: str) -> Failed:
        """Return the event of a pair that is skipped, or refuse it."""
        self.ledger.must_be_open_pair(i)
        return Failed(i, reason)

    def expire(self, i: int, x: Any = None) -> Expired:
        """Return the event of a trial that is taken back, or refuse it."""
        self.ledger.must_be_open(i)
        self._must_be_ours(i, x)
        return Expired(i)

    def correct(self, i: int, value: Any, **changes: Any) -> Corrected:
        """Return the event of an answer that is corrected, or refuse it."""
        before = self.must_be_answered(i)
        if isinstance(before, Preference):
            return Corrected(i, replace(before, answer=answered(value, self.ledger.pairs[i].pair.steps)))
        return Corrected(i, replace(before, value=value, **changes))

    def retract(self, i: int) -> Retracted:
        """Return the event of an answer that is taken back, or refuse it."""
        if i not in self.ledger.failed and i not in self.ledger.skipped:
            self.must_be_answered(i)
        return Retracted(i)

    def must_be_answered(self, i: int) -> Answer:
        """Return the answer of a trial or pair; refuse one that has none."""
        if i in self.ledger.judgements:
            said = self.ledger.judgements[i]
            return Preference(said.answer, said.judge)
        if i in self.ledger.pairs:
            raise ValueError(f"`pair` must be one that was judged, got {i}")
        if i not in self.ledger.readings:
            raise ValueError(f"`trial` must be one whose reading was told, got {i}")
        return self.ledger.readings[i]

    def _judged_alike(self, i: int, said: Preference) -> bool:
        """Return whether a pair was judged so before; refuse what contradicts that, and a pair that is not open."""
        now, before = self.ledger.judgement(i, said), self.ledger.judgements.get(i)
        if before is None:
            self.ledger.must_be_open_pair(i)
        elif (before.answer, before.judge) != (now.answer, now.judge):
            raise ValueError(f"`answer` to pair {i} must stay {before.answer!r}, as told before: see `correct`")
        return before is not None

    def _must_be_as_told(self, i: int, reading: Reading) -> None:
        """Refuse a reading that contradicts what was told before; what it does not say it does not contradict."""
        told, at = self.ledger.readings[i], self.ledger.of_trial[i].point(i)
        same = {name: (getattr(told, name), getattr(reading, name)) for name in ("value", "of", "time", "error")}
        if reading.point is not None and reading.point.tobytes() != at.tobytes():
            same["x"] = (self.space.decode(at), self.space.decode(reading.point))
        for name, (before, now) in same.items():
            if now is not None and (name == "x" or now != before):
                rule = f"`{name}` of trial {i} must stay {before!r}, as told before"
                raise ValueError(f"{rule}, got {now!r}: see `correct`")

    def _must_be_ours(self, i: int, x: Any) -> None:
        encode, ours = self.space.encode, self.ledger.handed[i].x
        if x is not None and x is not ours and encode(x).tobytes() != encode(ours).tobytes():
            raise ValueError(f"`trial` must be one of this optimizer, whose trial {i} is at {ours}, got one at {x}")


def labelled(block: str, worker: str | None) -> str:
    """Return the name of a block: each worker has its own, each day.

    Example:
        >>> labelled("monday", "w1"), labelled("", "w1"), labelled("monday", None)
        ('monday, w1', 'w1', 'monday')
    """
    label = ", ".join(name for name in (block, worker) if name and name.strip())
    # A worker may be called anything; a block must have a name that can be read again from the log.
    plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in label)
    if len(plain) <= check.MAX_NAME:
        return plain
    return plain[: check.MAX_NAME - 9] + f"-{zlib.crc32(plain.encode()):08x}"


def named(judge: Any) -> str:
    """Return the name of a judge; refuse what is none."""
    if not isinstance(judge, str):
        raise TypeError(f"`judge` must be a name, got {judge!r}")
    return judge


def last_step(past: Sequence[Event]) -> int | None:
    """Return where the last step is that was not undone; `None` where there is none."""
    undone = 0
    for k in range(len(past) - 1, -1, -1):
        event = past[k]
        if not isinstance(event, Step):
            continue
        if event.undone:
            undone += 1
        elif undone:
            undone -= 1
        else:
            return k
    return None


def undoing(past: Sequence[Event]) -> Event | None:
    """Return the event that takes back the last step and nothing else; `None` if there is nothing to take back.

    An answer is retracted. A correction is corrected back. An answer that was retracted is given again.
    """
    k = last_step(past)
    if k is None:
        return None
    step = past[k]
    assert isinstance(step, Step)
    before = [e for e in past[:k] if isinstance(e, Step) and e.trial == step.trial and not isinstance(e, Retracted)]
    match step:
        case Corrected():
            return _again(before[-1], rewritten=True)
        case Retracted():
            return _again(before[-1], rewritten=isinstance(before[0], Added))
    return Retracted(step.trial, undone=True)


def _again(answered: Event, rewritten: bool) -> Event:
    """Return the event that makes an answer stand again: at its place, or told anew."""
    if isinstance(answered, Failed):
        return Failed(answered.trial, answered.reason, undone=True)
    assert isinstance(answered, Told | Corrected | Added)
    return (Corrected if rewritten else Told)(answered.trial, answered.answer, undone=True)
