"""The options of `equipoise compare`, in groups; `tune` has some of them too."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click import option

from equipoise.programs.commands.arranging import duration

Decorator = Callable[[Any], Any]


def grouped(options: Sequence[Decorator]) -> Decorator:
    """Return a decorator that adds options in their order."""

    def add(function: Any) -> Any:
        for each in reversed(options):
            function = each(function)
        return function

    return add


WHAT = grouped(
    [
        option(
            "-n",
            "--name",
            "--command-name",
            "names",
            multiple=True,
            help="Name of a command, in the order of the commands.",
        ),
        option("--reference", metavar="COMMAND", help="The reference command, before all others."),
        option("--reference-name", help="Name of the reference command."),
        option("--git", "revisions", multiple=True, metavar="REV[..REV]", help="Run the command in each revision."),
        option("--suite", type=click.Path(path_type=Path), help="A file with many benchmarks, in one budget."),
        option("--build", metavar="COMMAND", help="With --git: run once in each revision, first."),
        option(
            "-L",
            "--parameter-list",
            "lists",
            nargs=2,
            multiple=True,
            metavar="NAME VALUES",
            help="Replace {NAME} by each of these values, separated by commas.",
        ),
        option(
            "-P",
            "--parameter-scan",
            "scans",
            nargs=3,
            multiple=True,
            metavar="NAME MIN MAX",
            help="Replace {NAME} by each of these numbers.",
        ),
        option("-D", "--parameter-step-size", "steps", multiple=True, help="Step of each -P, in their order."),
    ]
)
CLAIM = grouped(
    [
        option(
            "--metric",
            multiple=True,
            help="wall, cpu, user, system, rss, reading, instructions, ...; repeatable.  [default: wall]",
        ),
        option(
            "--read",
            multiple=True,
            metavar="NAME[=REGEX]",
            help="A number that the program prints: a JSON key, or a match.",
        ),
        option("--higher", is_flag=True, help="Higher is better."),
        option(
            "--scale",
            type=click.Choice(["ratio", "difference"]),
            help="Compare ratios or differences.  [default: ratio; difference for readings]",
        ),
        option(
            "--center",
            type=click.Choice(["typical", "median", "mean"]),
            default="typical",
            show_default=True,
            help="The kind of average that the verdict is about.",
        ),
        option("--margin", help="Commands that differ by less are the same: 1%, or 0.5 with --scale difference."),
        option("--fail-above", help="Only test whether a command is worse than the first by more, such as 2%."),
        option(
            "--alpha",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.05,
            show_default=True,
            help="How often a verdict may be wrong.",
        ),
        option("--null", is_flag=True, help="Measure the first command twice in each round: the noise floor."),
    ]
)
BUDGET = grouped(
    [
        option("--time", "seconds", callback=duration, help="Stop after this time, decided or not.  [default: 60s]"),
        option("-r", "--runs", type=click.IntRange(min=1), help="Rounds, exactly."),
        option("-m", "--min-runs", type=click.IntRange(min=1), help="Rounds at least.  [default: 10 without --time]"),
        option("-M", "--max-runs", type=click.IntRange(min=1), help="Rounds at most."),
        option("--min-benchmarking-time", "min_seconds", callback=duration, help="Do not stop before this time."),
        option(
            "-w", "--warmup", type=click.IntRange(min=0), default=0, help="Rounds at the beginning that do not count."
        ),
    ]
)
HOOKS = grouped(
    [
        option("-p", "--prepare", multiple=True, help="Run before each run: one for all commands, or one each."),
        option("-C", "--conclude", multiple=True, help="Run after each run: one for all commands, or one each."),
        option("-s", "--setup", multiple=True, help="Run once before all: one for all commands, or one each."),
        option("-c", "--cleanup", multiple=True, help="Run once after all: one for all commands, or one each."),
    ]
)
RUNNING = grouped(
    [
        option("-S", "--shell", default="default", show_default=True, help="none, default (sh), or another shell."),
        option("-N", "no_shell", is_flag=True, help="The same as --shell none."),
        option("--timeout", callback=duration, help="A run that takes longer has failed."),
        option("--input", "stdin", default="null", show_default=True, help="File for standard input, or null."),
        option("--output", "stdout", default="null", show_default=True, help="null, pipe, inherit, or a file."),
    ]
)
EXPORTS = grouped(
    [
        option("--json", "--export-json", "json_file", help="Write results as hyperfine does, with ours; - prints."),
        option("--markdown", "--export-markdown", "markdown_file", help="Write a table; - prints it."),
        option("--csv", "--export-csv", "csv_file", help="Write a table as hyperfine does; - prints it."),
        option("--junit", "junit_file", help="Write a test case for each command or benchmark, as JUnit XML."),
        option("--plot", "picture", type=click.Path(path_type=Path), help="Draw a picture, such as compare.png."),
    ]
)
