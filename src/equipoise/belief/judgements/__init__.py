"""Learning from judgements beside readings, and what a log keeps of it."""

from equipoise.belief.judgements.fit import JudgeFit
from equipoise.belief.judgements.fitting import ANSWERED_VARIANCE, JudgedKernel
from equipoise.belief.judgements.learning import Judged, Mixed, pair_variance
from equipoise.belief.judgements.pairing import Pairing

__all__ = [
    "ANSWERED_VARIANCE",
    "JudgeFit",
    "Judged",
    "JudgedKernel",
    "Mixed",
    "Pairing",
    "pair_variance",
]
