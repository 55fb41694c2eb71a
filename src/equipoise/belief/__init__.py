"""The belief: data and a model give mean and covariance of f. Immutable, closed under conditioning."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.belief.anywhere import AnywherePosterior
    from equipoise.belief.arrays import Array as Array
    from equipoise.belief.arrays import difference_variance as difference_variance
    from equipoise.belief.arrays import fair_argmax as fair_argmax
    from equipoise.belief.arrays import gap_bound as gap_bound
    from equipoise.belief.arrays import half_width as half_width
    from equipoise.belief.arrays import namespace as namespace
    from equipoise.belief.arrays import pick as pick
    from equipoise.belief.arrays import tied as tied
    from equipoise.belief.confidence import (
        Confidence,
        CredibleConfidence,
        FixedConfidence,
        PaperConfidence,
        TightConfidence,
    )
    from equipoise.belief.confidence import error_scale as error_scale
    from equipoise.belief.confidence import paper_beta as paper_beta
    from equipoise.belief.confidence import tight_beta as tight_beta
    from equipoise.belief.covariance import SMALL as SMALL
    from equipoise.belief.covariance import TAIL as TAIL
    from equipoise.belief.covariance import Indices as Indices
    from equipoise.belief.descent import descend as descend
    from equipoise.belief.feasibility import Feasibility
    from equipoise.belief.folding import Folding
    from equipoise.belief.inference import StudyBelief as StudyBelief
    from equipoise.belief.inference import contradiction as contradiction
    from equipoise.belief.inference import infer
    from equipoise.belief.inference import pair_variance as pair_variance
    from equipoise.belief.judgements import ANSWERED_VARIANCE as ANSWERED_VARIANCE
    from equipoise.belief.judgements import Judged as Judged
    from equipoise.belief.judgements import JudgedKernel as JudgedKernel
    from equipoise.belief.judgements import JudgeFit as JudgeFit
    from equipoise.belief.judgements import Pairing as Pairing
    from equipoise.belief.learned import FOLDING as FOLDING
    from equipoise.belief.learned import LearnedBelief as LearnedBelief
    from equipoise.belief.learned import LearnedModel
    from equipoise.belief.learned import of_now as of_now
    from equipoise.belief.listed import FinitePosterior
    from equipoise.belief.listed import conditioned as conditioned
    from equipoise.belief.model import LARGEST as LARGEST
    from equipoise.belief.model import MANY_PARAMETERS as MANY_PARAMETERS
    from equipoise.belief.model import Form, Hyperparameters, Learned, Model, Schedule
    from equipoise.belief.model import Milestone as Milestone
    from equipoise.belief.observations import Observations as Observations
    from equipoise.belief.posterior import Belief, Posterior
    from equipoise.belief.posterior import direction as direction
    from equipoise.belief.posterior import trusted as trusted
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "AnywherePosterior",
    "Belief",
    "Confidence",
    "CredibleConfidence",
    "Feasibility",
    "FinitePosterior",
    "FixedConfidence",
    "Folding",
    "Form",
    "Hyperparameters",
    "Learned",
    "LearnedModel",
    "Model",
    "PaperConfidence",
    "Posterior",
    "Schedule",
    "TightConfidence",
    "infer",
]
