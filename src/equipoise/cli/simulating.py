"""`equipoise demo` and `paper`: learners on simulated worlds."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import INTERRUPTED
from equipoise.cli.interrupting import interruptible

COUNT = click.IntRange(min=1)
FILE = click.Path(path_type=Path)

PAPER_EXAMPLES = """\b
Examples:
  equipoise paper linear
  equipoise paper all --repetitions 5 --readings 500     a quick look
  equipoise paper all --backend dask --address tcp://10.0.0.5:8786
"""


@click.command(short_help="Tune a drifting instrument: a picture in seconds.")
@click.option("--out", type=FILE, default=Path("out/demo.png"), help="Picture to write.")
@click.option("--seeds", type=COUNT, help="Runs of each learner.  [default: 3, with --paper 5]")
@click.option("--readings", type=COUNT, help="Readings in each run.  [default: 120, with --paper 600]")
@click.option(
    "--paper", "as_in_paper", is_flag=True, help="The paper's setting: a grid, a known kernel, GP-UCB and IDS."
)
def demo(out: Path, seeds: int | None, readings: int | None, as_in_paper: bool) -> None:
    """Tune a drifting instrument by trusting its readings, and by comparing them.

    The instrument has two knobs, noise, and an offset of sin(0.2 t) - 0.1 t. The learners know only the ranges of the
    knobs. A plain Gaussian process and, if it is installed, Optuna's TPE trust the readings; eq.Optimizer(space)
    measures in pairs. The command prints and draws the regret and the recommendation of each.
    """
    from equipoise.lab.experiments import contenders, contest, paper_contest, recommendation_table, regret_table

    runs = (seeds or 5, readings or 600) if as_in_paper else (seeds or 3, readings or 120)
    total = math.prod(runs) * (2 if as_in_paper else len(contenders()))
    with ending_politely("nothing was written"), bar(total, "reading") as advance:
        contestants = (paper_contest if as_in_paper else contest)(*runs, advance)
    click.echo(f"\n{regret_table(contestants)}\n{recommendation_table(contestants)}")
    with pictures():
        from equipoise.lab.experiments import draw

        click.echo(f"Picture: {draw(contestants, out)}")


def sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a sweep to a command."""
    backends = click.Choice(["loky", "threading", "dask", "ray"])
    for option in (
        click.option("--address", help="Address of a running dask scheduler or ray head."),
        click.option(
            "--backend",
            "--executor",
            "backend",
            type=backends,
            default="loky",
            help="Where to run: loky is this machine.",
        ),
        click.option("--jobs", type=COUNT, help="Processes or workers.  [default: one per core]"),
        click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of all repetitions."),
    ):
        command = option(command)
    return command


@click.command(short_help="Reproduce the paper's figures.", epilog=PAPER_EXAMPLES)
@click.argument("figure", type=click.Choice(["linear", "camelback", "all"]))
@click.option("--repetitions", type=COUNT, default=50, help="Repetitions of each experiment.")
@click.option("--readings", type=COUNT, help="Readings in each run.  [default: 10000 linear, 1000 camelback]")
@click.option(
    "--engine",
    type=click.Choice(["fleet", "one-by-one"]),
    default="fleet",
    help="Run repetitions together, as one array program, or each by itself, which takes many times as long.",
)
@click.option("--out", type=FILE, default=Path("out/paper"), help="Folder to write to.")
@click.option("--strict", is_flag=True, help="Exit with status 1 if a statement of the paper does not hold.")
@sweep_options
def paper(
    figure: str,
    repetitions: int,
    readings: int | None,
    engine: str,
    out: Path,
    strict: bool,
    seed: int,
    **where: Any,
) -> None:
    """Reproduce the paper's figures and check its statements.

    It writes FIGURE.png, .pdf, .csv (the curves) and .md (the table with the reference levels, and the statements). It
    keeps each result in OUT/runs: after an interruption the same command continues, without repeating finished runs.
    The two engines have separate folders.
    """
    from equipoise.lab.experiments import reproduce, save

    settings: Any = {"repetitions": repetitions, "readings": readings, "seed": seed, "engine": engine}
    passed = True
    with sweeping(resumed(out), **where) as jobs:
        for name in ("linear", "camelback") if figure == "all" else (figure,):
            report = reproduce(name, out=out, jobs=jobs, progress=True, **settings)
            click.echo(f"\n{report.settings}\n\n{report.table}\n" + "\n".join(map(str, report.checks)))
            with pictures():
                click.echo("\nWritten: " + ", ".join(map(str, save(report, out))))
            passed = passed and all(check.passed for check in report.checks)
    if strict and not passed:
        raise click.exceptions.Exit(1)


@contextmanager
def sweeping(kept: str, backend: str, jobs: int | None, address: str | None) -> Iterator[int]:
    """Choose where to run, and exit cleanly after an interrupt: `kept` describes the kept results."""
    from equipoise.lab.experiments import backend as choose

    if address is not None and backend not in ("dask", "ray"):
        raise click.UsageError(f"--address is for --backend dask or ray, not for {backend}")
    try:
        with ending_politely(kept), choose(backend, jobs, address) as n:
            yield n
    except ImportError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def ending_politely(kept: str) -> Iterator[None]:
    """Exit cleanly after Ctrl-C or a request to terminate: `kept` describes the kept results."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        click.echo(f"\nInterrupted; {kept}.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def resumed(out: Path) -> str:
    """Return a sentence about the results that an interrupt keeps in a folder or file."""
    return f"finished runs are kept in {out}, and the same command continues"


@contextmanager
def pictures() -> Iterator[None]:
    """Continue without pictures if matplotlib is not installed, with a notice."""
    try:
        yield
    except ImportError as error:
        click.echo(f"No picture: {error}", err=True)


@contextmanager
def bar(total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """Show a progress bar; yield a function that advances it."""
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, dynamic_ncols=True) as bar:
        yield bar.update


def known_names(option: str, names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the given names, or refuse unknown ones."""
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"--{option} must be one of {', '.join(known)}, got {', '.join(unknown)}")
    return list(names)
