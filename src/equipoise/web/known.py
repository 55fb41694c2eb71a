"""What is known: everything on the screen but the form, as a record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.answer import Recommendation, claims, compared, counted, planned, preferences
from equipoise.optimizer import Optimizer
from equipoise.spaces import printable
from equipoise.study import Note, Record, Setting
from equipoise.web.dials import Dial, dials
from equipoise.web.notices import in_sentences
from equipoise.web.now import clock
from equipoise.web.pair_page import in_words
from equipoise.web.traces import answers_chart, certificate_chart, estimate_charts, readings_chart

MOST_ROWS = 80
"""Trials in the list of the screen, the newest; the CSV has all."""

MOST_NOTES = 8
"""Notes on the screen, the newest."""

NAMES = {"pause": "paused"}
"""Modes as they are listed beside the notes, if not by their own name."""


@dataclass(frozen=True)
class Row:
    """A trial in the list.

    Attributes:
        trial: Its number.
        duel: The number of its pair.
        when: When it was told, failed or handed out.
        x: Its setting, one text for each knob.
        value: What was read; empty where nothing was.
        state: What became of it, in words.
        answered: Whether it was told or failed, and can be taken back.
        strange: Whether somebody should look at it.
    """

    trial: int
    duel: int
    when: str
    x: tuple[str, ...]
    value: str
    state: str
    answered: bool
    strange: bool


@dataclass(frozen=True)
class Known:
    """What is known of a study.

    Attributes:
        version: A text that differs where it does.
        readings: How many readings there are.
        best: The best setting as far as is known, against the start.
        kind: On what ground that is said.
        claims: What is claimed of it.
        against_start: How much better it is than the start.
        clear: Whether it is clearly better.
        plan: The audit or verification under way.
        undo: The answer that was given last: its trial, and what it was.
        rows: The trials, the newest first.
        notes: What was said, the newest first.
        readings_chart: Raw readings and offset.
        estimate_charts: The estimate of f.
        certificate_chart: The bound over time.
        notices: What else the user should know of what is recommended.
        judgements: How many judgements there are.
        blind: Whether settings are hidden.
    """

    version: str
    readings: int
    best: tuple[Dial, ...]
    kind: str
    claims: tuple[str, ...]
    against_start: str
    clear: bool
    plan: str
    undo: Row | None
    rows: tuple[Row, ...]
    notes: tuple[tuple[str, str], ...]
    readings_chart: str
    estimate_charts: tuple[str, ...]
    certificate_chart: str
    notices: tuple[str, ...] = ()
    judgements: int = 0
    blind: bool = False

    @property
    def told(self) -> str:
        """After how much this is known, in words."""
        return counted(self.readings, self.judgements)


def known(
    opt: Optimizer,
    best: Recommendation,
    start: Any,
    bounds: Mapping[int, float],
    version: str,
    blind: bool = False,
) -> Known:
    """Return what is known of a study.

    Args:
        opt: The study.
        best: What it recommends.
        start: The setting where it started.
        bounds: The certificate over time, by number of readings.
        version: Of what is known.
        blind: Whether settings are hidden from whoever judges.
    """
    records, last = opt.records(), opt.study.last_answered
    only_judged = best.judgements > 0 and not best.readings
    short = best.unit.split()[0] if only_judged else best.unit  # beside an axis there is little room
    rows = [_row(opt, record, blind) for record in records]
    answers, judged = opt.study.answers(), {record.trial: record for record in opt.records(judgements=True)}
    rows += [_judged(judged[pair.id], in_words(pair, answer, blind)) for pair, answer in answers]
    rows += [_judged(record, f"skipped: {record.failed}") for record in judged.values() if record.failed is not None]
    newest = sorted(rows, key=lambda row: -row.trial)
    return Known(
        version,
        best.readings,
        () if blind else dials(opt.space, best.x, start),
        best.overall.kind if len(best.claims) == 1 else best.kind,
        (*claims(best), *preferences(best, blind)),
        compared(best.against_start, best.unit),
        best.against_start is not None and best.against_start.clear,
        ""
        if opt.study.plan is None
        else planned(opt.study.plan.purpose, opt.study.plan.duels, opt.study.plan.told, opt.study.plan.left),
        next((row for row in rows if row.trial == last), None),
        tuple(newest[:MOST_ROWS]),
        tuple(_noted(opt.study.notes, opt.study.settings))[:MOST_NOTES],
        readings_chart(opt, best, short) if best.readings or not best.judgements else answers_chart(opt),
        tuple(estimate_charts(opt, best, short)) if best.readings + best.judgements and not blind else (),
        certificate_chart(bounds, best.readings + best.judgements, short, "judgements" if only_judged else "readings"),
        notices=tuple(in_sentences(best.notices)),
        judgements=best.judgements,
        blind=blind,
    )


def described(record: Record) -> str:
    """Return what became of a trial, in words."""
    if record.failed is not None:
        return f"failed: {record.failed}"
    if record.value is None:
        return "open" if record.worker is None else f"open, {record.worker}"
    if record.aside is not None:
        return f"set aside: {record.aside}"
    return "its pair was given up" if record.void else "told"


def _row(opt: Optimizer, record: Record, blind: bool) -> Row:
    i = record.trial
    when = clock(record.ended or record.asked)
    where = () if blind else tuple(dial.value for dial in dials(opt.space, record.x))
    value = "" if record.value is None else f"{record.value:.6g}"
    answered = record.value is not None or record.failed is not None
    state = printable(described(record), "")
    return Row(
        i, record.duel, when, where, value, state, answered, record.failed is not None or record.aside is not None
    )


def _judged(record: Record, said: str) -> Row:
    """Return what became of a pair as a line of the list."""
    i, skipped = record.trial, record.failed is not None
    return Row(i, i, clock(record.ended), (), "", printable(said, ""), answered=True, strange=skipped)


def _noted(notes: Sequence[Note], settings: Sequence[Setting]) -> list[tuple[str, str]]:
    """Return when something was said or the mode was set, and what, the newest first; the unit is said elsewhere."""
    said = [(note.at or "", note.topic, note.text) for note in notes]
    said += [(each.at or "", NAMES.get(each.value, each.value), each.why) for each in settings if each.name == "mode"]
    newest = sorted(said, key=lambda each: each[0])[::-1]
    return [(clock(at or None), printable(f"{topic}: {text}" if text else topic, "")) for at, topic, text in newest]
