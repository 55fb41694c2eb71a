"""A running study: its state, its next question, its turns and its journal.

Every change is prepared, written and made, in this order; a change that cannot be written did not happen.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from equipoise import _validation as check
from equipoise.data import Trial
from equipoise.likelihoods import Pair
from equipoise.log import PROPOSE, Stamped, Turns, now
from equipoise.study import claiming
from equipoise.study.asking import Checkpoint, Proposer, handed
from equipoise.study.lessons import calmly
from equipoise.study.state import State

if TYPE_CHECKING:
    from equipoise.answer import Recommendation
    from equipoise.data import Duel, SeedName
    from equipoise.log import Asked, Event, Handed, Journal, Streams
    from equipoise.spaces import Domain
    from equipoise.study.claiming import Recommender
    from equipoise.study.requests import Requests
    from equipoise.study.setup import Setup

T = TypeVar("T")

OWN_MODULES = ("equipoise.study", "equipoise.optimizer")
"""A warning names the line that called these."""


class Session:
    """A running study: each public method takes a turn, so that threads and processes may share it.

    Args:
        setup: The setup of the study.
        streams: Its random numbers.
        clock: Returns the time of an event, ISO 8601 in UTC.

    Attributes:
        state: The state of the study.
        turns: Lets one thread and one process work on it at a time.
        streams: Its random numbers.
        clock: Returns the time of an event.
        notify: A function to call with each notice, such as a `DuelGivenUp`; `None` for a warning.
    """

    notify: Callable[[Warning], object] | None = None

    def __init__(self, setup: Setup, streams: Streams, clock: Callable[[], str] = now) -> None:
        self.state, self.streams, self.clock = State(setup), streams, clock
        self._proposes = setup, Proposer.of(setup, streams)
        self.turns = Turns(self._mend, self.apply)

    @property
    def space(self) -> Domain:
        """The space of the points, whose ranges may be widened."""
        return self.state.setup.space

    def __getstate__(self) -> dict[str, Any]:
        # The state is copied during a turn, since other threads may change it. One history, one writer.
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
        """Look at the state after the changes that other processes have made."""
        return self.turns.look(lambda: self._followed(act))

    def change(self, act: Callable[[], T]) -> T:
        """Change the study, deliver the notices, and return the result."""
        result, notices = self.turns.change(act)
        self.deliver(notices)
        return result

    def request(self, make: Callable[[Requests], Event | None]) -> tuple[Warning, ...]:
        """Make a requested change, if there is one; deliver and return the notices."""

        def act() -> None:
            event = make(self.state.requests)
            if event is not None:
                self.happen(event)

        return self.deliver(self.turns.change(act)[1])

    def deliver(self, notices: tuple[Warning, ...]) -> tuple[Warning, ...]:
        """Give notices to the user, and return them; a warning names the line that called the library."""
        for notice in notices:
            if self.notify is None:
                warnings.warn(notice, stacklevel=_depth_of_user())
            else:
                self.notify(notice)
        return notices

    def ask(self, worker: str | None, context: Mapping[str, Any] | None, n: int = 1) -> list[Trial]:
        """Hand out the next trials."""
        return self.change(lambda: [self._ask(worker, context) for _ in range(n)])

    def claim(self, context: Mapping[str, Any] | None, act: Callable[[Recommender, State], T]) -> T:
        """Return the claims at a context, after the changes that other processes have made."""
        return self.follow(lambda state: act(self.claims(context), state))

    def recommend(
        self,
        context: Mapping[str, Any] | None,
        weights: Mapping[str, float] | None = None,
        prefer: str | None = None,
    ) -> Recommendation:
        """Return the best setting at a context; with several objectives, the preferred compromise."""

        def act(claims: Recommender, state: State) -> Recommendation:
            if weights is None and prefer is None:
                return claims.recommend(state, state.readings)
            return claiming.compromise(claims, state, weights, prefer)

        best = self.claim(context, act)
        self.deliver(best.notices)
        return best

    def write_to(self, log: str | os.PathLike[str] | Journal, settings: dict[str, Any]) -> None:
        """Begin a log, or continue a journal."""
        if isinstance(log, (str, os.PathLike)):
            from equipoise.log import Log

            self.turns.journal = Log.create(log, self.space, settings, self.streams.key.tolist())
            return
        self.turns.notice(log.take_up(self.apply))
        self.turns.journal = log

    # The methods below run during a turn.

    def apply(self, stamped: Stamped) -> None:
        """Make the change of a written event; its lessons are learned on demand."""
        self.state.apply(stamped.event, stamped.at)

    def happen(self, event: Event) -> None:
        """Prepare an event, write it, make its change."""
        change, at = self.state.prepare(event), self.clock()
        if self.turns.journal is not None:
            self.turns.journal.write(Stamped(event if change.event is None else change.event, at))
        change.make(at)
        self.turns.notice(change.alert)

    def _ask(self, worker: str | None, context: Mapping[str, Any] | None) -> Trial:
        """Hand out the next trial: one that waits, or the first of a new duel."""
        state = self.state
        with self.calmly():
            event: Handed | Asked | None = handed(state, worker, None if context is None else self.space.at(context))
            if event is None:
                gate = Checkpoint.of(state, self.present(context), worker)
                duel, seed = self.proposed(gate)
                event = gate.asked(duel, worker, seed)
        self.happen(event)
        return state.ledger.handed[event.trial]

    def proposed(self, gate: Checkpoint) -> tuple[Duel, SeedName | None]:
        """Return the next duel and its seed."""
        return self.proposer.at(gate.space).seeded(gate, self.streams.at(self.state.duels, PROPOSE))

    def claims(self, context: Mapping[str, Any] | None) -> Recommender:
        """Return the recommender at a context."""
        return claiming.Recommender(self.latest(context), self.streams)

    def present(self, context: Mapping[str, Any] | None) -> Domain:
        """Return the part of the space at a context; without one, at the context of the present plan."""
        plan = self.state.plan if context is None else None
        return self.space.at(context) if plan is None or plan.points is None else self.space.through(plan.points[0])

    def latest(self, context: Mapping[str, Any] | None) -> Domain:
        """Return the part of the space at a context; without one, at the context of the last question."""
        last = self.state.latest if context is None else None
        return self.space.at(context) if last is None else self.space.through(last)

    @property
    def proposer(self) -> Proposer:
        """The proposer of the next question, made once for a setup."""
        setup = self.state.setup
        if self._proposes[0] is not setup:
            self._proposes = setup, Proposer.of(setup, self.streams)
        return self._proposes[1]

    def _followed(self, act: Callable[[State], T]) -> T:
        journal = self.turns.journal
        if journal is not None and (journal.path is None or journal.path.exists()):  # else what is in memory must do
            journal.follow(self.apply)
        with self.calmly():
            return act(self.state)

    def _mend(self) -> None:
        """Rebuild the state from its events if an interrupt came in the middle of a change."""
        if not self.state.whole:
            again = self.state.fresh()
            for stamped in list(self.state.past):
                again.apply(stamped.event, stamped.at)
            self.state = again

    def calmly(self) -> AbstractContextManager[None]:
        """Return a context that limits BLAS to one thread, if the computation is large enough to use more."""
        return calmly(self.state.setup.prior)


def number_of(trial: Trial | Pair | int) -> int:
    """Return the number of a trial or of a pair."""
    if isinstance(trial, (Trial, Pair)):
        return trial.id
    if isinstance(trial, Mapping):
        raise TypeError(f"`trial` must be what `ask` returned or its number, got a setting: {trial!r}")
    return check.count("trial", trial, at_least=0)


def _depth_of_user() -> int:
    """Return how many frames above its caller's the user's line stands: the first one outside of the study."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(OWN_MODULES):
        frame, depth = frame.f_back, depth + 1
    return depth
