"""Learners by name, with the paper's settings and with those of this library.

The paper sets rho, the noise of an outcome, to sigma for every reduction: so do "UCB", "IDS-one" and "IDS-two". The
honest learners, and those that are not the paper's, know the true noise of their reduction. To add a learner, add
one entry to `LEARNERS`.
"""

from collections.abc import Callable
from functools import partial

from numpy.random import Generator

from equipoise.lab.experiments.problems import Problem
from equipoise.optimizer import Optimizer
from equipoise.policies import (
    BOSE,
    IDS,
    UCB,
    Challenger,
    DoubleThompson,
    MaxInfo,
    MaxMinLCB,
    PairIDS,
    Policy,
    Random,
    SemiTS,
    SemiTSPosterior,
)
from equipoise.reductions import BestForecaster, OnePoint, TwoPoint

Factory = Callable[[Problem, Generator], Optimizer]
"""The type of a function that builds a learner from a problem and its random stream."""


def of_policy(
    problem: Problem,
    rng: Generator,
    policy: Policy,
    reduction: OnePoint | TwoPoint | None = None,
    honest: bool = False,
    widening: float = 1.0,
) -> Optimizer:
    """Return a learner with a policy and a reduction; an honest one knows the noise of outcomes without offset."""
    rho = None
    if honest:
        two = isinstance(reduction, TwoPoint)
        rho = TwoPoint.outcome_noise(problem.noise) if two else OnePoint.outcome_noise(problem.noise, offset_bound=0.0)
    return problem.learner(policy, rng, reduction, rho=rho, widening=widening)


def bose(problem: Problem, rng: Generator) -> Optimizer:
    """Return BOSE, METHOD section 6."""
    return problem.learner(BOSE(problem.delta), rng)


def semits(problem: Problem, rng: Generator, scale: float | None = None) -> Optimizer:
    """Return SemiTS, METHOD section 6; for finite sets only."""
    if problem.space.points is None:
        raise ValueError(f"SemiTS needs a finite set of points, got {problem.space!r}")
    confidence = problem.confidence()
    posterior = SemiTSPosterior(problem.space.points, problem.kernel, problem.regularizer, confidence)
    return Optimizer(problem.space, policy=SemiTS(problem.delta, scale=scale), posterior=posterior, rng=rng)


def default(problem: Problem, rng: Generator) -> Optimizer:
    """Return the optimizer of a user who gives only a space: it learns kernel, noise and offset."""
    return Optimizer(problem.space, rng=rng)


def _pairs(policy: Policy) -> Factory:
    return partial(of_policy, policy=policy, reduction=TwoPoint(), honest=True)


LEARNERS: dict[str, Factory] = {
    "UCB": partial(of_policy, policy=UCB()),  # LinUCB if the norm is bounded, else GP-UCB: METHOD section 6
    "UCB-scaled": partial(of_policy, policy=UCB(), widening=2.0),  # tolerates some corruption: Bogunovic et al. 2020
    "BOSE": bose,
    "SemiTS": semits,
    "SemiTS-authors": partial(semits, scale=2.716),
    "IDS-one": partial(of_policy, policy=IDS(), reduction=OnePoint()),
    "IDS-two": partial(of_policy, policy=IDS(), reduction=TwoPoint()),
    "IDS-one-honest": partial(of_policy, policy=IDS(), reduction=OnePoint(), honest=True),
    "IDS-two-honest": _pairs(IDS()),
    "IDS-one-forecast": partial(of_policy, policy=IDS(), reduction=OnePoint(BestForecaster()), honest=True),  # METHOD 5
    "IDS-pairs": _pairs(PairIDS()),
    "challenger": _pairs(Challenger()),
    "thompson": _pairs(DoubleThompson()),
    "max-info": _pairs(MaxInfo()),
    "maxmin-LCB": _pairs(MaxMinLCB()),
    "random": partial(of_policy, policy=Random()),
    "default": default,
}
"""Every learner by its name on the command line."""
