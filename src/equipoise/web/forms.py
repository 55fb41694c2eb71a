"""Forms: the submitted fields, and the one form that answers any question.

A reading and a judgement differ in the fields, in the words on the buttons, and in how both are read
as an answer: an `AnswerForm` holds these, and the page treats every question alike.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from equipoise._validation import NUMBER
from equipoise.likelihoods import SCALES, Likelihood, parsed, written
from equipoise.study import Record, Setup

LONGEST_TEXT = 1000
"""Maximum number of characters of a reason or a note."""

SKIPPED, UNDECIDED = "skipped by the operator", "can't tell"
"""The default reasons of a skipped trial and of a skipped pair."""

MISSING = ("-", "\N{EN DASH}", "\N{MINUS SIGN}")
"""Entries that mean that an output has no number."""

SIGNS = ("second", "equal", "first")
"""The words for the sign of a number, which is the size of a judged difference."""

LETTERS = {"first": "A", "second": "B"}

Fields = Mapping[str, str]


class RefusedError(Exception):
    """A change was refused; the message says why, and nothing was changed."""


class DoubtError(RefusedError):
    """An improbable reading needs confirmation; it is accepted if sent again.

    Attributes:
        reading: The reading, as text.
    """

    def __init__(self, why: str, reading: str) -> None:
        super().__init__(why)
        self.reading = reading


def fields(body: bytes, most: int = 200) -> dict[str, str]:
    """Return the fields of a form.

    Args:
        body: The body of the request.
        most: Maximum number of fields.

    Example:
        >>> fields(b"do=answer&trial=3&value=-0.5&reason=")
        {'do': 'answer', 'trial': '3', 'value': '-0.5', 'reason': ''}
    """
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=most, errors="strict")
    except ValueError:
        raise RefusedError("This form cannot be read.") from None
    return dict(pairs)


def number(given: Fields, name: str, what: str) -> float:
    """Return a number from a field."""
    text = given.get(name, "").strip().replace("\N{MINUS SIGN}", "-")
    if NUMBER.fullmatch(text) is None:
        said = f"got {text[:40]!r}" if text else "nothing was entered"
        raise RefusedError(f"{what} must be a number such as 0.83 or -1.2e-3; {said}.")
    return float(text)


def count(given: Fields, name: str) -> int:
    """Return a nonnegative integer from a field."""
    text = given.get(name, "")
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) is None:
        raise RefusedError(f"This form lacks its {name}: load the page again.")
    return int(text)


def words(given: Fields, name: str) -> str:
    """Return a text from a field, on one line."""
    text = " ".join(given.get(name, "").split())
    if len(text) > LONGEST_TEXT:
        raise RefusedError(f"A text may have {LONGEST_TEXT} characters.")
    return text


@dataclass(frozen=True)
class Field:
    """A form field.

    Attributes:
        name: Its name in the submitted form.
        label: What it asks for.
        unit: The unit of a number.
        required: Whether it must be filled in.
        options: All allowed values, if they are few.
        value: Its initial value.
        keys: The on-screen keyboard of a small device: "decimal" or "text".
    """

    name: str
    label: str
    unit: str = ""
    required: bool = False
    options: tuple[str, ...] = ()
    value: str = ""
    keys: str = "decimal"


BESIDE = "beside-"
"""Prefix of the field of a covariate."""


def circumstances(given: Fields) -> dict[str, Any]:
    """Return the covariates and the block of a reading, as arguments of `Optimizer.tell`.

    Example:
        >>> circumstances({"value": "3", "beside-flow": "2", "beside": "room temperature=21.3", "block": "monday"})
        {'block': 'monday', 'covariates': {'flow': 2.0, 'room temperature': 21.3}}
    """
    typed = {
        name.removeprefix(BESIDE): text for name, text in given.items() if name.startswith(BESIDE) and text.strip()
    }
    for text in filter(None, map(str.strip, words(given, "beside").split(","))):
        name, equals, value = text.partition("=")
        if not equals:
            raise RefusedError(f"Another measured quantity must be written as temperature=21.3, got {text!r}.")
        typed[name.strip()] = value
    beside = {name: number(typed, name, name) for name in typed}
    told = {"block": words(given, "block"), "covariates": beside}
    return {name: value for name, value in told.items() if value}


@dataclass(frozen=True)
class AnswerForm:
    """The form that answers a question.

    Attributes:
        noun: The name for the question: a trial or a pair.
        fields: The fields to fill in.
        words: The words to choose from, each with the label of its button, from the left; empty if all is typed.
        why: The label of the field for the reason if there is no answer.
        excuses: The actions that use that reason, each with the label of its button.
        failed: The description of a question without an answer.
        reason: The default reason.
        read: Makes the arguments of `Optimizer.tell` from the fields of a form.
        write: Makes the fields of a form from an answer, for a correction.
        said: Puts an answer into words.
    """

    noun: str
    fields: tuple[Field, ...]
    words: tuple[tuple[str, str], ...]
    why: str
    excuses: tuple[tuple[str, str], ...]
    failed: str
    reason: str
    read: Callable[[Fields], dict[str, Any]] = field(repr=False, compare=False)
    write: Callable[[Any], dict[str, str]] = field(repr=False, compare=False)
    said: Callable[[Any], str] = field(repr=False, compare=False)


def answer_form(record: Record, setup: Setup, unit: str = "", numbers: bool = False) -> AnswerForm:
    """Return the form that answers a question or corrects its answer.

    Args:
        record: The question.
        setup: The setup of the study: it fixes how many numbers a reading has, and whether their error is typed.
        unit: The unit of a reading.
        numbers: Whether a judgement is a number.
    """
    if record.steps is None:
        return _by_name(setup.columns, unit) if setup.columns else _to_measure(unit, setup.likelihood)
    told = record.answer
    return _to_judge(SCALES[record.steps], numbers if told is None else not isinstance(told, str))


def _to_measure(unit: str, likelihood: Likelihood) -> AnswerForm:
    def read(given: Fields) -> dict[str, Any]:
        error = number(given, "error", "The error") if given.get("error") else 0.0
        return {"value": _reading(given.get("value", "").strip(), likelihood), "error": error}

    keys = "text" if "/" in likelihood.example else "decimal"
    value = Field("value", "Reading", unit, required=True, keys=keys)
    return AnswerForm(
        "trial",
        (value, Field("error", "± error", unit)) if likelihood.exact else (value,),
        (),
        "If none, why",
        (("fail", "Failed"), ("skip", "Skip")),
        "failed",
        SKIPPED,
        read,
        write=lambda value: {"value": as_text(value)},
        said=lambda value: f"told {as_text(value)}",
    )


def _by_name(names: tuple[str, ...], unit: str) -> AnswerForm:
    def read(given: Fields) -> dict[str, Any]:
        typed = {name: given.get(f"value-{name}", "") for name in names}
        missing = [name for name, text in typed.items() if text.strip() in MISSING]
        wanted = [name for name in names if name not in missing]
        return {"value": {name: number(given, f"value-{name}", name) for name in wanted}, "missing": missing}

    def write(value: Mapping[str, float]) -> dict[str, str]:
        return {f"value-{name}": written(value[name]) if name in value else MISSING[0] for name in names}

    return AnswerForm(
        "trial",
        tuple(
            Field(f"value-{name}", name, "" if k else unit, required=True, keys="text" if k else "decimal")
            for k, name in enumerate(names)
        ),
        (),
        f"Reason, if {names[0]} has none",
        (("fail", "Failed"), ("skip", "Skip")),
        "failed",
        SKIPPED,
        read,
        write,
        said=lambda value: f"told {as_text(value)}",
    )


def _reading(text: str, likelihood: Likelihood) -> Any:
    """Return a reading from a field, in the grammar of all likelihoods."""
    try:
        return parsed(text)
    except ValueError:
        said = f"got {text[:40]!r}" if text else "nothing was entered"
        rule = "a number such as 0.83 or -1.2e-3" if likelihood.exact else f"written as {likelihood.example}"
        raise RefusedError(f"A reading must be {rule}; {said}.") from None


def as_text(reading: Any) -> str:
    """Return a reading as text."""
    return written(*reading) if isinstance(reading, tuple) else written(reading)


def _to_judge(scale: tuple[str, ...], numbers: bool) -> AnswerForm:
    return AnswerForm(
        "pair",
        (Field("by", "Better by"),) if numbers else (),
        tuple((word, on_button(word)) for word in reversed(SIGNS if numbers else scale)),
        "If not, why",
        (("skip", "Cannot tell"),),
        "was skipped",
        UNDECIDED,
        _judgement,
        _written,
        said=lambda answer: f"judged: {on_button(answer)}",
    )


def _judgement(given: Fields) -> dict[str, Any]:
    """Return a judgement: a word, or the better side and the size of the difference if the form asks for that."""
    word = given.get("answer", "")
    if "by" not in given or word == "equal":
        return {"value": 0.0 if "by" in given else word}
    size = number(given, "by", "How much better it is")
    if size < 0 or word not in LETTERS:
        raise RefusedError("Enter how much better it is, a number from 0 on, and press A or B.")
    return {"value": size if word == "first" else -size}


def _written(answer: str | float) -> dict[str, str]:
    if isinstance(answer, str):
        return {"answer": answer}
    return {"answer": SIGNS[1 + (answer > 0) - (answer < 0)], "by": str(abs(answer))}


def on_button(answer: str | float) -> str:
    """Return an answer as its button shows it.

    Example:
        >>> [on_button(word) for word in ("much first", "equal", "second")]
        ['A, much', 'equal', 'B']
    """
    if not isinstance(answer, str):
        return f"A by {answer:g}" if answer > 0 else f"B by {-answer:g}" if answer < 0 else "equal"
    strength, _, place = answer.rpartition(" ")
    letter = LETTERS.get(place, place)
    return f"{letter}, {strength}" if strength else letter
