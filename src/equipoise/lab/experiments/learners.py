"""Learners by name, as the paper ran them and as this library would.

The paper sets rho, the noise of an outcome, to sigma whatever the reduction: so do "UCB", "IDS-one" and "IDS-two".
The honest ones, and those that are not the paper's, are told the noise their reduction really has. To add a learner,
add one entry to `LEARNERS`.
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
"""Builds a learner from what it is told and its random stream."""

WIDENING = 2.0
"""How much wider the intervals of "UCB-scaled" are."""


def ucb(problem: Problem, rng: Generator) -> Optimizer:
    """Return LinUCB where the norm is bounded, GP-UCB otherwise: METHOD section 6."""
    return problem.learner(UCB(), rng)


def scaled_ucb(problem: Problem, rng: Generator) -> Optimizer:
    """Return UCB with intervals twice as wide, which tolerates some corruption (Bogunovic et al. 2020)."""
    return problem.learner(UCB(), rng, widening=WIDENING)


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


def ids_one(problem: Problem, rng: Generator) -> Optimizer:
    """Return the paper's IDS with the one-point reduction."""
    return problem.learner(IDS(), rng, OnePoint())


def ids_two(problem: Problem, rng: Generator) -> Optimizer:
    """Return the paper's IDS with the two-point reduction."""
    return problem.learner(IDS(), rng, TwoPoint())


def honest_ids_one(problem: Problem, rng: Generator) -> Optimizer:
    """Return IDS-one told that its outcomes have twice the noise of a reading: right without an offset."""
    return problem.learner(IDS(), rng, OnePoint(), rho=OnePoint.outcome_noise(problem.noise, offset_bound=0.0))


def forecasting_ids_one(problem: Problem, rng: Generator) -> Optimizer:
    """Return the honest IDS-one with a forecast of the offset as its baseline: METHOD section 5."""
    reduction = OnePoint(BestForecaster())
    return problem.learner(IDS(), rng, reduction, rho=OnePoint.outcome_noise(problem.noise, offset_bound=0.0))


def paired(policy: Policy) -> Factory:
    """Return a learner that measures pairs at two points, told the noise of its outcomes."""
    return partial(_paired, policy)


def _paired(policy: Policy, problem: Problem, rng: Generator) -> Optimizer:
    return problem.learner(policy, rng, TwoPoint(), rho=TwoPoint.outcome_noise(problem.noise))


def uniform(problem: Problem, rng: Generator) -> Optimizer:
    """Return uniformly random search."""
    return problem.learner(Random(), rng)


def untold(problem: Problem, rng: Generator) -> Optimizer:
    """Return what a user gets who gives a space and nothing else: kernel, noise and offset are learned."""
    return Optimizer(problem.space, rng=rng)


LEARNERS: dict[str, Factory] = {
    "UCB": ucb,
    "UCB-scaled": scaled_ucb,
    "BOSE": bose,
    "SemiTS": semits,
    "SemiTS-authors": partial(semits, scale=2.716),
    "IDS-one": ids_one,
    "IDS-two": ids_two,
    "IDS-one-honest": honest_ids_one,
    "IDS-two-honest": paired(IDS()),
    "IDS-one-forecast": forecasting_ids_one,
    "IDS-pairs": paired(PairIDS()),
    "challenger": paired(Challenger()),
    "thompson": paired(DoubleThompson()),
    "max-info": paired(MaxInfo()),
    "maxmin-LCB": paired(MaxMinLCB()),
    "random": uniform,
    "default": untold,
}
"""Every learner by its name on the command line."""
