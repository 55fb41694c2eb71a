"""`equipoise compare`: which of these programs is faster, smaller or better, on a host that drifts."""

import math
import shlex
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import INTERRUPTED, FailingError, command, harmless, noted, printable
from equipoise.cli.interrupting import interruptible
from equipoise.programs.commands.arranging import in_revisions, job, named, questions, read_options, setup
from equipoise.programs.commands.exporting import Results, check_files, say_all
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import SHORT, Bench, Early, Job, measure
from equipoise.programs.commands.metrics import EVENTS, TIMES, kinds
from equipoise.programs.commands.offered import BUDGET, CLAIM, EXPORTS, HOOKS, RUNNING, WHAT
from equipoise.programs.commands.processes import Programs
from equipoise.programs.commands.scanning import scanned, settings
from equipoise.programs.commands.suite_report import as_junit, cases_of
from equipoise.programs.commands.suite_session import suite_told
from equipoise.programs.comparison_log import ComparisonLog, Execution, by_arm
from equipoise.programs.findings import FAILED, PASSED, UNDECIDED
from equipoise.programs.phrases import amount
from equipoise.programs.question import AGAIN, Question
from equipoise.programs.rounds import Contest
from equipoise.programs.sessions import over, verdict_of
from equipoise.programs.verdict import Verdict
from equipoise.runners import Revision, checked_out, ends

WRONG_USAGE = 64
"""Exit code if nothing was measured; 1 and 2 are verdicts here."""

EXAMPLES = """equipoise compare './old' './new'                           until it is decided, 60 s at most
equipoise compare -n old './a.out x' -n new './b.out x' --time 5m --margin 0.5%
equipoise compare './old' './new' --fail-above 2% --json out.json      for CI: exit status 0, 1 or 2
equipoise compare --git main..HEAD --build make -- ./bench             two revisions, each in its own folder
equipoise compare './old' './new' --log results.jsonl       again on another day: a verdict over sessions
equipoise compare './a' './b' --metric reading --higher --margin 0.5   the last number printed"""

EXIT_STATUS = """\b
Exit status:
  0    done; with --fail-above: no command is worse than the first by more
  1    with --fail-above: one is
  2    with --fail-above: not decided
  4    a command failed, or cannot be measured
  64   wrong usage, or a file that cannot be used
  130  interrupted, without --fail-above; the verdict so far is printed

"""


class _Apart(click.Command):
    """A command whose errors have a separate exit code: 1 and 2 are verdicts."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options."""
        with _errors_apart():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _errors_apart():
            return super().invoke(ctx)


