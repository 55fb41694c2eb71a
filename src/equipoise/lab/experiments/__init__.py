"""Experiments: named learners in simulated environments, with repetitions, storage and plots, and the paper's figures.

Examples:
    >>> from equipoise.lab.experiments import Experiment, sweep
    >>> curves, = sweep([Experiment("IDS-two", "linear", "drift", readings=100)], repetitions=3)
    >>> curves.final.shape
    (3,)
"""

from equipoise.lab.experiments.backends import backend
from equipoise.lab.experiments.demo import contenders as contenders
from equipoise.lab.experiments.demo import contest as contest
from equipoise.lab.experiments.demo import paper_contest as paper_contest
from equipoise.lab.experiments.demo import recommendation_table as recommendation_table
from equipoise.lab.experiments.demo import regret_table as regret_table
from equipoise.lab.experiments.demo_plot import draw as draw
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.learners import LEARNERS
from equipoise.lab.experiments.paper import reproduce as reproduce
from equipoise.lab.experiments.paper import save as save
from equipoise.lab.experiments.parallel import in_parallel as in_parallel
from equipoise.lab.experiments.problems import Problem, problem
from equipoise.lab.experiments.reports import bench_data as bench_data
from equipoise.lab.experiments.reports import bench_table as bench_table
from equipoise.lab.experiments.reports import combinations as combinations
from equipoise.lab.experiments.reports import markdown as markdown
from equipoise.lab.experiments.results import Curves, Result, Store
from equipoise.lab.experiments.runner import Learner as Learner
from equipoise.lab.experiments.runner import run
from equipoise.lab.experiments.statistics import short as short
from equipoise.lab.experiments.statistics import two_standard_errors as two_standard_errors
from equipoise.lab.experiments.sweep import sweep

__all__ = [
    "LEARNERS",
    "Curves",
    "Experiment",
    "Problem",
    "Result",
    "Store",
    "backend",
    "problem",
    "run",
    "sweep",
]
