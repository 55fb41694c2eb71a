"""Tables of figures and benchmarks: the final levels and the curves, in Markdown, CSV and plain data."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np

from equipoise.lab.experiments.checks import LINEAR
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.figures import Figure, Outcome
from equipoise.lab.experiments.results import Curves, as_csv
from equipoise.lab.experiments.statistics import growth, level, short, two_standard_errors

Place = tuple[str, str, str, int]
"""A figure, a bias, a learner and a number of readings."""


def references() -> dict[Place, list[str]]:
    """Return the levels measured with the authors' code or read off the thesis' figures, with their sources.

    Example:
        >>> references()["linear", "drift", "UCB", 10_000]
        ["8412 ± 392 (authors' code)"]
    """
    text = (files("equipoise.lab.experiments") / "reference.csv").read_text(encoding="utf-8")
    found: dict[Place, list[str]] = defaultdict(list)
    for row in csv.DictReader(text.splitlines()):
        error = f" ± {row['two_standard_errors']}" if row["two_standard_errors"] else ""
        median = f" median {row['median']}" if row["median"] else ""
        place = row["figure"], row["bias"], row["learner"], int(row["readings"])
        found[place].append(f"{row['mean']}{error}{median} ({row['source']})")
    return dict(found)


def levels_table(figure: Figure, outcome: Outcome) -> str:
    """Return the final levels of a figure next to the reference, in Markdown."""
    known = references()
    columns = ["bias", "learner", "regret", "median", "linear runs", "recommended", "us/reading", "reference"]
    rows = []
    for (world, learner), curves in outcome.items():
        place = (figure.name, curves.experiment.bias, learner, curves.experiment.readings)
        rows.append([world.title, figure.label(learner), *levels(curves), "; ".join(known.get(place, []))])
    return markdown(columns, rows)


def levels(curves: Curves) -> list[str]:
    """Return the numbers that summarize an experiment.

    They are the regret with two standard errors, its median, the number of runs that still grow linearly, the regret of
    the recommendation, and the processor time per reading.
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
    """Return the mean curves of a figure as comma-separated values, one point per row."""
    columns = ["bias", "lengthscale", "learner", "readings", "mean", "two_standard_errors", "median"]
    return as_csv(columns, (row for curves in outcome.values() for row in _points(curves)))


def _points(curves: Curves) -> Iterable[list[object]]:
    R, experiment = curves.regret, curves.experiment
    lengthscale = "" if experiment.lengthscale is None else experiment.lengthscale
    numbers = zip(curves.at, R.mean(axis=0), two_standard_errors(R), np.median(R, axis=0), strict=True)
    for at, mean, error, median in numbers:
        fixed = [f"{value:.6g}" for value in (mean, error, median)]
        yield [experiment.bias, lengthscale, experiment.learner, at, *fixed]


def combinations(
    learners: Sequence[str], functions: Sequence[str], biases: Sequence[str], **settings: Any
) -> list[Experiment]:
    """Return an experiment for each combination of names, after checking that they work together.

    Example:
        >>> [e.label for e in combinations(["UCB"], ["linear"], ["none", "drift"], readings=10)]
        ['linear_none_UCB', 'linear_drift_UCB']
    """
    names = product(functions, biases, learners)
    experiments = [Experiment(learner, function, bias, **settings) for function, bias, learner in names]
    for experiment in experiments:
        experiment.plan.start(0)[0].ask()  # some learners need a finite or a small set: better to hear of it now
    return experiments


def bench_table(curves: Sequence[Curves]) -> str:
    """Return the levels of experiments in Markdown."""
    columns = ["function", "bias", "learner", "regret", "median", "linear runs", "recommended", "us/reading"]
    named = [(c.experiment, c) for c in curves]
    return markdown(columns, [[e.function, e.bias, e.learner, *levels(c)] for e, c in named])


def bench_data(curves: Curves) -> dict[str, Any]:
    """Return the levels of an experiment as plain data for JSON."""
    experiment, regret = curves.experiment, level(curves.final)
    return {
        "function": experiment.function,
        "bias": experiment.bias,
        "learner": experiment.learner,
        "readings": experiment.readings,
        "repetitions": len(curves.results),
        "seed": experiment.seed,
        "noise": experiment.description["noise"],
        "regret_mean": regret.mean,
        "regret_two_standard_errors": None if math.isnan(regret.error) else regret.error,
        "regret_median": regret.median,
        "recommended_regret_mean": float(np.mean(curves.column("recommended_regret"))),
        "gap_bound_mean": float(np.mean(curves.column("gap_bound"))),
        "cpu_microseconds_per_reading": 1e6 * float(np.mean(curves.column("cpu_seconds"))) / experiment.readings,
    }


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
