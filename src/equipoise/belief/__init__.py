"""The belief: data and a model give mean and covariance of f. Immutable, closed under conditioning."""

from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.confidence import (
    Confidence,
    CredibleConfidence,
    FixedConfidence,
    PaperConfidence,
    TightConfidence,
)
from equipoise.belief.feasibility import Feasibility
from equipoise.belief.folding import Folding
from equipoise.belief.guarded import GuardedPosterior
from equipoise.belief.judgements import JudgedPosterior
from equipoise.belief.learned import LearnedPosterior
from equipoise.belief.listed import FinitePosterior
from equipoise.belief.model import Form, Hyperparameters, Learned, Model, Schedule
from equipoise.belief.posterior import Belief, Posterior

__all__ = [
    "AnywherePosterior",
    "Belief",
    "Confidence",
    "CredibleConfidence",
    "Feasibility",
    "FinitePosterior",
    "FixedConfidence",
    "Folding",
    "Form",
    "GuardedPosterior",
    "Hyperparameters",
    "JudgedPosterior",
    "Learned",
    "LearnedPosterior",
    "Model",
    "PaperConfidence",
    "Posterior",
    "Schedule",
    "TightConfidence",
]
