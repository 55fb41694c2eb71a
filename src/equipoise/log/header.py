"""The first line of a log: what the study is."""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from equipoise.log.jsonl import Lines, LogError
from equipoise.log.parts import chosen, described
from equipoise.spaces import Domain, space_from_dict
from equipoise.spaces.constraints import Constraint

FORMAT = 2
"""The version of the format that is written; earlier ones stay readable. 2 has corrected and retracted readings."""


class Header:
    """The first line of a log: what the study is.

    Args:
        content: The line, as JSON.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    @classmethod
    def of(cls, space: Domain, parts: Mapping[str, Any], key: list[int]) -> "Header":
        """Return that of a new study."""
        about = {"equipoise": FORMAT, "version": sys.modules["equipoise"].__version__, "at": now()}
        settings = {name: described(part) for name, part in parts.items()}
        return cls(about | {"space": space.to_dict(), "settings": settings, "key": key})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Header":
        """Return that of a log."""
        content, _ = next(Lines(path).news(), ({}, None))
        found = content.get("equipoise")
        if not isinstance(found, int):
            raise LogError(f"{path} must be the log of a study, but its first line is not that of one")
        if found > FORMAT:
            raise LogError(f"{path} has format {found}, and this equipoise reads up to {FORMAT}: install a newer one")
        return cls(content)

    @property
    def key(self) -> list[int]:
        """The key of the study's random numbers."""
        key: list[int] = self.content["key"]
        return key

    def space(self, given: Domain | None = None, constraint: Constraint | None = None) -> Domain:
        """Return the study's space; it, or its constraint, is given again where JSON cannot hold it."""
        description = self.content["space"]
        if given is None:
            return space_from_dict(description, constraint)
        if given.to_dict() != description:
            raise ValueError(f"`space` must be the one the log describes, {description}, got {given!r}")
        return given

    def parts(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of the study's optimizer, by argument; some are given again (see `settings.py`)."""
        settings = self.content["settings"]
        if unknown := sorted(set(given) - set(settings)):
            raise TypeError(f"resume takes `space`, `constraint`, {', '.join(settings)}, got {unknown}")
        return {name: chosen(name, description, given.get(name)) for name, description in settings.items()}


def now() -> str:
    """Return the time for people to read, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
