"""Equipoise: bias-robust optimization. Tune anything whose measurements drift."""

from importlib import import_module
from types import ModuleType

from equipoise import kernels, plots, policies, reductions
from equipoise.baselines import RunningMean, Zero
from equipoise.confidence import CredibleConfidence, FixedConfidence, PaperConfidence, TightConfidence
from equipoise.dual import DualPosterior
from equipoise.duel import Comparison, Duel, Proposal, Trial
from equipoise.forecasters import BestForecaster, ExponentialAverage, LastOffset, MinusLast, Trend
from equipoise.guarded import GuardedPosterior
from equipoise.kernels import RBF, Kernel, Linear, Matern32, Matern52
from equipoise.learned import LearnedPosterior
from equipoise.ledger import DuelGivenUp
from equipoise.lines import LogError, TornLine
from equipoise.named_space import Space
from equipoise.numeric import Float, Int
from equipoise.offsets import Arbitrary, Constant, OffsetKernel, Tracked
from equipoise.optimizer import Optimizer, Recommendation
from equipoise.parameters import Choice, Fixed
from equipoise.policies import (
    BOSE,
    IDS,
    UCB,
    Challenger,
    DoubleThompson,
    MaxInfo,
    MaxMinLCB,
    PairIDS,
    Policy,
    Random,
    SemiTS,
    SemiTSPosterior,
)
from equipoise.posterior import Belief, CovariancePosterior, Posterior
from equipoise.reductions import Centered, Direct, OnePoint, Reduction, TwoPoint
from equipoise.space import Box, Domain, Finite
from equipoise.study import resume

__version__ = "0.1.0"

__all__ = [
    "BOSE",
    "IDS",
    "RBF",
    "UCB",
    "Arbitrary",
    "Belief",
    "BestForecaster",
    "Box",
    "Centered",
    "Challenger",
    "Choice",
    "Comparison",
    "Constant",
    "CovariancePosterior",
    "CredibleConfidence",
    "Direct",
    "Domain",
    "DoubleThompson",
    "DualPosterior",
    "Duel",
    "DuelGivenUp",
    "ExponentialAverage",
    "Finite",
    "Fixed",
    "FixedConfidence",
    "Float",
    "GuardedPosterior",
    "Int",
    "Kernel",
    "LastOffset",
    "LearnedPosterior",
    "Linear",
    "LogError",
    "Matern32",
    "Matern52",
    "MaxInfo",
    "MaxMinLCB",
    "MinusLast",
    "OffsetKernel",
    "OnePoint",
    "Optimizer",
    "PairIDS",
    "PaperConfidence",
    "Policy",
    "Posterior",
    "Proposal",
    "Random",
    "Recommendation",
    "Reduction",
    "RunningMean",
    "SemiTS",
    "SemiTSPosterior",
    "Space",
    "TightConfidence",
    "TornLine",
    "Tracked",
    "Trend",
    "Trial",
    "TwoPoint",
    "Zero",
    "kernels",
    "plots",
    "policies",
    "reductions",
    "resume",
]


def __getattr__(name: str) -> ModuleType:
    """Import the parts that optimizing does not need when they are first asked for."""
    if name in ("environments", "experiments"):
        return import_module(f"equipoise.{name}")
    raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
