"""The report on a suite: for people, for a step summary, for scripts, and for tools that read JUnit XML."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from equipoise.cli.common import printable
from equipoise.programs.commands.exporting import Results, as_code, finding_data
from equipoise.programs.commands.suiting import SuiteRow
from equipoise.programs.findings import FAILED, UNDECIDED, Finding
from equipoise.programs.phrases import ADJECTIVES, amount, counted, short
from equipoise.programs.question import Question

Case = tuple[str, str, str]
"""A test case: its name, its result (`passed`, `failure`, `skipped` or `error`), and the reason."""


def word(row: SuiteRow) -> str:
    """Return the claim about a benchmark in one word."""
    if row.found is None or row.question is None:
        return "failed"
    if row.question.fail_above is not None:
        return {FAILED: "fails", UNDECIDED: "open"}.get(row.found.gate, "passes")
    if row.found.standing in ("same", "open"):
        return row.found.standing
    return ADJECTIVES[row.question.kind][(row.found.standing == "worse") != row.question.higher]


def size(row: SuiteRow) -> str:
    """Return by how much a benchmark has changed, or the reason why this is unknown."""
    if row.found is None or row.question is None:
        return row.failure.splitlines()[0]
    more = "" if row.found.more is None or word(row) != "open" else f", {row.found.more}"
    return f"{short(row.found, row.question)} of {amount(row.level, row.question.kind)}{more}"


def summary(rows: Sequence[SuiteRow], arms: Sequence[str], alpha: float) -> str:
    """Return how many benchmarks there are of each kind."""
    words = [word(row) for row in rows]
    counts = ", ".join(f"{words.count(each)} {each}" for each in dict.fromkeys(words)) or "none was measured"
    return (
        f"{arms[1]} against {arms[0]}, {counted(len(rows), 'benchmark')}: {counts}. "
        f"At most {100 * alpha:g} % of the claims are false, on average."
    )


def as_text(rows: Sequence[SuiteRow], arms: Sequence[str], alpha: float) -> str:
    """Return a line for every benchmark, worse ones first."""
    wide = max((len(row.name) for row in rows), default=0)
    measured = max((6, *(len(row.metric) for row in rows)))
    lines = [
        f"{word(row):7} {row.name:{wide}}  {row.metric:{measured}} "
        + (row.failure if row.found is None else f"{size(row)} ({row.found.rounds} rounds)")
        for row in rows
    ]
    return "\n".join([*lines, summary(rows, arms, alpha)])


def as_markdown(rows: Sequence[SuiteRow], arms: Sequence[str], alpha: float) -> str:
    """Return a table for the summary of a step."""
    lines = [f"| Benchmark | | {arms[1]} against {arms[0]} | Metric | Rounds |", "|:---|:---|:---|:---|---:|"]
    for row in rows:
        mark = {"fails": "**fails**", "failed": "**failed**", "slower": "**slower**"}.get(word(row), word(row))
        rounds = "" if row.found is None else str(row.found.rounds)
        lines.append(f"| {as_code(row.name)} | {mark} | {size(row)} | {row.metric} | {rounds} |")
    return "\n".join([*lines, "", summary(rows, arms, alpha), ""])


def as_data(rows: Sequence[SuiteRow], arms: Sequence[str], alpha: float) -> dict[str, Any]:
    """Return everything for scripts."""
    return {"arms": [*arms], "alpha": alpha, "text": as_text(rows, arms, alpha), "benchmarks": [*map(_row_data, rows)]}


def _row_data(row: SuiteRow) -> dict[str, Any]:
    data: dict[str, Any] = {"name": row.name, "metric": row.metric or None, "verdict": word(row)}
    if row.found is None or row.question is None:
        return data | {"failure": row.failure}
    return data | {"level": row.level} | finding_data(row.found, row.question)


def cases(rows: Sequence[SuiteRow]) -> list[Case]:
    """Return a test case for every benchmark."""
    return [
        (row.name, "error", row.failure)
        if row.found is None or row.question is None
        else (row.name, outcome(row.found, row.question), size(row))
        for row in rows
    ]


def cases_of(results: Results) -> list[Case]:
    """Return a test case for every command that is compared with the first, by each metric."""
    return [
        (
            f"{found.second} against {found.first}, {metric}",
            outcome(found, verdict.question),
            short(found, verdict.question),
        )
        for metric, verdict in results.verdicts.items()
        for found in verdict.against_first
    ]


def outcome(found: Finding, question: Question) -> str:
    """Return the outcome of the test case of a finding."""
    if question.fail_above is not None:
        return {FAILED: "failure", UNDECIDED: "skipped"}.get(found.gate, "passed")
    return {"worse": "failure", "open": "skipped"}.get(found.standing, "passed")


def as_junit(found: Sequence[Case]) -> str:
    """Return test cases as JUnit XML: worse is a failure, not decided is skipped.

    Example:
        >>> print(as_junit([("parse", "failure", "+4 %")]).split("?>")[1])
        <testsuite name="equipoise compare" tests="1" failures="1" errors="0" skipped="0">
          <testcase classname="equipoise compare" name="parse">
            <failure message="+4 %" />
          </testcase>
        </testsuite>
    """
    kinds = [kind for _, kind, _ in found]
    counts = {"failures": kinds.count("failure"), "errors": kinds.count("error"), "skipped": kinds.count("skipped")}
    about = {"name": "equipoise compare", "tests": str(len(found))}
    suite = ElementTree.Element("testsuite", {**about, **{name: str(n) for name, n in counts.items()}})
    for name, kind, text in found:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "equipoise compare", "name": printable(name)})
        if kind == "passed":
            ElementTree.SubElement(case, "system-out").text = printable(text)
        else:
            first, *more = printable(text).splitlines()
            ElementTree.SubElement(case, kind, {"message": first}).text = "\n".join(more) or None
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"
