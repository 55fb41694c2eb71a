"""Tables: final levels beside the reference figures, and the curves, for people and for programs."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from equipoise.lab.experiments.checks import LINEAR
from equipoise.lab.experiments.figures import Figure, Outcome
from equipoise.lab.experiments.results import Curves, as_csv
from equipoise.lab.experiments.statistics import growth, level, short, two_standard_errors


@dataclass(frozen=True)
class Reference:
    """A level measured elsewhere, as in `reference.csv`.

    Attributes:
        figure: The name of the figure.
        bias: A name in `BIASES`.
        learner: A name in `LEARNERS`.
        readings: After how many readings.
        text: The level and where it comes from.
    """

    figure: str
    bias: str
    learner: str
    readings: int
    text: str


def references() -> list[Reference]:
    """Return the levels measured with the authors' code or read off the thesis' figures.

    Example:
        >>> [each.text for each in references() if (each.bias, each.learner) == ("drift", "UCB")]
        ["8412 ± 392 (authors' code)"]
    """
    text = (files("equipoise.lab.experiments") / "reference.csv").read_text(encoding="utf-8")
    return [_reference(row) for row in csv.DictReader(text.splitlines())]


def _reference(row: dict[str, str]) -> Reference:
    error = f" ± {row['two_standard_errors']}" if row["two_standard_errors"] else ""
    median = f" median {row['median']}" if row["median"] else ""
    text = f"{row['mean']}{error}{median} ({row['source']})"
    return Reference(row["figure"], row["bias"], row["learner"], int(row["readings"]), text)


def levels_table(figure: Figure, outcome: Outcome) -> str:
    """Return the final levels of a figure beside the reference, in Markdown."""
    known = references()
    columns = ["bias", "learner", "regret", "median", "linear runs", "recommended", "us/reading", "reference"]
    rows = []
    for (world, learner), curves in outcome.items():
        experiment = curves.experiment
        key = (figure.name, experiment.bias, learner, experiment.readings)
        found = [r.text for r in known if (r.figure, r.bias, r.learner, r.readings) == key]
        rows.append([world.title, figure.label(learner), *levels(curves), "; ".join(found)])
    return markdown(columns, rows)


def levels(curves: Curves) -> list[str]:
    """Return the numbers that sum up an experiment.

    Regret with two standard errors, its median, how many runs still grow linearly, what the recommendation costs, and
    processor time per reading.
    """
    regret = level(curves.final)
    linear = np.count_nonzero(growth(curves) >= LINEAR)
    microseconds = 1e6 * np.mean(curves.column("cpu_seconds")) / curves.experiment.readings
    return [
        str(regret),
        short(regret.median),
        f"{linear}/{len(curves.results)}",
        short(float(np.mean(curves.column("recommended_regret")))),
        f"{microseconds:.0f}",
    ]


def curves_csv(figure: Figure, outcome: Outcome) -> str:
    """Return the mean curves of a figure as comma-separated values, one point a row."""
    columns = ["bias", "lengthscale", "learner", "readings", "mean", "two_standard_errors", "median"]
    return as_csv(columns, (row for curves in outcome.values() for row in _points(curves)))


def _points(curves: Curves) -> Iterable[list[object]]:
    R, experiment = curves.regret, curves.experiment
    lengthscale = "" if experiment.lengthscale is None else experiment.lengthscale
    numbers = zip(curves.at, R.mean(axis=0), two_standard_errors(R), np.median(R, axis=0), strict=True)
    for at, mean, error, median in numbers:
        fixed = [f"{value:.6g}" for value in (mean, error, median)]
        yield [experiment.bias, lengthscale, experiment.learner, at, *fixed]


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, padded so that it is legible as it is.

    Example:
        >>> print(markdown(["learner", "regret"], [["UCB", "12"]]), end="")
        | learner | regret |
        |---------|--------|
        | UCB     | 12     |
    """
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows)]
    rule = "|".join("-" * (width + 2) for width in widths)
    body = [f"| {line} |" for line in lines]
    return "\n".join([body[0], f"|{rule}|", *body[1:]]) + "\n"
