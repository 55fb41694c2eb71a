"""The gate: the one place that hands out trials and pairs, whatever proposed them.

Proposals of a policy, a start, a scout, an audit or a verification, pairs to judge and waiting halves all pass here,
and only the gate makes the events `Asked` and `Handed`. It checks the space and its constraint, settings that fail,
`max_step` and `drop`. It does not refuse a point that fails: it moves the point towards a setting that passes, in the
worst case to the position of the machine or back towards the start.

Both points of a duel must be within a step of the machine's position and of each other: a coin decides which is first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise.data import PairToJudge, Proposal
from equipoise.log import Asked, Handed

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.data import Duel, SeedName
    from equipoise.spaces import Domain
    from equipoise.study.asking.replacing import Replacing
    from equipoise.study.moving import Reach
    from equipoise.study.state import State


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Passes the points that may be asked for in a part of the space.

    Attributes:
        state: The state of the study.
        space: The part of the space at the present context.
        reach: The settings within a step of where the machine may stand, if steps are limited.
        allowed: The part of that space that may be asked for.
    """

    state: State
    space: Domain
    reach: Reach | None
    allowed: Domain

    @classmethod
    def of(cls, state: State, space: Domain, worker: str | None = None) -> Checkpoint:
        """Return the gate of a state."""
        if state.unrestricted:
            return cls(state, space, None, space)
        from equipoise.study.asking.permitted import allowed, reach

        within = reach(state, space, worker)
        return cls(state, space, within, allowed(state, space, within))

    def admit(self, proposal: Proposal, rng: Generator) -> Proposal:
        """Return a proposal whose points may be measured, in any order; the same one if its points may."""
        kept: list[FloatArray] = []
        for point in proposal.points:
            kept.append(self._passing(point, kept, rng))
        points = np.array(kept)
        return proposal if points.tobytes() == proposal.points.tobytes() else Proposal(points, proposal.weights)

    def admits(self, points: FloatArray, beside: Sequence[FloatArray] = ()) -> NDArray[np.bool_]:
        """Return which points, shape (m, d), may be asked for, beside others of the same duel, shape (m,)."""
        passes: NDArray[np.bool_] = self.allowed.valid(points) & (self.space.snap(points) == points).all(axis=1)
        if self.reach is not None:
            for other in beside:
                passes &= self.reach.joins(points, other)
        return passes

    def asked(self, duel: Duel, worker: str | None, seed: SeedName | None = None) -> Asked:
        """Return the event of a new duel: its first trial is handed out."""
        return Asked(self.state.ledger.trials, duel, self.state.duels, worker, self._plan, seed)

    def paired(self, points: FloatArray, steps: int, judge: str, again: int | None = None) -> Asked:
        """Return the event of a pair that is handed out to be judged; refuse an earlier one that may not be, again."""
        if again is not None and self.state.limited and not self.admits(points, [points[0]]).all():
            raise RuntimeError(f"`again` must be a pair within `drop` and `max_step`, which forbid pair {again} now")
        plan = self._plan if again is None else None
        return Asked(self.state.ledger.trials, PairToJudge(points, steps, judge, again), plan=plan)

    def handed(self, i: int, planned: FloatArray, worker: str | None) -> Handed | None:
        """Return the event of a trial that waited; `None` if the constraint forbids it at the present context.

        Args:
            i: The trial.
            planned: Its planned setting, encoded, shape (d,).
            worker: The worker who measures it.
        """
        here: FloatArray = self.space.snap(planned[None])[0]
        if not self.space.valid(here[None])[0]:
            return None
        point = here if self.admits(here[None])[0] else self._replacing.instead_of(here, [], self._partners(i), None)
        return Handed(i, worker, None if point.tobytes() == planned.tobytes() else point)

    def _partners(self, i: int) -> list[FloatArray]:
        """Return the points of the other readings of the duel of a trial."""
        entry = self.state.ledger.of_trial[i]
        return [entry.point(j) for j in entry.readings if j != i]

    @property
    def _plan(self) -> int | None:
        """The plan that is served, if any."""
        return None if self.state.serves(self.space) is None else len(self.state.planned) - 1

    @cached_property
    def _replacing(self) -> Replacing:
        """The replacement rule for points that do not pass."""
        from equipoise.study.asking.replacing import Replacing

        return Replacing(self)

    def _passing(self, point: FloatArray, beside: Sequence[FloatArray], rng: Generator) -> FloatArray:
        """Return a point that may be asked for beside others: the one proposed if it may."""
        return point if self.admits(point[None], beside)[0] else self._replacing.instead_of(point, beside, beside, rng)


def handed(state: State, worker: str | None, part: Domain | None) -> Handed | None:
    """Return the event of the first trial that waits for a worker and may be handed out; `None` if there is none.

    Args:
        state: The state of the study.
        worker: The worker who measures.
        part: The part of the space at the present context, to which a waiting setting is moved. `None` if no context
            is given: then it is as planned.
    """
    for i in state.ledger.waiting(worker):
        planned = state.ledger.of_trial[i].point(i)
        if part is None and state.unrestricted:
            return Handed(i, worker)
        here = state.setup.space.through(planned) if part is None else part
        event = Checkpoint.of(state, here, worker).handed(i, planned, worker)
        if event is not None:
            return event
    return None
