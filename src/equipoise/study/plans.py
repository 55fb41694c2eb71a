"""Plans: duels for an audit or a verification, before the policy continues.

A plan is an event, and so is each of its duels. So a plan survives a crash, workers share it, and it asks again for a
reading that is withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from equipoise import answer
from equipoise.data import Proposal
from equipoise.log import AUDIT, Canceled
from equipoise.study.asking import asked
from equipoise.study.exploring import apart, sequence, unasked
from equipoise.study.settings_read import feasibility

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.answer import Standing, Verification
    from equipoise.log import Planned, Purpose
    from equipoise.spaces import Domain
    from equipoise.study.asking import Proposer
    from equipoise.study.claiming import Recommender
    from equipoise.study.ledger import Entry
    from equipoise.study.session import Session
    from equipoise.study.state import State

MOST_TRIES = 2
"""A failed duel of a plan is replaced; no more than this many times the planned ones are begun."""


@dataclass(frozen=True)
class Plan:
    """Planned duels and their progress.

    Attributes:
        purpose: "audit" or "verify".
        duels: The number of planned duels.
        told: The number of complete duels.
        left: The number of duels still to begin.
        ended: Whether it is over: complete, canceled, or given up after too many failures.
        points: For a verification: the leader, then its rivals, encoded, shape (k, d). For an audit at a context: the
            leader as it was.
    """

    purpose: Purpose
    duels: int
    told: int
    left: int
    ended: bool
    points: FloatArray | None = field(default=None, repr=False, compare=False)

    def concerns(self, space: Domain) -> bool:
        """Return whether it is about a part of the space; with contexts, only the part at its own context."""
        return self.points is None or bool(space.valid(self.points[:1])[0])

    @property
    def complete(self) -> bool:
        """True if all its readings were told."""
        return self.told >= self.duels

    @classmethod
    def of(cls, planned: Planned, canceled: bool, entries: Sequence[Entry]) -> Plan:
        """Return the progress of a plan."""
        useful = [entry for entry in entries if not entry.void]
        told = sum(entry.complete for entry in useful)
        room = min(planned.duels - len(useful), MOST_TRIES * planned.duels - len(entries))
        left = 0 if canceled else max(room, 0)
        ended = left == 0 and (canceled or told == len(useful))
        return cls(planned.purpose, planned.duels, told, left, ended, planned.points)


def progress(state: State) -> list[Plan]:
    """Return all plans of a study with their progress."""
    entries = list(state.ledger.entries)
    return [
        Plan.of(plan, plan.number in state.canceled, [entry for entry in entries if entry.plan == plan.number])
        for plan in state.planned
    ]


def with_plans(state: State, space: Domain, found: Standing) -> Standing:
    """Return the facts besides the belief, with the results of complete plans in a part of the space."""
    ledger, plans = state.ledger, progress(state)
    done = [p for p, plan in zip(state.planned, plans, strict=True) if plan.complete and plan.concerns(space)]
    verified = [plan for plan in done if plan.purpose == "verify"][-1:]
    fresh = {plan.number for plan in state.planned if plan.purpose == "verify"}
    served = [e for e in ledger.duels if e.plan is not None], [e for e in ledger.pairs.values() if e.plan in fresh]
    return replace(
        found,
        audited=any(plan.purpose == "audit" for plan in done),
        verification=verification(verified[0], *served, state.sign, found.start) if verified else None,
    )


def verification(
    plan: Planned, duels: Iterable[Entry], pairs: Sequence[Entry], sign: float, start: FloatArray | None
) -> Verification:
    """Return the result of a verification."""
    assert plan.points is not None
    leader, rivals = plan.points[0], plan.points[1:]
    found: list[list[tuple[int, float]]] = [[] for _ in rivals]
    for entry in duels:
        if entry.complete:
            _sort_in(entry, leader, rivals, sign, found)
    differences = tuple(np.array([value for _, value in sorted(each)]) for each in found)
    scores = tuple(_scores(pairs, leader, each) for each in rivals)
    return answer.Verification(leader, rivals, differences, start, scores)


def _scores(pairs: Iterable[Entry], leader: FloatArray, rival: FloatArray) -> FloatArray:
    """Return the judgements of the leader and a rival: 1 if the leader was preferred, 1/2 if neither, else 0."""
    found = []
    for said in (entry.judgement for entry in pairs if entry.judgement is not None):
        shown = said.first.tobytes(), said.second.tobytes()
        if set(shown) == {leader.tobytes(), rival.tobytes()}:
            level = said.level if shown[0] == leader.tobytes() else -said.level
            found.append(0.5 + 0.5 * ((level > 0) - (level < 0)))
    return np.array(found)


def _sort_in(
    entry: Entry, leader: FloatArray, rivals: FloatArray, sign: float, found: list[list[tuple[int, float]]]
) -> None:
    """Add the difference of a complete duel of the leader with one of the rivals, and its place among the readings.

    A duel that was measured elsewhere than planned is left out.
    """
    values = {entry.point(i).tobytes(): sign * reading.outcome for i, reading in entry.readings.items()}
    last = max(reading.place for reading in entry.readings.values())
    for k, rival in enumerate(rivals):
        if values.keys() == {leader.tobytes(), rival.tobytes()}:
            found[k].append((last, values[leader.tobytes()] - values[rival.tobytes()]))


def planned_pair(by: Proposer, state: State, plan: Plan, rng: Generator) -> Proposal:
    """Return the next pair of a plan: of an audit, or the leader to verify against each rival in turn."""
    begun = plan.duels - plan.left
    if plan.purpose == "verify" and plan.points is not None:
        return Proposal.pair(plan.points[0], plan.points[1 + begun % (len(plan.points) - 1)])
    known = feasibility(state)
    spread = sequence(by.space, apart(by.streams).at(len(state.planned) - 1, AUDIT))
    left = unasked(spread, asked(state))
    left = left[known.allows(left)]
    return answer.audit_pair(by.space, state.anticipated(), known, left, begun, plan.duels, rng)


def begin(
    session: Session,
    purpose: Purpose,
    context: Mapping[str, Any] | None,
    planned: Callable[[Recommender, State], Planned],
) -> Plan:
    """Begin a plan, or return the present one of that purpose; `planned` returns its event or refuses it."""

    def act() -> Plan:
        state, claims = session.state, session.claims(context)
        plan = state.plan
        if plan is not None and not (plan.purpose == purpose and plan.concerns(claims.space)):
            left = f"{plan.duels - plan.told} of its {plan.duels} duels are still to be told"
            raise RuntimeError(f"a plan to {plan.purpose} is under way: {left}; see `cancel`")
        if plan is not None:
            return plan
        if not state.readings and not state.ledger.judgements:
            raise RuntimeError(f"there is nothing to {purpose} yet: nothing was told")
        with session.calmly():
            event = planned(claims, state)
        session.happen(event)
        return progress(state)[-1]

    return session.change(act)


def cancel(session: Session) -> None:
    """Stop the present plan."""

    def act() -> None:
        if session.state.plan is None:
            raise RuntimeError("there is no plan under way to cancel")
        session.happen(Canceled(len(session.state.planned) - 1))

    session.change(act)
