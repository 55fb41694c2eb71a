"""The belief that learns from judgements beside readings, and what a log keeps of it."""

from equipoise.belief.judgements.fitting import Fitted
from equipoise.belief.judgements.heard import Heard
from equipoise.belief.judgements.judged import JudgedPosterior

__all__ = ["Fitted", "Heard", "JudgedPosterior"]
