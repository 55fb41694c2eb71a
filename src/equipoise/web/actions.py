"""The actions of forms on a study, by the word on the button.

A form names its question and the state that it showed, so an outdated one is refused with the reason.
"""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from statistics import median
from typing import Any

from equipoise.optimizer import Optimizer
from equipoise.spaces import printable
from equipoise.study import Record
from equipoise.web.forms import DoubtError, Fields, RefusedError, as_text, circumstances, count, number, words
from equipoise.web.known import in_sentences, recommended
from equipoise.web.now import Mode, answer_of, clock, context_given, numbers, told_of
from equipoise.web.station import Station

FEW_READINGS = 6
"""Number of readings after which a new one is compared with earlier ones."""

FAR_TIMES = 10.0
"""A reading is questioned if it is more than this multiple as far out as any before: a lost comma."""


def ask(station: Station, given: Fields) -> None:
    """Hand out the next question, unless one is open here or the study is paused; at a context, if there is one."""
    if station.mode == "pause":
        raise RefusedError("The study is paused: resume it first.")
    station.hand_out(context_given(station.opt, given), given.get("judge"))


def answer(station: Station, given: Fields) -> list[str]:
    """Tell the answer to the open question, then hand out the next."""
    record = _asked(station, given)
    form = station.form(record)
    told = form.read(given)
    if answer_of(record) == told["value"]:  # the button was pressed twice
        return [f"{form.noun.capitalize()} {record.trial} was already {form.said(told['value'])}."]
    if record.steps is None:
        told |= circumstances(given)
        if given.get("sure") != as_text(told["value"]):
            _must_be_likely(station, told["value"])
    return _told(station, record, given, **told)


def _must_be_likely(station: Station, told: Any) -> None:
    """Question a reading that has a number much further out than all others, before it is told."""
    earlier = [_levels(record.told) for record in station.opt.records() if record.aside is None]
    for name, level in _levels(told).items():
        others = [each[name] for each in earlier if name in each]
        if not math.isfinite(level) or len(others) < FEW_READINGS:
            continue  # the study refuses what is not finite
        middle = median(others)
        widest = max(abs(other - middle) for other in others)
        times = abs(level - middle) / widest if widest else 0.0
        if times > FAR_TIMES:
            raise DoubtError(
                f"Is {printable(name, '')}{' = ' * bool(name)}{level:g} right? It is {times:.0f} times as far from the"
                f" middle of the readings, {middle:.4g}, as any before. It is not saved yet: correct it, or press Tell"
                " again if it is right.",
                as_text(told),
            )


def _levels(told: Any) -> Mapping[str, float]:
    """Return the numbers of a reading by name; the name of a number alone is empty."""
    if isinstance(told, tuple):
        return {"": told[0] / told[1]} if told[1] else {}
    return told if isinstance(told, Mapping) else {} if told is None else {"": float(told)}


def skip(station: Station, given: Fields) -> list[str]:
    """Report that the open question has no answer, then hand out the next."""
    record = _asked(station, given)
    return _told(station, record, given, failed=words(given, "reason") or station.form(record).reason)


def fail(station: Station, given: Fields) -> list[str]:
    """Report that the open question has no answer, with a reason, then hand out the next."""
    if not words(given, "reason"):
        raise RefusedError("Say why there is no reading, or skip this setting.")
    return skip(station, given)


def _told(station: Station, record: Record, given: Fields, **told: Any) -> list[str]:
    """Tell the result of a question, if it is open here, then hand out the next."""
    opt, judge = station.opt, given.get("judge")
    _must_be_open(station, record, judge)
    if record.steps is None and opt.study.setup.max_gap is not None and "value" in told:
        told["time"] = time.time()
    notices = opt.tell(record.trial, **told, refit=False)
    if told.get("block"):
        opt.begin_block(told["block"])  # later readings belong to the block too
    station.go_on(judge)
    station.refit_later()
    return in_sentences(notices or ())


def undo(station: Station, given: Fields) -> None:
    """Undo the last step, if it is still the last."""
    number = _own(station, given)
    if station.opt.study.last_answered != number:
        raise RefusedError(f"Trial {number} is no longer the last answer; look at the list, and retract it there.")
    station.opt.undo()


def correct(station: Station, given: Fields) -> None:
    """Replace an answer, if it has not changed since the form was shown."""
    number = _as_shown(station, given)
    told = station.form(_asked(station, given)).read(given)
    station.opt.correct(number, told["value"], missing=told.get("missing", ()))


def retract(station: Station, given: Fields) -> None:
    """Retract an answer, if it has not changed since the form was shown: its question is open again."""
    station.opt.retract(_as_shown(station, given))


def expire(station: Station, given: Fields) -> None:
    """Take back an open trial whose worker is lost."""
    number = _own(station, given)
    if number not in station.opt.study.open_trials:
        raise RefusedError(f"Trial {number} is not open any more.")
    station.opt.study.expire(number)


def switch(mode: Mode, station: Station, given: Fields) -> None:
    """Pause a study, or resume it by hand or by the program."""
    set_mode(station, mode, words(given, "reason"))


def set_mode(station: Station, mode: Mode, why: str = "") -> None:
    """Pause or resume a study."""
    with station.turn():
        if mode == "automatic" and not station.machine:
            raise RefusedError("There is no program to measure by itself: `equipoise serve STUDY -- COMMAND`.")
        if station.mode != mode:
            station.opt.study.set("mode", mode, why)


