"""A row of the table of parts: how a part is checked, described, written by people, and restored from a log."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from equipoise import _validation as check
from equipoise import log
from equipoise.data import Encoded
from equipoise.spaces import Domain

Check = Callable[[str, Any, Domain], Any]
"""Returns the value of a part, given its name, the value and the space; or refuses it."""


def _restored(name: str, description: Any, space: Domain) -> Any:
    return log.restored(name, description)


def _description(name: str, text: str) -> dict[str, Any]:
    """Return the description of an object, from its type or from JSON."""
    if not text.lstrip().startswith("{"):
        return {"type": text.strip()}
    try:
        description: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise ValueError(f'`{name}` must be a type, or JSON such as {{"type": ...}}, got {text!r}: {error}') from error
    return description


@dataclass(frozen=True)
class Part:
    """A row of the table of parts, without its name.

    Attributes:
        kind: How people write it: "object" (a type, or a table with a type and arguments), "number", "count", "flag",
            "by name" (a value for each parameter), or "listed" (names, or "any").
        check: Returns the value, checked.
        help: What it is, for the help of the shell.
        label: What the form on the page calls it; empty for its name.
        default: Returns the default, given the other parts that are known, and the space.
        describe: Returns the value as JSON.
        restore: Returns the value that JSON describes, given name, description and space.
        options: How the form on the page calls a flag that is off, and one that is on.
        complete: Whether a part "by name" must name every parameter.
        needs_start: Whether it is counted from the start.
        in_belief: Whether a belief that is given as a whole has its own.
        logs_none: Whether the header of a log names it even if it has no value.
        rare: Whether few people need it, so that shell and page show it last.
    """

    kind: str
    check: Check
    help: str
    label: str = ""
    default: Callable[[Mapping[str, Any]], Any] = lambda parts: None
    describe: Callable[[Any], Any] = lambda part: log.described(part)
    restore: Callable[[str, Any, Domain], Any] = _restored
    options: tuple[str, str] = ("no", "yes")
    complete: bool = False
    needs_start: bool = False
    in_belief: bool = False
    logs_none: bool = False
    rare: bool = True

    def checked(self, name: str, value: Any, space: Domain) -> Any:
        """Return a value that was given, checked; `None` if none was."""
        return None if value is None else self.check(name, value, space)

    def described(self, value: Any) -> Any:
        """Return a value as JSON, or only its representation if JSON cannot hold it."""
        return None if value is None else self.describe(value)

    def written(self, name: str, value: Any) -> Any:
        """Return the value that people wrote in a file, a command or a form; of an object maybe only its type."""
        if self.kind == "listed" and isinstance(value, str):
            return value.strip() == "any" or [_counted(each.strip()) for each in value.split(",")]
        if self.kind != "object":
            return value
        return log.restored(name, _description(name, value) if isinstance(value, str) else value)

    def again(self, name: str, description: Any, given: Any, space: Domain) -> Any:
        """Return the value for a study that is resumed: as described, or given again if JSON could not hold it."""
        if given is not None and isinstance(description, Mapping) and "repr" in description:
            return given
        kept = None if description is None else self.restore(name, description, space)
        if given is None or self._described(name, given, space) == self._described(name, kept, space):
            return kept
        shown = space.decode(kept.point) if isinstance(kept, Encoded) else kept
        raise ValueError(f"`{name}` must stay what the log says, {shown!r}, got {given!r}")

    def _described(self, name: str, value: Any, space: Domain) -> Any:
        return self.described(self.checked(name, value, space))


def _counted(text: str) -> int | str:
    """Return a seed that people wrote: a whole number if it is one."""
    return int(text) if text.isdecimal() else text


def object_row(attribute: str, example: str, text: str, **more: Any) -> Part:
    """Return the row of an object: it must have an attribute, and a class is not an object."""

    def checked(name: str, value: Any, space: Domain) -> Any:
        if hasattr(value, attribute) and not isinstance(value, type):
            return value
        raise TypeError(f"`{name}` must be an object such as {example}, got {value!r}")

    return Part("object", checked, text, **more)


def positive_row(text: str, label: str, **more: Any) -> Part:
    """Return the row of a number above zero."""
    return Part("number", lambda name, value, space: check.positive(name, value), text, label, **more)
