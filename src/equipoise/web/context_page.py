"""Contexts: what is given when a setting is asked for, such as a temperature, as the page asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from equipoise._validation import NUMBER
from equipoise.optimizer import Optimizer
from equipoise.spaces import Choice, Context, Space, printable, readouts_of
from equipoise.web.dials import dials


@dataclass(frozen=True)
class ContextField:
    """A context, to be filled in.

    Attributes:
        name: What it is called.
        value: What it was last; empty where nothing was asked for yet.
        options: All that it may be, where these are few.
        unit: Of the value.
    """

    name: str
    value: str = ""
    options: tuple[str, ...] = ()
    unit: str = ""


def contexts(opt: Optimizer) -> dict[str, Context]:
    """Return the contexts of a study, by name; most have none."""
    parameters = opt.space.parameters if isinstance(opt.space, Space) else {}
    return {name: p for name, p in parameters.items() if isinstance(p, Context)}


def context_fields(opt: Optimizer) -> tuple[ContextField, ...]:
    """Return what must be said before the next setting can be handed out."""
    known = contexts(opt)
    if not known:
        return ()
    last = max(opt.records(), key=lambda record: record.trial, default=None)
    was = {} if last is None else {dial.name: dial.value for dial in dials(opt.space, last.x)}
    units = {name: readout.unit for name, readout in readouts_of(opt.space).items()}
    return tuple(
        ContextField(name, was.get(name, ""), _options(context), units[name]) for name, context in known.items()
    )


def given(opt: Optimizer, texts: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what somebody filled in, as the study takes it; `None` where a study has no contexts."""
    known = contexts(opt)
    return {name: _value(name, context, texts.get(name, "").strip()) for name, context in known.items()} or None


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
