"""A preview of the next question of a study, without side effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise.answer import reproduction, reproduction_of_points
from equipoise.data import Duel
from equipoise.study import asking
from equipoise.study.asking import Checkpoint

if TYPE_CHECKING:
    from equipoise.answer import Reproduction
    from equipoise.log import Asked
    from equipoise.spaces import Domain
    from equipoise.study.session import Session
    from equipoise.study.state import State


def proposed(session: Session, context: Mapping[str, Any] | None) -> Duel:
    """Return the duel that the study would propose next."""
    return session.look(lambda state: _duel(session, state, session.present(context)))


def reproduced(session: Session, event: Asked) -> Reproduction:
    """Return how a logged question compares with the one that the study would ask now."""
    return session.look(lambda state: _compared(session, state, event))


def _duel(session: Session, state: State, part: Domain, worker: str | None = None) -> Duel:
    with session.calmly():
        return session.proposed(Checkpoint.of(state, part, worker))[0]


def _compared(session: Session, state: State, event: Asked) -> Reproduction:
    question, space = event.question, session.space
    if isinstance(question, Duel):
        again = _duel(session, state, space.through(question.points[0]), event.worker)
        with session.calmly():
            return reproduction(question, again, state.anticipated().posterior)
    part = space if question.again is not None else space.through(question.points[0])
    with session.calmly():
        pair = asking.paired(session, part, question.judge, question.steps, question.again)
        return reproduction_of_points(question.points, pair.question.points, asking.awaiting(state).posterior)
