"""Equipoise: bias-robust optimization. Tune anything whose measurements drift.

A name is imported when it is first used, so that a program loads only the parts that it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise import belief, kernels, log, offsets, plots, policies, reductions
    from equipoise.answer import Recommendation
    from equipoise.belief import CredibleConfidence, FixedConfidence, PaperConfidence, TightConfidence
    from equipoise.data import Comparison, Duel, Proposal, Trial
    from equipoise.kernels import RBF, Linear, Matern52
    from equipoise.log import LogError
    from equipoise.offsets import Arbitrary, Blocks, Constant, Tracked
    from equipoise.optimizer import Optimizer, resume
    from equipoise.policies import BOSE, IDS, UCB, Challenger, DoubleThompson, SemiTS
    from equipoise.programs import compare
    from equipoise.programs.gating import Gate
    from equipoise.reductions import BestForecaster, Centered, Direct, OnePoint, TwoPoint
    from equipoise.spaces import Box, Choice, Context, Finite, Float, Int, Space
    from equipoise.study import DuelGivenUp

__version__ = "0.3.0"

NAMES = {
    "answer": "Recommendation",
    "belief": "CredibleConfidence FixedConfidence PaperConfidence TightConfidence",
    "data": "Comparison Duel Proposal Trial",
    "kernels": "RBF Linear Matern52",
    "log": "LogError",
    "offsets": "Arbitrary Blocks Constant Tracked",
    "optimizer": "Optimizer resume",
    "policies": "BOSE IDS UCB Challenger DoubleThompson SemiTS",
    "programs": "compare",
    "programs.gating": "Gate",
    "reductions": "BestForecaster Centered Direct OnePoint TwoPoint",
    "spaces": "Box Choice Context Finite Float Int Space",
    "study": "DuelGivenUp",
}
"""The names a user types, by the part of the package that they come from."""

PARTS = (*NAMES, "lab", "likelihoods", "plots", "testing", "web")
"""The parts that a user reaches by their name."""

HOMES = {name: part for part, names in NAMES.items() for name in names.split()}

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
    "Gate",
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
    """Import a name when it is first used (PEP 562)."""
    if name in PARTS:
        return import_module(f"equipoise.{name}")
    if name not in HOMES:
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"equipoise.{HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    """Return the names a user types."""
    return sorted(__all__)
