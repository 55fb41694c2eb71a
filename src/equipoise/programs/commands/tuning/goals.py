"""The goals of a search: objectives and limits, by the names of measured or printed numbers.

text                 meaning
-wall                as short as possible
p99                  a number that the program prints, as large as possible
rss <= 2GB           at most 2 GB, without a logarithm
wall <= start + 10%  at most 10 % more than at the start: a slowdown of the host cancels

The study uses logarithms of times, memory and events, because a slow host multiplies them; but a number with
a limit in its own unit is used as it is.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from equipoise.answer import FrontPoint, LimitEstimate, Usability
from equipoise.programs.calling import SAME_TIME
from equipoise.programs.commands.arranging import SECONDS
from equipoise.programs.commands.metrics import EVENTS, KINDS, Read, has_ratio, kinds, reads
from equipoise.programs.commands.processes import LAST
from equipoise.programs.comparison_log import Execution
from equipoise.programs.phrases import amount
from equipoise.programs.question import Kind, Question
from equipoise.runners import FailedError
from equipoise.study.outputs import Limit, objectives

UNITS: dict[Kind, Mapping[str, float]] = {
    "time": {**SECONDS, "us": 1e-6},
    "memory": {"": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    "reading": {"": 1.0},
}
"""Units of limits."""

SIZE = r"([+-]?)\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*(%|[A-Za-z]*)"
LIMIT = re.compile(rf"\s*([\w./:-]+)\s*(<=|>=)\s*(start)?\s*(?:{SIZE})?\s*")


@dataclass(frozen=True)
class Number:
    """A number of each run that matters.

    Attributes:
        name: Its name as a measured or printed number.
        kind: The kind of number.
        log: Whether the study uses its logarithm.
    """

    name: str
    kind: Kind
    log: bool

    @property
    def output(self) -> str:
        """The name of the number in the study."""
        return ("log_" if self.log else "") + self.name.replace("-", "_")

    def value(self, run: Execution, floor: float) -> float:
        """Return the value for the study; memory that is too small to measure counts as the smallest that is."""
        value = floor if self.name == "rss" and run.rss is None else run.value(self.name)
        if self.log and value <= 0:
            raise FailedError(f"its {self.name} reads {value:g}")
        return math.log(value) if self.log else value


@dataclass(frozen=True)
class Goals:
    """The goals of a search.

    Attributes:
        objectives: Numbers, and whether to maximize each; the first one first.
        limits: Numbers, and their limits as the study writes them.
        read: The numbers to read from the output.
        named: Whether the study names its numbers: only if there are limits, or objectives by name.
        written: Each limit as the user wrote it.

    Example:
        >>> usual = {"metric": None, "higher": False, "read": ()}
        >>> Goals.of({**usual, "objective": ["-wall"], "limits": ["rss <= 2GB"]}).arguments
        {'objective': '-log_wall', 'limits': ['rss <= 2e+09']}
    """

    objectives: Sequence[tuple[Number, bool]]
    limits: Sequence[tuple[Number, str]]
    read: tuple[Read, ...]
    named: bool
    written: Sequence[str] = ()

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Goals":
        """Return the goals from options; refuse contradictions."""
        read = tuple(reads(text) for text in options["read"])
        wanted, limits = _wanted(options, read), [_limit(text, read) for text in options["limits"]]
        logs = {number.name: number.log for number, _ in limits}
        if mixed := [number.name for number, _ in limits if number.log != logs[number.name]]:
            raise click.UsageError(f"--limit must count {mixed[0]} in percent or in its unit, and not both")
        found = [(_number(name, read, logs.get(name)), higher) for name, higher in wanted]
        known = {each.name for each in read}
        names = dict.fromkeys(number.name for number, _ in [*found, *limits])
        more = [LAST if name == "reading" else Read(name) for name in names if name not in {*known, *TAKEN}]
        return cls(found, limits, (*read, *more), bool(options["objective"] or limits), options["limits"])

    @property
    def numbers(self) -> list[Number]:
        """All numbers that matter."""
        return list(dict.fromkeys(number for number, _ in [*self.objectives, *self.limits]))

    @property
    def events(self) -> list[str]:
        """The events that the kernel counts."""
        return [number.name for number in self.numbers if number.name in EVENTS]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the study."""
        if not self.named:
            return {"minimize": not self.objectives[0][1]}
        objective = ", ".join(("" if higher else "-") + number.output for number, higher in self.objectives)
        return {"objective": objective, "limits": [limit for _, limit in self.limits] or None}

    def value(self, run: Execution, floor: float) -> float | dict[str, float]:
        """Return the values of a run for the study."""
        values = {number.output: number.value(run, floor) for number in self.numbers}
        return values if self.named else values[self.objectives[0][0].output]

    def told(self, usability: Usability) -> str:
        """Return the probability that limits hold, and an estimate of each, in the words and units of the user."""
        limits = {limit: (number, text) for (number, limit), text in zip(self.limits, self.written, strict=True)}
        return usability.told(_known(*limits[each.limit], each) for each in usability.limits)

    def gains(self, point: FrontPoint) -> str:
        """Return the differences of a setting of the front from the start, in the words and units of the user."""
        found = ((number, point.against_start[number.output]) for number, _ in self.objectives)
        parts = (f"{number.name} {_interval(number, (each.value, each.low, each.high), '+')}" for number, each in found)
        return f"{', '.join(parts)} against the start"

    def questions(self) -> dict[str, Question]:
        """Return the questions about the start and the winner, by name: all claims together err with 5 % at most."""
        return {
            number.name: Question(
                ("start", "best"),
                higher=higher,
                scale="ratio" if has_ratio(number.name, number.kind) else "difference",
                margin=SAME_TIME if has_ratio(number.name, number.kind) else 0.0,
                alpha=0.05 / len(self.objectives),
                kind=number.kind,
            )
            for number, higher in self.objectives
        }


