"""Judging: which of two settings is better, and roughly by how much, as people and models say it."""

from equipoise.judging.heard import Heard
from equipoise.judging.judged import JudgedPosterior
from equipoise.judging.judges import Judge
from equipoise.judging.report import JudgeReport, reported
from equipoise.judging.scale import CHECK_EVERY, DEFAULT_STEPS, SCALES, Judgement, Pair, answered, known_scale, mirrored

__all__ = [
    "CHECK_EVERY",
    "DEFAULT_STEPS",
    "SCALES",
    "Heard",
    "Judge",
    "JudgeReport",
    "JudgedPosterior",
    "Judgement",
    "Pair",
    "answered",
    "known_scale",
    "mirrored",
    "reported",
]
