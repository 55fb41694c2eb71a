"""Proposing the next duel: candidates from the space, a choice by the policy, the coin of the reduction."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Feasibility, Posterior
from equipoise.data import Duel, Proposal
from equipoise.policies import Policy
from equipoise.policies.search import candidates
from equipoise.reductions import Reduction
from equipoise.spaces import Domain
from equipoise.spaces.restricted import Restricted
from equipoise.study.exploring import Explorer
from equipoise.study.state import State


@dataclass(frozen=True)
class Proposer:
    """Space, policy and reduction of a study, and what looks around: together they say what to measure next."""

    space: Domain
    policy: Policy
    reduction: Reduction
    explorer: Explorer | None = None

    def __post_init__(self) -> None:
        offered, needed = self.policy.proposal_size, self.reduction.proposal_size
        if offered == 1 and not self.reduction.offset.believed:
            fit = f"{self.reduction!r} compares, {self.policy!r} proposes single points"
            raise ValueError(f"`reduction` must fit `policy`: {fit}")
        if needed is not None and offered != needed:
            raise ValueError(
                f"`reduction` must fit `policy`: {self.reduction!r} needs proposals of {needed} points, "
                f"{self.policy!r} makes proposals of {'varying size' if offered is None else offered}"
            )

    def duel(self, state: State, rng: Generator) -> Duel:
        """Propose the next duel; what is still open already shrinks the variance, so that the next one differs."""
        posterior, feasibility, proposal = state.anticipated(), state.feasibility, None
        if self.explorer is not None:
            proposal = self.explorer(posterior, state.duels, feasibility, state.asked, rng)
        if proposal is None:
            proposal = self._chosen(posterior, feasibility, state.suspect(), rng)
        return self.reduction(proposal, rng, _forecast(state, proposal))

    def _chosen(
        self, posterior: Posterior, feasibility: Feasibility, suspect: FloatArray | None, rng: Generator
    ) -> Proposal:
        """Let the policy choose among what can be measured; a reading to be confirmed comes first."""
        space = self.space if feasibility.certain else Restricted(self.space, feasibility.allows)
        proposal = self.policy(posterior.at(candidates(space, posterior, self.policy.scores, rng)), rng)
        if suspect is not None and len(proposal.points) == 2 and bool(space.valid(suspect[None])[0]):
            return Proposal.pair(proposal.points[0], suspect)
        return proposal


def _forecast(state: State, proposal: Proposal) -> float:
    """Return the baseline for a pair: a number fixed before the coin."""
    if state.baseline is None:
        return 0.0
    return state.baseline.predict(float(state.posterior.at(proposal.points).mean.mean()))
