"""`equipoise bench board`: optimizers on tasks with drifting readings; results are kept, merged and drawn."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from equipoise.cli.simulating import COUNT, FILE, bar, pictures, resumed, sweeping

BOARD_EXAMPLES = """\b
Examples:
  equipoise bench board --stored --page board.html       what comes with this library
  equipoise bench board --learner default --learner TPE --task "camel2, walk" --seeds 4
  equipoise bench board --learner mine:Annealing --stored      your own, beside the others
  equipoise bench board --out one.jsonl --first 0 --seeds 4    on one machine, and
  equipoise bench board --out two.jsonl --first 4 --seeds 4    on another one; then
  equipoise bench board --seeds 0 --with one.jsonl --with two.jsonl
  equipoise bench board --all --backend dask --address tcp://10.0.0.5:8786
"""


@click.command(short_help="Compare optimizers, also your own, on drifting readings.", epilog=BOARD_EXAMPLES)
@click.option("--learner", multiple=True, help='A learner, or yours as "module:Class"; repeatable.  [default: all]')
@click.option("--task", multiple=True, help="A task; repeatable.  [default: those of the small board]")
@click.option("--all", "whole", is_flag=True, help="All tasks instead of the small board.")
@click.option("--seeds", type=click.IntRange(min=0), default=4, show_default=True, help="Runs of each learner.")
@click.option("--first", type=click.IntRange(min=0), default=0, help="The first seed.")
@click.option("--out", type=FILE, help="File of JSON lines to keep runs in.  [default: none are kept]")
@click.option("--with", "others", type=FILE, multiple=True, help="Results of others to merge; repeatable.")
@click.option("--stored", is_flag=True, help="Merge the results that come with this library.")
@click.option("--page", type=FILE, help="HTML page to write.  [default: none]")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON lines instead of tables.")
@click.option(
    "--backend", type=click.Choice(["loky", "threading", "dask", "ray"]), default="loky", help="Where to run."
)
@click.option("--jobs", type=COUNT, help="Processes or workers.  [default: one per core]")
@click.option("--address", help="Address of a running dask scheduler or ray head.")
@click.option("--list", "names_only", is_flag=True, help="Print the names of tasks and learners, and run nothing.")
def board(
    learner: tuple[str, ...],
    task: tuple[str, ...],
    whole: bool,
    seeds: int,
    first: int,
    out: Path | None,
    others: tuple[Path, ...],
    stored: bool,
    page: Path | None,
    as_json: bool,
    backend: str,
    jobs: int | None,
    address: str | None,
    names_only: bool,
) -> None:
    """Let optimizers tune functions and real tables whose readings drift, and print the regret and the claims of each.

    A task is a function or a table, an offset and noise. A learner is a class with `ask`, `tell` and `best`
    (docs/board.md has one in thirty lines). Results are JSON lines; `--with` merges files of several machines. The
    board skips a learner whose package is not installed, or that does not support a task, and gives the reason. A
    learner that raises an error loses that run only: the error is printed at the end, and the exit status is 1.
    """
    from equipoise.lab import board as lab

    if names_only:
        _list(lab.tasks(), lab.SMALL, {name: each.missing for name, each in lab.LISTED.items()} | dict(lab.ABSENT))
        return
    names = task or (tuple(lab.tasks()) if whole else lab.SMALL)
    if unknown := [name for name in names if name not in lab.tasks()]:
        raise click.UsageError(f"--task must be one of those that --list prints, got {', '.join(unknown)}")
    learners = list(learner or (*lab.LISTED, *lab.ABSENT))
    try:
        left_out = lab.skipped(names if seeds else (), learners)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    _say_left_out(left_out, names)
    runs = [(n, each, i) for i in range(first, first + seeds) for n in names for each in learners]
    runs = [run for run in runs if run[:2] not in left_out]
    kept = "runs are not kept without --out" if out is None else resumed(out)
    try:
        theirs = lab.merged(others)
        with sweeping(kept, backend, jobs, address) as workers, bar(len(runs), "run") as advance:
            scores, broken = lab.contest(runs, out, advance, workers)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    own = {score.key for score in scores}
    for some in (theirs, lab.stored() if stored else []):
        scores += [score for score in some if score.key not in own]
        own = {score.key for score in scores}
    click.echo("\n".join(score.to_json() for score in scores) if as_json else lab.report(scores))
    if page is not None:
        with pictures():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(lab.page(scores), encoding="utf-8")
        click.echo(f"Page: {page}", err=True)
    for each in broken:
        click.echo(f"Failed: {each}", err=True)
    if broken:
        raise click.exceptions.Exit(1)


def _list(tasks: Iterable[str], small: Sequence[str], learners: Mapping[str, str | None]) -> None:
    """Print the names of tasks and learners; mark the small board, and say why a learner cannot run here."""
    for name in tasks:
        click.echo(f"{name:<26}small board" if name in small else name)
    click.echo()
    for name, why in learners.items():
        click.echo(f"{name:<26}{why}" if why else name)


def _say_left_out(reasons: Mapping[tuple[str, str], str], tasks: Sequence[str]) -> None:
    """Print which learners are skipped, and why."""
    by_learner = defaultdict(list)
    for (task, learner), why in reasons.items():
        by_learner[learner, why].append(task)
    for (learner, why), some in by_learner.items():
        where = "" if len(some) == len(tasks) else f" in {len(some)} of {len(tasks)} tasks"
        click.echo(f"Skipped: {learner}{where}, {why}", err=True)
