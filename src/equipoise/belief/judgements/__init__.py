"""Learning from judgements beside readings, and what a log keeps of it."""

from equipoise.belief.judgements.fit import FEW, REFITS, JudgeFit
from equipoise.belief.judgements.fitting import ANSWERED_VARIANCE, JudgedKernel
from equipoise.belief.judgements.learning import Judged, appended, consistent, fitted
from equipoise.belief.judgements.pairing import Pairing, outcome

__all__ = [
    "ANSWERED_VARIANCE",
    "FEW",
    "REFITS",
    "JudgeFit",
    "Judged",
    "JudgedKernel",
    "Pairing",
    "appended",
    "consistent",
    "fitted",
    "outcome",
]
