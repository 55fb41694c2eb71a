"""The shell of a study: `Optimizer`, and `resume`, which rebuilds one from its log."""

from equipoise.optimizer.ask_tell import Optimizer
from equipoise.optimizer.resuming import resume

__all__ = ["Optimizer", "resume"]
