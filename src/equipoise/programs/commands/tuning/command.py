"""`equipoise tune`: the best settings of a program, on a host that drifts."""

import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from equipoise.answer import FrontPoint
from equipoise.cli.common import INTERRUPTED, FailingError, command, dialed, gains_data, noted, say
from equipoise.cli.interrupting import interruptible
from equipoise.optimizer import Optimizer, resume
from equipoise.programs.commands.arranging import duration, setup
from equipoise.programs.commands.exporting import Results, check_files, draw, finding_data, table
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import Bench, Job, blamed, measure
from equipoise.programs.commands.offered import RUNNING
from equipoise.programs.commands.processes import Programs
from equipoise.programs.commands.tuning.goals import Goals
from equipoise.programs.commands.tuning.searching import SettingRunner, programs_ended, programs_of, search, workers
from equipoise.programs.commands.tuning.template import parsed
from equipoise.programs.phrases import told
from equipoise.programs.rounds import Contest
from equipoise.programs.verdict import Verdict

SEARCH, LEAST_SEARCH = 0.75, 0.4
"""The share of the time for the search; the smaller one if the rest has no room for a verification of its result."""

VERIFYING_ROUNDS, SLACK = 7, 1.2
"""Rounds of verification at least: fewer seldom decide. And how much longer than the first run a run may take."""

PATIENCE_FACTOR, PATIENCE_SECONDS = 20.0, 1.0
"""The default of --timeout: this multiple of the time of the start, plus a second."""

SETTING = re.compile(r"[A-Za-z_]\w*=[^{}]*")
"""A setting of the start."""

EXAMPLES = """equipoise tune 'xz -T1 -{level=0..9} --lzma2=preset={level},nice={nice=8..273:log} -kc data' --time 10m
equipoise tune './server --threads {threads=1..64:log} --mode {mode=fast|safe}' --start threads=8 mode=safe --time 5m
equipoise tune './solve --tol {tol=1e-6..1e-2:log} --block {block=16..512:16}' --log study.jsonl
equipoise tune './solve -j {jobs=1..16} --mem {mem=64..4096:log}' --constraint 'jobs * mem <= 8192' --start jobs=2
equipoise tune './bench --cache {cache=1..64:log}' --metric reading --higher        the last number printed
equipoise tune './server {threads=1..64:log}' --objective=-p99 --limit 'rss <= 2GB' --executor dask --address tcp://10.0.0.5:8786"""


