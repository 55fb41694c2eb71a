"""The comparing part of the pytest plugin: each benchmark of a test suite against the same one in another revision."""

import shlex
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from click import UsageError

from equipoise.integrations.pytest_plugin import is_benchmark
from equipoise.programs.commands.arranging import budget, sites
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import Bench, Job
from equipoise.programs.commands.processes import EVERYTHING, Programs, RunOptions
from equipoise.programs.commands.suite_file import Benchmark, of_pytest, pair
from equipoise.programs.commands.suite_report import size, word
from equipoise.programs.commands.suite_session import so_far
from equipoise.programs.commands.suiting import Source, SuiteRow, SuiteRun, rows
from equipoise.runners import HERE as NOW
from equipoise.runners import GitError, checked_out

HERE = "working tree"


class Comparing:
    """A plugin that compares every benchmark with that of another revision, instead of running the tests."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure both revisions, and report a test for each benchmark."""
        items = {item.nodeid: item for item in session.items if is_benchmark(item)}
        if session.testsfailed or session.config.option.collectonly or not session.items:
            return True
        if not items:
            raise pytest.UsageError("no test has the fixture or the marker `benchmark`")
        run = _sensible(session.config)
        (source,), found = run.sources, {row.name: row for row in rows(run)}
        if source.failure and not set(found) & set(items):
            raise pytest.UsageError(source.failure)
        failing = {name for name, arms in run.failing.items() if HERE in arms}
        for nodeid, item in items.items():
            item.ihook.pytest_runtest_logstart(nodeid=nodeid, location=item.location)
            item.ihook.pytest_runtest_logreport(report=report(item, found.get(nodeid), nodeid in failing))
            item.ihook.pytest_runtest_logfinish(nodeid=nodeid, location=item.location)
        if source.failure:
            session.shouldfail = source.failure
            raise session.Failed(session.shouldfail)
        return True


def _sensible(config: pytest.Config) -> SuiteRun:
    """Measure; report a wrong option as pytest does."""
    try:
        return measured(config)
    except (GitError, UsageError) as error:
        raise pytest.UsageError(str(error)) from None


def measured(config: pytest.Config) -> SuiteRun:
    """Measure the benchmarks of the base and of the working tree."""
    base = config.getoption("--compare-base")
    seconds = budget("--compare-time", config.getoption("--compare-time"))
    question = pair((base, HERE), config.getoption("--compare-fail-above"))
    with checked_out([base, NOW], config.invocation_params.dir) as found:
        named = {base: found[base], HERE: found[NOW]}
        lines = {arm: of_pytest(chosen(config, each.folder)) for arm, each in named.items()}
        how = RunOptions(shell=(), reads=(EVERYTHING,), ignore_failure=True)
        with Programs(how) as programs:
            bench = Bench(Job(lines, sites=sites(named)), {}, programs, None, "pytest")
            source = Source(Benchmark("pytest", lines, {}, (EVERYTHING,), {}, question), bench)
            run = SuiteRun([source], question.alpha, None)
            early = run.measure(seconds, Live(sys.stderr, seconds), so_far)
    if early is not None:
        raise early
    return run


def chosen(config: pytest.Config, folder: Path) -> str:
    """Return the arguments that select the tests, with paths below a folder, without files that it does not have."""
    here, words, paths, skip = config.invocation_params.dir, list[str](), 0, False
    for argument in map(str, config.invocation_params.args):
        ours = argument.startswith("--compare-")
        skip, ignored = ours and "=" not in argument, ours or skip
        path, *test = argument.split("::")
        if argument in config.args and (here / path).exists():
            path = str((here / path).relative_to(here)) if (here / path).is_relative_to(here) else path
            ignored, paths = not (folder / path).exists(), paths + 1
        if not ignored:
            words.append("::".join([path, *test]))
    if paths and not any((folder / word.split("::")[0]).exists() for word in words):
        raise pytest.UsageError(f"{config.getoption('--compare-base')} has none of {', '.join(config.args)}")
    return shlex.join(words)


def report(item: pytest.Item, row: SuiteRow | None, fails: bool) -> pytest.TestReport:
    """Return the report of a benchmark: failed if it is slower or does not pass now, skipped if it is undecided."""
    outcome: Literal["passed", "failed", "skipped"]
    if row is None or row.found is None:
        outcome = "failed" if fails else "skipped"
        base = item.config.getoption("--compare-base")
        text = "it fails here" if fails else f"it is skipped, or not in {base}, or fails there"
    else:
        worse = row.found.standing == "worse"
        outcome = "failed" if worse else "skipped" if word(row) == "open" else "passed"
        late = f", not decided within --compare-time after {row.found.rounds} rounds" * (word(row) == "open")
        text = f"{word(row)}{late}: {size(row)}"
    path, line, _ = item.location
    longrepr: Any = {"failed": text, "skipped": (path, line or 0, text), "passed": None}[outcome]
    sections = [("equipoise", text)]
    keywords: dict[str, Literal[1]] = dict.fromkeys(item.keywords, 1)
    return pytest.TestReport(item.nodeid, item.location, keywords, outcome, longrepr, "call", sections)
