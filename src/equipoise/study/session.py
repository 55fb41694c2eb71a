"""A study under way: what happened, what happens next, who takes turns at it, and what is written of it.

Whatever changes it is prepared, written and made, in this order; what cannot be written did not happen.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer import (
    Difference,
    FrontPoint,
    Rank,
    Recommendation,
    Reproduction,
    reproduction,
    reproduction_of_points,
)
from equipoise.data import Duel, PairToJudge, SeedName, Trial
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
    Noted,
    Planned,
    Purpose,
    Refitted,
    Stamped,
    Streams,
    Told,
    Turns,
    now,
)
from equipoise.spaces import Domain
from equipoise.study.gate import Checkpoint, handed
from equipoise.study.lessons import Overdue, calmly
from equipoise.study.plans import Plan
from equipoise.study.proposing import Proposer
from equipoise.study.recommender import Recommender
from equipoise.study.requests import Addition, Requests
from equipoise.study.setup import Setup
from equipoise.study.state import State

T = TypeVar("T")

OWN_MODULES = ("equipoise.study", "equipoise.optimizer")
"""A warning names the line that called these."""


class Session:
    """A study that is under way: each public method takes a turn, so that threads and processes may share it.

    Args:
        setup: What it is made of.
        streams: Its random numbers.
        clock: Returns the time, ISO 8601 in UTC, at which an event happens.

    Attributes:
        space: Where points lie.
        state: What happened.
        turns: Who works on it at once.
        notify: Is called with each notice, such as a `DuelGivenUp`; a warning if it is `None`.
    """

    notify: Callable[[Warning], object] | None = None

    def __init__(self, setup: Setup, streams: Streams, clock: Callable[[], str] = now) -> None:
        self.space, self.state = setup.space, State(setup)
        self._streams, self._proposer, self._clock = streams, Proposer.of(setup, streams), clock
        self._recommender = Recommender(setup.space, streams)
        self.turns = Turns(self._mend, self.apply)

    def __getstate__(self) -> dict[str, Any]:
        # What other threads may change while this one writes is copied while they cannot. One history, one writer.
        state = self.__dict__ | {"state": self.turns.look(lambda: self.state.copied())}
        del state["turns"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.turns = Turns(self._mend, self.apply)

    def look(self, act: Callable[[State], T]) -> T:
        """Look at the state while no other thread changes it."""
        return self.turns.look(lambda: act(self.state))

    def follow(self, act: Callable[[State], T]) -> T:
        """Look at the state, having followed what others have done to it."""
        return self.turns.look(lambda: self._followed(act))

    def change(self, act: Callable[[], T]) -> T:
        """Do something that changes the study, tell the user what there is to know, and return what it returns."""
        result, notices = self._changed(act)
        self.deliver(notices)
        return result

    def request(self, make: Callable[[Requests], Event | None]) -> tuple[Warning, ...]:
        """Let happen what is requested, if that is news; tell the user what there is to know, and return it."""

        def act() -> None:
            event = make(self.state.requests)
            if event is not None:
                self.happen(event)

        return self.deliver(self._changed(act)[1])

    def deliver(self, notices: tuple[Warning, ...]) -> tuple[Warning, ...]:
        """Tell the user what there is to know, and return it; a warning names the line that called the library."""
        for notice in notices:
            if self.notify is None:
                warnings.warn(notice, stacklevel=_depth_of_user())
            else:
                self.notify(notice)
        return notices

    def ask(self, worker: str | None, context: Mapping[str, Any] | None, n: int = 1) -> list[Trial]:
        """Hand out the next trials."""
        return self.change(lambda: [self._ask(worker, context) for _ in range(n)])

    def ask_pair(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Pair:
        """Hand out a pair to a judge."""
        return self.change(lambda: self._ask_pair(context, judge, steps, again))

    def add(self, additions: Iterable[Addition]) -> list[int]:
        """Take in answers that the study did not ask for, all or none; return their numbers."""
        makers = [maker for addition in additions for maker in addition.events(self.state.setup)]
        done = self.change(lambda: self._happen_all(makers))
        return [event.trial for event in done if isinstance(event, Added | Told)]

    def note(self, topic: str, text: str, point: FloatArray | None) -> None:
        """Write down a note."""
        self.change(lambda: self.happen(Noted(self.state.next_note, topic, text, point)))

    def undo(self) -> int:
        """Take back the last step, and return its trial."""
        return self.change(lambda: self._undo())

    def plan(
        self, purpose: Purpose, context: Mapping[str, Any] | None, planned: Callable[[Recommender, State, int], Planned]
    ) -> Plan:
        """Plan something, unless that is under way."""
        return self.change(lambda: self._plan(purpose, context, planned))

    def cancel(self) -> None:
        """Do not go on with the plan that is under way."""
        self.change(lambda: self._cancel())

    def front(self, tolerance: float, context: Mapping[str, Any] | None) -> list[FrontPoint]:
        """Return the settings that are not dominated at a context."""
        return self.follow(lambda state: self._claims(context).front(state, tolerance))

    def recommend(
        self,
        context: Mapping[str, Any] | None,
        weights: Mapping[str, float] | None = None,
        prefer: str | None = None,
    ) -> Recommendation:
        """Return the best setting at a context; of several objectives the compromise that is wanted."""

        def act(state: State) -> Recommendation:
            claims = self._claims(context)
            if weights is None and prefer is None:
                return claims.recommend(state, state.readings)
            return claims.compromise(state, weights, prefer)

        best = self.follow(act)
        self.deliver(best.notices)
        return best

    def compare(self, points: tuple[FloatArray, FloatArray]) -> Difference:
        """Return the difference of f at two encoded points."""
        claims = self._recommender.at(self.space.through(points[0]))
        found, notices = self.follow(lambda state: (claims.compare(state, *points), claims.notices(state)))
        self.deliver(notices)
        return found

    def rank(self) -> list[Rank]:
        """Return all settings that something is known of, from the best to the worst."""
        return self.follow(self._recommender.rank)

    def coin_test(self, draws: int) -> float:
        """Return how likely coins alone explain what was told."""
        return self.follow(lambda state: self._recommender.coin_test(state, draws))

    def history(self, wanted: set[int], context: Mapping[str, Any] | None) -> list[Recommendation]:
        """Return what was recommended after each number of answers."""
        return self.look(lambda state: self._history(state, wanted, self._claims(context)))

    def propose(self, context: Mapping[str, Any] | None) -> Duel:
        """Return the duel that is proposed next; nothing happens."""
        return self.look(lambda state: self._proposed(self._present(context)))

    def propose_pair(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Pair:
        """Return the pair that is handed out next; nothing happens."""
        return self.look(lambda state: _shown(state, self._pairing(context, judge, steps, again)))

    def reproduces(self, event: Asked) -> Reproduction:
        """Return how a question that was asked next compares with the one that is proposed now; nothing happens."""
        return self.look(lambda state: self._reproduced(state, event))

    def refit(self) -> bool:
        """Make a fit that was deferred, if one was, while others ask and tell; return whether it was taken up."""
        due = self.follow(lambda state: state.lessons.overdue)
        if due is None:
            return False
        fit = due.made()
        self.change(lambda: self._refit(due, fit))
        return True

    def write_to(self, log: str | os.PathLike[str] | Journal, settings: dict[str, Any]) -> None:
        """Begin a log, or take up a journal where it ends and go on writing it."""
        if isinstance(log, (str, os.PathLike)):
            self.turns.journal = Log.create(log, self.space, settings, self._streams.key.tolist())
            return
        self.turns.notice(log.take_up(self.apply))
        self.turns.journal = log

    # What follows is done during a turn.

    def apply(self, stamped: Stamped) -> None:
        """Make the change of an event that is written; what it teaches is learned when the belief is asked for."""
        self.state.apply(stamped.event, stamped.at)

    def happen(self, event: Event) -> None:
        """Prepare an event, write it, make its change."""
        change, at = self.state.prepare(event), self._clock()
        if self.turns.journal is not None:
            self.turns.journal.write(Stamped(event if change.event is None else change.event, at))
        change.make(at)
        self.turns.notice(change.alert)

    def _happen_all(self, makers: Sequence[Callable[[Requests], Event]]) -> list[Event]:
        """Let several events happen, all of them or none; return each.

        Args:
            makers: Each returns the next event, given the questions after those before, or refuses it.
        """
        if len(makers) == 1:  # it need not be tried on a copy
            event = makers[0](self.state.requests)
            self.happen(event)
            return [event]
        state, done, notes = self.state.copied(), [], []
        for make in makers:
            event = make(state.requests)
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

    def _ask(self, worker: str | None, context: Mapping[str, Any] | None) -> Trial:
        """Hand out the next trial: one that waits, or the first of a new duel."""
        state = self.state
        with self._calmly():
            event: Handed | Asked | None = handed(state, worker, None if context is None else self.space.at(context))
            if event is None:
                gate = Checkpoint.of(state, self._present(context), worker)
                event = gate.asked(*self._duel(gate, worker))
        self.happen(event)
        return state.ledger.handed[event.trial]

    def _proposed(self, part: Domain) -> Duel:
        with self._calmly():
            return self._duel(Checkpoint.of(self.state, part))[0]

    def _duel(self, gate: Checkpoint, worker: str | None = None) -> tuple[Duel, str | None, SeedName | None]:
        """Return what is measured next, by whom, and on which seed."""
        duel, seed = self._proposer.at(gate.space).seeded(gate, self._streams.at(self.state.duels, PROPOSE))
        return duel, worker, seed

    def _reproduced(self, state: State, event: Asked) -> Reproduction:
        question = event.question
        if isinstance(question, Duel):
            again = self._proposed(self.space.through(question.points[0]))
            with self._calmly():
                return reproduction(question, again, state.anticipated().posterior)
        part = self.space if question.again is not None else self.space.through(question.points[0])
        with self._calmly():
            pair = self._proposer.pairing(state, part, question.judge, question.steps, question.again)
            return reproduction_of_points(question.points, pair.question.points, state.awaiting().posterior)

    def _ask_pair(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Pair:
        event = self._pairing(context, judge, steps, again)
        self.happen(event)
        return self.state.ledger.shown(event.trial)

    def _pairing(self, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Asked:
        part = self.space if again is not None else self._present(context)
        with self._calmly():
            return self._proposer.pairing(self.state, part, judge, steps, again)

    def _refit(self, due: Overdue, fit: KeptFit) -> None:
        """Take up a fit that was deferred, if it still is to be made."""
        if self.state.lessons.awaits(due):
            self.happen(Refitted(due.lessons, fit))

    def _undo(self) -> int:
        last, event = self.state.last_answered, self.state.undoing()
        if last is None or event is None:
            raise RuntimeError("there is nothing to undo: nothing was told yet")
        try:
            self.happen(event)
        except ValueError as error:
            raise RuntimeError(f"the last step, of trial {last}, cannot be undone any more: {error}") from error
        return last

    def _plan(
        self, purpose: Purpose, context: Mapping[str, Any] | None, planned: Callable[[Recommender, State, int], Planned]
    ) -> Plan:
        plan, part = self.state.plan, self._latest(context)
        if plan is not None and not (plan.purpose == purpose and plan.concerns(part)):
            left = f"{plan.duels - plan.told} of its {plan.duels} duels are still to be told"
            raise RuntimeError(f"a plan to {plan.purpose} is under way: {left}; see `cancel`")
        if plan is None:
            if not self.state.readings and not self.state.ledger.judgements:
                raise RuntimeError(f"there is nothing to {purpose} yet: nothing was told")
            with self._calmly():
                event = planned(self._recommender.at(part), self.state, len(self.state.plans))
            self.happen(event)
            plan = self.state.plan
        assert plan is not None
        return plan

    def _cancel(self) -> None:
        if self.state.plan is None:
            raise RuntimeError("there is no plan under way to cancel")
        self.happen(Canceled(len(self.state.plans) - 1))

    def _claims(self, context: Mapping[str, Any] | None) -> Recommender:
        """Return what says what is claimed at a context."""
        return self._recommender.at(self._latest(context))

    def _history(self, state: State, wanted: set[int], claims: Recommender) -> list[Recommendation]:
        with self._calmly():
            past = zip(range(max(wanted, default=-1) + 1), state.history(), strict=False)
            return [claims.recommend(state, n) for n, state in past if n in wanted]

    def _present(self, context: Mapping[str, Any] | None) -> Domain:
        """Return the part of the space to ask in: at a context; where none is said, at that of a plan."""
        plan = self.state.plan if context is None else None
        return self.space.at(context) if plan is None or plan.points is None else self.space.through(plan.points[0])

    def _latest(self, context: Mapping[str, Any] | None) -> Domain:
        """Return the part of the space to speak of: at a context; where none is said, at the one asked for last."""
        last = self.state.latest if context is None else None
        return self.space.at(context) if last is None else self.space.through(last)

    def _followed(self, act: Callable[[State], T]) -> T:
        journal = self.turns.journal
        if journal is not None and (journal.path is None or journal.path.exists()):  # else what is in memory must do
            journal.follow(self.apply)
        with self._calmly():
            return act(self.state)

    def _mend(self) -> None:
        """Make the memory anew where an interrupt came in the middle of a change: from the events that happened."""
        if not self.state.whole:
            self.state = self.state.rebuilt()

    def _changed(self, act: Callable[[], T]) -> tuple[T, tuple[Warning, ...]]:
        """Do something that changes the study, while nobody else does: no thread and no process.

        Returns:
            What it returns, and what the user should know of it.
        """
        return self.turns.change(lambda: (act(), self.turns.noticed()))

    def _calmly(self) -> AbstractContextManager[None]:
        return calmly(self.state.setup.prior)


def _shown(state: State, event: Asked) -> Pair:
    """Return a pair that is not asked yet, as the user knows it."""
    assert isinstance(event.question, PairToJudge)
    return state.ledger.shown(event.trial, event.question)


def number_of(trial: Trial | Pair | int) -> int:
    """Return the number of a trial or of a pair."""
    return trial.id if isinstance(trial, (Trial, Pair)) else check.count("trial", trial, at_least=0)


def _depth_of_user() -> int:
    """Return how many frames above its caller's the user's line stands: the first one outside of the study."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(OWN_MODULES):
        frame, depth = frame.f_back, depth + 1
    return depth
