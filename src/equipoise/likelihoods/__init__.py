"""Likelihoods: how an answer depends on f, and what it hence teaches, by expectation propagation."""

from equipoise.likelihoods.judges import Judge, Panel, must_be_fitted
from equipoise.likelihoods.likelihood import Answers, Tilt
from equipoise.likelihoods.ordered import OrderedAnswers, choice_probability
from equipoise.likelihoods.propagation import MAX_SWEEPS, Differences, Few, Many, Propagated, Sites, propagate
from equipoise.likelihoods.report import JudgeReport, reported
from equipoise.likelihoods.scale import (
    CHECK_EVERY,
    DEFAULT_STEPS,
    SCALES,
    Judgement,
    Pair,
    answered,
    known_scale,
    mirrored,
)

__all__ = [
    "CHECK_EVERY",
    "DEFAULT_STEPS",
    "MAX_SWEEPS",
    "SCALES",
    "Answers",
    "Differences",
    "Few",
    "Judge",
    "JudgeReport",
    "Judgement",
    "Many",
    "OrderedAnswers",
    "Pair",
    "Panel",
    "Propagated",
    "Sites",
    "Tilt",
    "answered",
    "choice_probability",
    "known_scale",
    "mirrored",
    "must_be_fitted",
    "propagate",
    "reported",
]
