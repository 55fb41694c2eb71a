"""The settings with readings: which settings can be measured, which one to confirm, which were read on a seed."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from equipoise.belief import Feasibility

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import StudyBelief
    from equipoise.data import Reading, SeedName
    from equipoise.study.ledger import Entry, Ledger
    from equipoise.study.state import State

RECENT_READINGS = 8
"""The number of last readings examined for one that should be confirmed."""


def feasibility(state: State) -> Feasibility:
    """Return which settings can be measured; an impossible reading counts as a failure of its setting."""
    ledger, aside, extent = state.ledger, state.aside, state.setup.space.extent
    if not ledger.failed and not aside:
        return Feasibility(extent)
    trials = [*ledger.readings, *ledger.failed]
    points = np.array([ledger.of_trial[i].point(i) for i in trials])
    return Feasibility.of(extent, points, np.array([i in ledger.readings and i not in aside for i in trials]))


def suspect(ledger: Ledger, belief: StudyBelief, sign: float) -> FloatArray | None:
    """Return a point to confirm: its only reading is good, but counts as an outlier.

    A discovery looks the same until another reading is taken there.
    """
    times = () if belief.learned is None else tuple(time for time, _ in belief.learned.blips)
    recent = islice(reversed(ledger.readings.items()), RECENT_READINGS) if times else ()
    doubtful = [i for i, reading in recent if reading.place in times and not reading.circumstances.campaign]
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


def on_seeds(ledger: Ledger, open_too: bool = True) -> dict[SeedName, list[FloatArray]]:
    """Return the settings that were read on each seed, the first used seed first; `open_too` adds open ones."""
    found: dict[SeedName, list[FloatArray]] = {}
    for entry in ledger.duels:
        kept = [i for i in entry.ids if i in entry.readings or (open_too and not entry.void)]
        if entry.seed is not None and (kept or open_too):
            found.setdefault(entry.seed, []).extend(entry.point(i) for i in kept)
    return found


def is_known(ledger: Ledger, entry: Entry, i: int, reading: Reading) -> bool:
    """Return whether the same setting was read on the same seed before."""
    at = entry.point(i).tobytes()
    earlier = ((j, ledger.of_trial[j]) for j, r in ledger.readings.items() if 0 < r.place < reading.place)
    return any(e.seed == entry.seed and j not in e.aside and e.point(j).tobytes() == at for j, e in earlier)
