"""`equipoise bench`: named learners on simulated worlds, on real data, and with judges."""

import json
import textwrap
from pathlib import Path
from typing import Any

import click

from equipoise.cli.competing import board
from equipoise.cli.simulating import (
    COUNT,
    FILE,
    bar,
    ending_politely,
    known_names,
    pictures,
    resumed,
    sweep_options,
    sweeping,
)

BENCH_EXAMPLES = """\b
Examples:
  equipoise bench --bias none --bias drift
  equipoise bench --learner IDS-two --learner random --function branin --bias jumps
  equipoise bench --function linear --bias negative-repeat --readings 2000 --json
  equipoise bench real --help                            published experiments instead
  equipoise bench judge --help                           pairs that are judged
  equipoise bench board --help                           other optimizers, and your own
"""


class _Bench(click.Group):
    """A group that is also a command, and lists all names at the end of its help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the names."""
        super().format_epilog(ctx, formatter)
        from equipoise.lab.environments import BIASES, FUNCTIONS
        from equipoise.lab.experiments import LEARNERS

        with formatter.section("Names"):
            for what, names in {"learners": [*LEARNERS], "functions": [*FUNCTIONS], "biases": [*BIASES]}.items():
                formatter.write(_listed(what, names, formatter.width) + "\n")


def _listed(what: str, names: list[str], width: int) -> str:
    """Return a paragraph of names, without line breaks at hyphens."""
    first, rest = f"  {what:11}", " " * 13
    lines = textwrap.wrap(", ".join(names), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return "\n".join(lines)


@click.group(
    cls=_Bench,
    invoke_without_command=True,
    short_help="Run any learner on any function under any bias; on real data; with judges.",
    epilog=BENCH_EXAMPLES,
)
@click.option("--learner", multiple=True, default=["UCB", "IDS-two"], help="A learner, see Names; repeatable.")
@click.option("--function", multiple=True, default=["camelback-grid"], help="A function; repeatable.")
@click.option("--bias", multiple=True, default=["none"], help="A bias; repeatable.")
@click.option("--repetitions", type=COUNT, default=10, help="Runs of each combination.")
@click.option("--readings", type=COUNT, default=200, help="Readings in each run.")
@click.option("--noise", type=float, help="Standard deviation of a reading's noise.  [default: the problem's own]")
@click.option("--lengthscale", type=float, help="Lengthscale of the learners' kernel.  [default: the problem's own]")
@click.option("--out", type=FILE, help="Folder to keep results in.  [default: none are kept]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@sweep_options
@click.pass_context
def bench(
    ctx: click.Context,
    /,
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
    is the true regret of the final recommendation. All learners have the same functions and the same noise.
    """
    if ctx.invoked_subcommand is not None:
        return
    from equipoise.lab.experiments import bench_data, bench_table, combinations, sweep

    try:
        experiments = combinations(learner, function, bias, **settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with sweeping("results are not kept without --out" if out is None else resumed(out), backend, jobs, address) as n:
        curves = sweep(experiments, repetitions, out=out, jobs=n, progress=True)
    click.echo(json.dumps([bench_data(each) for each in curves], indent=2) if as_json else bench_table(curves))


bench.add_command(board)


@bench.command(short_help="Replay published experiments and recorded drifts.")
@click.option("--competitor", multiple=True, help="An optimizer; repeatable.  [default: those of docs/evidence.md]")
@click.option("--world", multiple=True, help="A table with its drift; repeatable.  [default: all]")
@click.option("--seeds", type=COUNT, default=30, help="Runs of each competitor in each world.")
@click.option("--first", type=click.IntRange(min=0), default=0, help="The first seed.")
@click.option("--out", type=FILE, help="CSV file to keep runs in.  [default: none are kept]")
@click.option("--plot", type=FILE, help="Picture to write.  [default: none]")
def real(
    competitor: tuple[str, ...], world: tuple[str, ...], seeds: int, first: int, out: Path | None, plot: Path | None
) -> None:
    """Replay published experiments with optimizers and with the practice of a careful laboratory.

    The table has the regret of each final recommendation, in percent of the range between the worst and the best arm,
    with two standard errors; in brackets is the percentage of lost runs, those more than 20 % below the best arm.
    Competitors whose package (optuna, cma) is not installed are skipped. Sources and licenses are in
    equipoise/lab/experiments/real/data/NOTICE.md.
    """
    from equipoise.lab.experiments.real import (
        COMPETITORS,
        REPORTED,
        missing,
        planned,
        recorded_worlds,
        score_table,
        scores,
    )

    names = known_names("competitor", competitor or REPORTED, COMPETITORS)
    worlds = known_names("world", world or tuple(recorded_worlds()), recorded_worlds())
    for package in sorted({needed for name in names if (needed := missing(name)) is not None}):
        click.echo(f"Skipped, because {package} is missing: pip install {package}", err=True)
    runs = range(first, first + seeds)
    kept = "runs are not kept without --out" if out is None else resumed(out)
    total = len(list(planned(names, worlds, runs)))
    with ending_politely(kept), bar(total, "run") as advance:
        rows = scores(names, worlds, runs, out, advance)
    click.echo(score_table(rows))
    if plot is not None:
        with pictures():
            from equipoise.lab.experiments.real import draw

            click.echo(f"Picture: {draw(rows, plot)}")


@bench.command(short_help="Compare rules that choose pairs to judge: MaxMinLCB's benchmark.")
@click.option("--rule", multiple=True, help="A rule; repeatable.  [default: all]")
@click.option("--utility", multiple=True, help="A function to judge; repeatable.  [default: all seven]")
@click.option("--answers", type=COUNT, help="Answers in each run.  [default: 200]")
@click.option("--seeds", type=COUNT, help="Runs of each rule with each utility.  [default: 5]")
@click.option("--first", type=click.IntRange(min=0), default=0, help="The first seed.")
@click.option("--full", is_flag=True, help="The published size, 2000 answers and 20 seeds: about ten minutes.")
@click.option("--out", type=FILE, help="CSV file to keep runs in.  [default: none are kept]")
def judge(
    rule: tuple[str, ...],
    utility: tuple[str, ...],
    answers: int | None,
    seeds: int | None,
    first: int,
    full: bool,
    out: Path | None,
) -> None:
    """Let rules choose pairs of 100 settings for a simulated judge, who decides which of the two is better.

    The table has the cumulative regret with its standard error: the sum over answers of the mean probability, above one
    half, that the best setting is preferred to the two. After the slash it has the regret of the recommended setting,
    in units of the utility, which ranges from -3 to 3. Utilities, kernels and the judge are those published with
    MaxMinLCB (Pasztor, Kassraie and Krause 2024). All rules know the kernel.
    """
    from equipoise.lab.experiments.preferences import RULES, UTILITIES, lots, preference_table, tournament

    rules, utilities = (
        known_names("rule", rule or tuple(RULES), RULES),
        known_names("utility", utility or (*UTILITIES,), UTILITIES),
    )
    size = (2000, 20) if full else (200, 5)
    count, runs = answers or size[0], range(first, first + (seeds or size[1]))
    jobs = list(lots(rules, utilities, count, runs))
    kept = "runs are not kept without --out" if out is None else resumed(out)
    with ending_politely(kept), bar(len(jobs), "lot") as advance:
        rows = tournament(jobs, out, advance)
    click.echo(preference_table(rows))
