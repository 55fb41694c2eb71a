"""`equipoise compare`: which of these programs is faster, smaller or better, on a host that drifts."""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import INTERRUPTED, FailingError, command, harmless, noted, printable
from equipoise.cli.interrupting import interruptible
from equipoise.programs.commands.arranging import KINDS, duration, job, named, question, setup
from equipoise.programs.commands.exporting import say_all
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import SHORT, measure, tidy
from equipoise.programs.commands.processes import Programs
from equipoise.programs.comparison_log import ComparisonLog, Execution
from equipoise.programs.phrases import amount
from equipoise.programs.question import AGAIN
from equipoise.programs.rounds import Contest
from equipoise.programs.sessions import over
from equipoise.programs.verdict import Verdict

WRONG_USAGE = 64
"""Exit code where nothing was measured; 1 and 2 are verdicts here."""

EXAMPLES = """equipoise compare './old' './new'                           until it is decided, 60 s at most
equipoise compare -n old './a.out x' -n new './b.out x' --time 5m --margin 0.5%
equipoise compare './old' './new' --fail-above 2% --json out.json      for CI: exit status 0, 1 or 2
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
    """A command whose errors have an exit code of their own: 1 and 2 are verdicts."""

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
    """What came of a call: the verdict, the executions behind it, what ended it too early, and a note for people."""

    verdict: Verdict
    runs: Sequence[Execution]
    early: KeyboardInterrupt | FailingError | None = None
    note: str = ""


@command("compare", EXAMPLES, cls=_Apart, short_help="Which program is faster, on a host that drifts?")
@click.argument("commands", nargs=-1)
@click.option("-n", "--name", "--command-name", "names", multiple=True, help="Name of a command, in their order.")
@click.option("--metric", type=click.Choice(list(KINDS)), default="wall", show_default=True, help="What is compared.")
@click.option("--higher", is_flag=True, help="Higher is better.")
@click.option(
    "--scale", type=click.Choice(["ratio", "difference"]), help="[default: difference for a reading, else ratio]"
)
@click.option(
    "--center",
    type=click.Choice(["typical", "median", "mean"]),
    default="typical",
    show_default=True,
    help="What is claimed of a pair of runs.",
)
@click.option("--margin", help="Arms that differ by less are the same: 1%, or 0.5 where differences count.")
@click.option("--fail-above", help="Only ask whether a command is worse than the first by more: 2%.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="How often a verdict may be wrong.",
)
@click.option("--null", is_flag=True, help="Measure the first command twice a round: the floor of the noise.")
@click.option("--time", "seconds", callback=duration, help="Stop after this time, decided or not.  [default: 60s]")
@click.option("-m", "--min-runs", type=click.IntRange(min=1), help="Rounds at least.  [default: 10 without --time]")
@click.option("-M", "--max-runs", type=click.IntRange(min=1), help="Rounds at most.")
@click.option("-w", "--warmup", type=click.IntRange(min=0), default=0, help="Rounds first that do not count.")
@click.option("-p", "--prepare", multiple=True, help="Run before each run: one for all commands, or one each.")
@click.option("-s", "--setup", multiple=True, help="Run once before all: one for all commands, or one each.")
@click.option("-c", "--cleanup", multiple=True, help="Run once after all: one for all commands, or one each.")
@click.option("-S", "--shell", default="default", show_default=True, help="none, default (sh), or another shell.")
@click.option("-N", "no_shell", is_flag=True, help="The same as --shell none.")
@click.option("-i", "--ignore-failure", is_flag=True, help="A command that fails counts all the same.")
@click.option("--timeout", callback=duration, help="A run that takes longer has failed.")
@click.option("--input", "stdin", default="null", show_default=True, help="File for standard input, or null.")
@click.option("--output", "stdout", default="null", show_default=True, help="null, inherit, or a file to append to.")
@click.option("--log", type=click.Path(path_type=Path), help="Keep all runs; a file that exists gets one more session.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the random orders.")
@click.option("--json", "--export-json", "json_file", help="Write results as hyperfine does, and ours; - prints them.")
@click.option("--markdown", "--export-markdown", "markdown_file", help="Write a table; - prints it.")
@click.option("--csv", "--export-csv", "csv_file", help="Write a table as hyperfine does; - prints it.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw a picture, such as compare.png.")
def compare(commands: tuple[str, ...], names: tuple[str, ...], **options: Any) -> None:
    """Measure COMMANDS in rounds, each in a random order, until it is decided which is better.

    What slows the host down slows all of a round, so it cancels; and the verdict holds though it is looked at after
    every round. The first command is the one that others are compared with. With --log and no commands the verdict of
    a log is printed again.
    """
    log: Path | None = options.pop("log")
    files = {name: options.pop(name) for name in ("json_file", "markdown_file", "csv_file", "picture")}
    if len(commands) < 2 and (commands or log is None):
        raise click.UsageError("COMMANDS must be two or more; or none, and --log with a file to read")
    found = _measured(named(commands, names), log, options) if commands or log is None else _read(log, options)
    if found.note:
        click.echo(printable(found.note), err=True)
    say_all(found.verdict, found.runs, options["metric"], files)
    if isinstance(found.early, FailingError):
        raise found.early
    gated = found.verdict.question.fail_above is not None
    sys.exit(found.verdict.gate if gated else INTERRUPTED if found.early else 0)


compare.epilog = EXIT_STATUS + (compare.epilog or "")


def _measured(commands: Mapping[str, str], log: Path | None, options: Mapping[str, Any]) -> Outcome:
    """Measure a session; the verdict is over it and those that the log has already."""
    null = next(iter(commands)) + AGAIN if options["null"] else None
    asked = question([*commands, *([null] if null else [])], options, null)
    todo, how = job(commands, asked, options), setup(options)
    results = None if log is None else ComparisonLog(log, todo.commands, notify=noted)
    sessions = [] if results is None else [each.values(todo.metric) for each in results.sessions]
    if results is not None:
        results.begin()
    contest = Contest(asked, rng=options["seed"])
    with interruptible():
        with Programs(how) as programs:
            rounds, early = measure(contest, programs, todo, results, Live(sys.stderr, todo.seconds))
        if todo.cleanup:
            tidy(how, todo)
    if isinstance(early, FailingError) and not rounds:
        raise early
    verdict, runs = contest.verdict(), [run for each in rounds for run in each]
    if sessions:
        verdict = over(asked, [*sessions, verdict.rounds] if rounds else sessions)
    return Outcome(verdict, runs, early, _note(verdict, rounds, programs.shell_cost["wall"], early is not None))


def _read(log: Path, options: Mapping[str, Any]) -> Outcome:
    """Return the verdict of a log, and all its executions."""
    if not log.exists():
        raise click.ClickException(f"{log} does not exist: give commands to measure")
    results = ComparisonLog(log, notify=noted)
    sessions, first = results.sessions, next(iter(results.arms))
    if not sessions:
        raise click.ClickException(f"{log} has no complete round yet: give commands to measure")
    asked = question(list(results.arms), options, first + AGAIN if first + AGAIN in results.arms else None)
    verdict = over(asked, [each.values(options["metric"]) for each in sessions])
    return Outcome(verdict, [run for session in sessions for runs in session.rounds for run in runs])


def _note(verdict: Verdict, rounds: Sequence[Sequence[Execution]], shell_cost: float, early: bool) -> str:
    """Return what the reader of the verdict should know."""
    notes = ["Interrupted: this is the verdict so far."] if early else []
    if rounds and verdict.more is not None:
        each = statistics.median(sum(run.wall for run in runs) for runs in rounds)
        notes.append(f"Note: {verdict.more} more rounds take about {amount(verdict.more * each, 'time')}: see --time.")
    walls: dict[str, list[float]] = {}
    for run in (run for runs in rounds for run in runs):
        walls.setdefault(run.arm, []).append(run.wall)
    brief = [arm for arm, times in walls.items() if statistics.median(times) < SHORT]
    if shell_cost and brief:
        cost = f"the start of the shell, {amount(shell_cost, 'time')}, is taken off, its noise is not"
        notes.append(f"Note: {', '.join(brief)}: less than 5 ms; {cost}. More exact: --shell none.")
    return "\n".join(notes)
