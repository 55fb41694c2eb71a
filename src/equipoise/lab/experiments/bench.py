"""Benchmarks: any learner on any function under any bias, by name."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.reports import levels, markdown
from equipoise.lab.experiments.results import Curves
from equipoise.lab.experiments.statistics import level


def combinations(
    learners: Sequence[str], functions: Sequence[str], biases: Sequence[str], **settings: Any
) -> list[Experiment]:
    """Return an experiment for each combination of names, all of them known to work together.

    Args:
        learners: Names in `LEARNERS`.
        functions: Names in `FUNCTIONS`.
        biases: Names in `BIASES`.
        **settings: Further arguments of `Experiment`.

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
