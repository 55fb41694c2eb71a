"""`equipoise tune`: the best settings of a program, on a host that drifts."""

import math
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import INTERRUPTED, FailingError, command, dialed, noted, say
from equipoise.cli.interrupting import interruptible
from equipoise.cli.running import bar
from equipoise.optimizer import Optimizer, resume
from equipoise.programs.calling import SAME_TIME
from equipoise.programs.commands.arranging import duration, setup
from equipoise.programs.commands.exporting import draw, finding_data
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import Bench, Job, blame, measure
from equipoise.programs.commands.metrics import KINDS
from equipoise.programs.commands.processes import LAST, Programs, RunOptions
from equipoise.programs.commands.template import Template, parsed
from equipoise.programs.comparison_log import Execution
from equipoise.programs.phrases import told
from equipoise.programs.question import Question, Scale
from equipoise.programs.rounds import Contest
from equipoise.programs.verdict import Verdict
from equipoise.runners import FailedError, LauncherError

SEARCH, LEAST_SEARCH = 0.75, 0.5
"""Of the time goes to the search; the rest verifies what it has found. It is up to half, if a quarter is few rounds."""

VERIFYING_ROUNDS, SLACK = 7, 1.2
"""Rounds of verification at least: fewer seldom decide. And how much longer than the first run a run may take."""

PATIENCE_FACTOR, PATIENCE_SECONDS = 20.0, 1.0
"""A run has failed after this many times what the start takes, and a second, unless --timeout says something else."""

MOST_FAILURES = 20
"""Failures in a row after which it is given up."""

LONGEST_REASON = 400
"""Characters of the reason why a trial failed that are kept in the study."""

EXAMPLES = """equipoise tune 'xz -T1 -{level=0..9} --lzma2=preset={level},nice={nice=8..273:log} -kc data' --time 10m
equipoise tune './server --threads {threads=1..64:log} --mode {mode=fast|safe}' --start threads=8 --time 5m
equipoise tune './solve --tol {tol=1e-6..1e-2:log} --block {block=16..512:16}' --log study.jsonl
equipoise tune './solve -j {jobs=1..16} --mem {mem=64..4096:log}' --constraint 'jobs * mem <= 8192' --start jobs=2
equipoise tune './bench --cache {cache=1..64:log}' --metric reading --higher        the last number printed"""


@dataclass(frozen=True)
class Goal:
    """What a run of the program says of its settings.

    Attributes:
        metric: Which number of an execution counts.
        higher: Whether a higher one is better.
        ratio: Whether ratios count: the study then has the logarithm.
    """

    metric: str
    higher: bool
    ratio: bool

    def value(self, run: Any) -> float:
        """Return what is told to the study."""
        value = float(run.value(self.metric))
        if not self.ratio:
            return value
        if value <= 0:
            raise FailedError(f"its {self.metric} reads {value:g}")
        return math.log(value)

    def question(self) -> Question:
        """Return what is asked of the start and the winner."""
        kind, margin = KINDS[self.metric], SAME_TIME if self.ratio else 0.0
        scale: Scale = "ratio" if self.ratio else "difference"
        return Question(("start", "best"), higher=self.higher, scale=scale, margin=margin, kind=kind)


