"""What an optimizer believes before any data, when it is told little or nothing."""

from equipoise.confidence import Confidence
from equipoise.domain import Domain
from equipoise.dual import DualPosterior
from equipoise.guarded import GuardedPosterior
from equipoise.kernels import Kernel
from equipoise.learned import LearnedPosterior
from equipoise.offsets import Arbitrary, Offset, Tracked
from equipoise.posterior import CovariancePosterior, Posterior


def default_posterior(
    space: Domain,
    kernel: Kernel | None,
    offset: Offset,
    confidence: Confidence | None,
    regularizer: float | None,
) -> Posterior:
    """Return the posterior for a space: learned where no kernel is given, else of fixed hyperparameters.

    Args:
        space: Where points lie.
        kernel: Prior covariance of f; `None` to learn it, the noise and the law of the offset.
        offset: What is assumed of the bias.
        confidence: Confidence coefficient; `None` for the default.
        regularizer: Variance given to the noise of an outcome, with a kernel.
    """
    if kernel is None:
        if regularizer is not None:
            raise ValueError(f"`regularizer` must come with a `kernel`, else both are learned, got {regularizer!r}")
        learned = LearnedPosterior(space.extent, space.groups, offset, confidence)
        if isinstance(offset, Tracked) and offset.guard is not None:
            return GuardedPosterior(learned, offset.guard)
        return learned
    if not isinstance(offset, Arbitrary):
        raise ValueError(f"`offset` must be Arbitrary() where a `kernel` is given, got {offset!r}")
    regularizer = 1.0 if regularizer is None else regularizer
    if space.points is None:
        return DualPosterior(kernel, regularizer, confidence)
    return CovariancePosterior(space.points, kernel, regularizer, confidence)
