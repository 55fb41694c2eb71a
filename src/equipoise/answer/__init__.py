"""The answer: what is recommended, and what is claimed of it."""

from equipoise.answer.claims import Claim, Difference, Kind
from equipoise.answer.recommendation import Recommendation, Standing, difference, recommended
from equipoise.answer.sequence import Interval, anytime, coin_test, needed
from equipoise.answer.share import Share, share
from equipoise.answer.verification import Verification, finalists

__all__ = [
    "Claim",
    "Difference",
    "Interval",
    "Kind",
    "Recommendation",
    "Share",
    "Standing",
    "Verification",
    "anytime",
    "coin_test",
    "difference",
    "finalists",
    "needed",
    "recommended",
    "share",
]
