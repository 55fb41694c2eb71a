"""What the ledger of a study shows: where readings can be had, which should be confirmed, what became of each trial."""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Standing
from equipoise.belief import Feasibility, Posterior
from equipoise.data import Reading
from equipoise.log import Planned
from equipoise.spaces import Domain
from equipoise.study.docket import Docket
from equipoise.study.ledger import Ledger
from equipoise.study.outliers import equal_at_end, stuck
from equipoise.study.plans import Plan, verification
from equipoise.study.rules import Record
from equipoise.study.setup import Setup

RECENT_READINGS = 8
"""How many of the last readings are looked at for one that should be confirmed."""


def feasibility(ledger: Ledger, aside: frozenset[int], extent: FloatArray) -> Feasibility:
    """Return where readings can be had; a reading that cannot be is a failure of its place.

    Args:
        ledger: All trials.
        aside: Those whose reading cannot be.
        extent: Range of each encoded coordinate, shape (d,).
    """
    if not ledger.failed and not aside:
        return Feasibility(extent)
    trials = [*ledger.told, *ledger.failed]
    points = np.array([ledger.of_trial[i].point(i) for i in trials])
    return Feasibility.of(extent, points, np.array([i in ledger.told and i not in aside for i in trials]))


def suspect(ledger: Ledger, spoiled: tuple[float, ...], sign: float) -> FloatArray | None:
    """Return a point whose only reading is held for spoiled though it was a good one, so that it can be confirmed.

    A discovery looks like that too: whoever never measured there again would never know.

    Args:
        ledger: All trials.
        spoiled: The times of the readings held for spoiled.
        sign: -1 where values are minimized.
    """
    recent = islice(reversed(ledger.told.items()), RECENT_READINGS)
    doubtful = [i for i, reading in recent if reading.place in spoiled and not reading.told.campaign]
    if not doubtful:
        return None
    points = {i: ledger.of_trial[i].point(i) for i in ledger.told}
    values = sorted(sign * reading.value for reading in ledger.told.values())
    for i in doubtful:
        good = sign * ledger.told[i].value > values[len(values) // 2]
        once = sum(point.tobytes() == points[i].tobytes() for point in points.values()) == 1
        if good and once:
            return points[i]
    return None


def standing(
    ledger: Ledger,
    docket: Docket,
    planned: Sequence[Planned],
    plans: Sequence[Plan],
    setup: Setup,
    feasible: Feasibility,
    space: Domain,
) -> Standing:
    """Return what is known of a study besides its belief.

    Args:
        ledger: All trials.
        docket: All pairs that were judged.
        planned: What was planned.
        plans: How far it is with each plan.
        setup: What the study is governed by.
        feasible: Where readings can be had.
        space: The part of the space that is looked at.
    """
    first = next((ledger.of_trial[i].point(i) for i, told in ledger.told.items() if not told.told.campaign), None)
    start = first if setup.start is None else setup.start
    start = None if start is None else space.snap(start[None])[0]
    done = [plan for plan, state in zip(planned, plans, strict=True) if state.complete and state.concerns(space)]
    verified = [plan for plan in done if plan.purpose == "verify"][-1:]
    served = [entry for entry in ledger.entries if entry.plan is not None]
    fresh = [case for plan in planned if plan.purpose == "verify" for case in docket.serving(plan.number)]
    return Standing(
        ledger.places.get("", 0),
        feasible,
        start,
        theorem=not setup.offset.learns_readings,
        enough=not stuck(equal_at_end(ledger.latest), len(ledger.told)),
        audited=any(plan.purpose == "audit" for plan in done),
        verification=verification(verified[0], served, fresh, setup.sign, start) if verified else None,
    )


def records(
    ledger: Ledger,
    posterior: Posterior | None,
    decode: Callable[[FloatArray], Any],
    trials: Container[int] | None = None,
) -> list[Record]:
    """Return what became of every trial, in the order in which they were told; then those that were not.

    Args:
        ledger: All trials.
        posterior: The belief, which knows what it does not learn from; `None` where that need not be said.
        decode: Turns an encoded point into the user's.
        trials: Only these; all by default.
    """
    handed = (*ledger.told, *ledger.failed, *sorted(ledger.handed))
    return [_record(ledger, i, posterior, decode) for i in handed if trials is None or i in trials]


def _record(ledger: Ledger, i: int, posterior: Posterior | None, decode: Callable[[FloatArray], Any]) -> Record:
    told, entry = ledger.told.get(i), ledger.of_trial[i]
    k, n = entry.ids.index(i), len(entry.ids)
    record = Record(i, entry.number, entry.worker, decode(entry.point(i)), void=entry.void, position=k + 1, positions=n)
    if told is None:
        return replace(record, failed=ledger.failed.get(i))
    known = told.told.to_dict()
    return replace(
        record,
        value=told.value,
        time=told.time,
        error=told.error,
        aside=_aside(told, i in entry.aside, posterior),
        block=known["block"],
        earlier=known["campaign"] is not None,
        covariates=known["covariates"] or {},
    )


def _aside(told: Reading, strange: bool, posterior: Posterior | None) -> str | None:
    """Return why nothing is learned from a reading, where that is so."""
    if strange:
        return "it cannot be"
    if posterior is None:
        return None
    if told.told.campaign:
        return "it contradicts the readings of now" if told.told.campaign in posterior.estranged else None
    return "it is spoiled" if told.place in posterior.spoiled else None
