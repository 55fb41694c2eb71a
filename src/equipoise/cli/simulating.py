"""`equipoise demo`, `paper` and `bench`: learners against simulated worlds."""

import json
import textwrap
from collections.abc import Callable, Iterator
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
BENCH_EXAMPLES = """\b
Examples:
  equipoise bench --bias none --bias drift
  equipoise bench --learner IDS-two --learner random --function branin --bias jumps
  equipoise bench --function linear --bias negative-repeat --readings 2000 --json
"""


@click.command(short_help="Tune a drifting instrument: a picture in seconds.")
@click.option("--out", type=FILE, default=Path("out/demo.png"), help="Picture to write.")
@click.option("--seeds", type=COUNT, default=5, help="Runs of each learner.")
@click.option("--readings", type=COUNT, default=600, help="Readings in each run.")
def demo(out: Path, seeds: int, readings: int) -> None:
    """Tune a drifting instrument twice: believing its readings, and comparing them.

    The six-hump camelback function on a 30 x 30 grid, read with noise while the offset wanders off by sin(0.2 t) -
    0.1 t. GP-UCB takes the readings at face value; IDS measures in pairs. Prints what each paid and recommends, and
    draws it.
    """
    from equipoise.experiments.demo import contest, recommendation_table, regret_table

    with _ending_politely("nothing was written"), _bar(2 * seeds * readings) as advance:
        contestants = contest(seeds, readings, advance)
    click.echo(f"\n{regret_table(contestants)}\n{recommendation_table(contestants)}")
    with _pictures():
        from equipoise.experiments.demo_plot import draw

        click.echo(f"Picture: {draw(contestants, out)}")


def _sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a sweep to a command."""
    backends = click.Choice(["loky", "threading", "dask", "ray"])
    for option in (
        click.option("--address", help="Of a running dask scheduler or ray head."),
        click.option("--backend", type=backends, default="loky", help="Where to run: loky is this machine."),
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
@click.option("--strict", is_flag=True, help="Exit with status 1 if a statement of the paper does not come out.")
@_sweep_options
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
    """Reproduce the paper's figures and say which of its statements come out.

    Writes FIGURE.png, .pdf, .csv (the curves) and .md (the table beside the reference levels, and the statements).
    Results are kept in OUT/runs as they come: after an interruption the same command continues, and what is there is
    not run again. Those of the two engines are kept apart.
    """
    from equipoise.experiments.paper import reproduce, save

    settings: Any = {"repetitions": repetitions, "readings": readings, "seed": seed, "engine": engine}
    passed = True
    with _sweeping(_resumed(out), **where) as jobs:
        for name in ("linear", "camelback") if figure == "all" else (figure,):
            report = reproduce(name, out=out, jobs=jobs, progress=True, **settings)
            click.echo(f"\n{report.settings}\n\n{report.table}\n" + "\n".join(map(str, report.checks)))
            with _pictures():
                click.echo("\nWritten: " + ", ".join(map(str, save(report, out))))
            passed = passed and all(check.passed for check in report.checks)
    if strict and not passed:
        raise click.exceptions.Exit(1)


class _Bench(click.Command):
    """A command that lists all names at the end of its help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the names."""
        super().format_epilog(ctx, formatter)
        from equipoise.environments import BIASES, FUNCTIONS
        from equipoise.experiments import LEARNERS

        with formatter.section("Names"):
            for what, names in {"learners": [*LEARNERS], "functions": [*FUNCTIONS], "biases": [*BIASES]}.items():
                formatter.write(_listed(what, names, formatter.width) + "\n")


def _listed(what: str, names: list[str], width: int) -> str:
    """Return a paragraph of names, none of them broken at a hyphen."""
    first, rest = f"  {what:11}", " " * 13
    lines = textwrap.wrap(", ".join(names), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return "\n".join(lines)


@click.command(cls=_Bench, short_help="Run any learner on any function under any bias.", epilog=BENCH_EXAMPLES)
@click.option("--learner", multiple=True, default=["UCB", "IDS-two"], help="May be repeated.")
@click.option("--function", multiple=True, default=["camelback-grid"], help="May be repeated.")
@click.option("--bias", multiple=True, default=["none"], help="May be repeated.")
@click.option("--repetitions", type=COUNT, default=10, help="Runs of each combination.")
@click.option("--readings", type=COUNT, default=200, help="Readings in each run.")
@click.option("--noise", type=float, help="Standard deviation of a reading's noise.  [default: the problem's own]")
@click.option("--lengthscale", type=float, help="Of the learners' kernel.  [default: the problem's own]")
@click.option("--out", type=FILE, help="Folder to keep results in.  [default: none are kept]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@_sweep_options
def bench(
    learner: tuple[str, ...],
    function: tuple[str, ...],
    bias: tuple[str, ...],
    repetitions: int,
    out: Path | None,
    as_json: bool,
    backend: str,
    jobs: int | None,
    address: str | None,
    **settings: Any,
) -> None:
    """Run any learner on any function under any bias, and print a table.

    The regret of a run is summed over all its readings; the table has its mean over the repetitions with two standard
    errors, and its median. "linear runs" are those whose regret still grows like the number of readings, "recommended"
    is the true regret of the final recommendation. All learners meet the same functions and the same noise.
    """
    from equipoise.experiments.bench import bench_data, bench_table, combinations
    from equipoise.experiments.sweep import sweep

    try:
        experiments = combinations(learner, function, bias, **settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with _sweeping("results are not kept without --out" if out is None else _resumed(out), backend, jobs, address) as n:
        curves = sweep(experiments, repetitions, out=out, jobs=n, progress=True)
    click.echo(json.dumps([bench_data(each) for each in curves], indent=2) if as_json else bench_table(curves))


@contextmanager
def _sweeping(kept: str, backend: str, jobs: int | None, address: str | None) -> Iterator[int]:
    """Choose where to run, and end politely: `kept` says what an interruption leaves."""
    from equipoise.experiments.backends import backend as choose

    if address is not None and backend not in ("dask", "ray"):
        raise click.UsageError(f"--address is for --backend dask or ray, not for {backend}")
    try:
        with _ending_politely(kept), choose(backend, jobs, address) as n:
            yield n
    except ImportError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _ending_politely(kept: str) -> Iterator[None]:
    """End politely after Ctrl-C or a request to terminate: `kept` says what that leaves."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        click.echo(f"\nInterrupted; {kept}.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _resumed(out: Path) -> str:
    return f"finished runs are kept in {out}, and the same command continues"


@contextmanager
def _pictures() -> Iterator[None]:
    """Do without matplotlib where it is not installed, and say so."""
    try:
        yield
    except ImportError as error:
        click.echo(f"No picture: {error}", err=True)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], object]]:
    from tqdm import tqdm

    with tqdm(total=total, unit="reading", dynamic_ncols=True) as bar:
        yield bar.update


EXPERIMENTS = [demo, paper, bench]
"""What `equipoise` offers to experiment with."""
