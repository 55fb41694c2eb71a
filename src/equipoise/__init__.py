"""Equipoise: bias-robust optimization. Tune anything whose measurements drift."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equipoise import belief, kernels, log, offsets, policies, reductions
from equipoise.answer import Recommendation
from equipoise.belief import CredibleConfidence, FixedConfidence, PaperConfidence, TightConfidence
from equipoise.data import Comparison, Duel, Proposal, Trial
from equipoise.kernels import RBF, Linear, Matern52
from equipoise.log import LogError
from equipoise.offsets import Arbitrary, Blocks, Constant, Tracked
from equipoise.optimizer import Optimizer, resume
from equipoise.policies import BOSE, IDS, UCB, Challenger, DoubleThompson, SemiTS
from equipoise.reductions import BestForecaster, Centered, Direct, OnePoint, TwoPoint
from equipoise.spaces import Box, Choice, Context, Finite, Float, Int, Space
from equipoise.study import DuelGivenUp

if TYPE_CHECKING:
    from equipoise import plots
    from equipoise.programs import compare

__version__ = "0.2.0"

LAZY = ("lab", "plots", "programs", "testing", "web")
"""The parts that optimizing does not need, imported when they are first asked for; `compare` is like them."""

__all__ = [
    "BOSE",
    "IDS",
    "RBF",
    "UCB",
    "Arbitrary",
    "BestForecaster",
    "Blocks",
    "Box",
    "Centered",
    "Challenger",
    "Choice",
    "Comparison",
    "Constant",
    "Context",
    "CredibleConfidence",
    "Direct",
    "DoubleThompson",
    "Duel",
    "DuelGivenUp",
    "Finite",
    "FixedConfidence",
    "Float",
    "Int",
    "Linear",
    "LogError",
    "Matern52",
    "OnePoint",
    "Optimizer",
    "PaperConfidence",
    "Proposal",
    "Recommendation",
    "SemiTS",
    "Space",
    "TightConfidence",
    "Tracked",
    "Trial",
    "TwoPoint",
    "belief",
    "compare",
    "kernels",
    "log",
    "offsets",
    "plots",
    "policies",
    "reductions",
    "resume",
]


def __getattr__(name: str) -> Any:
    """Import a part when it is first asked for."""
    if name in LAZY:
        return import_module(f"equipoise.{name}")
    if name == "compare":
        return import_module("equipoise.programs").compare
    raise AttributeError(f"module 'equipoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names a user types."""
    return sorted(__all__)
