"""Edits of a study: add, correct and withdraw answers; undo the last step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise import _validation as check
from equipoise.data import PairToJudge, Preference
from equipoise.likelihoods import DEFAULT_STEPS, known_scale
from equipoise.log import (
    Added,
    Asked,
    Begun,
    Corrected,
    Event,
    Expired,
    Retracted,
    Set,
    Stamped,
    Told,
    Widened,
    widened,
)
from equipoise.offsets import seed_label
from equipoise.study.changes import last_answered, undoing
from equipoise.study.judged_pairs import must_be_answered, must_be_pair, named, preference
from equipoise.study.requests import GivenAnswer, Requests

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.data import Reading, SeedName
    from equipoise.study.session import Session
    from equipoise.study.setup import Setup

Maker = Callable[[Requests], Event]
"""Returns an event, given the questions before it, or refuses it."""


@dataclass(frozen=True, eq=False)
class Addition:
    """An answer that the study did not ask for, as programs give it: a reading, or a judgement of two settings.

    Attributes:
        said: The answer, and at which setting.
        against: The second setting of a judgement.
        steps: The scale of a judgement.
        seed: Under which seed it was read.
    """

    said: GivenAnswer
    against: Any = None
    steps: int = DEFAULT_STEPS
    seed: Any = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Addition:
        """Return the answer in the arguments of `Optimizer.add`."""
        ours = {name: value for name, value in row.items() if name in ("against", "steps", "seed")}
        return cls(GivenAnswer(**{name: value for name, value in row.items() if name not in ours}), **ours)

    def events(self, setup: Setup) -> list[Maker]:
        """Return the makers of its events: one for a reading, two for a pair and its answer."""
        said, encode = self.said, setup.space.encode
        if self.against is None:
            reading, seed = said.reading(setup), None if self.seed is None else _seed_of(setup, self.seed)
            return [lambda requests: _earlier(requests, reading, seed)]
        if self.seed is not None:
            raise ValueError(f"`seed` is for a reading: a judgement has none, got {self.seed!r}")
        judge, answer = "" if said.judge is None else said.judge, replace(said, x=None)
        points = np.array([encode(said.x), encode(self.against)])
        return [lambda requests: _judged(requests, points, judge, self.steps), lambda now: _last_told(now, answer)]


def add(session: Session, additions: Iterable[Addition]) -> list[int]:
    """Take in answers that the study did not ask for, all or none; return their numbers."""
    makers = [maker for addition in additions for maker in addition.events(session.state.setup)]
    if len(makers) == 1:  # it need not be tried on a copy
        return [session.change(lambda: _happened(session, makers[0]))]
    done = session.change(lambda: _happen_all(session, makers))
    return [event.trial for event in done if isinstance(event, Added | Told)]


def _happened(session: Session, maker: Maker) -> int:
    event = maker(session.state.requests)
    session.happen(event)
    assert isinstance(event, Added)  # a pair has two events
    return event.trial


def _happen_all(session: Session, makers: Iterable[Maker]) -> list[Event]:
    """Let several events happen, all of them or none; return each."""
    state, done, notes = session.state.copied(), [], []
    for make in makers:
        event = make(state.requests)
        change, at = state.prepare(event), session.clock()
        change.make(at)
        done.append(Stamped(event if change.event is None else change.event, at))
        notes.append(change.alert)
    if session.turns.journal is not None and done:
        session.turns.journal.write(*done)
    session.state = state
    for note in notes:
        session.turns.notice(note)
    return [stamped.event for stamped in done]


def undo(session: Session) -> int:
    """Take back the last step, and return its trial."""

    def act() -> int:
        done = session.state.done
        last, event = last_answered(done), undoing(done)
        if last is None or event is None:
            raise RuntimeError("there is nothing to undo yet")
        try:
            session.happen(event)
        except ValueError as error:
            raise RuntimeError(f"the last step, of trial {last}, can no longer be undone: {error}") from error
        return last

    return session.change(act)


def begun(requests: Requests, block: str) -> Begun | None:
    """Return the event of a block that begins; `None` if it is the present one."""
    check.name("block", block)
    return None if block == requests.block else Begun(block)


def ends(value: Any) -> tuple[float, float]:
    """Return the ends of a range, or refuse anything else."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"`value` must be a text, or the two ends of a range, got {value!r}")
    low, high = (check.number("value", end) for end in value)
    return low, high


def news(requests: Requests, setting: Set | Widened) -> Event:
    """Return the event of a setting; refuse a range that is not wider, or in which nothing can be measured."""
    if isinstance(setting, Widened):
        space = requests.setup.space
        wider = widened(space, setting)
        if wider is space:
            raise ValueError(
                f"`value` must reach beyond the range of {setting.name}, got {setting.low:g} to {setting.high:g}"
            )
        wider.candidates(np.random.default_rng(0))  # refused if the constraint leaves too small a part
    return setting


def corrected(requests: Requests, i: int, said: GivenAnswer) -> Corrected:
    """Return the event of a corrected answer, or refuse it; fields that it leaves out stay."""
    before = must_be_answered(requests.ledger, i)
    if isinstance(before, Preference):
        now = replace(said, judge=before.judge if said.judge is None else said.judge)
        return Corrected(i, preference(now, must_be_pair(requests.ledger, i)))
    read = said.reading(requests.setup)
    given = {"point": said.x, "time": said.time, "error": said.error}
    changes = {name: getattr(read, name) for name, value in given.items() if value is not None}
    return Corrected(i, replace(before, value=read.value, values=read.values, **changes))


def retracted(requests: Requests, i: int) -> Retracted:
    """Return the event of an answer that is taken back, or refuse it."""
    if i not in requests.ledger.failed and i not in requests.ledger.skipped:
        must_be_answered(requests.ledger, i)
    return Retracted(i)


def expired(requests: Requests, i: int, x: Any = None) -> Expired:
    """Return the event of a trial that is taken back, or refuse it; `x` as for the methods of `Requests`."""
    requests.ledger.must_be_open(i)
    requests.must_be_ours(i, x)
    return Expired(i)


def _seed_of(setup: Setup, given: Any) -> SeedName:
    """Return a seed of the study; refuse anything else."""
    seed = check.seed("seed", given)
    if setup.seeds is None:
        raise ValueError(f"`seed` must be left out, as the study has no seeds, got {given!r}")
    if setup.seeds.values is not None and seed not in setup.seeds.values:
        raise ValueError(f"`seed` must be one of {', '.join(map(str, setup.seeds.values))}, got {given!r}")
    return seed


def _earlier(requests: Requests, reading: Reading, seed: SeedName | None) -> Added:
    """Return the event of a reading that was not asked for; of another block than the present one it is earlier."""
    told = reading.circumstances
    campaign = told.block if told.block != requests.block else ""
    block = told.block or requests.block
    now = replace(told, block=block if seed is None else seed_label(block, seed), campaign=campaign)
    return Added(requests.ledger.trials, len(requests.ledger.duels), replace(reading, circumstances=now), seed=seed)


def _judged(requests: Requests, points: FloatArray, judge: Any, steps: Any) -> Asked:
    """Return the event of a pair that was judged elsewhere."""
    return Asked(requests.ledger.trials, PairToJudge(points, known_scale(steps), named(judge), added=True))


def _last_told(requests: Requests, said: GivenAnswer) -> Told:
    """Return the event of the answer to the pair that was taken in last."""
    event = requests.tell(requests.ledger.trials - 1, said)
    assert event is not None  # it is open
    return event
