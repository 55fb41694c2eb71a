"""The run of a suite: read its file, measure, keep a log, report, and return an exit status."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.random import Generator

from equipoise.cli.common import FAILING, INTERRUPTED, json_line, noted
from equipoise.programs.commands.arranging import in_revisions, setup, sites
from equipoise.programs.commands.arranging import job as arranged
from equipoise.programs.commands.exporting import say_in
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import Bench, blamed
from equipoise.programs.commands.metrics import EVENTS
from equipoise.programs.commands.processes import EVERYTHING, Programs
from equipoise.programs.commands.suite_file import HOOKS, Benchmark, Suite, loaded
from equipoise.programs.commands.suite_report import as_data, as_junit, as_markdown, as_text, cases
from equipoise.programs.commands.suiting import FIRST_ROUNDS, Source, SuiteRow, SuiteRun, rows
from equipoise.programs.comparison_log import ComparisonLog
from equipoise.programs.family import BenchmarkFamily
from equipoise.programs.findings import FAILED, UNDECIDED
from equipoise.programs.rounds import Contest
from equipoise.runners import Revision

NOT_IN_SUITES = {name: f"--{name.replace('_', '-')}" for name in (*HOOKS, "runs", "min_runs", "max_runs")}
NOT_IN_SUITES |= {"names": "--name", "lists": "-L", "scans": "-P", "min_seconds": "--min-benchmarking-time"}
"""Options that a suite refuses, by parameter."""

SUITE_SECONDS = 300.0
"""The budget of a suite if neither its file nor the command has one."""


def suite_told(
    path: Path,
    arms: tuple[str, str],
    found: Mapping[str, Revision],
    log: Path | None,
    options: Mapping[str, Any],
    files: Mapping[str, Any],
) -> int:
    """Measure a suite, report it, and return the exit status."""
    for option, wanted in (("csv", files["csv_file"]), ("plot", files["picture"])):
        if wanted is not None:
            raise click.UsageError(f"--suite has no --{option}: --json has everything")
    if given := [option for name, option in NOT_IN_SUITES.items() if options[name]]:
        raise click.UsageError(f"--suite must be without {', '.join(given)}: use its file, and --time")
    file = loaded(path, arms, options)
    lines = {arm: f"{found[arm].commit or 'uncommitted' if arm in found else 'here'}: {path.name}" for arm in arms}
    results = None if log is None else ComparisonLog(log, lines, notify=noted, exact=bool(found))
    with Programs(setup(options)) as programs:
        programs.calibrate()
        for arm, site in sites(found).items() if options["build"] is not None else ():
            with blamed(f"--build, in {arm},", options["build"]):
                programs.do(options["build"], site)
        rngs = np.random.default_rng(options["seed"]).spawn(len(file.benchmarks))
        sources = [
            _source(programs, each, found, results, options, rng)
            for each, rng in zip(file.benchmarks, rngs, strict=True)
        ]
        run = SuiteRun(sources, file.alpha, options["seed"])
        if results is not None:
            _recalled(sources, results)
            results.begin()
        seconds = options["seconds"] or file.seconds or SUITE_SECONDS
        early = run.measure(seconds, Live(sys.stderr, seconds), so_far)
    cleanups = [source.bench.job for source in sources if source.bench.job.cleanup]
    if cleanups:
        with Programs(setup(options)) as programs:
            for job in cleanups:
                Bench(job, {}, programs).tidy()
    if early is not None:
        click.echo("Interrupted: this is the verdict so far.", err=True)
    told = rows(run)
    few = sum(row.found is not None and row.found.rounds < FIRST_ROUNDS for row in told)
    if few and early is None:
        click.echo(f"Note: {few} of {len(told)} benchmarks had too few rounds to decide: see --time.", err=True)
    say(told, arms, file.alpha, files)
    return status(told, options["fail_above"] is not None or _gated(file), early is not None)


def _source(
    programs: Programs,
    benchmark: Benchmark,
    found: Mapping[str, Revision],
    results: ComparisonLog | None,
    options: Mapping[str, Any],
    rng: Generator,
) -> Source:
    """Return the source that measures a benchmark."""
    read = benchmark.read if benchmark.discovers is None else (EVERYTHING,)
    how: dict[str, Any] = {"reads": read, "events": tuple(each for each in benchmark.questions if each in EVENTS)}
    if benchmark.discovers is not None:  # one test that fails does not keep others from it
        how["ignore_failure"] = True
    job = arranged(benchmark.commands, None, {**options, **dict.fromkeys(HOOKS, ()), **benchmark.hooks})
    if found:
        job = in_revisions(job, found, None, None)
    contests = {metric: Contest(question) for metric, question in benchmark.questions.items()}
    bench = Bench(job, contests, programs.but(**how), results, benchmark.name, rng)
    return Source(benchmark, bench)


def _recalled(sources: Sequence[Source], results: ComparisonLog) -> None:
    """Count the rounds that earlier calls have measured."""
    known = {source.benchmark.name: source for source in sources}
    for session in results.sessions:
        for runs in session.rounds:
            if runs[0].benchmark in known:
                known[runs[0].benchmark].recall(runs)


def _gated(file: Suite) -> bool:
    questions = [question for each in file.benchmarks for question in each.questions.values()]
    questions += [each.discovers for each in file.benchmarks if each.discovers is not None]
    return any(question.fail_above is not None for question in questions)


def so_far(family: BenchmarkFamily) -> str:
    """Return how far a suite is, in one line."""
    return f"{len(family.decided)} of {len(family.members)} benchmarks decided"


def say(told: Sequence[SuiteRow], arms: Sequence[str], alpha: float, files: Mapping[str, Any]) -> None:
    """Print the results so far, and write the requested files."""
    made: dict[str, Callable[[], str]] = {
        "json_file": lambda: json_line(as_data(told, arms, alpha)) + "\n",
        "markdown_file": lambda: as_markdown(told, arms, alpha),
        "junit_file": lambda: as_junit(cases(told)),
    }
    say_in(made, files, lambda: as_text(told, arms, alpha))


def status(told: Sequence[SuiteRow], gated: bool, early: bool) -> int:
    """Return the exit status: first for a failure, then for a benchmark without a measurement, then for an open one."""
    gates = [row.found.gate for row in told if row.found and row.question and row.question.fail_above is not None]
    if FAILED in gates:
        return FAILED
    if any(row.found is None for row in told):
        return FAILING
    if gated:
        return UNDECIDED if UNDECIDED in gates or not gates else 0
    return INTERRUPTED if early else 0
