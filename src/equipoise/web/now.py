"""The next thing to do, shown at the upper left of the screen: a record with the open question."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from equipoise._validation import NUMBER
from equipoise.optimizer import Optimizer
from equipoise.spaces import Choice, Context, Domain, Float, Int, Space, printable, readouts_of
from equipoise.study import Record, Setting, last_set, unit_of
from equipoise.web.forms import BESIDE, AnswerForm, Field, answer_form, on_button
from equipoise.web.judging import Side as Side
from equipoise.web.judging import Sitting as Sitting
from equipoise.web.judging import dials as dials

Mode = Literal["by hand", "automatic", "pause"]
"""The mode of a study: a person measures, a program measures, or nobody does."""


LATELY = 24
"""Number of earlier trials whose covariates get a field on the form."""


@dataclass(frozen=True)
class OpenQuestion:
    """The question that is open here, as the screen shows it.

    Attributes:
        number: The number of the question.
        about: The part of the pair that it asks about, in words.
        sides: Its setting; for a judgement, the settings A and B.
        form: The form that answers it.
        asked: The time when it was handed out.
        beside: The covariates of the last readings.
        block: The current block of readings.
    """

    number: int
    about: str
    sides: tuple[Side, ...]
    form: AnswerForm
    asked: str = ""
    beside: tuple[Field, ...] = ()
    block: str = ""


@dataclass(frozen=True)
class Last:
    """The last answer of the judge at this screen, for the undo button.

    Attributes:
        pair: The number of the pair.
        said: The answer, as on its button.
        was: The token by which a form refers to the answer.
    """

    pair: int
    said: str
    was: str


@dataclass(frozen=True)
class Now:
    """The current task, as the screen shows it.

    Attributes:
        mode: Who measures: a person, a program, or nobody.
        readings: Number of readings.
        question: The setting to measure or the pair to judge; `None` if no question is open.
        busy: Whether a program is measuring the setting.
        paused: The time and the reason of a pause.
        machine: Whether a program can measure.
        troubles: Reasons why the program cannot measure, or why the alarm program was not notified.
        alarm: The current alarm, in a sentence.
        needs: The fields to fill in before the next setting can be handed out.
        judging: Whether this study judges pairs.
        judge: The name of the judge; `None` if no name was given.
        last: The last answer of that judge.
        settable: Whether the page can set the machine.
        dialed: The time when the page set the machine to the question; empty if it did not.
    """

    mode: Mode
    readings: int
    question: OpenQuestion | None = None
    busy: bool = False
    paused: str = ""
    machine: bool = False
    troubles: tuple[str, ...] = ()
    alarm: str = ""
    needs: tuple[Field, ...] = ()
    judging: bool = False
    judge: str | None = None
    last: Last | None = None
    settable: bool = False
    dialed: str = ""

    @property
    def version(self) -> str:
        """A fingerprint of the form: if it differs, the screen is out of date."""
        beside = self.busy, self.paused, self.troubles, self.alarm, self.judge, self.last, self.dialed
        return told_of((self.mode, self.question, *beside))


def now(
    opt: Optimizer,
    worker: str | None,
    at: Any,
    machine: bool = False,
    busy: bool = False,
    sitting: Sitting | None = None,
) -> Now:
    """Return the current task.

    Args:
        opt: The study.
        worker: The worker who asks.
        at: The machine's setting; `None` if it is unknown.
        machine: Whether a program can measure.
        busy: Whether that program is measuring.
        sitting: How pairs are judged here; `None` if they are not.
    """
    changed, record = opt.study.settings, open_here(opt, worker, sitting)
    mode = mode_of(changed, machine)
    paused = _paused(changed) if mode == "pause" else ""
    asked = None if record is None else _question(opt, record, at, sitting)
    general: dict[str, Any] = {"busy": busy, "paused": paused, "machine": machine}
    general["needs"] = context_fields(opt) if asked is None else ()
    if sitting is not None:
        general |= {"judging": True, "judge": sitting.judge, "last": _last(opt, sitting)}
    return Now(mode, opt.readings, asked, **general)


def _question(opt: Optimizer, record: Record, at: Any, sitting: Sitting | None) -> OpenQuestion:
    """Return an open question as the screen shows it."""
    form = form_of(opt, record, sitting)
    if sitting is None:
        setting = Side(dials(opt.space, record.x, at))
        lately = opt.records(aside=False, trials=range(max(record.trial - LATELY, 0), record.trial))
        names = dict.fromkeys(name for each in lately for name in each.covariates)
        beside = tuple(Field(f"{BESIDE}{name}", name) for name in names)
        block = opt.study.block or ""
        return OpenQuestion(record.trial, _half(record), (setting,), form, clock(record.asked), beside, block)
    first, second = record.x
    sides = sitting.side(opt, "A", first, second), sitting.side(opt, "B", second, first)
    return OpenQuestion(record.trial, f"pair {record.trial}", sides, form)


def form_of(opt: Optimizer, record: Record, sitting: Sitting | None) -> AnswerForm:
    """Return the form that answers a question."""
    numbers = sitting is not None and sitting.numbers
    return answer_form(record, opt.study.setup, unit_of(opt.study.settings), numbers)


def _last(opt: Optimizer, sitting: Sitting) -> Last | None:
    """Return the last answer of the judge at this screen."""
    mine = [(pair.id, answer) for pair, answer in opt.study.answers() if pair.judge == sitting.judge]
    return Last(mine[-1][0], on_button(mine[-1][1]), told_of(mine[-1][1])) if mine else None


def mode_of(settings: Sequence[Setting], machine: bool) -> Mode:
    """Return who measures: a person, if there is no program."""
    usual: Mode = "automatic" if machine else "by hand"
    last = last_set(settings, "mode")
    value = usual if last is None else last.value
    return "pause" if value == "pause" else "by hand" if value == "by hand" else usual


def clock(at: str | None) -> str:
    """Return a time of a study in local time, for the screen; empty if there is none.

    Example:
        >>> clock(None), len(clock("2026-11-16T02:40:11.123Z"))
        ('', 8)
    """
    return "" if at is None else datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


def _half(record: Record) -> str:
    order = {1: "first", 2: "second"}.get(record.position, f"{record.position}th")
    place = f", {order} of {record.positions}" if record.positions > 1 else ""
    return f"pair {record.duel}{place}" + ("" if record.seed is None else f", on seed {record.seed}")


def _paused(settings: Sequence[Setting]) -> str:
    """Return the time and the reason of a pause."""
    last = last_set(settings, "mode")
    assert last is not None
    text = printable(last.why, "")
    return f"since {clock(last.at)}" + (f": {text}" if text else "")


def numbers(space: Domain) -> dict[str, Float | Int]:
    """Return the numeric parameters by name, including contexts."""
    parameters = space.parameters.items() if isinstance(space, Space) else ()
    found = {name: p.values if isinstance(p, Context) else p for name, p in parameters}
    return {name: p for name, p in found.items() if isinstance(p, Float | Int)}


# Contexts: values that are given when a setting is requested, such as a temperature.


def contexts(opt: Optimizer) -> dict[str, Context]:
    """Return the contexts of a study by name; most studies have none."""
    parameters = opt.space.parameters if isinstance(opt.space, Space) else {}
    return {name: p for name, p in parameters.items() if isinstance(p, Context)}


def context_fields(opt: Optimizer) -> tuple[Field, ...]:
    """Return the fields to fill in before the next setting can be handed out, with their last values."""
    known = contexts(opt)
    if not known:
        return ()
    last = max(opt.records(), key=lambda record: record.trial, default=None)
    was = {} if last is None else {dial.name: dial.value for dial in dials(opt.space, last.x)}
    units = {name: readout.unit for name, readout in readouts_of(opt.space).items()}
    return tuple(
        Field(f"context.{name}", name, units[name], True, _options(context), was.get(name, ""))
        for name, context in known.items()
    )


def context_given(opt: Optimizer, texts: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the contexts from a form, as the study takes them; `None` if the form has none."""
    filled = {name.removeprefix("context."): text.strip() for name, text in texts.items() if name[:8] == "context."}
    if not filled:
        return None
    return {name: _value(name, context, filled.get(name, "")) for name, context in contexts(opt).items()} or None


