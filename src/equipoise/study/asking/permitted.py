"""The settings that may be proposed: within the limits, within a step, and measurable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.study.moving import Reach, positions
from equipoise.study.outputs import named_in, within_limits
from equipoise.study.settings_read import feasibility

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.answer import Doubtful
    from equipoise.spaces import Domain
    from equipoise.study.state import State


def reach(state: State, space: Domain, worker: str | None = None) -> Reach | None:
    """Return the settings within a step of where the machine may stand, if steps are limited."""
    limits = state.setup.caution
    if limits.max_step is None:
        return None
    return Reach.of(space, positions(state.events, state.ledger, limits.start, worker), limits.max_step)


def allowed(state: State, space: Domain, reach: Reach | None) -> Domain:
    """Return the part of a space that may be asked for, given the answers; open questions make nothing safe."""
    safe = named_in(state, space) if state.setup.safe else None
    return state.setup.caution.within(space, state.belief, feasibility(state), reach, tried(state), safe)


def attainable(state: State, space: Domain) -> tuple[Domain | None, Doubtful | None]:
    """Return the part of a space that the limits let a study reach, and the settings that may hold measured limits.

    `None` if there are no such limits. A safe study cannot reach a setting that only may hold them.
    """
    named, part = named_in(state, space), None
    if state.limited:
        safe = named if state.setup.safe else None
        part = state.setup.caution.attainable(space, state.belief, feasibility(state), tried(state), safe)
    if named is None or not named.limited:
        return part, None
    reached = space if part is None else part
    within, unsure = within_limits(reached, state.belief.posterior, feasibility(state), named)
    return within, None if state.setup.safe else unsure


def tried(state: State) -> FloatArray:
    """Return the points that were asked for and measured there, shape (n, d)."""
    entries = (entry for entry in state.ledger.duels if not entry.added)
    points = [entry.duel.points[k] for entry in entries for k, i in enumerate(entry.ids) if i in entry.readings]
    return np.array(points).reshape(-1, state.setup.space.dimension)
