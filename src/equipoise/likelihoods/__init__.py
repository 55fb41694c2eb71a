"""Likelihoods: the dependence of an answer on f. A new one needs a file and a line here."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.likelihoods.binomial import Binomial
    from equipoise.likelihoods.compression import Compression, compressions
    from equipoise.likelihoods.concave import LogConcave
    from equipoise.likelihoods.counting import by_name as by_name
    from equipoise.likelihoods.counting import parsed, written
    from equipoise.likelihoods.gaussian import Gaussian
    from equipoise.likelihoods.judges import Judge, Panel, must_be_fitted
    from equipoise.likelihoods.likelihood import Answers, Likelihood, Tilt
    from equipoise.likelihoods.ordered import OrderedAnswers, choice_probability
    from equipoise.likelihoods.poisson import Poisson
    from equipoise.likelihoods.propagation import (
        FEW,
        GROWTH,
        MAX_SWEEPS,
        Differences,
        Few,
        Many,
        Propagated,
        Sites,
        propagate,
    )
    from equipoise.likelihoods.readings import ReadAnswers
    from equipoise.likelihoods.report import JudgeReport, reported
    from equipoise.likelihoods.scale import (
        CHECK_EVERY,
        DEFAULT_STEPS,
        SCALES,
        Judgement,
        Pair,
        answered,
        known_scale,
    )
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "CHECK_EVERY",
    "DEFAULT_STEPS",
    "FEW",
    "GROWTH",
    "MAX_SWEEPS",
    "SCALES",
    "Answers",
    "Binomial",
    "Compression",
    "Differences",
    "Few",
    "Gaussian",
    "Judge",
    "JudgeReport",
    "Judgement",
    "Likelihood",
    "LogConcave",
    "Many",
    "OrderedAnswers",
    "Pair",
    "Panel",
    "Poisson",
    "Propagated",
    "ReadAnswers",
    "Sites",
    "Tilt",
    "answered",
    "choice_probability",
    "compressions",
    "known_scale",
    "must_be_fitted",
    "parsed",
    "propagate",
    "reported",
    "written",
]
