"""Forms: what a change says, read carefully, and done."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from equipoise._validation import NUMBER
from equipoise.web import actions, context_page
from equipoise.web.station import RefusedError, Station

LONGEST_TEXT = 1000
"""Characters of a reason or a note."""

Fields = Mapping[str, str]


def fields(body: bytes, most: int = 200) -> dict[str, str]:
    """Return the fields of a form.

    Args:
        body: What was sent.
        most: How many fields there may be.

    Example:
        >>> fields(b"do=tell&trial=3&value=-0.5&reason=")
        {'do': 'tell', 'trial': '3', 'value': '-0.5', 'reason': ''}
    """
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=most, errors="strict")
    except ValueError:
        raise RefusedError("This form cannot be read.") from None
    return dict(pairs)


def number(given: Fields, name: str, what: str) -> float:
    """Return a number that somebody typed."""
    text = given.get(name, "").strip().replace("\N{MINUS SIGN}", "-")
    if NUMBER.fullmatch(text) is None:
        said = f"got {text[:40]!r}" if text else "nothing was entered"
        raise RefusedError(f"{what} must be a number such as 0.83 or -1.2e-3; {said}.")
    return float(text)


def count(given: Fields, name: str) -> int:
    """Return a number that counts."""
    text = given.get(name, "")
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) is None:
        raise RefusedError(f"This form lacks its {name}: load the page again.")
    return int(text)


def words(given: Fields, name: str) -> str:
    """Return a text that somebody typed, on one line."""
    text = " ".join(given.get(name, "").split())
    if len(text) > LONGEST_TEXT:
        raise RefusedError(f"A text may have {LONGEST_TEXT} characters.")
    return text


def _ask(station: Station, given: Fields) -> None:
    texts = {name.removeprefix("context."): text for name, text in given.items() if name.startswith("context.")}
    station.ask(context_page.given(station.opt, texts) if texts else None, given.get("judge"))


def _answer(given: Fields) -> str | float:
    """Return what was said of a pair: a word; or how much better which one is, where that was asked for."""
    word = given.get("answer", "")
    if "by" not in given or word == "equal":
        return 0.0 if "by" in given else word
    size = number(given, "by", "How much better it is")
    if size < 0 or word not in ("first", "second"):
        raise RefusedError("Say how much better it is, a number from 0 on, and press A or B.")
    return size if word == "first" else -size


def _judge(station: Station, given: Fields) -> list[str]:
    return station.judge(count(given, "pair"), _answer(given), judge=given.get("judge"))


def _pass(station: Station, given: Fields) -> list[str]:
    return station.judge(count(given, "pair"), None, words(given, "reason"), given.get("judge"))


def _tell(station: Station, given: Fields) -> list[str]:
    error = number(given, "error", "The error") if given.get("error") else 0.0
    return station.tell(count(given, "trial"), number(given, "value", "A reading"), error)


def _fail(station: Station, given: Fields) -> list[str]:
    reason = words(given, "reason")
    if not reason:
        raise RefusedError("Say why there is no reading, or skip this setting.")
    return station.fail(count(given, "trial"), reason)


def _correct(station: Station, given: Fields) -> None:
    actions.correct(
        station, count(given, "trial"), number(given, "value", "A reading"), given.get("was", ""), given.get("judge")
    )


def _note(station: Station, given: Fields) -> None:
    text = words(given, "text")
    if not text:
        raise RefusedError("A note must say something.")
    station.note(text)


CHANGES: dict[str, Callable[[Station, Fields], list[str] | None]] = {
    "ask": _ask,
    "tell": _tell,
    "fail": _fail,
    "skip": lambda station, given: station.fail(count(given, "trial"), ""),
    "judge": _judge,
    "pass": _pass,
    "undo": lambda station, given: actions.undo(station, count(given, "trial"), given.get("judge")),
    "correct": _correct,
    "rejudge": lambda station, given: actions.rejudge(
        station, count(given, "trial"), _answer(given), given.get("was", ""), given.get("judge")
    ),
    "retract": lambda station, given: actions.retract(
        station, count(given, "trial"), given.get("was", ""), given.get("judge")
    ),
    "expire": lambda station, given: actions.expire(station, count(given, "trial"), given.get("judge")),
    "pause": lambda station, given: station.switch("pause", words(given, "reason")),
    "by hand": lambda station, given: station.switch("by hand"),
    "automatic": lambda station, given: station.switch("automatic"),
    "audit": lambda station, given: actions.plan(station, "audit", count(given, "duels")),
    "verify": lambda station, given: actions.plan(station, "verify", count(given, "duels")),
    "cancel": lambda station, given: actions.cancel(station),
    "start": lambda station, given: actions.dialed(station, "start", given.get("shown", "")),
    "best": lambda station, given: actions.dialed(station, "best", given.get("shown", "")),
    "note": _note,
}
"""Everything that may be done with a study, by the word on the button."""


def change(station: Station, given: Fields) -> list[str]:
    """Do what a form says; return what is to be said of it, or refuse it."""
    act = CHANGES.get(given.get("do", ""))
    if act is None:
        raise RefusedError("This form says nothing that can be done.")
    try:
        return act(station, given) or []
    except (ValueError, TypeError, RuntimeError) as error:  # refused by the library: no such trial, a full disk
        raise RefusedError(f"{str(error)[0].upper()}{str(error)[1:]}") from error
