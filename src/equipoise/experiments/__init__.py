"""Experiments: learners by name against the environments, repeated, kept, drawn; the paper's figures among them.

Examples:
    >>> from equipoise.experiments import Experiment, sweep
    >>> curves, = sweep([Experiment("IDS-two", "linear", "drift", readings=100)], repetitions=3)
    >>> curves.final.shape
    (3,)
"""

from equipoise.experiments.backends import backend
from equipoise.experiments.experiment import Experiment
from equipoise.experiments.learners import LEARNERS
from equipoise.experiments.problems import Problem, problem
from equipoise.experiments.results import Curves, Result, Store
from equipoise.experiments.runner import Trace, run
from equipoise.experiments.sweep import sweep

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
