"""The first line of a log: the description of the study.

It may come from a stranger. So it may name only parts of an optimizer (`study/setup.py` refuses the rest), sizes are
bounded, and invalid content is a `LogError`.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from equipoise.log.jsonl import Lines, LogError
from equipoise.log.parts import GivenAgainError
from equipoise.log.turns import now
from equipoise.spaces import Constraint, Domain, Space, space_from_dict

T = TypeVar("T")

FORMAT = 4
"""The version of the format that is written; earlier ones stay readable. 2 has corrected and retracted readings, 3 has
blocks and imported readings, 4 has settings, deferred fits, undone steps, named values, and the same keys for readings
and judgements."""


MAX_CANDIDATES, MAX_PARAMETERS, MAX_OPTIONS, MAX_POINTS = 2**14, 1_000, 1_000, 100_000
"""The most of each in a log's space: more takes minutes, or gigabytes, before the first answer."""

MAX_TRIED = 2**19
"""Coordinates of all candidates of a space with a text as constraint: 64 times as many are tried, 1 GB and 7 s."""

MAX_COVARIANCES = 10_000
"""Points of a finite set whose covariances are kept, as with a given kernel: 0.8 GB."""


class Header:
    """The first line of a log: the description of the study.

    Args:
        content: The line, as JSON.
        lines: The log it was read from, known up to here.
    """

    def __init__(self, content: Mapping[str, Any], lines: Lines | None = None) -> None:
        self.content = content
        self.lines = lines

    @classmethod
    def of(cls, space: Domain, settings: Mapping[str, Any], key: list[int]) -> "Header":
        """Return the header of a new study; its settings are JSON."""
        about = {"equipoise": FORMAT, "version": sys.modules["equipoise"].__version__, "at": now()}
        header = cls(about | {"space": space.to_dict(), "settings": dict(settings), "key": key})
        header._must_be_sound()
        header._must_be_small(space)
        return header

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Header":
        """Return the header of a log."""
        lines = Lines(path)
        content = _first(lines)
        found = content.get("equipoise")
        if not isinstance(found, int) or isinstance(found, bool):
            raise LogError(f"{path} must be the log of a study, but its first line is not that of one")
        if found > FORMAT:
            raise LogError(f"{path} has format {found}, and this equipoise reads up to {FORMAT}: install a newer one")
        header = cls(content, lines)
        header._must_be_sound()
        return header

    @property
    def key(self) -> list[int]:
        """The key of the study's random numbers."""
        key: list[int] = self.content["key"]
        return key

    @property
    def settings(self) -> dict[str, Any]:
        """The parts of the study by name, as JSON."""
        settings: dict[str, Any] = self.content["settings"]
        return settings

    def space(self, given: Domain | None = None, constraint: Constraint | None = None) -> Domain:
        """Return the study's space; it, or its constraint, is given again if JSON cannot hold it."""
        description = self.content["space"]
        if given is None:
            with self._explained(constraint is not None):
                found = _space(description, constraint)
                self._must_be_small(found)
                return found
        if given.to_dict() != description:
            raise ValueError(f"`space` must be the one the log describes, {description}, got {given!r}")
        return given.ordered(list(description["parameters"])) if isinstance(given, Space) else given

    def made(self, make: Callable[[], T], given: bool = False) -> T:
        """Return the result of `make`; an error becomes a `LogError`, unless the user gave parts."""
        with self._explained(given):
            return make()

    def _must_be_sound(self) -> None:
        """Refuse a header with unknown keys, or one that asks for too much."""
        match self.content:
            case {"space": dict(space), "settings": dict(), "key": [int(), int()]}:
                with self._explained():
                    _must_be_bounded(space)
                return
        raise self.damaged("it must have a space, settings and a key")

    def _must_be_small(self, space: Domain) -> None:
        """Refuse a set of points whose covariances would not fit into memory."""
        settings, points = self.settings, space.points
        kept = settings.get("kernel") is not None or settings.get("posterior") is not None
        if kept and points is not None and len(points) > MAX_COVARIANCES:
            raise self.damaged(f"with a kernel a space may have at most {MAX_COVARIANCES} points, got {len(points)}")

    def damaged(self, why: object) -> LogError:
        """Return the error of an invalid header."""
        where = "the header" if self.lines is None else f"{self.lines.path}, line 1"
        return LogError(f"{where} is damaged: {why}")

    @contextmanager
    def _explained(self, given: bool = False) -> Iterator[None]:
        """Turn an error into a `LogError`, unless the parts given by the user may have caused it."""
        try:
            yield
        except (GivenAgainError, LogError):
            raise
        except Exception as error:
            if given:
                raise
            raise self.damaged(f"{type(error).__name__}: {error}") from error


def _first(lines: Lines) -> dict[str, Any]:
    """Return the first line of a log, adding its newline if only that is missing; nothing if there is none."""
    content = lines.first()
    if content is None and lines.lacks_newline:
        try:
            lines.lock()
            lines.mend()
        finally:
            lines.unlock()
        content = lines.first()
    return content or {}


def _must_be_bounded(space: Mapping[str, Any]) -> None:
    """Refuse the description of a space that would take hours or gigabytes to make."""
    parameters = space.get("parameters", {})
    choices = [p["options"] for p in parameters.values() if isinstance(p, dict) and "options" in p]
    count, options = max(len(parameters), len(space.get("bounds", ()))), sum(map(len, choices))
    tried = space.get("candidates", 512) * (count - len(choices) + options)
    sizes = {
        "candidates": (space.get("candidates", 1), MAX_CANDIDATES),
        "parameters": (count, MAX_PARAMETERS),
        "options": (options, MAX_OPTIONS),
        "points": (len(space.get("points", ())), MAX_POINTS),
        "coordinates of candidates": (tried if isinstance(space.get("constraint"), list) else 0, MAX_TRIED),
    }
    for name, (size, most) in sizes.items():
        if size > most:
            raise ValueError(f"a space may have at most {most} {name}, got {size}")


def _space(description: Mapping[str, Any], constraint: Constraint | None) -> Domain:
    try:
        return space_from_dict(description, constraint)
    except ValueError as error:
        if _needs_more(description):
            raise GivenAgainError(str(error)) from error
        raise


def _needs_more(space: Mapping[str, Any]) -> bool:
    """Return whether a space has parts that JSON cannot hold, so that the user must give it again."""
    parameters = space.get("parameters")
    values = [*parameters.values()] if isinstance(parameters, dict) else []
    return isinstance(space.get("constraint"), str) or any(
        isinstance(value, dict) and _noted(value) for value in values
    )


def _noted(parameter: Mapping[str, Any]) -> bool:
    options = parameter.get("options")
    values = [parameter.get("value"), *(options if isinstance(options, list) else ())]
    return any(isinstance(value, dict) and "repr" in value for value in values)
