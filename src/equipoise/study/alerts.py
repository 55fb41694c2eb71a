"""Warnings about a reading: its duel is not used, a sensor seems dead, and so on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.belief import contradiction
from equipoise.study.lessons import calmly

if TYPE_CHECKING:
    from equipoise.belief import StudyBelief
    from equipoise.study.ledger import Entry
    from equipoise.study.limits import Limits
    from equipoise.study.setup import Setup


class DuelGivenUp(UserWarning):
    """A duel is not used, since a reading failed or came too late; everything learned before stays."""


class GapUnknown(UserWarning):
    """Readings have no times, so `max_gap` cannot be checked."""


class DropExceeded(UserWarning):
    """A setting that seemed safe is worse than the start by more than `drop`."""


class Estranged(UserWarning):
    """Readings of an earlier campaign contradict the present ones and are ignored; they stay in the log."""


class BoundMissed(UserWarning):
    """A run ended before it reached its bound."""


class DeadSensor(UserWarning):
    """Many readings in a row are equal to the last bit, as if a sensor were disconnected."""


class SetAside(UserWarning):
    """A reading is impossible and was ignored; it stays in the log."""


class WrongUnit(UserWarning):
    """The readings contradict the unit of the given kernel, so its bounds are meaningless."""


def gap_alert(entry: Entry, late: bool, max_gap: float | None) -> Warning | None:
    """Return a warning about the time between the readings of a duel, or about their blocks, if there is one."""
    if late:
        why = "in different blocks" if entry.split else f"more than {max_gap} apart"
        return DuelGivenUp(f"duel {entry.number} given up: its halves were {why}")
    if max_gap is None or entry.void or len(entry.readings) < len(entry.ids) or entry.timed:
        return None
    return GapUnknown(f"`max_gap` was not checked for duel {entry.number}: tell the `time` of every reading")


def reading_alert(
    setup: Setup, entry: Entry, late: bool, now: StudyBelief | None, before: StudyBelief
) -> Warning | None:
    """Return a warning about a duel with a new reading, if there is one.

    The halves of a `late` duel are too far apart; `now` and `before` are the beliefs with the reading, `None` if it is
    not computed yet, and without it.
    """
    found: Warning | None = None
    limits = setup.caution
    if now is not None:
        found = estranged_alert(now, before)
        if found is None and limits.drop is not None and limits.start is not None:
            part = setup.space.through(entry.point(entry.ids[0]))
            here = replace(limits, start=part.snap(limits.start[None])[0])
            with calmly(setup.prior):
                found = drop_alert(here, entry, now, before)
    return found or gap_alert(entry, late, setup.max_gap)


def drop_alert(limits: Limits, entry: Entry, now: StudyBelief, before: StudyBelief) -> DropExceeded | None:
    """Return a warning if a setting turns out to be worse than the start by more than the limit."""
    told = [entry.point(i) for i, said in entry.readings.items() if said.point is None or i in entry.moved]
    news = limits.unsafe(now, told)
    if not news or len(limits.unsafe(before, told)) == len(news):
        return None
    return DropExceeded(
        f"a setting of duel {entry.number} seems to be worse than the start by more than `drop`, {limits.drop:g}: "
        "fewer settings count as safe from now on; see `retract` if the reading is wrong"
    )


def estranged_alert(now: StudyBelief, before: StudyBelief) -> Estranged | None:
    """Return a warning if the belief now ignores the readings of an earlier campaign."""
    if not (news := sorted(strangers(now) - strangers(before))):
        return None
    names = ", ".join(map(repr, news))
    return Estranged(f"earlier readings of {names} contradict the present ones and are ignored")


def strangers(belief: StudyBelief) -> frozenset[str]:
    """Return the earlier campaigns whose readings contradict the present ones and are ignored."""
    return frozenset() if belief.learned is None else frozenset(belief.learned.strangers)


def wrong_unit(belief: StudyBelief) -> WrongUnit:
    """Return the warning about outcomes that are far larger than a given kernel allows."""
    times = contradiction(belief)
    return WrongUnit(
        f"the differences read are {math.sqrt(times):.2g} times as large as `kernel` and `regularizer` say, so there "
        f"is no bound: multiply both by about {times:.1g}, or give neither to have both learned"
    )
