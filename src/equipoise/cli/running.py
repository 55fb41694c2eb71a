"""`equipoise run`: the user's program measures trial after trial."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from equipoise.cli.common import (
    AS_JSON,
    AUDIT,
    BLOCK,
    CONTEXT,
    EPS,
    FAILING,
    INTERRUPTED,
    NOT_YET,
    STUDY,
    WORKER,
    best_data,
    command,
    context_of,
    dialed,
    json_line,
    noted,
    opened,
    printable,
    say,
)
from equipoise.cli.interrupting import interruptible
from equipoise.log import LogError
from equipoise.optimizer import Optimizer
from equipoise.runners import FailedError, Launcher, LauncherError, Program, Reaching, only_one


@command(
    "run",
    """equipoise run study.jsonl --eps 0.1 -- ./measure.sh          called as ./measure.sh --q1=0.5 --q2=-0.3
equipoise run study.jsonl --readings 200 --timeout 60 -- python measure.py --shots 5
equipoise run study.jsonl --stdin -- ./measure               reads {"id": 0, "x": {"q1": 0.5, "q2": -0.3}}
equipoise run study.jsonl --worker laser-2 -- ./measure.sh   several at once: give each its own name
equipoise run study.jsonl --block tuesday -- ./measure.sh    another day, another level
equipoise run study.jsonl --context temp=21 -- ./measure.sh
equipoise run study.jsonl -- ./train --seed {seed}           of a study begun with --seeds any""",
    short_help="Let your program measure.",
)
@STUDY
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--readings", type=click.IntRange(min=1), help="Stop when the study has this number of readings.")
@EPS
@AUDIT
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a reading may take.")
@click.option("--stdin", is_flag=True, help="Settings as JSON on standard input, not as arguments.")
@click.option(
    "--max-failures",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Stop after this number of failures in a row.",
)
@WORKER
@BLOCK
@CONTEXT
@AS_JSON
def run(
    study: Path, program: tuple[str, ...], timeout: float | None, stdin: bool, as_json: bool, **limits: Any
) -> None:
    """Call PROGRAM for every trial and tell its result, until the bound, the budget or Ctrl-C.

    The program gets the settings as arguments, `--name=value`, or instead of `{name}` among its words, or with --stdin
    as JSON. The last line that it prints is the reading: a number, a share such as 17/200, or a JSON object with
    "value" and optionally "x", "time", "error", "block" and "covariates", or with "failed". Numbers by name are lines
    such as flux=3.1, or one JSON object with null for a missing number.

    If the program fails, hangs or prints something else, the study does not use the pair and begins the next one. Every
    reading is saved at once: after an interruption or a crash the same command continues.

    With --eps the run stops once an audit confirms that nothing is better by more than EPS; with --no-audit an estimate
    is enough. Audits begin once the best setting has settled. If the run uses up --readings before, it prints the
    reason, and the exit code is 3.

    If the study has contexts, --context holds for the whole run, and "x" may give their real values.
    """
    opt = opened(study)
    if (block := limits.pop("block")) is not None:
        opt.begin_block(block)
    worker, context = limits.pop("worker"), context_of(opt, limits.pop("context"))
    with interruptible(), only_one(study, worker), bar(opt, limits["readings"]) as advance:
        for record in opt.records(aside=False):  # open trials of a run that crashed
            if record.trial in opt.study.open_trials and record.worker == worker:
                opt.study.expire(record.trial)
        with Program(program, stdin, timeout, launcher=Launcher(noted)) as measuring:
            code = _loop(opt, measuring, worker, context, advance, **limits)
    found = opt.recommend(context=context)
    say(as_json, best_data(found, limits["eps"], limits["audit"]) | {"exit": code}, str(found))
    sys.exit(code)


def _loop(
    opt: Optimizer,
    program: Program,
    worker: str | None,
    context: Mapping[str, Any] | None,
    advance: Any,
    readings: int | None,
    eps: float | None,
    audit: bool,
    max_failures: int,
) -> int:
    """Measure until the goal is reached; return the exit code."""
    in_a_row, goal = (
        0,
        None if eps is None else Reaching(opt, eps, readings, audit, context, partial(click.echo, err=True)),
    )
    try:
        while goal is None or not goal.reached():
            if readings is not None and opt.readings >= readings:
                missed = "" if goal is None else goal.missed()
                click.echo(missed, err=True, nl=bool(missed))
                return NOT_YET if missed else 0
            in_a_row = 0 if _measure(opt, program, worker, context) else in_a_row + 1
            if in_a_row >= max_failures:
                click.echo(f"The program failed {in_a_row} times in a row.", err=True)
                return FAILING
            advance(opt.readings)
    except KeyboardInterrupt:
        click.echo("\nInterrupted; nothing is lost, and the same command continues.", err=True)
        return INTERRUPTED
    return 0


def _measure(opt: Optimizer, program: Program, worker: str | None, context: Mapping[str, Any] | None) -> bool:
    """Measure one trial; return whether there was a reading."""
    trial = opt.ask(worker=worker, context=context)
    told = None
    try:
        told = program.measure(trial)
        opt.tell(trial, **told)
        return True
    except (LogError, np.linalg.LinAlgError):  # not the program's fault
        click.echo(f"Trial {trial.id} read {json_line(told)}, which the study refused.", err=True)
        raise
    except (FailedError, TypeError, ValueError) as error:  # or an invalid reading
        click.echo(printable(f"Trial {trial.id} failed, {error}: {dialed(trial.x, opt.space)}", keep=""), err=True)
        opt.tell(trial, failed=str(error))
        return False
    except OSError as error:
        opt.study.expire(trial)
        message = f"{program.words[0]} could not be started: {error.strerror or error}"
        raise click.ClickException(printable(message)) from error
    except (KeyboardInterrupt, LauncherError):
        with suppress(ValueError):  # it may have been answered just before
            opt.study.expire(trial)
        raise


@contextmanager
def bar(opt: Optimizer, readings: int | None) -> Iterator[Any]:
    """Show a progress bar of readings; yield a function that takes their number."""
    from tqdm import tqdm

    with tqdm(total=readings, initial=opt.readings, unit="reading", dynamic_ncols=True, disable=None) as drawn:

        def advance(done: int) -> None:
            drawn.update(done - drawn.n)

        yield advance