@command("tune", EXAMPLES, short_help="Find the best settings of a program, on a host that drifts.")
@click.argument("words", nargs=-1, required=True, metavar="TEMPLATE")
@click.option("--time", "seconds", callback=duration, default="10m", show_default=True, help="The time budget.")
@click.option(
    "--start",
    multiple=True,
    metavar="NAME=VALUE",
    help="The present setting: measured first, and compared with the winner at the end.",
)
@click.option(
    "--constraint",
    multiple=True,
    metavar="TEXT",
    help="A constraint, such as 'threads * block <= 4096'; repeatable.",
)
@click.option("-p", "--prepare", help="Run before each run of the program; may contain {NAME}.")
@click.option("-s", "--setup", help="Run once before all.")
@click.option("-w", "--warmup", type=click.IntRange(min=0), default=0, help="Runs of the start that do not count.")
@click.option(
    "--metric", help="The objective: wall, cpu, user, system, rss, reading, instructions, ...  [default: wall]"
)
@click.option("--higher", is_flag=True, help="Higher is better.")
@click.option(
    "--read", multiple=True, metavar="NAME[=REGEX]", help="A number that the program prints: a JSON key, or a match."
)
@click.option(
    "--objective", multiple=True, metavar="[-]NAME", help="Instead of --metric: NAME to maximize, -NAME to minimize."
)
@click.option("--limit", "limits", multiple=True, help="A limit: 'rss <= 2GB', 'wall <= start + 10%'.")
@click.option("--readings", type=click.IntRange(min=1), help="Stop the search at this number of readings.")
@RUNNING
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="The number of runs at once.  [default: 1; all of a cluster]"
)
@click.option("--executor", type=click.Choice(["dask"]), help="Measure on the workers of a cluster, all alike.")
@click.option("--address", help="Address of its scheduler, such as tcp://10.0.0.5:8786.  [default: workers here]")
@click.option("--log", type=click.Path(path_type=Path), help="Keep the study; the same command continues it.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the random numbers.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw start and winner, such as tune.png.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
def tune(
    words: tuple[str, ...],
    seconds: float,
    start: tuple[str, ...],
    constraint: tuple[str, ...],
    log: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the settings that make a command line fastest, then verify the winner against the start.

    Write parameters into the command line: {threads=1..64} is a whole number, {x=0.1..2.0} a real one, either with :log
    if ratios matter or with :STEP, and {mode=fast|safe} a choice. {threads} repeats a value. The study also learns from
    a run that fails, or takes 20 times as long as the start (or --timeout). `equipoise best`, `status` and `plot` read
    its log.

    Objectives and limits accept measured quantities (wall, rss, ...) and numbers that the program prints, as JSON or as
    NAME=NUMBER. With several objectives it prints the best compromises, and verifies one in the middle.
    """
    template, more = sorted_words(words)
    check_files({"picture": options["picture"]})
    plan, begun, goals = parsed(template).constrained(constraint), time.monotonic(), Goals.of(options)
    first = plan.start([*start, *more])
    runner = SettingRunner(plan, goals, setup(options, goals.read, goals.events), options["prepare"])
    opt = _study(runner, first, log, options["seed"])
    with interruptible(), programs_ended():
        early = _searched(opt, runner, first, options, begun, seconds)
        best, bench = plan.settings(opt.recommend().x) if opt.readings else first, None
        if early is None and best != first:
            bench, early = _verified(runner, first, best, options["seed"], begun + seconds)
    verdicts = {} if bench is None or not bench.rounds else {n: each.verdict() for n, each in bench.contests.items()}
    decisive = next(iter(verdicts.values()), None)
    if options["picture"] is not None and decisive is not None:
        draw(decisive, options["picture"])
    found = first if decisive is not None and decisive.findings[0].standing == "worse" else best
    front = opt.front() if len(goals.objectives) > 1 and opt.readings else []
    data = {"x": dict(found), "command": plan.command(found), "readings": opt.readings}
    measured = Results(("start", "best"), bench.runs if bench else (), {}, verdicts)
    text = _text(opt, runner, found, first, front, measured)
    say(as_json, data | _data(opt, goals, front, verdicts), text)
    sys.exit(0 if early is None else INTERRUPTED)


def sorted_words(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command line, and the further NAME=VALUE words of --start, which click takes for arguments.

    Example:
        >>> sorted_words(["mode=safe", "./server {threads=1..64} {mode=fast|safe}"])
        ('./server {threads=1..64} {mode=fast|safe}', ['mode=safe'])
    """
    starts = [word for word in words if SETTING.fullmatch(word)]
    rest = [word for word in words if word not in starts]
    if len(rest) != 1:
        raise click.UsageError(f"TEMPLATE must be one command line in quotes, got {len(rest)} words: {' '.join(rest)}")
    return rest[0], starts


def _study(runner: SettingRunner, first: Mapping[str, Any], log: Path | None, seed: int | None) -> Optimizer:
    """Return the study: a new one, which begins at the start, or the one in the log."""
    space, arguments = runner.plan.space, runner.goals.arguments
    is_new = log is None or not log.exists()
    new = Optimizer(space, start=first, rng=seed, log=log if is_new else None, **arguments)
    new.study.notify = noted
    if log is None or is_new:
        number = runner.goals.objectives[0][0]
        if number.log and len(runner.goals.objectives) == 1:
            new.study.set("unit", f"in log {number.name}")  # so that a claim is told as a factor too
        return new
    opt = resume(log, notify=noted)
    parts = [(each.space.to_dict(), each.study.setup.minimize, str(each.study.setup.outputs)) for each in (opt, new)]
    if parts[0] != parts[1]:
        raise click.ClickException(f"{log} is a study of something else: {opt.space!r}")
    return opt


def _searched(
    opt: Optimizer,
    runner: SettingRunner,
    first: Mapping[str, Any],
    options: Mapping[str, Any],
    begun: float,
    seconds: float,
) -> KeyboardInterrupt | None:
    """Measure the start, then search until the time is up; return the interrupt or error that ended it too early."""
    most = options["readings"] or float("inf")
    try:
        with workers(options["executor"], options["address"], options["jobs"]) as where:
            wall = _started(runner, first, options)
            patience = runner.how.timeout or PATIENCE_FACTOR * wall + PATIENCE_SECONDS
            runner = replace(runner, how=replace(runner.how, timeout=patience))
            until = searched_until(begun, seconds, wall)
            search(opt, runner, most, until, where, blocks=options["executor"] is not None)
    except KeyboardInterrupt as early:
        click.echo("\nInterrupted; with --log the same command continues.", err=True)
        return early
    return None


def _started(runner: SettingRunner, first: Mapping[str, Any], options: Mapping[str, Any]) -> float:
    """Run --setup, then the start, `--warmup` times and once more; return the time of this last run."""
    if options["setup"] is not None:
        with blamed("--setup", options["setup"]):
            programs_of(runner.how).do(options["setup"])
    with blamed("the start", runner.plan.command(first)):
        for _ in range(options["warmup"]):
            runner.run(first)
        run = runner.run(first)
        runner.goals.value(run, programs_of(runner.how).floor)
    return run.wall


def searched_until(begun: float, seconds: float, wall: float) -> float:
    """Return the time at which the search ends, so that enough rounds of verification are left.

    Example:
        >>> searched_until(0.0, 100.0, 0.1), round(searched_until(0.0, 100.0, 2.0), 1), searched_until(0.0, 100.0, 20.0)
        (75.0, 66.4, 40.0)
    """
    rounds = 2 * VERIFYING_ROUNDS * SLACK * wall
    return begun + max(min(SEARCH * seconds, seconds - rounds), LEAST_SEARCH * seconds)


def _verified(
    runner: SettingRunner, first: Mapping[str, Any], best: Mapping[str, Any], seed: int | None, until: float
) -> tuple[Bench, KeyboardInterrupt | None]:
    """Compare the winner with the start in rounds that the search has not seen.

    Returns:
        What was measured; and the interrupt that ended it too early.
    """
    contests = {name: Contest(question, rng=seed) for name, question in runner.goals.questions().items()}
    both, seconds = {"start": first, "best": best}, max(until - time.monotonic(), 0.0)
    prepare = {} if runner.prepare is None else {arm: runner.plan.filled(runner.prepare, x) for arm, x in both.items()}
    job = Job(
        {arm: runner.plan.command(x) for arm, x in both.items()},
        prepare=prepare,
        min_rounds=VERIFYING_ROUNDS,
        seconds=seconds,
    )
    with Programs(runner.how) as programs:
        bench = Bench(job, contests, programs)
        early = measure(bench, Live(sys.stderr, seconds))
    if isinstance(early, FailingError):
        early.show()
    if isinstance(early, KeyboardInterrupt):
        click.echo("\nInterrupted: this is the result so far.", err=True)
        return bench, early
    return bench, None


def _text(
    opt: Optimizer,
    runner: SettingRunner,
    found: Mapping[str, Any],
    first: Mapping[str, Any],
    front: Sequence[FrontPoint],
    measured: Results,
) -> str:
    """Return the answer for people: the settings, the front, the verdicts, the command line to use."""
    lines = [f"Start: {dialed(first, opt.space)}", f"Best: {dialed(found, opt.space)}, after {opt.readings} readings"]
    others = [point for point in front if runner.plan.settings(point.x) != found]
    lines += [f"Or: {dialed(point.x, opt.space)}: {runner.goals.gains(point)}" for point in others]
    usability = opt.recommend().usability if opt.readings else None
    lines += [] if usability is None else [runner.goals.told(usability)]
    for number, _ in runner.goals.limits if measured.runs else ():
        lines += table(replace(measured, metrics={number.name: number.kind}), number.name).splitlines()
    if not opt.readings:
        lines += ["No setting was measured."]
    elif not measured.verdicts:
        lines += ["Not verified against the start." if found != first else "The start is the best known setting."]
    several = len(measured.verdicts) > 1
    lines += [f"{name}: {told(verdict)}" if several else told(verdict) for name, verdict in measured.verdicts.items()]
    return "\n".join([*lines, runner.plan.command(found)])


def _data(opt: Optimizer, goals: Goals, front: Sequence[FrontPoint], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Return the answer for scripts: the verification, the probability that limits hold, and the front."""
    each = {name: finding_data(verdict.findings[0], verdict.question) for name, verdict in verdicts.items()}
    data: dict[str, Any] = {"verified": next(iter(each.values()), None)}
    usability = opt.recommend().usability if opt.readings else None
    if usability is not None:
        data["holds"] = usability.probability
    if len(goals.objectives) > 1:
        points = [{"x": point.x, "objectives": gains_data(point)} for point in front]
        data |= {"objectives": each, "front": points}
    return data
