"""What is known of a study besides its belief: where it began, where readings can be had, what was verified."""

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Standing
from equipoise.belief import Feasibility, StudyBelief
from equipoise.data import SeedName
from equipoise.spaces import Domain
from equipoise.study.alerts import equal_at_end, stuck
from equipoise.study.ledger import Ledger
from equipoise.study.outputs import usable
from equipoise.study.plans import with_plans
from equipoise.study.setup import Setup

if TYPE_CHECKING:
    from equipoise.study.state import State

RECENT_READINGS = 8
"""How many of the last readings are looked at for one that should be confirmed."""


def feasibility(ledger: Ledger, aside: frozenset[int], extent: FloatArray) -> Feasibility:
    """Return where readings can be had; a reading that cannot be is a failure of its place."""
    if not ledger.failed and not aside:
        return Feasibility(extent)
    trials = [*ledger.readings, *ledger.failed]
    points = np.array([ledger.of_trial[i].point(i) for i in trials])
    return Feasibility.of(extent, points, np.array([i in ledger.readings and i not in aside for i in trials]))


def suspect(ledger: Ledger, belief: StudyBelief, sign: float) -> FloatArray | None:
    """Return a point whose only reading is taken for spoiled though it was a good one, so that it can be confirmed.

    A discovery looks like that too: without another reading there nobody would ever know.
    """
    times = () if belief.learned is None else tuple(time for time, _ in belief.learned.blips)
    recent = islice(reversed(ledger.readings.items()), RECENT_READINGS) if times else ()
    doubtful = [i for i, reading in recent if reading.place in times and not reading.told.campaign]
    if not doubtful:
        return None
    points = {i: ledger.of_trial[i].point(i) for i in ledger.readings}
    values = sorted(sign * reading.outcome for reading in ledger.readings.values())
    for i in doubtful:
        good = sign * ledger.readings[i].outcome > values[len(values) // 2]
        once = sum(point.tobytes() == points[i].tobytes() for point in points.values()) == 1
        if good and once:
            return points[i]
    return None


def origin(ledger: Ledger, setup: Setup, space: Domain) -> FloatArray | None:
    """Return what settings are compared with, encoded, shape (d,): the start, or else the first one measured."""
    ours = (i for i, reading in ledger.readings.items() if not reading.told.campaign)
    first = next((ledger.of_trial[i].point(i) for i in ours), None)
    start = first if setup.start is None else setup.start
    if start is None:
        return None
    here: FloatArray = space.snap(start[None])[0]
    return here


def on_seeds(ledger: Ledger, open_too: bool = True) -> dict[SeedName, list[FloatArray]]:
    """Return the settings that were read on each seed, in the order in which these were used.

    Args:
        ledger: All questions.
        open_too: Whether those that are to be read count as well.
    """
    found: dict[SeedName, list[FloatArray]] = {}
    for entry in ledger.duels:
        kept = [i for i in entry.ids if i in entry.readings or (open_too and not entry.void)]
        if entry.seed is not None and (kept or open_too):
            found.setdefault(entry.seed, []).extend(entry.point(i) for i in kept)
    return found


def standing(state: "State", space: Domain) -> Standing:
    """Return what is known of a study besides the belief, as it concerns a part of the space."""
    ledger, setup = state.ledger, state.setup
    ours = [ledger.of_trial[i].point(i) for i, reading in ledger.readings.items() if not reading.told.campaign]
    found = Standing(
        state.readings,
        None if state.unrestricted else state.feasibility,
        origin(ledger, setup, space),
        theorem=not setup.offset.learns_readings,
        enough=not stuck(equal_at_end(ledger.latest()), len(ledger.readings)),
        attainable=_attainable(state, space),
        read=np.array(ours) if ours else None,
    )
    return with_plans(state, space, found) if state.planned else found


def _attainable(state: "State", space: Domain) -> Domain | None:
    """Return where limits let a study go in a part of the space; `None` if there are none."""
    named, part = state.named(space), None
    if state.limited:
        safe = named if state.setup.safe else None
        part = state.setup.caution.attainable(space, state.belief, state.feasibility, state.tried, safe)
    if named is not None and named.limited:
        part = usable(space if part is None else part, state.belief.posterior, state.feasibility, named)
    return part
