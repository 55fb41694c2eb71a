"""The defaults of a study, with the reasons.

part         default                 why
design       8 + d points            spread over the space, then scouts: study/exploring.py; none with a kernel given
policy       Challenger(scale=0.75)  greedy, since design and scouts explore; with a kernel given: Challenger()
                                     with thousands of listed settings: scale=1.5, since much of what is plausible lies
                                     far from the leader (docs/limits.md)
for judges   EUBO()                  ahead of Challenger and DoubleThompson up to 60 answers (docs/judge.md); with a
                                     kernel given: Challenger(scale=1.5), best up to 2,000; else the policy given
reduction    the policy's own        Challenger proposes pairs: TwoPoint(), both in random order
offset       the reduction's own     TwoPoint: Tracked(), which learns from each reading and is guarded by the duels;
                                     one reading a duel: Arbitrary(); Direct: Constant(); with a kernel: Arbitrary();
                                     with seeds: Steady(), since training and simulations do not drift
kernel       learned                 Matern 5/2 with a lengthscale a parameter: belief/model.py has guesses and priors;
                                     Levels if readings are likelier when the values of counted ones are told apart
noise        learned                 with a kernel given: regularizer 1, as in the paper
confidence   two posterior sd        with a kernel given: a fixed coefficient 1, as in the paper's camelback runs
posterior    by the space            FinitePosterior on listed points, AnywherePosterior elsewhere
"""

from equipoise import belief, policies
from equipoise.belief import (
    AnywherePosterior,
    Confidence,
    CredibleConfidence,
    Form,
    LearnedModel,
    Posterior,
)
from equipoise.kernels import Kernel
from equipoise.log import Streams
from equipoise.offsets import Arbitrary, Constant, Offset, Steady, Tracked
from equipoise.policies import Challenger, Policy, Seeds
from equipoise.reductions import Reduction
from equipoise.spaces import Domain
from equipoise.study.exploring import Explorer, default_size

MANY_FAILURES = 6
"""After this number of failed trials settings are no longer listed: most of all then look promising because none
of their neighbors could be read. In a table in which 59 % of the settings fail, 113 to 143 of 200 trials failed if all
were looked at throughout, and 16 to 26 with this rule (four studies)."""


def default_policy(learned: bool = True, space: Domain | None = None) -> Policy:
    """Return the default policy for a learned or a given model; bolder if the candidates are all settings."""
    if space is not None and learned and space.settings is not None:
        return Challenger(scale=1.5)
    return Challenger(scale=0.75) if learned else Challenger()


def sampled_policy(policy: Policy, space: Domain) -> Policy:
    """Return the policy if the candidates are a sample: a default for all settings is too bold for one."""
    return default_policy() if policy == default_policy(space=space) else policy


def judging_policy(policy: Policy, space: Domain) -> Policy:
    """Return the policy that chooses pairs to judge: that of the study, unless it is a default for readings."""
    if policy == default_policy(learned=False):
        return Challenger(scale=1.5)
    return policies.EUBO() if policy in (default_policy(), default_policy(space=space)) else policy


def default_explorer(space: Domain, reduction: Reduction, size: int | None, streams: Streams) -> Explorer | None:
    """Return the explorer of a learned model; `None` if proposals are not pairs, or the size is 0."""
    size = default_size(space) if size is None else size + size % 2
    if reduction.proposal_size != 2 or size == 0:
        return None
    return Explorer(space, size, streams)


def default_offset(
    reduction: Reduction,
    kernel: Kernel | None,
    posterior: Posterior | LearnedModel | None,
    seeds: Seeds | None = None,
) -> Offset:
    """Return the default law of the offset; if a belief is given, its own."""
    law = reduction.offset
    if seeds is not None and law == Tracked():
        law = Steady()
    if posterior is not None:
        known = posterior.form.law if isinstance(posterior, LearnedModel) else posterior.law
        return Constant() if law.believed and not known.learns_readings else known
    return law if kernel is None or law.believed else Arbitrary()


def default_posterior(
    space: Domain,
    kernel: Kernel | None,
    offset: Offset,
    confidence: Confidence | None,
    regularizer: float | None,
) -> Posterior | LearnedModel:
    """Return the belief before any data: a model to learn, or the posterior under a given kernel."""
    if kernel is None:
        if regularizer is not None:
            raise ValueError(f"`regularizer` must come with a `kernel`, else both are learned, got {regularizer!r}")
        confidence = CredibleConfidence() if confidence is None else confidence
        return LearnedModel(Form(space.extent, space.groups, offset, space.levels), confidence, guard=offset.guard)
    if offset.learns_readings and not offset.believed:
        raise ValueError(
            f"`offset` must be Arbitrary() if a `kernel` is given, got {offset!r}: give "
            "posterior=AnywherePosterior(kernel, offset=....known(...)) with its hyperparameters"
        )
    regularizer = 1.0 if regularizer is None else regularizer
    if space.points is None:
        return AnywherePosterior(kernel, regularizer, confidence)
    return belief.FinitePosterior(space.points, kernel, regularizer, confidence)
