"""The results of a comparison, printed and in files: JSON, CSV and Markdown in hyperfine's formats, and a picture."""

import csv
import io
import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from equipoise.answer import Interval
from equipoise.cli.common import json_line, printable
from equipoise.programs.comparison_log import Execution
from equipoise.programs.findings import Finding
from equipoise.programs.forecasting import MoreRounds
from equipoise.programs.phrases import amount, counted, short, told
from equipoise.programs.question import Kind, Question
from equipoise.programs.verdict import Verdict
from equipoise.study import cell

COLUMNS = ("command", "mean", "stddev", "median", "user", "system", "min", "max")


def summary(arm: str, runs: Sequence[Execution]) -> dict[str, Any]:
    """Return hyperfine's summary of a command: wall times in seconds, mean user and system time, every run."""
    times = [run.wall for run in runs]
    spread = statistics.stdev(times) if len(times) > 1 else None
    whole = {"command": arm, "mean": statistics.mean(times), "stddev": spread, "median": statistics.median(times)}
    whole |= {name: statistics.mean(getattr(run, name) for run in runs) for name in ("user", "system")}
    whole |= {"min": min(times), "max": max(times), "times": times}
    memory = [None if run.rss is None else int(run.rss) for run in runs]
    return whole | {"memory_usage_byte": memory, "exit_codes": [run.exit for run in runs]}


@dataclass(frozen=True)
class Results:
    """The report on measured programs.

    Attributes:
        arms: Their names, in the given order.
        runs: All executions.
        metrics: The compared metrics, with the kind of each number.
        verdicts: The verdicts, by metric; empty for a single program.
        parameters: The values from -L and -P in the command of each arm.
    """

    arms: Sequence[str]
    runs: Sequence[Execution]
    metrics: Mapping[str, Kind]
    verdicts: Mapping[str, Verdict]
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def summaries(self) -> list[dict[str, Any]]:
        """The summaries of all arms in hyperfine's format, with their parameters if they have any."""
        put = {arm: {"parameters": dict(each)} for arm, each in self.parameters.items() if each}
        return [summary(arm, runs) | put.get(arm, {}) for arm, runs in self.by_arm.items()]

    @property
    def by_arm(self) -> dict[str, list[Execution]]:
        """The executions of each arm that has any."""
        each = {arm: [run for run in self.runs if run.arm == arm] for arm in self.arms}
        return {arm: found for arm, found in each.items() if found}


def as_data(report: Results) -> dict[str, Any]:
    """Return everything for scripts: `results` in hyperfine's format, our own results under `equipoise`."""
    results = report.summaries
    each = [verdict_data(verdict, metric) for metric, verdict in report.verdicts.items()]
    ours = {**(each[0] if each else {}), **({"metrics": each} if len(each) > 1 else {})}
    return {"results": results, **({"equipoise": ours} if ours else {})}


def verdict_data(verdict: Verdict, metric: str) -> dict[str, Any]:
    """Return the verdict on one metric for scripts."""
    question = verdict.question
    asked = {"metric": metric, "higher": question.higher, "scale": question.scale, "margin": question.margin}
    asked |= {"fail_above": question.fail_above, "center": question.center, "alpha": question.alpha}
    found = {"decided": verdict.decided, "leader": verdict.leader, "text": told(verdict)}
    found |= {"gate": None if question.fail_above is None else verdict.gate, "findings": _findings(verdict)}
    found |= {"floor": None if verdict.floor is None else finding_data(verdict.floor, question)}
    found |= {"sessions": [_findings(session) for session in verdict.sessions], "rounds": list(verdict.rounds)}
    return asked | found


def as_csv(report: Results) -> str:
    """Return the columns of hyperfine's CSV."""
    file = io.StringIO()
    rows = [row | {f"parameter_{k}": v for k, v in row.get("parameters", {}).items()} for row in report.summaries]
    parameters = dict.fromkeys(name for row in rows for name in row if name.startswith("parameter_"))
    writer = csv.DictWriter(file, [*COLUMNS, *parameters], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items() if name != "parameters"} for row in rows)
    return file.getvalue()


def as_markdown(report: Results) -> str:
    """Return a table with a row for each arm, relative to the first, and the verdict below it; for every metric."""
    lines = []
    for metric, kind in report.metrics.items():
        verdict = report.verdicts.get(metric)
        end = "" if verdict is None else f" Relative to {_cell(report.arms[0])} |"
        lines += [f"| Command | {metric}, median | Min | Max | Runs |{end}"]
        lines += ["|:---|---:|---:|---:|---:|" + ("" if verdict is None else "---:|")]
        for arm, each in report.by_arm.items():
            known = _typical(each, metric)
            sizes = " | ".join(["", "", ""] if known is None else [amount(x, kind) for x in known])
            relative = "" if verdict is None else f" {_relative(verdict, arm)} |"
            lines.append(f"| {as_code(arm)} | {sizes} | {len(each)} |{relative}")
        said = [] if verdict is None else told(verdict).splitlines()
        lines += ["", *(f"{line}  " for line in said), *([""] if said else [])]
    return "\n".join(lines)


