"""Likelihoods: the dependence of an answer on f. A new one needs a file and a line here."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.likelihoods.binomial import Binomial as Binomial
    from equipoise.likelihoods.compression import Compression as Compression
    from equipoise.likelihoods.compression import compressions as compressions
    from equipoise.likelihoods.concave import LogConcave as LogConcave
    from equipoise.likelihoods.counting import parsed as parsed
    from equipoise.likelihoods.counting import written as written
    from equipoise.likelihoods.gaussian import Gaussian as Gaussian
    from equipoise.likelihoods.judges import Judge as Judge
    from equipoise.likelihoods.judges import Panel as Panel
    from equipoise.likelihoods.judges import must_be_fitted as must_be_fitted
    from equipoise.likelihoods.likelihood import Answers as Answers
    from equipoise.likelihoods.likelihood import Likelihood as Likelihood
    from equipoise.likelihoods.likelihood import Tilt as Tilt
    from equipoise.likelihoods.ordered import OrderedAnswers as OrderedAnswers
    from equipoise.likelihoods.ordered import choice_probability as choice_probability
    from equipoise.likelihoods.poisson import Poisson as Poisson
    from equipoise.likelihoods.propagation import FEW as FEW
    from equipoise.likelihoods.propagation import GROWTH as GROWTH
    from equipoise.likelihoods.propagation import MAX_SWEEPS as MAX_SWEEPS
    from equipoise.likelihoods.propagation import Differences as Differences
    from equipoise.likelihoods.propagation import Few as Few
    from equipoise.likelihoods.propagation import Many as Many
    from equipoise.likelihoods.propagation import Propagated as Propagated
    from equipoise.likelihoods.propagation import Sites as Sites
    from equipoise.likelihoods.propagation import propagate as propagate
    from equipoise.likelihoods.readings import ReadAnswers as ReadAnswers
    from equipoise.likelihoods.report import JudgeReport as JudgeReport
    from equipoise.likelihoods.report import reported as reported
    from equipoise.likelihoods.scale import CHECK_EVERY as CHECK_EVERY
    from equipoise.likelihoods.scale import DEFAULT_STEPS as DEFAULT_STEPS
    from equipoise.likelihoods.scale import SCALES as SCALES
    from equipoise.likelihoods.scale import Judgement as Judgement
    from equipoise.likelihoods.scale import Pair as Pair
    from equipoise.likelihoods.scale import answered as answered
    from equipoise.likelihoods.scale import known_scale as known_scale

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.likelihoods.counting import by_name
else:
    __getattr__ = lazily(__name__)
