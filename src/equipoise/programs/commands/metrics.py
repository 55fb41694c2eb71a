"""The metrics of a program: times, memory, events that the kernel counts, and numbers that it prints."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from equipoise.programs.question import Kind
from equipoise.runners import FailedError, reading

TIMES = ("wall", "cpu", "user", "system")

HARDWARE, SOFTWARE = 0, 1
EVENTS = {
    "instructions": (HARDWARE, 1),
    "cycles": (HARDWARE, 0),
    "cache-references": (HARDWARE, 2),
    "cache-misses": (HARDWARE, 3),
    "branches": (HARDWARE, 4),
    "branch-misses": (HARDWARE, 5),
    "task-clock": (SOFTWARE, 1),
    "page-faults": (SOFTWARE, 2),
    "context-switches": (SOFTWARE, 3),
    "cpu-migrations": (SOFTWARE, 4),
    "major-faults": (SOFTWARE, 6),
}
"""Events by their names in `perf stat`, with their type and number in `perf_event_open`."""

RARE = ("context-switches", "cpu-migrations", "major-faults")
"""Events of which a program may have none: they are compared by their difference."""

KINDS: dict[str, Kind] = {**dict.fromkeys(TIMES, "time"), "rss": "memory", "reading": "reading"}
"""Metrics that are always available, with the kind of each number."""

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
WHOLE = rf"({NUMBER.pattern})(?!\d|[_x]\w|,\d\d\d)"
"""A number that does not go on in another notation, such as 1_000, 1,000 or 0x10."""

KEY = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(frozen=True)
class Read:
    r"""A number that a program prints among others.

    Attributes:
        name: The name of the number.
        pattern: An expression whose last match contains the number, in its first group or as a whole; `None` for a key
            of the last line of JSON that has it, or the text after the name: `name = 3`, `name: 3`.

    Example:
        >>> reads("p99=latency: (\\d+) ms").value("latency: 12 ms"), reads("a.loss").value('{"a": {"loss": 0.5}}')
        (12.0, 0.5)
        >>> reads("loss").value("METRIC loss=0.25")
        0.25
    """

    name: str
    pattern: str | None = None

    def value(self, out: str) -> float:
        """Return the number; refuse an output without it."""
        found = _in_json(out, self.name) if self.pattern is None else None
        if found is None:
            found = self._matched(out)
        if found is None or not math.isfinite(found):
            raise FailedError(f"it must print {self._what}, got {out.strip()[-80:]!r}")
        return found

    def read(self, out: str) -> dict[str, float]:
        """Return the number by its name."""
        return {self.name: self.value(out)}

    @property
    def _what(self) -> str:
        return f"a number called {self.name}" if self.pattern is None else f"what matches {self.pattern!r}"

    def _matched(self, out: str) -> float | None:
        named = rf"(?<![\w.-]){re.escape(self.name)}[\"']?\s*[=:]?\s*{WHOLE}"
        matches = list(re.finditer(self.pattern or named, out, 0 if self.pattern else re.IGNORECASE))
        if not matches:
            return None
        number = NUMBER.search(matches[-1][1] if matches[-1].re.groups else matches[-1][0])
        return None if number is None else float(number[0])


def reads(text: str) -> Read:
    """Return a number to read from an output: NAME=REGEX, or NAME alone, or a REGEX alone for the `reading`."""
    name, _, pattern = text.partition("=")
    if KEY.fullmatch(text):
        return Read(text)
    found = Read(name, pattern) if KEY.fullmatch(name) and pattern else Read("reading", text)
    try:
        re.compile(found.pattern or "")
    except re.error as error:
        raise ValueError(f"--read must be NAME, NAME=REGEX or REGEX, got {text!r}: {error}") from None
    return found


def kinds(read: Sequence[Read]) -> Mapping[str, Kind]:
    """Return all metrics that can be compared, by name, including those that are read."""
    return {**KINDS, **dict.fromkeys(EVENTS, "reading"), **dict.fromkeys((each.name for each in read), "reading")}


def has_ratio(metric: str, kind: Kind) -> bool:
    """Return whether a metric is compared by its ratio: times, memory, and events that every program has."""
    return kind != "reading" or (metric in EVENTS and metric not in RARE)


def last_number(out: str) -> float:
    r"""Return the last number that a program printed; for a last line of JSON, its "value".

    Example:
        >>> last_number("read: 12\nthroughput: 83.5 MB/s\n"), last_number('{"value": 3, "error": 2}')
        (83.5, 3.0)
    """
    try:
        value = float(reading(out)["value"])
    except (FailedError, TypeError, ValueError):
        found = NUMBER.findall(out)
        if not found:
            raise FailedError(f"it must print a number, got {out.strip()[-80:]!r}") from None
        value = float(found[-1])
    if not math.isfinite(value):
        raise FailedError(f"the number it prints must be finite, got {value}")
    return value


def everything(out: str) -> dict[str, float | None]:
    """Return all numbers of the last line that is a JSON object, and what is null there.

    Example:
        >>> everything('{"a": 1, "b": "x", "c": null}')
        {'a': 1.0, 'c': None}
    """
    for data in _objects(out):
        numbers = {name: float(x) for name, x in data.items() if isinstance(x, (int, float)) and math.isfinite(x)}
        return {name: numbers.get(name) for name, x in data.items() if name in numbers or x is None}
    raise FailedError(f"its last line must be a JSON object, got {out.strip()[-80:]!r}")


def _in_json(out: str, key: str) -> float | None:
    """Return a number of the last line that is a JSON object with a key, or with nested keys: `a.b`."""
    found = (_below(data, key) for data in _objects(out))
    return next((float(x) for x in found if isinstance(x, (int, float))), None)


def _objects(out: str) -> Iterator[Any]:
    """Return the lines that are JSON objects, the last one first."""
    for line in reversed(out.splitlines()):
        if line.lstrip().startswith("{"):
            with suppress(ValueError, RecursionError):
                yield json.loads(line)


def _below(data: Any, key: str) -> Any:
    """Return the value of a key, whole or part by part."""
    if isinstance(data, dict) and key in data:
        return data[key]
    for word in key.split("."):
        data = data.get(word) if isinstance(data, dict) else None
    return data
