"""A study under way: what happened, what happens next, who takes turns at it, and what is written of it.

Whatever changes it is prepared, written and made, in this order; what cannot be written did not happen.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer import Recommendation, Reproduction, reproduction, reproduction_of_points
from equipoise.data import OF, Duel, PairToJudge, Reading, Trial
from equipoise.likelihoods import Pair
from equipoise.log import (
    PROPOSE,
    Added,
    Asked,
    Canceled,
    Event,
    Handed,
    Journal,
    KeptFit,
    Log,
    Planned,
    Purpose,
    Refitted,
    Stamped,
    Streams,
    Told,
    Turns,
    now,
)
from equipoise.offsets import Circumstances
from equipoise.spaces import Domain
from equipoise.study.gate import Checkpoint, handed
from equipoise.study.lessons import Overdue, calmly
from equipoise.study.plans import Plan
from equipoise.study.proposing import Proposer
from equipoise.study.recommender import Recommender
from equipoise.study.setup import Setup
from equipoise.study.state import State
from equipoise.study.views import Record

T = TypeVar("T")

OWN_MODULES = ("equipoise.study", "equipoise.optimizer")
"""A warning names the line that called these."""


class Keeper:
    """Keeps a study that is under way.

    Args:
        setup: What it is made of.
        streams: Its random numbers.
        clock: Returns the time, ISO 8601 in UTC, at which an event happens.

    Attributes:
        space: Where points lie.
        state: What happened.
        claims: Says what is claimed.
        turns: Who works on it at once.
        notify: Is called with each notice, such as a `DuelGivenUp`; a warning if it is `None`.
    """

    notify: Callable[[Warning], object] | None = None

    def __init__(self, setup: Setup, streams: Streams, clock: Callable[[], str] = now) -> None:
        self.space, self.state = setup.space, State(setup)
        self._streams, self._proposer, self._clock = streams, Proposer.of(setup, streams), clock
        self.recommender = Recommender(setup.space, streams)
        self.turns = Turns(self._mend, self.apply)

    def __getstate__(self) -> dict[str, Any]:
        # What other threads may change while this one writes is copied while they cannot. One history, one writer.
        state = self.__dict__ | {"state": self.turns.look(lambda: self.state.copied())}
        del state["turns"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.turns = Turns(self._mend, self.apply)

    def look(self, act: Callable[[Self], T]) -> T:
        """Do something while no other thread changes the study."""
        return self.turns.look(lambda: act(self))

    def change(self, act: Callable[[Self], T]) -> tuple[T, tuple[Warning, ...]]:
        """Do something that changes the study, while nobody else does: no thread and no process.

        Returns:
            What it returns, and what the user should know of it.
        """
        return self.turns.change(lambda: (act(self), self.turns.noticed()))

    def changed(self, act: Callable[[Self], T]) -> T:
        """Do something that changes the study, tell the user what there is to know, and return what it returns."""
        result, notices = self.change(act)
        self.deliver(notices)
        return result

    def deliver(self, notices: tuple[Warning, ...]) -> tuple[Warning, ...]:
        """Tell the user what there is to know, and return it; a warning names the line that called the library."""
        for notice in notices:
            if self.notify is None:
                warnings.warn(notice, stacklevel=_depth_of_user())
            else:
                self.notify(notice)
        return notices

    def records(
        self, *, aside: bool = True, judgements: bool = False, trials: Iterable[int] | None = None
    ) -> list[Record]:
        """Return every trial, or every pair; see `Optimizer.records`."""
        return self.look(lambda s: s.state.records(aside, judgements, trials))

    def reading(
        self,
        x: Any,
        value: Any,
        block: str | None = None,
        time: float | None = None,
        error: float = 0.0,
        covariates: Mapping[str, float] | None = None,
    ) -> Reading:
        """Return a reading of the user's, checked."""
        first, *rest = self.state.setup.likelihood.check("value", value)
        return Reading(
            first,
            None if x is None else self.space.encode(x),
            None if time is None else check.number("time", time),
            check.standard_error("error", error),
            told=Circumstances.of(block, None, covariates),
            values={OF: rest[0]} if rest else {},
        )

    def judgement(
        self, first: Any, second: Any, answer: Any, judge: str, steps: int
    ) -> tuple[FloatArray, FloatArray, Any, Any, Any]:
        """Return a judgement of the user's, its points encoded."""
        return self.space.encode(first), self.space.encode(second), answer, judge, steps

    def following(self, act: Callable[[Self], T]) -> T:
        """Do something that looks at the state, having followed what others have done to it."""
        return self.turns.look(lambda: self._followed(act))

    def happen(self, event: Event) -> None:
        """Prepare an event, write it, make its change."""
        change, at = self.state.prepare(event), self._clock()
        if self.turns.journal is not None:
            self.turns.journal.write(Stamped(event if change.event is None else change.event, at))
        change.make(at)
        self.turns.notice(change.alert)

    def happen_all(self, makers: Iterable[Callable[[State], Event]]) -> list[Event]:
        """Let several events happen, all of them or none; return each.

        Args:
            makers: Each returns the next event, given the state after those before, or refuses it.
        """
        todo = list(makers)
        if len(todo) == 1:  # it need not be tried on a copy
            event = todo[0](self.state)
            self.happen(event)
            return [event]
        state, done, notes = self.state.copied(), [], []
        for make in todo:
            event = make(state)
            change, at = state.prepare(event), self._clock()
            change.make(at)
            done.append(Stamped(event if change.event is None else change.event, at))
            notes.append(change.alert)
        if self.turns.journal is not None and done:
            self.turns.journal.write(*done)
        self.state = state
        for note in notes:
            self.turns.notice(note)
        return [stamped.event for stamped in done]

    def news(self, event: Event | None) -> None:
        """Let an event happen where there is one."""
        if event is not None:
            self.happen(event)

    def apply(self, stamped: Stamped) -> None:
        """Make the change of an event that is written; what it teaches is learned when the belief is asked for."""
        self.state.apply(stamped.event, stamped.at)

    def ask(self, worker: str | None, context: Mapping[str, Any] | None) -> Trial:
        """Hand out the next trial: one that waits, or the first of a new duel."""
        state = self.state
        with self._calmly():
            event: Handed | Asked | None = handed(state, worker, None if context is None else self.space.at(context))
            if event is None:
                gate = Checkpoint.of(state, self.present(context), worker)
                event = gate.asked(self._duel(gate), worker)
        self.happen(event)
        return state.ledger.handed[event.trial]

    def proposed(self, part: Domain) -> Duel:
        """Return the duel that is proposed next in a part of the space."""
        with self._calmly():
            return self._duel(Checkpoint.of(self.state, part))

    def _duel(self, gate: Checkpoint) -> Duel:
        return self._proposer.at(gate.space).duel(gate, self._streams.at(self.state.duels, PROPOSE))

    def reproduced(self, event: Asked) -> Reproduction:
        """Return how a question that was asked next compares with the one that is proposed now."""
        state, question = self.state, event.question
        if isinstance(question, Duel):
            again = self.proposed(self.space.through(question.points[0]))
            with self._calmly():
                return reproduction(question, again, state.anticipated())
        part = self.space if question.again is not None else self.space.through(question.points[0])
        with self._calmly():
            pair = self._proposer.pairing(state, part, question.judge, question.steps, question.again)
            return reproduction_of_points(question.points, pair.question.points, state.awaiting())

    def ask_pair(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Pair:
        """Hand out a pair to a judge."""
        event = self._pairing(context, judge, steps, again)
        self.happen(event)
        return self.state.ledger.shown(event.trial)

    def proposed_pair(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Pair:
        """Return the pair that is handed out next; nothing happens."""
        event = self._pairing(context, judge, steps, again)
        assert isinstance(event.question, PairToJudge)
        return self.state.ledger.shown(event.trial, event.question)

    def _pairing(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Asked:
        part = self.space if again is not None else self.present(context)
        with self._calmly():
            return self._proposer.pairing(self.state, part, judge, steps, again)

    def added(self, readings: Iterable[Reading]) -> list[int]:
        """Take in readings that nobody asked for, all or none; return their numbers."""
        done = self.happen_all(partial(_adding, reading) for reading in readings)
        return [event.trial for event in done if isinstance(event, Added)]

    def added_judgements(self, rows: Iterable[tuple[FloatArray, FloatArray, Any, Any, Any]]) -> list[int]:
        """Take in judgements that nobody asked for, all or none: first, second, answer, judge, steps of each.

        Returns:
            Their numbers.
        """
        makers: list[Callable[[State], Event]] = []
        for first, second, answer, judge, steps in rows:
            makers.append(partial(_pairing, first, second, judge, steps))
            makers.append(partial(_judging, answer))
        return [event.trial for event in self.happen_all(makers) if isinstance(event, Told)]

    def told(self, event: Told | None, refit: bool) -> None:
        """Let a reading happen, where it is news; a fit that is due is made with it, or deferred."""
        self.news(event if event is None or refit else replace(event, deferred=True))

    def refit(self, due: Overdue, fit: KeptFit) -> bool:
        """Take up a fit that was deferred; return whether it still was to be made."""
        awaited = self.state.lessons.awaits(due)
        if awaited:
            self.happen(Refitted(due.lessons, fit))
        return awaited

    def undo(self) -> int:
        """Take back the last step, and return its trial."""
        last, event = self.state.last_answered, self.state.undoing()
        if last is None or event is None:
            raise RuntimeError("there is nothing to undo: nothing was told yet")
        try:
            self.happen(event)
        except ValueError as error:
            raise RuntimeError(f"the last step, of trial {last}, cannot be undone any more: {error}") from error
        return last

    def plan(
        self, purpose: Purpose, context: Mapping[str, Any] | None, planned: Callable[[Recommender, int], Planned]
    ) -> Plan:
        """Plan something, unless that is under way."""
        plan, part = self.state.plan, self.latest(context)
        if plan is not None and not (plan.purpose == purpose and plan.concerns(part)):
            left = f"{plan.duels - plan.told} of its {plan.duels} duels are still to be told"
            raise RuntimeError(f"a plan to {plan.purpose} is under way: {left}; see `cancel`")
        if plan is None:
            if not self.state.readings and not self.state.ledger.judgements:
                raise RuntimeError(f"there is nothing to {purpose} yet: nothing was told")
            with self._calmly():
                event = planned(self.recommender.at(part), len(self.state.plans))
            self.happen(event)
            plan = self.state.plan
        assert plan is not None
        return plan

    def cancel(self) -> None:
        """Do not go on with the plan that is under way."""
        if self.state.plan is None:
            raise RuntimeError("there is no plan under way to cancel")
        self.happen(Canceled(len(self.state.plans) - 1))

    def recommend(self, part: Domain) -> Recommendation:
        """Return the best setting in a part of the space."""
        return self.recommender.at(part).recommend(self.state, self.state.readings)

    def history(self, wanted: set[int], part: Domain) -> list[Recommendation]:
        """Return what was recommended after so many readings each."""
        claims = self.recommender.at(part)
        with self._calmly():
            past = zip(range(max(wanted, default=-1) + 1), self.state.history(), strict=False)
            return [claims.recommend(state, n) for n, state in past if n in wanted]

    def present(self, context: Mapping[str, Any] | None) -> Domain:
        """Return the part of the space to ask in: at a context; where none is said, at that of a plan."""
        plan = self.state.plan if context is None else None
        return self.space.at(context) if plan is None or plan.points is None else self.space.through(plan.points[0])

    def latest(self, context: Mapping[str, Any] | None) -> Domain:
        """Return the part of the space to speak of: at a context; where none is said, at the one asked for last."""
        last = self.state.latest if context is None else None
        return self.space.at(context) if last is None else self.space.through(last)

    def write_to(self, log: str | os.PathLike[str] | Journal, settings: dict[str, Any]) -> None:
        """Begin a log, or take up a journal where it ends and go on writing it."""
        if isinstance(log, (str, os.PathLike)):
            self.turns.journal = Log.create(log, self.space, settings, self._streams.key.tolist())
            return
        self.turns.notice(log.take_up(self.apply))
        self.turns.journal = log

    def _followed(self, act: Callable[[Self], T]) -> T:
        journal = self.turns.journal
        if journal is not None and (journal.path is None or journal.path.exists()):  # else what is in memory must do
            journal.follow(self.apply)
        with self._calmly():
            return act(self)

    def _mend(self) -> None:
        """Make the memory anew where an interrupt came in the middle of a change: from the events that happened."""
        if not self.state.whole:
            self.state = self.state.rebuilt()

    def _calmly(self) -> AbstractContextManager[None]:
        return calmly(self.state.setup.prior)


def _adding(reading: Reading, state: State) -> Added:
    return state.requests.add(reading)


def _pairing(first: FloatArray, second: FloatArray, judge: Any, steps: Any, state: State) -> Asked:
    return state.requests.add_pair(first, second, judge, steps)


def _judging(answer: Any, state: State) -> Event:
    """Return what was said of the pair that was taken in last."""
    event = state.requests.judge(state.trials - 1, answer)
    assert event is not None  # it is open
    return event


def number_of(trial: Trial | Pair | int) -> int:
    """Return the number of a trial or of a pair."""
    return trial.id if isinstance(trial, (Trial, Pair)) else check.count("trial", trial, at_least=0)


def _depth_of_user() -> int:
    """Return how many frames above its caller's the user's line stands: the first one outside of the study."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(OWN_MODULES):
        frame, depth = frame.f_back, depth + 1
    return depth