def target(station: Station, where: str) -> Any:
    """Return the setting of the start, or the best known setting."""
    with station.turn():
        x = station.start if where == "start" else recommended(station.opt).x
        if x is None:
            raise RefusedError("The start of the study is not known yet.")
        return x


def dialed(where: str, station: Station, given: Fields) -> None:
    """Record that the machine was moved to the start or to the best setting, if the form showed that setting.

    If the page can set the machine, it first does so, in steps that `max_step` allows.
    """
    x = target(station, where)
    if given.get("shown", "") != told_of(x):
        raise RefusedError(f"The {where} setting has changed meanwhile: look again. Nothing was written.")
    if station.means.set is not None:
        _must_be_by_hand(station)
        station.move(x)
    with station.turn():
        station.opt.study.note(f"dialed in: {where}", x=x)


def set_trial(station: Station, given: Fields) -> None:
    """Set the machine to the open trial."""
    with station.turn():
        record = _asked(station, given)
        _must_be_open(station, record, None)
    _must_be_by_hand(station)
    station.move(record.x, record.trial)


def _must_be_by_hand(station: Station) -> None:
    """Refuse to move a machine while a program measures."""
    if station.mode == "automatic" or station.busy:
        raise RefusedError("The program measures: pause it first, and wait for its reading.")


def plan(purpose: Callable[[Optimizer, int], object], station: Station, given: Fields) -> None:
    """Plan an audit or a verification."""
    purpose(station.opt, count(given, "duels"))


def note(station: Station, given: Fields) -> None:
    """Record a note."""
    text = words(given, "text")
    if not text:
        raise RefusedError("A note must have a text.")
    station.opt.study.note("note", text)


def widen(station: Station, given: Fields) -> None:
    """Widen the range of a number; an end that was left empty stays."""
    knob = next((name for name in numbers(station.opt.space) if printable(name, "") == given.get("knob")), "")
    if not knob:
        raise RefusedError("Only the range of a number of the study can be widened.")
    known = numbers(station.opt.space)[knob]
    typed = {end: number(given, end, f"The {end} end") for end in ("low", "high") if words(given, end)}
    wanted = typed.get("low", float(known.low)), typed.get("high", float(known.high))
    station.opt.study.set(knob, wanted, words(given, "reason"))


Action = Callable[[Station, Fields], list[str] | None]
"""A function that carries out a form and returns the messages for the screen, if there are any."""

ACTIONS: dict[str, Action] = {
    "ask": ask,
    "answer": answer,
    "skip": skip,
    "fail": fail,
    "undo": undo,
    "correct": correct,
    "retract": retract,
    "expire": expire,
    "pause": partial(switch, "pause"),
    "by hand": partial(switch, "by hand"),
    "automatic": partial(switch, "automatic"),
    "audit": partial(plan, Optimizer.audit),
    "verify": partial(plan, Optimizer.verify),
    "cancel": lambda station, given: station.opt.cancel(),
    "start": partial(dialed, "start"),
    "best": partial(dialed, "best"),
    "set": set_trial,
    "note": note,
    "widen": widen,
}
"""All actions, by the word that the button sends."""

MOVING = ("set", "start", "best")
"""Actions that move a machine, which takes time: other users may look and tell meanwhile."""


def change(station: Station, given: Fields) -> list[str]:
    """Carry out a form and return the messages for the screen, or refuse it."""
    act = ACTIONS.get(given.get("do", ""))
    if act is None:
        raise RefusedError("This form has no known action.")
    try:
        with nullcontext() if given["do"] in MOVING else station.turn():
            return act(station, given) or []
    except (ValueError, TypeError, RuntimeError) as error:  # refused by the library: no such trial, a full disk
        raise RefusedError(f"{str(error)[0].upper()}{str(error)[1:]}") from error


def _asked(station: Station, given: Fields) -> Record:
    """Return the question of a form, or refuse a number without a question."""
    number = count(given, "trial")
    record = station.record(number)
    if record is None:
        noun = "trial" if station.sitting is None else "pair"
        raise RefusedError(f"This form is out of date: {noun} {number} is not known. Nothing was changed.")
    return record


def _must_be_open(station: Station, record: Record, judge: str | None) -> None:
    """Refuse a form that is about a question other than the open one."""
    here, form, told = station.open(judge), station.form(record), answer_of(record)
    if here is not None and here.trial == record.trial:
        return
    became = "is not open here" if told is None else f"was {form.said(told)}"
    became = became if record.failed is None else form.failed
    at = f" at {clock(record.ended)}" if record.ended else ""
    now_open = f"no {form.noun} is" if here is None else f"{form.noun} {here.trial} is"
    raise RefusedError(
        f"This form is out of date: {form.noun} {record.trial} {became}{at}, and {now_open} open here now. "
        "Nothing was changed."
    )


def _own(station: Station, given: Fields) -> int:
    """Return the number of the question of a form; a named judge may use only their own pairs."""
    number, judge = count(given, "trial"), given.get("judge")
    if judge is not None and not is_own(station.record(number), judge):
        raise RefusedError(f"{judge} has not judged pair {number}. Nothing was changed.")
    return number


def is_own(record: Record | None, judge: str) -> bool:
    """Return whether a question is a pair assigned to a judge."""
    return record is not None and record.steps is not None and (record.worker or "") == judge


def _as_shown(station: Station, given: Fields) -> int:
    """Return the number of the question of a form; refuse if its answer differs from the one that the page showed."""
    number = _own(station, given)
    record = station.record(number)
    if record is not None and given.get("was", "") != told_of(answer_of(record)):
        raise RefusedError(f"The answer to trial {number} has changed meanwhile: look again.")
    return number