@contextmanager
def _errors_apart() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        harmless(error).show()
        sys.exit(WRONG_USAGE if error.exit_code in (1, 2) else error.exit_code)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call: the output, the early end if there was one, and a note for people."""

    report: Results
    early: Early | None = None
    note: str = ""


@command("compare", EXAMPLES, cls=_Apart, short_help="Compare programs, on a host that drifts.")
@click.argument("commands", nargs=-1)
@WHAT
@CLAIM
@BUDGET
@HOOKS
@RUNNING
@click.option("--duet", is_flag=True, help="Run both at once, on one core each, then swapped. Linux only.")
@click.option("-i", "--ignore-failure", is_flag=True, help="Count runs of a command that fails.")
@click.option("--show-output", is_flag=True, help="The same as --output inherit.")
@click.option("--log", type=click.Path(path_type=Path), help="Keep all runs; an existing file gets one more session.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the random orders.")
@EXPORTS
def compare(commands: tuple[str, ...], names: tuple[str, ...], **options: Any) -> None:
    """Measure COMMANDS in rounds, each in random order, until one is shown to be better.

    If the host slows down, it slows all commands of a round, so the slowdown cancels. The verdict stays valid although
    it is checked after every round. The first command is the reference. With --log and no commands it prints the
    verdict of a log again. With --git it runs one command in each revision. A single command is measured without a
    comparison.
    """
    log: Path | None = options.pop("log")
    files = {name: options.pop(name) for name in ("json_file", "markdown_file", "csv_file", "junit_file", "picture")}
    check_files(files)
    if options["show_output"]:
        options["stdout"] = "inherit"
    if options["reference"] is None and options["reference_name"] is not None:
        raise click.UsageError("--reference-name must be with --reference: use --name for other commands")
    if options["reference"] is not None:
        commands = (options["reference"], *commands)
        if names or options["reference_name"] is not None:
            names = (options["reference_name"] or options["reference"], *names)
    if options["suite"] is not None:
        sys.exit(suite(commands, log, {**options, "names": names}, files))
    if not commands and log is None:
        raise click.UsageError("COMMANDS must be given; or none, and --log with a file to read")
    found = _measured(commands, names, log, options) if commands else _read(log or Path(), options)
    if found.note:
        click.echo(printable(found.note), err=True)
    say_all(found.report, files, lambda report: as_junit(cases_of(report)))
    if isinstance(found.early, FailingError):
        raise found.early
    gated = options["fail_above"] is not None and found.report.verdicts
    sys.exit(gate(found.report) if gated else INTERRUPTED if found.early else 0)


compare.epilog = EXIT_STATUS + (compare.epilog or "")


def gate(report: Results) -> int:
    """Return whether an arm is worse than the first one by more than a limit, by any metric."""
    gates = {verdict.gate for verdict in report.verdicts.values()}
    return next((answer for answer in (FAILED, UNDECIDED) if answer in gates), PASSED)


def suite(words: Sequence[str], log: Path | None, options: Mapping[str, Any], files: Mapping[str, Any]) -> int:
    """Measure the benchmarks of a file; return the exit status."""
    if words:
        raise click.UsageError("--suite has its commands in its file: give none")
    if options["center"] != "typical" or options["null"]:
        raise click.UsageError("--suite must be without --center and --null: its claims are about typical runs")
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        found = _revisions(stack, options)
        arms = tuple(found) if found else ("old", "new")
        if len(arms) != 2:
            raise click.UsageError(f"--suite compares two, got {', '.join(arms)}")
        return suite_told(options["suite"], arms, found, log, options, files)


def _measured(commands: Sequence[str], names: Sequence[str], log: Path | None, options: Mapping[str, Any]) -> Outcome:
    """Measure a session; the verdict covers it and the earlier sessions of the log."""
    given = settings(options["lists"], options["scans"], options["steps"])
    if given[0] and options["revisions"]:
        raise click.UsageError("-L and -P must be without --git: --suite measures many commands in each revision")
    if options["revisions"] and (names or options["reference"] is not None):
        raise click.UsageError(
            "--git must be without --name and --reference: revisions have names, the first is compared"
        )
    commands, names, put, options = scanned(commands, names, given, options)
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        found = _revisions(stack, options)
        arms = _in_each(commands, found) if found else named(commands, names)
        null = next(iter(arms)) + AGAIN if options["null"] else None
        todo = job(arms, null, options)
        if found:
            todo = in_revisions(todo, found, null, options["build"])
        return _session(todo, null, found, log, {**options, "put": dict(zip(arms, put, strict=False))})


def _revisions(stack: ExitStack, options: Mapping[str, Any]) -> dict[str, Revision]:
    """Check out the revisions to compare, by name."""
    if not options["revisions"]:
        if options["build"] is not None:
            raise click.UsageError("--build goes with --git: --setup runs a command before all")
        return {}
    given: Sequence[str] = options["revisions"]
    wanted = ends(given[0]) if len(given) == 1 else given
    found = stack.enter_context(checked_out(list(dict.fromkeys(wanted))))
    if len({each.commit for each in found.values()}) < 2:
        click.echo("Note: the revisions are the same commit: a program is compared with itself.", err=True)
    return {name or "working tree": each for name, each in found.items()}


def _in_each(words: Sequence[str], found: Mapping[str, Revision]) -> dict[str, str]:
    """Return the one command by the name of each revision; words behind `--` are one command."""
    line = words[0] if len(words) == 1 else shlex.join(words)
    if len(found) < 2:
        raise click.UsageError(f"--git must name two revisions that differ by name, got {', '.join(found)}")
    return dict.fromkeys(found, line)


def _session(
    todo: Job, null: str | None, found: Mapping[str, Revision], log: Path | None, options: Mapping[str, Any]
) -> Outcome:
    """Measure a session of a job."""
    read, metrics = read_options(options)
    how = setup(options, read, [metric for metric in metrics if metric in EVENTS])
    asked = questions(list(todo.commands), options, null) if len(todo.commands) > 1 else {}
    lines = {arm: f"{found[arm].commit or 'uncommitted'}: {line}" if arm in found else line
             for arm, line in todo.commands.items()}  # fmt: skip
    results = None if log is None else ComparisonLog(log, lines, notify=noted, exact=bool(found))
    earlier = [] if results is None else results.sessions
    sessions = {metric: [each.values(metric) for each in earlier] for metric in asked}
    if results is not None:
        results.begin()
    contests = {metric: Contest(each, rng=options["seed"]) for metric, each in asked.items()}
    with Programs(how) as programs:
        bench = Bench(todo, contests, programs, results)
        early, shell_cost = measure(bench, Live(sys.stderr, todo.seconds)), programs.shell_cost["wall"]
    if todo.cleanup:
        with Programs(how) as programs:
            Bench(todo, {}, programs).tidy()
    if isinstance(early, FailingError) and not bench.rounds:
        raise early
    verdicts = {metric: _over(contest, sessions[metric]) for metric, contest in contests.items()}
    shown = {metric: kinds(read)[metric] for metric in metrics}
    report = Results(tuple(todo.commands), bench.runs, shown, verdicts, options["put"])
    return Outcome(report, early, _note(report, bench, shell_cost, early))


def _over(contest: Contest, sessions: Sequence[Sequence[Mapping[str, float]]]) -> Verdict:
    """Return the verdict of a contest together with earlier sessions."""
    verdict = contest.verdict()
    return over(contest.question, [*sessions, *([verdict.rounds] if verdict.rounds else [])]) if sessions else verdict


def _read(log: Path, options: Mapping[str, Any]) -> Outcome:
    """Return the verdict of a log, and all its executions."""
    if not log.exists():
        raise click.ClickException(f"{log} does not exist: give commands to measure")
    results = ComparisonLog(log, notify=noted)
    sessions, first = results.sessions, next(iter(results.arms))
    if not sessions:
        raise click.ClickException(f"{log} has no complete round yet: give commands to measure")
    runs = [run for session in sessions for runs in session.rounds for run in runs]
    if any(run.benchmark for run in runs):
        raise click.UsageError(f"{log} is the log of a suite: give --suite with its file")
    shown = {metric: kinds(read_options(options)[0])[metric] for metric in read_options(options)[1]}
    asked: dict[str, Question] = {}
    if len(results.arms) > 1:
        asked = questions(list(results.arms), options, first + AGAIN if first + AGAIN in results.arms else None)
    verdicts = {metric: over(each, [session.values(metric) for session in sessions]) for metric, each in asked.items()}
    return Outcome(Results(tuple(results.arms), runs, shown, verdicts))


def _note(report: Results, bench: Bench, shell_cost: float, early: Early | None) -> str:
    """Return the notes that a reader of the verdict needs."""
    why = "Interrupted" if isinstance(early, KeyboardInterrupt) else "Stopped by a failure"
    notes = [] if early is None else [f"{why}: this is the verdict so far."]
    more = [verdict.more for verdict in report.verdicts.values() if verdict.more is not None]
    if bench.rounds and more:
        each = statistics.median(bench.seconds(runs) for runs in bench.rounds)
        longest = max(more, key=lambda each: each.high)
        known = longest.high if math.isfinite(longest.high) else longest.low
        notes.append(f"Note: {longest} take about {amount(known * each, 'time')}: see --time.")
    notes += sooner(report, bench.rounds)
    walls = {arm: statistics.median(run.wall for run in runs) for arm, runs in report.by_arm.items()}
    brief = [arm for arm, wall in walls.items() if wall < SHORT]
    if shell_cost and brief:
        cost = f"the start of the shell, {amount(shell_cost, 'time')}, is subtracted, but not its noise"
        notes.append(f"Note: {', '.join(brief)}: less than 5 ms; {cost}. More exact: --shell none.")
    return "\n".join(notes)


def sooner(report: Results, rounds: Sequence[Sequence[Execution]]) -> list[str]:
    """Return which other time would have decided the open findings, and after how many rounds."""
    verdict = next(iter(report.verdicts.values()), None)
    if verdict is None or verdict.decided or verdict.question.kind != "time":
        return []
    after = {}
    for metric in (name for name in TIMES if name not in report.metrics):
        values = [by_arm(runs, metric) for runs in rounds]
        if all(value > 0 for each in values for value in each.values()):
            after[metric] = decided_after(verdict.question, values)
    found = {metric: n for metric, n in after.items() if n is not None}
    best = min(found, key=lambda metric: found[metric], default=None)
    return [] if best is None else [f"Note: --metric {best} would have decided after {found[best]} rounds."]


def decided_after(question: Question, rounds: Sequence[Mapping[str, float]]) -> int | None:
    """Return the number of rounds until a decision, by bisection; `None` if even all of them do not decide."""
    if not rounds or not verdict_of(question, rounds).decided:
        return None
    open_yet, decided = 0, len(rounds)
    while decided - open_yet > 1:
        middle = (open_yet + decided) // 2
        is_decided = verdict_of(question, rounds[:middle]).decided
        open_yet, decided = (open_yet, middle) if is_decided else (middle, decided)
    return decided
