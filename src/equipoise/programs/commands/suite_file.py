"""A suite in a file: benchmarks with their names, command lines, metrics and margins, as in docs/compare.md."""

import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from equipoise.programs.commands.arranging import budget, question, read_options
from equipoise.programs.commands.metrics import Read
from equipoise.programs.question import Question

CLAIM = ("metric", "read", "higher", "scale", "margin", "fail-above")
HOOKS = ("prepare", "conclude", "setup", "cleanup")
OWN = ("name", "command", "commands", "pytest", *HOOKS, *CLAIM)
FOR_ALL = ("time", "alpha", *CLAIM)
TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "higher": ((bool,), "true or false"),
    "alpha": ((float,), "a number between 0 and 1"),
    "commands": ((list,), "a list of texts"),
    **dict.fromkeys(("time", "margin", "fail-above"), ((str, int, float), "a text or a number")),
    **dict.fromkeys(("metric", "read", *HOOKS), ((str, list), "a text or a list of texts")),
}
"""Types of the entries that are not just a text, in words too."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of a suite, or several that one program measures.

    Attributes:
        name: Its name.
        commands: The command line of each arm.
        questions: The questions, by metric.
        read: The numbers to read from its output.
        hooks: Command lines to run before and after, by the name of the option.
        discovers: What is asked of every number in the JSON that it prints, if it says itself what it measures.
    """

    name: str
    commands: Mapping[str, str]
    questions: Mapping[str, Question]
    read: tuple[Read, ...]
    hooks: Mapping[str, Sequence[str]]
    discovers: Question | None = None

    def title(self, metric: str) -> str:
        """Return the name of one number of it."""
        if self.discovers is not None:
            return metric
        return self.name if len(self.questions) == 1 else f"{self.name} {metric}"


@dataclass(frozen=True)
class Suite:
    """Benchmarks that are measured together.

    Attributes:
        benchmarks: All of them.
        seconds: Their budget; `None` if the file has none.
        alpha: The share of false claims; `None` if the file has none.
    """

    benchmarks: tuple[Benchmark, ...]
    seconds: float | None
    alpha: float


def loaded(path: Path, arms: Sequence[str], options: Mapping[str, Any]) -> Suite:
    """Return the suite in a file; refuse invalid content.

    Args:
        path: The file.
        arms: Names of the two arms.
        options: The options of the command, for entries that the file lacks.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"--suite {path} could not be read: {error.strerror or error}") from None
    except ValueError as error:
        raise click.UsageError(f"--suite {path} must be TOML: {error}") from None
    each = data.pop("benchmark", [])
    _known(path, data, FOR_ALL)
    if not isinstance(each, list) or not each:
        raise click.UsageError(f"--suite {path} must have at least one [[benchmark]]")
    given = {**options, **_option(data)}
    found = tuple(_benchmark(path, dict(entry), arms, given) for entry in each)
    if len({each.name for each in found}) < len(found):
        raise click.UsageError(f"--suite {path} must have another name for each benchmark")
    seconds = None if "time" not in data else budget(f"--suite {path}: time", str(data["time"]))
    alpha = data.get("alpha", options["alpha"])
    if not 0 < alpha < 1:
        raise click.UsageError(f"--suite {path}: alpha must be a number between 0 and 1, got {alpha!r}")
    return Suite(found, seconds, alpha)


def pair(arms: tuple[str, str], fail_above: str | None = None) -> Question:
    """Return the question about the times of two arms."""
    usual = {"scale": None, "margin": None, "higher": False, "center": "typical", "alpha": 0.05}
    return question(arms, "wall", (), {**usual, "fail_above": fail_above})


Reads = tuple[tuple[Read, ...], tuple[str, ...]]


def _benchmark(path: Path, entry: dict[str, Any], arms: Sequence[str], options: Mapping[str, Any]) -> Benchmark:
    _known(path, entry, OWN)
    ways = [key for key in ("command", "commands", "pytest") if key in entry]
    if len(ways) != 1:
        raise click.UsageError(
            f"--suite {path}: a benchmark must have one of command, commands and pytest, got {entry}"
        )
    given = {**options, **_option(entry)}
    tests = entry.get("pytest")
    nothing: Reads = ((), ())
    read, metrics = nothing if tests else read_options(given)
    lines = entry.get("commands", [entry.get("command", tests and of_pytest(tests))] * 2)
    if len(lines) != 2:
        raise click.UsageError(f"--suite {path}: commands must be two, got {lines!r}")
    hooks = {hook: [entry[hook]] if isinstance(entry[hook], str) else entry[hook] for hook in HOOKS if hook in entry}
    if any(not 1 <= len(each) <= 2 for each in hooks.values()):
        raise click.UsageError(
            f"--suite {path}: {', '.join(hooks)} must be one command line, or one for each of the two"
        )
    name = entry.get("name", tests or lines[1])
    try:
        asked = {metric: question(arms, metric, read, given) for metric in metrics}
        timed = question(arms, "wall", (), {**given, "scale": None}) if tests is not None else None
    except (click.UsageError, ValueError) as error:
        raise click.UsageError(f"--suite {path}: {name}: {error}") from None
    return Benchmark(name, dict(zip(arms, lines, strict=True)), asked, read, hooks, timed)


def of_pytest(tests: str) -> str:
    """Return the command line that measures tests once, each by itself, and prints their seconds as JSON.

    The packages of the present folder and of the top folder of its revision come before installed ones.

    Example:
        >>> of_pytest("tests/bench.py").partition(" -m ")[2]
        "pytest -p equipoise.integrations.pytest_plugin --compare-once tests/bench.py'"
    """
    top = "top=$(git rev-parse --show-toplevel 2>/dev/null || pwd)"
    path = 'PYTHONPATH="$PWD/src:$PWD:$top/src:$top${PYTHONPATH:+:$PYTHONPATH}"'
    plugin = "-p equipoise.integrations.pytest_plugin --compare-once"
    return shlex.join(["sh", "-c", f"{top}; {path} exec {shlex.quote(sys.executable)} -m pytest {plugin} {tests}"])


def _known(path: Path, data: Mapping[str, Any], known: Sequence[str]) -> None:
    if unknown := sorted(set(data) - set(known)):
        raise click.UsageError(f"--suite {path} must have only {', '.join(known)} there, got {', '.join(unknown)}")
    for name, value in data.items():
        types, rule = TYPES.get(name, ((str,), "a text"))
        words = value if isinstance(value, list) else []
        if not isinstance(value, types) or not all(isinstance(each, str) for each in words):
            raise click.UsageError(f"--suite {path}: {name} must be {rule}, got {value!r}")


def _option(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry about claims as an option of the command."""
    given = {name.replace("-", "_"): data[name] for name in CLAIM if name in data}
    for name in {"margin", "fail_above"} & set(given):
        given[name] = str(given[name])
    for name in ("metric", "read"):
        if isinstance(given.get(name), str):
            given[name] = (given[name],)
    return given
