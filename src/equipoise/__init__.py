"""Equipoise: bias-robust optimization. Tune anything whose measurements drift."""

from equipoise import kernels, policies, reductions
from equipoise.baselines import RunningMean, Zero
from equipoise.confidence import FixedConfidence, PaperConfidence, TightConfidence
from equipoise.duel import Comparison, Duel, Proposal, Trial
from equipoise.kernels import RBF, Kernel, Linear, Matern32, Matern52
from equipoise.ledger import DuelGivenUp
from equipoise.optimizer import Optimizer, Recommendation
from equipoise.policies import IDS, UCB, Policy
from equipoise.posterior import Belief, CovariancePosterior, DualPosterior, Posterior
from equipoise.reductions import Centered, Direct, OnePoint, Reduction, TwoPoint
from equipoise.space import Box, Domain, Finite

__version__ = "0.1.0"

__all__ = [
    "IDS",
    "RBF",
    "UCB",
    "Belief",
    "Box",
    "Centered",
    "Comparison",
    "CovariancePosterior",
    "Direct",
    "Domain",
    "DualPosterior",
    "Duel",
    "DuelGivenUp",
    "Finite",
    "FixedConfidence",
    "Kernel",
    "Linear",
    "Matern32",
    "Matern52",
    "OnePoint",
    "Optimizer",
    "PaperConfidence",
    "Policy",
    "Posterior",
    "Proposal",
    "Recommendation",
    "Reduction",
    "RunningMean",
    "TightConfidence",
    "Trial",
    "TwoPoint",
    "Zero",
    "kernels",
    "policies",
    "reductions",
]
