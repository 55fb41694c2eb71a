"""What is known: everything on the screen but the form, as a record."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.answer import Claim, Difference, Recommendation
from equipoise.answer.claims import PHRASES
from equipoise.desk.words import printable
from equipoise.judging import Pair
from equipoise.optimizer import Optimizer
from equipoise.study import Note, Plan
from equipoise.study.rules import Record
from equipoise.web.chronicle import Chronicle, clock
from equipoise.web.dials import Dial, dials
from equipoise.web.now import MODES, UNIT, unit_of
from equipoise.web.sides import in_words
from equipoise.web.traces import answers_chart, certificate_chart, estimate_charts, readings_chart

MOST_ROWS = 80
"""Trials in the list of the screen, the newest; the CSV has all."""

MOST_NOTES = 8
"""Notes on the screen, the newest."""


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
        remarks: What the library warns of.
        judgements: How many judgements there are.
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
    remarks: tuple[str, ...] = ()
    judgements: int = 0

    @property
    def told(self) -> str:
        """After how much this is known, in words."""
        counts = {"reading": self.readings, "judgement": self.judgements}
        said = [f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items() if n]
        return " and ".join(said) or "0 readings"


def known(
    opt: Optimizer, chronicle: Chronicle, best: Recommendation, start: Any, bounds: Mapping[int, float], version: str
) -> Known:
    """Return what is known of a study.

    Args:
        opt: The study.
        chronicle: When things happened in it.
        best: What it recommends.
        start: The setting where it started.
        bounds: The certificate over time, by number of readings.
        version: Of what is known.
    """
    notes, records, last = opt.notes, opt.records(), opt.last_answered
    unit, rows = unit_of(notes), [_row(opt, record, chronicle) for record in records]
    rows += [_judged(pair, answer, chronicle) for pair, answer in opt.answers()]
    newest = sorted(rows, key=lambda row: -row.trial)
    return Known(
        version,
        best.readings,
        dials(opt.space, best.x, start),
        best.overall.kind if len(best.claims) == 1 else best.kind,
        tuple(claimed(claim, unit) for claim in best.claims),
        compared(best.against_start, unit),
        best.against_start is not None and best.against_start.clear,
        "" if opt.plan is None else planned(opt.plan),
        next((row for row in rows if row.trial == last), None),
        tuple(newest[:MOST_ROWS]),
        tuple(_noted(notes, chronicle))[:MOST_NOTES],
        readings_chart(opt, best, unit) if best.readings or not best.judgements else answers_chart(opt),
        tuple(estimate_charts(opt, best, unit)) if best.readings + best.judgements else (),
        certificate_chart(bounds, best.readings + best.judgements, unit),
        judgements=best.judgements,
    )


def claimed(claim: Claim, unit: str) -> str:
    """Return a claim in words, with its unit.

    Example:
        >>> claimed(Claim("estimate", 0.0423, "all settings"), "mW")
        'By estimate, nothing is better by more than 0.0423 mW.'
    """
    if math.isinf(claim.bound):
        return "A guess: there is no bound yet."
    what = f"none of {claim.scope}" if claim.kind == "verified" else "nothing"
    return f"{PHRASES[claim.kind]}, {what} is better by more than {claim.bound:.3g}{_after(unit)}."


def compared(start: Difference | None, unit: str) -> str:
    """Return how the best setting compares with the start, in words.

    Example:
        >>> compared(Difference(0.31, 0.2, 0.42, "estimate"), "mW")
        'Better than the start by 0.31 [0.2, 0.42] mW, by estimate.'
    """
    if start is None or math.isinf(start.low):
        return "Not compared with the start yet."
    if start.low == start.high:
        return "This is the start."
    word = "Better than the start by" if start.low > 0 else "Worse than the start by" if start.high < 0 else ""
    size = -start if start.high < 0 else start
    ground = PHRASES[start.kind][0].lower() + PHRASES[start.kind][1:]
    said = f"{size.value:.3g} [{size.low:.3g}, {size.high:.3g}]{_after(unit)}, {ground}."
    return f"{word} {said}" if word else f"No better than the start, as far as can be told: {said}"


def planned(plan: Plan) -> str:
    """Return how far it is with an audit or a verification."""
    name = {"audit": "Audit", "verify": "Verification"}[plan.purpose]
    return f"{name} under way: {plan.told} of {plan.duels} pairs told."


def described(record: Record) -> str:
    """Return what became of a trial, in words."""
    if record.failed is not None:
        return f"failed: {record.failed}"
    if record.value is None:
        return "open" if record.worker is None else f"open, {record.worker}"
    if record.aside is not None:
        return f"set aside: {record.aside}"
    return "its pair was given up" if record.void else "told"


def _row(opt: Optimizer, record: Record, chronicle: Chronicle) -> Row:
    i = record.trial
    when = clock(chronicle.ended.get(i) or chronicle.asked.get(i, ""))
    where = tuple(dial.value for dial in dials(opt.space, record.x))
    value = "" if record.value is None else f"{record.value:.6g}"
    answered = record.value is not None or record.failed is not None
    state = printable(described(record), "")
    return Row(
        i, record.duel, when, where, value, state, answered, record.failed is not None or record.aside is not None
    )


def _judged(pair: Pair, answer: str | float, chronicle: Chronicle) -> Row:
    """Return a judgement as a line of the list."""
    when, said = clock(chronicle.ended.get(pair.id, "")), printable(in_words(pair, answer), "")
    return Row(pair.id, pair.id, when, (), "", said, answered=True, strange=False)


def _noted(notes: Sequence[Note], chronicle: Chronicle) -> Sequence[tuple[str, str]]:
    """Return when something was said, and what, the newest first; the unit is said elsewhere."""
    names = {"pause": "paused", "by hand": "by hand", "automatic": "automatic"}
    said = []
    for k, note in enumerate(notes):
        topic = names[note.topic] if note.topic in MODES else note.topic
        at = clock(chronicle.noted[k]) if k < len(chronicle.noted) else ""
        if note.topic != UNIT:
            said.append((at, printable(f"{topic}: {note.text}" if note.text else topic, "")))
    return said[::-1]


def _after(unit: str) -> str:
    return f" {unit}" if unit else ""