@command("tune", EXAMPLES, short_help="The best settings of a program, on a host that drifts.")
@click.argument("template")
@click.option("--time", "seconds", callback=duration, default="10m", show_default=True, help="How long it may take.")
@click.option(
    "--start",
    multiple=True,
    metavar="NAME=VALUE",
    help="The present setting: measured first, and verified against at the end.",
)
@click.option(
    "--constraint",
    multiple=True,
    metavar="TEXT",
    help="What must hold, such as 'threads * block <= 4096'; all of them.",
)
@click.option("-p", "--prepare", help="Run before each run of the program; settings have the same places.")
@click.option("-s", "--setup", help="Run once before all.")
@click.option("-w", "--warmup", type=click.IntRange(min=0), default=0, help="Runs of the start that do not count.")
@click.option("--metric", type=click.Choice(list(KINDS)), default="wall", show_default=True, help="What counts.")
@click.option("--higher", is_flag=True, help="Higher is better.")
@click.option(
    "--readings", type=click.IntRange(min=1), help="Stop the search when the study has this number of readings."
)
@click.option("--timeout", callback=duration, help="A run that takes longer has failed.  [default: 20 times the start]")
@click.option("-S", "--shell", default="default", show_default=True, help="none, default (sh), or another shell.")
@click.option("-N", "no_shell", is_flag=True, help="The same as --shell none.")
@click.option("--input", "stdin", default="null", show_default=True, help="File for standard input, or null.")
@click.option("--output", "stdout", default="null", show_default=True, help="null, inherit, or a file to append to.")
@click.option("--log", type=click.Path(path_type=Path), help="Keep the study; the same command continues it.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the random numbers.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw start and winner, such as tune.png.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
def tune(
    template: str,
    seconds: float,
    start: tuple[str, ...],
    constraint: tuple[str, ...],
    log: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Look for the settings with which a command line is fastest, then verify the winner against the start.

    Parameters stand in the command line: {threads=1..64} a whole number, {x=0.1..2.0} a real one, either with :log
    where ratios count or :STEP, and {mode=fast|safe} a choice. {threads} puts one in a second place. A run that fails
    or takes too long is learned from. It is a study like any other: `equipoise best`, `status` and `plot` read its log.
    """
    plan, begun = parsed(template).constrained(constraint), time.monotonic()
    first = plan.start(start)
    goal = Goal(options["metric"], options["higher"], KINDS[options["metric"]] != "reading")
    opt = _study(plan, goal, first, log, options["seed"])
    with interruptible():
        options = {**options, "ignore_failure": False}
        early = _searched(opt, plan, goal, first, options, begun, seconds)
        best, verdict = plan.settings(opt.recommend().x) if opt.readings else first, None
        if early is None and best != first:
            verdict, early = _verified(plan, goal, first, best, options, begun + seconds)
    if options["picture"] is not None and verdict is not None:
        draw(verdict, options["picture"])
    found = first if verdict is not None and verdict.findings[0].standing == "worse" else best
    say(as_json, _data(opt, plan, found, verdict), _text(opt, plan, found, first, verdict))
    sys.exit(0 if early is None else INTERRUPTED)


def _how(options: Mapping[str, Any]) -> RunOptions:
    """Return how programs are run."""
    return setup(options, (LAST,) if options["metric"] == "reading" else ())


def _study(plan: Template, goal: Goal, first: Mapping[str, Any], log: Path | None, seed: int | None) -> Optimizer:
    """Return the study: a new one, which begins at the start, or the one in the log."""
    if log is None or not log.exists():
        opt = Optimizer(plan.space, start=first, minimize=not goal.higher, log=log, rng=seed)
        opt.study.notify = noted
        return opt
    opt = resume(log, notify=noted)
    if opt.space.to_dict() != plan.space.to_dict() or opt.study.setup.minimize == goal.higher:
        raise click.ClickException(f"{log} is a study of something else: {opt.space!r}")
    return opt


def _searched(
    opt: Optimizer,
    plan: Template,
    goal: Goal,
    first: Mapping[str, Any],
    options: dict[str, Any],
    begun: float,
    seconds: float,
) -> KeyboardInterrupt | None:
    """Measure the start, then what the study asks for until the time is up; return what ended it too early."""
    try:
        wall = _started(plan, first, options)
        options["timeout"] = options["timeout"] or PATIENCE_FACTOR * wall + PATIENCE_SECONDS
        _search(opt, plan, goal, options, searched_until(begun, seconds, wall))
    except KeyboardInterrupt as early:
        click.echo("\nInterrupted; with --log the same command continues.", err=True)
        return early
    return None


def _started(plan: Template, first: Mapping[str, Any], options: Mapping[str, Any]) -> float:
    """Run what comes before all, then the start, as often as said and once more; return how long that one took."""
    command = plan.command(first)
    with Programs(_how(options)) as programs:
        try:
            if options["setup"] is not None:
                programs.do(options["setup"])
            for _ in range(options["warmup"]):
                _run(programs, plan, first, options)
            return _run(programs, plan, first, options).wall
        except FailedError as error:
            raise click.ClickException(blame("the start", command, error)) from error


def _run(programs: Programs, plan: Template, x: Mapping[str, Any], options: Mapping[str, Any]) -> Execution:
    """Run the program with settings, after what prepares it."""
    if options["prepare"] is not None:
        programs.do(plan.filled(options["prepare"], x))
    return programs.run("trial", plan.command(x))


def searched_until(begun: float, seconds: float, wall: float) -> float:
    """Return until when to search, such that enough rounds of verification are left.

    Example:
        >>> searched_until(0.0, 100.0, 0.1), round(searched_until(0.0, 100.0, 2.0), 1), searched_until(0.0, 100.0, 20.0)
        (75.0, 66.4, 50.0)
    """
    rounds = 2 * VERIFYING_ROUNDS * SLACK * wall
    return begun + max(min(SEARCH * seconds, seconds - rounds), LEAST_SEARCH * seconds)


def _search(opt: Optimizer, plan: Template, goal: Goal, options: Mapping[str, Any], until: float) -> None:
    """Measure what the study asks for until the time is up, or the program fails again and again."""
    failures, most = 0, options["readings"] or math.inf
    with Programs(_how(options)) as programs, bar(opt, options["readings"]) as advance:
        programs.calibrate()
        while time.monotonic() < until and opt.readings < most:
            failed = _failed(opt, plan, goal, programs, options)
            failures = 0 if failed is None else failures + 1
            advance(opt.readings)
            if failures == MOST_FAILURES:
                raise FailingError(f"The program failed {failures} times in a row. At last {failed}")


def _failed(opt: Optimizer, plan: Template, goal: Goal, programs: Programs, options: Mapping[str, Any]) -> str | None:
    """Measure one trial; return what has failed, if anything."""
    trial = opt.ask()
    x = plan.settings(trial.x)
    command = plan.command(x)
    try:
        opt.tell(trial, goal.value(_run(programs, plan, x, options)), x=x)
    except FailedError as error:
        opt.tell(trial, failed=": ".join([str(error), *error.complaints.rstrip().splitlines()[-1:]])[:LONGEST_REASON])
        return blame("it", command, error)
    except (KeyboardInterrupt, LauncherError):
        with suppress(ValueError):  # it may have been told just before
            opt.study.expire(trial)
        raise
    return None


def _verified(
    plan: Template,
    goal: Goal,
    first: Mapping[str, Any],
    best: Mapping[str, Any],
    options: Mapping[str, Any],
    until: float,
) -> tuple[Verdict | None, KeyboardInterrupt | None]:
    """Compare the winner with the start in rounds that the search has not seen.

    Returns:
        The verdict, or `None` if there was no complete round; and the interrupt that ended it too early.
    """
    contest = Contest(goal.question(), rng=options["seed"])
    commands = {"start": plan.command(first), "best": plan.command(best)}
    seconds = max(until - time.monotonic(), 0.0)
    with Programs(_how(options)) as programs:
        hook = options["prepare"]
        prepare = {} if hook is None else {"start": plan.filled(hook, first), "best": plan.filled(hook, best)}
        job = Job(commands, prepare=prepare, min_rounds=VERIFYING_ROUNDS, seconds=seconds)
        bench = Bench(job, {goal.metric: contest}, programs)
        early = measure(bench, Live(sys.stderr, seconds))
    if isinstance(early, FailingError):
        early.show()
    verdict = contest.verdict() if bench.rounds else None
    if isinstance(early, KeyboardInterrupt):
        click.echo("\nInterrupted: this is what is known so far.", err=True)
        return verdict, early
    return verdict, None


def _text(
    opt: Optimizer, plan: Template, found: Mapping[str, Any], first: Mapping[str, Any], verdict: Verdict | None
) -> str:
    """Return the answer for people: the settings, the verdict, the command line to use."""
    verified = "Not verified against the start." if found != first else "The start is best, as far as is known."
    lines = [f"Start: {dialed(first, opt.space)}", f"Best: {dialed(found, opt.space)}, after {opt.readings} readings"]
    return "\n".join([*lines, verified if verdict is None else told(verdict), plan.command(found)])


def _data(opt: Optimizer, plan: Template, found: Mapping[str, Any], verdict: Verdict | None) -> dict[str, Any]:
    """Return the answer for scripts."""
    verified = None if verdict is None else finding_data(verdict.findings[0], verdict)
    return {"x": dict(found), "command": plan.command(found), "readings": opt.readings, "verified": verified}
