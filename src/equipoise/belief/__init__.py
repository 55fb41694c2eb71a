"""The belief: data and a model give mean and covariance of f. Immutable, closed under conditioning."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.belief.anywhere import AnywherePosterior as AnywherePosterior
    from equipoise.belief.confidence import Confidence as Confidence
    from equipoise.belief.confidence import CredibleConfidence as CredibleConfidence
    from equipoise.belief.confidence import FixedConfidence as FixedConfidence
    from equipoise.belief.confidence import PaperConfidence as PaperConfidence
    from equipoise.belief.confidence import TightConfidence as TightConfidence
    from equipoise.belief.feasibility import Feasibility as Feasibility
    from equipoise.belief.folding import Folding as Folding
    from equipoise.belief.inference import infer as infer
    from equipoise.belief.learned import LearnedModel as LearnedModel
    from equipoise.belief.listed import FinitePosterior as FinitePosterior
    from equipoise.belief.model import Form as Form
    from equipoise.belief.model import Hyperparameters as Hyperparameters
    from equipoise.belief.model import Learned as Learned
    from equipoise.belief.model import Model as Model
    from equipoise.belief.model import Schedule as Schedule
    from equipoise.belief.posterior import Belief as Belief
    from equipoise.belief.posterior import Posterior as Posterior

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.belief.arrays import (
        Array,
        difference_variance,
        fair_argmax,
        gap_bound,
        half_width,
        namespace,
        pick,
        tied,
    )
    from equipoise.belief.confidence import error_scale, paper_beta, tight_beta
    from equipoise.belief.covariance import SMALL, TAIL, Indices
    from equipoise.belief.descent import descend
    from equipoise.belief.inference import StudyBelief, contradiction, pair_variance
    from equipoise.belief.judgements import ANSWERED_VARIANCE, Judged, JudgedKernel, JudgeFit, Pairing
    from equipoise.belief.learned import FOLDING, LearnedBelief, of_now
    from equipoise.belief.listed import conditioned
    from equipoise.belief.model import LARGEST, MANY_PARAMETERS, Milestone
    from equipoise.belief.observations import Observations
    from equipoise.belief.posterior import direction, trusted
else:
    __getattr__ = lazily(__name__)