def _relative(verdict: Verdict, arm: str) -> str:
    if arm == verdict.question.arms[0]:
        return "reference"
    found = verdict.floor if arm == verdict.question.null else verdict.between(verdict.question.arms[0], arm)
    return "" if found is None else short(found, verdict.question)


def _cell(text: str) -> str:
    return printable(" ".join(text.splitlines()), keep="").replace("|", "\\|")


def as_code(text: str) -> str:
    r"""Return a command line as code in a cell of a Markdown table.

    Example:
        >>> print(as_code("a | b"), as_code("echo `ls`"))
        `a \| b` `` echo `ls` ``
    """
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{_cell(text)}{space}{fence}"


def _findings(verdict: Verdict) -> list[dict[str, Any]]:
    return [finding_data(found, verdict.question) for found in verdict.findings]


def finding_data(found: Finding, question: Question) -> dict[str, Any]:
    """Return a finding for scripts: ratio of the second to the first, or its difference."""
    claimed = found.ratio if question.scale == "ratio" else found.interval
    data = {"first": found.first, "second": found.second, question.scale: limits(claimed)}
    gate = None if question.fail_above is None else found.gate
    said = {"rounds": found.rounds, "standing": found.standing, "gate": gate}
    return data | said | {"more_rounds": more_data(found.more)}


def more_data(more: MoreRounds | None) -> dict[str, float | None] | None:
    """Return the forecast number of rounds, for scripts; JSON has no infinity."""
    if more is None:
        return None
    return {name: x if math.isfinite(x) else None for name, x in asdict(more).items()}


def limits(interval: Interval) -> dict[str, float | None]:
    """Return an interval for scripts."""
    return dict(zip(("value", "low", "high"), interval.known, strict=True))


def check_files(files: Mapping[str, Any]) -> None:
    """Refuse files that cannot be written, before anything is measured."""
    for out in (str(out) for out in files.values() if out is not None):
        if out != "-" and (Path(out).is_dir() or not Path(out).absolute().parent.is_dir()):
            raise click.UsageError(f"{out} could not be written: it must be a file in a folder that exists")
    if files["picture"] is not None and find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: install equipoise[plot]")


def say_all(report: Results, files: Mapping[str, Any], junit: Callable[[Results], str]) -> None:
    """Print the verdict, and write the requested files."""
    made: dict[str, Callable[[], str]] = {
        "json_file": lambda: json_line(as_data(report)) + "\n",
        "markdown_file": lambda: as_markdown(report),
        "csv_file": lambda: as_csv(report),
        "junit_file": lambda: junit(report),
    }
    say_in(made, files, lambda: as_text(report))
    if files["picture"] is not None and report.verdicts:
        draw(next(iter(report.verdicts.values())), files["picture"])


def say_in(made: Mapping[str, Callable[[], str]], files: Mapping[str, Any], text: Callable[[], str]) -> None:
    """Print a text, unless a file is printed, and write the requested files."""
    if "-" not in (files[name] for name in made):
        click.echo(printable(text()))
    for name, each in made.items():
        if files[name] is not None:
            written(files[name], each())


def as_text(report: Results) -> str:
    """Return the readings of all arms and the verdict, for each metric."""
    parts = []
    for metric in report.metrics:
        verdict = report.verdicts.get(metric)
        parts.append((table(report, metric) + ("" if verdict is None else told(verdict))).rstrip("\n"))
    return "\n".join(parts)


def table(report: Results, metric: str) -> str:
    """Return a line for each arm: median, range and number of its readings."""
    kind, lines = report.metrics[metric], []
    for arm, each in report.by_arm.items():
        known = _typical(each, metric)
        if known is None:
            lines.append(f"{arm}: {metric} too little to be told ({counted(len(each), 'run')})")
            continue
        middle, low, high = (amount(x, kind) for x in known)
        lines.append(f"{arm}: {metric} {middle} (median of {counted(len(each), 'run')}, {low} to {high})")
    return "".join(f"{line}\n" for line in lines)


def _typical(runs: Sequence[Execution], metric: str) -> tuple[float, float, float] | None:
    """Return the median, minimum and maximum of a metric; `None` if it was too small to measure."""
    values = [run.value(metric) for run in runs if metric != "rss" or run.rss is not None]
    return (statistics.median(values), min(values), max(values)) if values else None


def draw(verdict: Verdict, out: Path) -> None:
    """Write a picture."""
    from equipoise import plots

    try:
        drawn = plots.contest(verdict)
        plots.style.figure(drawn).savefig(out, dpi=150)
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{out} could not be written: {error.strerror or error}") from error


def written(out: str, text: str) -> None:
    """Write a text to a file, or print it if the name is `-`."""
    if out == "-":
        click.echo(printable(text), nl=False)
        return
    try:
        Path(out).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise click.ClickException(f"{out} could not be written: {error.strerror or error}") from error