def _options(context: Context) -> tuple[str, ...]:
    values = context.values
    return tuple(printable(str(option), "") for option in values.options) if isinstance(values, Choice) else ()


def _value(name: str, context: Context, text: str) -> Any:
    values = context.values
    if isinstance(values, Choice):
        return next((option for option in values.options if printable(str(option), "") == text), text)
    if NUMBER.fullmatch(text) is None:
        raise ValueError(f"{name} must be a number such as 21.5, got {text!r}")
    return float(text)


def seated(opt: Optimizer) -> Sitting | None:
    """Return how a study judges pairs if it has more pairs than readings; otherwise `None`."""
    if opt.judgements + len(opt.study.open_pairs) <= opt.readings:
        return None
    said = [answer for _, answer in opt.study.answers()]
    return Sitting(numbers=bool(said) and not any(isinstance(answer, str) for answer in said))


def stands(opt: Optimizer, worker: str | None) -> Any:
    """Return the machine's setting for a worker: the last move, else the start; `None` if unknown."""
    at, start = opt.study.position(worker), opt.study.setup.start
    return opt.space.decode(start) if at is None and start is not None else at


def open_here(opt: Optimizer, worker: str | None, sitting: Sitting | None) -> Record | None:
    """Return the oldest open question of a worker, or of the judge at this screen."""
    if sitting is None:
        waiting = opt.records(aside=False, trials=opt.study.open_trials)
        return next((record for record in waiting if record.worker == worker), None)
    pairs = [pair.id for pair in opt.study.open_pairs if pair.judge == sitting.judge]
    return next(iter(opt.records(aside=False, judgements=True, trials=pairs)), None)


def answer_of(record: Record) -> Any:
    """Return the answer to a question, a reading or a judgement; `None` if there is none yet."""
    if record.steps is not None:
        return record.answer
    return record.told


def told_of(value: Any) -> str:
    """Return a short token by which a form refers to the setting or answer that it showed.

    Example:
        >>> told_of({"q1": 0.5}) == told_of({"q1": 0.25})
        False
    """
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
