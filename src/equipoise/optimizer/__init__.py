"""The shell of a study: `Optimizer`, and `resume`, which rebuilds one from its log."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.optimizer.ask_tell import Optimizer
    from equipoise.optimizer.resuming import resume
else:
    __getattr__ = lazily(__name__)

__all__ = ["Optimizer", "resume"]
