"""Experiments: learners by name against the environments, repeated, kept, drawn; the paper's figures among them.

Examples:
    >>> from equipoise.lab.experiments import Experiment, sweep
    >>> curves, = sweep([Experiment("IDS-two", "linear", "drift", readings=100)], repetitions=3)
    >>> curves.final.shape
    (3,)
"""

from equipoise.lab.experiments.backends import backend
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.learners import LEARNERS
from equipoise.lab.experiments.problems import Problem, problem
from equipoise.lab.experiments.results import Curves, Result, Store
from equipoise.lab.experiments.runner import Trace, run
from equipoise.lab.experiments.sweep import sweep

__all__ = [
    "LEARNERS",
    "Curves",
    "Experiment",
    "Problem",
    "Result",
    "Store",
    "Trace",
    "backend",
    "problem",
    "run",
    "sweep",
]
