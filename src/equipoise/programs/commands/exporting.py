"""The results of a comparison, printed and in files: JSON, CSV and Markdown as hyperfine has them, and a picture."""

import csv
import io
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from equipoise.answer import Interval
from equipoise.cli.common import json_line, printable
from equipoise.programs.comparison_log import Execution
from equipoise.programs.findings import Finding
from equipoise.programs.phrases import amount, short, told
from equipoise.programs.verdict import Verdict
from equipoise.study import cell

COLUMNS = ("command", "mean", "stddev", "median", "user", "system", "min", "max")


def summary(arm: str, runs: Sequence[Execution]) -> dict[str, Any]:
    """Return what hyperfine says of a command: wall times in seconds, mean user and system time, every run."""
    times = [run.wall for run in runs]
    spread = statistics.stdev(times) if len(times) > 1 else None
    whole = {"command": arm, "mean": statistics.mean(times), "stddev": spread, "median": statistics.median(times)}
    whole |= {name: statistics.mean(getattr(run, name) for run in runs) for name in ("user", "system")}
    whole |= {"min": min(times), "max": max(times), "times": times}
    memory = [None if run.rss is None else int(run.rss) for run in runs]
    return whole | {"memory_usage_byte": memory, "exit_codes": [run.exit for run in runs]}


def by_arm(verdict: Verdict, runs: Sequence[Execution]) -> dict[str, list[Execution]]:
    """Return the executions of each arm that has any."""
    each = {arm: [run for run in runs if run.arm == arm] for arm in verdict.question.arms}
    return {arm: found for arm, found in each.items() if found}


def as_data(verdict: Verdict, runs: Sequence[Execution], metric: str) -> dict[str, Any]:
    """Return everything for scripts: `results` as hyperfine has them, the rest of ours under `equipoise`."""
    question = verdict.question
    asked = {"metric": metric, "higher": question.higher, "scale": question.scale, "margin": question.margin}
    asked |= {"fail_above": question.fail_above, "center": question.center, "alpha": question.alpha}
    found = {"decided": verdict.decided, "leader": verdict.leader, "text": told(verdict)}
    found |= {"gate": None if question.fail_above is None else verdict.gate, "findings": _findings(verdict)}
    found |= {"floor": None if verdict.floor is None else finding_data(verdict.floor, verdict)}
    found |= {"sessions": [_findings(session) for session in verdict.sessions], "rounds": list(verdict.rounds)}
    results = [summary(arm, each) for arm, each in by_arm(verdict, runs).items()]
    return {"results": results, "equipoise": asked | found}


def as_csv(verdict: Verdict, runs: Sequence[Execution]) -> str:
    """Return the columns of hyperfine's CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    rows = (summary(arm, each) for arm, each in by_arm(verdict, runs).items())
    writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


def as_markdown(verdict: Verdict, runs: Sequence[Execution], metric: str) -> str:
    """Return a table with a row for each arm, relative to the first, and the verdict below it."""
    first, kind = verdict.question.arms[0], verdict.question.kind
    lines = [
        f"| Command | {metric}, median | Min | Max | Runs | Relative to {_cell(first)} |",
        "|:---|---:|---:|---:|---:|---:|",
    ]
    for arm, each in by_arm(verdict, runs).items():
        values = [run.value(metric) for run in each]
        sizes = " | ".join(amount(x, kind) for x in (statistics.median(values), min(values), max(values)))
        lines.append(f"| `{_cell(arm)}` | {sizes} | {len(each)} | {_relative(verdict, arm)} |")
    return "\n".join([*lines, "", *(f"{line}  " for line in told(verdict).splitlines()), ""])


def _relative(verdict: Verdict, arm: str) -> str:
    if arm == verdict.question.arms[0]:
        return "reference"
    found = verdict.floor if arm == verdict.question.null else verdict.between(verdict.question.arms[0], arm)
    return "" if found is None else short(found, verdict.question)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _findings(verdict: Verdict) -> list[dict[str, Any]]:
    return [finding_data(found, verdict) for found in verdict.findings]


def finding_data(found: Finding, verdict: Verdict) -> dict[str, Any]:
    """Return a finding for scripts: ratio of the second to the first, or its difference."""
    claimed = found.ratio if verdict.question.scale == "ratio" else found.interval
    data = {"first": found.first, "second": found.second, verdict.question.scale: _limits(claimed)}
    return data | {"rounds": found.rounds, "standing": found.standing, "gate": found.gate, "more_rounds": found.more}


def _limits(interval: Interval) -> dict[str, float | None]:
    """Return an interval for scripts; JSON has no infinity, so a limit that is not known yet is null."""
    each = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {name: x if math.isfinite(x) else None for name, x in each.items()}


def say_all(verdict: Verdict, runs: Sequence[Execution], metric: str, files: Mapping[str, Any]) -> None:
    """Print the verdict, and write the files that were asked for."""
    outputs: dict[str, Callable[[], str]] = {
        "json_file": lambda: json_line(as_data(verdict, runs, metric)) + "\n",
        "markdown_file": lambda: as_markdown(verdict, runs, metric),
        "csv_file": lambda: as_csv(verdict, runs),
    }
    if "-" not in (files[name] for name in outputs):
        click.echo(printable(table(verdict, runs, metric) + told(verdict)))
    for name, made in outputs.items():
        if files[name] == "-":
            click.echo(printable(made()), nl=False)
        elif files[name] is not None:
            _write(Path(files[name]), made())
    if files["picture"] is not None:
        draw(verdict, files["picture"])


def table(verdict: Verdict, runs: Sequence[Execution], metric: str) -> str:
    """Return a line for each arm: median, range and number of its readings."""
    kind, lines = verdict.question.kind, []
    for arm, each in by_arm(verdict, runs).items():
        values = [run.value(metric) for run in each]
        low, middle, high = (amount(x, kind) for x in (min(values), statistics.median(values), max(values)))
        lines.append(f"{arm}: {metric} {middle} (median of {len(values)} runs, {low} to {high})")
    return "".join(f"{line}\n" for line in lines)


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


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise click.ClickException(f"{out} could not be written: {error.strerror or error}") from error
