"""The answer: what is recommended, and what is claimed of it."""

from equipoise.answer.recommendation import Recommendation, recommended

__all__ = ["Recommendation", "recommended"]
