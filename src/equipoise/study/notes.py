"""What the user should know of a reading: its duel given up, a sensor that seems dead, a campaign that contradicts."""

from itertools import chain

from equipoise._typing import FloatArray
from equipoise.belief import Posterior
from equipoise.study.ledger import DropExceeded, DuelGivenUp, Entry, Estranged, GapUnknown, Ledger
from equipoise.study.limits import Limits
from equipoise.study.outliers import equal_at_end, stuck_note


def dead_note(ledger: Ledger, value: float, point: FloatArray) -> Warning | None:
    """Return what is to be said where a reading, like many before it, is the same.

    Args:
        ledger: All trials before it.
        value: The reading.
        point: Where it was taken, shape (d,).
    """
    if next(ledger.latest, (None, b""))[0] != value:
        return None
    return stuck_note(equal_at_end(chain([(value, point.tobytes())], ledger.latest)), value)


def gap_note(entry: Entry, late: bool, max_gap: float | None) -> Warning | None:
    """Return what is to be said of the time between the readings of a duel, and of their blocks.

    Args:
        entry: The duel.
        late: Whether it is given up for either.
        max_gap: The longest time between its readings.
    """
    if late:
        why = "in different blocks" if entry.split else f"more than {max_gap} apart"
        return DuelGivenUp(f"duel {entry.number} given up: its halves were {why}")
    if max_gap is None or entry.void or len(entry.readings) < len(entry.ids) or entry.timed:
        return None
    return GapUnknown(f"`max_gap` was not checked for duel {entry.number}: tell the `time` of every reading")


def drop_note(limits: Limits, entry: Entry, now: Posterior | None, before: Posterior) -> Warning | None:
    """Return what is to be said if a setting turns out to be worse than the start by more than the limit.

    Args:
        limits: What may be proposed.
        entry: The duel that was just told, with its readings.
        now: The belief with these; `None` if it is not known yet.
        before: The belief without the last one.
    """
    if limits.drop is None or now is None:
        return None
    told = [entry.point(i) for i, said in entry.readings.items() if said.point is None or i in entry.moved]
    news = limits.unsafe(now, told)
    if not news or len(limits.unsafe(before, told)) == len(news):
        return None
    return DropExceeded(
        f"a setting of duel {entry.number} seems to be worse than the start by more than `drop`, {limits.drop:g}: "
        "fewer settings are taken for safe from now on; see `retract` if the reading is wrong"
    )


def estranged_note(now: Posterior, before: Posterior) -> Warning | None:
    """Return what is to be said where readings of an earlier campaign are no longer believed."""
    if not (news := sorted(now.estranged - before.estranged)):
        return None
    names = ", ".join(map(repr, news))
    return Estranged(f"earlier readings of {names} contradict those of now: nothing is learned from them")