TAKEN = {name for name in (*KINDS, *EVENTS) if name != "reading"}
"""Names of the numbers that are measured for every program."""


def _wanted(options: Mapping[str, Any], read: Sequence[Read]) -> list[tuple[str, bool]]:
    """Return the names of the objectives, and whether to maximize each."""
    if not options["objective"]:
        usual = read[0].name if read else "wall"
        return [(options["metric"] or usual, options["higher"])]
    if options["metric"] or options["higher"]:
        raise click.UsageError("--objective says it all: without --metric and --higher")
    text, events = ", ".join(options["objective"]), {name.replace("-", "_"): name for name in EVENTS}
    for plain, name in events.items():
        text = text.replace(name, plain)
    found = [(events.get(each.name, each.name), each.sign > 0) for each in objectives(text)]
    for name, higher in found:
        if higher and name in TAKEN:
            raise click.UsageError(f"--objective must be -{name} to make {name} as small as possible, got {name}")
    return found


def _limit(text: str, read: Sequence[Read]) -> tuple[Number, str]:
    """Return the number with a limit, and the limit as the study writes it."""
    found = LIMIT.fullmatch(text)
    name, relation, start, sign, size, unit = (None,) * 6 if found is None else found.groups()
    if name is None or (not start and not size) or (start and size and not sign):
        raise click.UsageError(f"--limit must be such as 'rss <= 2GB' or 'wall <= start + 10%', got {text!r}")
    number = _number(name, read, unit == "%")
    if unit == "%" and (not start or not number.log):
        raise click.UsageError(f"--limit may be in percent of the start for a time, memory or event, got {text!r}")
    units = {"%": 0.01, **UNITS[number.kind]}
    if unit is not None and unit not in units:
        known = f"one of the units {', '.join(filter(None, units))}"
        rule = f"a plain number, since the unit of {name} is not known" if number.kind == "reading" else known
        raise click.UsageError(f"--limit must have {rule}, got {text!r}")
    bound = float(f"{sign or ''}{size or 0}") * units[unit or ""]
    if unit == "%" and bound <= -1:
        raise click.UsageError(f"--limit must leave more than nothing of the start, got {text!r}")
    bound = math.log1p(bound) if unit == "%" else bound
    written = f"start {'-' if bound < 0 else '+'} {abs(bound)!r}" if start else f"{bound!r}"
    return number, str(Limit.of(f"{number.output} {relation} {written}"))


def _known(number: Number, written: str, found: LimitEstimate) -> str:
    return f"{written}: {_interval(number, (found.value, found.low, found.high))}"


def _interval(number: Number, numbers: Sequence[float], plus: str = "") -> str:
    """Return a value with its interval: percent of the start for a logarithm, else amounts, with a plus if wanted."""
    signs = (plus if x >= 0 else "" for x in numbers)
    plain = (sign + amount(x, number.kind) for sign, x in zip(signs, numbers, strict=True))
    value, low, high = (f"{100 * math.expm1(x):+.1f} %" for x in numbers) if number.log else plain
    return f"{value} [{low}, {high}]" if math.isfinite(sum(numbers)) else f"{value} (no interval yet)"


def _number(name: str, read: Sequence[Read], log: bool | None) -> Number:
    """Return a number by name; by default times, memory and events are logarithms."""
    kind = kinds(read).get(name, "reading")
    ratio = has_ratio(name, kind)
    return Number(name, kind, ratio if log is None else log and ratio)
