"""Proposing the next duel: candidates from the space, a choice by the policy, the coin of the reduction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from equipoise.belief import MANY_PARAMETERS
from equipoise.data import Proposal
from equipoise.policies import candidates
from equipoise.reductions import TwoPoint
from equipoise.study import outputs
from equipoise.study.defaults import MANY_FAILURES, default_explorer, judging_policy, sampled_policy

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import Posterior
    from equipoise.data import Duel, SeedName
    from equipoise.log import Streams
    from equipoise.policies import Policy
    from equipoise.reductions import Reduction
    from equipoise.spaces import Domain
    from equipoise.study.asking.gate import Checkpoint
    from equipoise.study.exploring import Explorer
    from equipoise.study.outputs import Named
    from equipoise.study.setup import Setup
    from equipoise.study.state import State

MIN_EARLIER = 6
"""The number of readings added by the user that suffice to fit a model and to name a best setting."""


@dataclass(frozen=True)
class Proposer:
    """Proposes the next duel of a study.

    Attributes:
        space: The space, or the part of it at the present context.
        policy: Chooses among candidates.
        reduction: Measures a proposal.
        streams: Random numbers of the study.
        explorer: Proposes the start design and scouts; `None` for neither.
        judging: Chooses the pairs to judge, if the policy does not.
    """

    space: Domain
    policy: Policy
    reduction: Reduction
    streams: Streams
    explorer: Explorer | None = None
    judging: Policy | None = None

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

    @classmethod
    def of(cls, setup: Setup, streams: Streams) -> Proposer:
        """Return the proposer of a study; it explores if the model is learned or a start design is asked for."""
        space, policy, reduction = setup.space, setup.policy, setup.reduction
        explorer = default_explorer(space, reduction, setup.design, streams) if setup.learned or setup.design else None
        return cls(space, policy, reduction, streams, explorer, judging_policy(policy, space))

    def at(self, space: Domain) -> Proposer:
        """Return the proposer for a part of the space."""
        if space is self.space:
            return self
        return replace(self, space=space, explorer=None if self.explorer is None else self.explorer.at(space))

    def seeded(self, gate: Checkpoint, rng: Generator) -> tuple[Duel, SeedName | None]:
        """Propose the next duel, and the seed on which it is measured, if the study has seeds.

        A plan gets new seeds: its duels are evidence of their own. A duel whose settings were read under every seed of
        a list would repeat known numbers: then other settings are proposed.
        """
        duel = self.duel(gate, rng)
        if gate.state.setup.seeds is None:
            return duel, None
        from equipoise.study.asking.seeding import on_seed, with_seeds_left

        left = with_seeds_left(gate.state, gate.allowed, duel)
        return on_seed(gate.state, self.space, duel if left is None else self.duel(replace(gate, allowed=left), rng))

    def duel(self, gate: Checkpoint, rng: Generator) -> Duel:
        """Propose the next duel; open questions already reduce the variance, so that the next one differs.

        A plan comes first. Its duels have two readings, whatever the reduction of the study.
        """
        state = gate.state
        plan = state.serves(self.space)
        if plan is not None:
            from equipoise.study.plans import planned_pair

            return TwoPoint()(gate.admit(planned_pair(self, state, plan, rng), rng), rng)
        belief, proposal = state.anticipated(), None
        named = None if state.setup.outputs is None else outputs.named_in(state, self.space, belief)
        if self.explorer is not None:
            begun = self.explorer.begun(state, state.proposed)
            part = gate.allowed if named is None else outputs.likely(gate.allowed, named)
            proposal = self.explorer(belief, begun, part, asked(state), rng, informed(state))
        if proposal is None:
            proposal = self._chosen(state, belief.posterior, gate.allowed, named, rng)
        if state.setup.start is not None and not state.proposed:
            return self._started(state.setup.start, proposal, gate, rng)
        proposal = gate.admit(proposal, rng)
        return self.reduction(proposal, rng, _forecast(state, proposal))

    def _started(self, start: FloatArray, proposal: Proposal, gate: Checkpoint, rng: Generator) -> Duel:
        """Return the first duel: the start against another point of a proposal, both measured; or the start alone."""
        start = self.space.snap(start[None])[0]
        if len(proposal.points) == 1:
            return self.reduction(gate.admit(Proposal.single(start), rng), rng)
        return TwoPoint()(gate.admit(Proposal.pair(start, other(proposal.points, start)), rng), rng)

    def _chosen(
        self, state: State, posterior: Posterior, space: Domain, named: Named | None, rng: Generator
    ) -> Proposal:
        """Let the policy choose among the permitted settings; a reading to confirm comes first."""
        doubtful = None
        if state.belief.learned is not None:
            from equipoise.study.settings_read import suspect

            doubtful = suspect(state.ledger, state.belief, state.sign)
        if named is not None and (named.limited or named.outputs.several):
            return outputs.proposed(self.policy, posterior, space, named, rng, outputs.teaching(state))
        listed = len(state.ledger.failed) < MANY_FAILURES and space.settings is not None  # looked for only if needed
        policy = self.policy if listed or self.space.settings is None else sampled_policy(self.policy, self.space)
        belief = posterior.at(candidates(space, posterior, policy.scores, rng, listed))
        proposal = policy(belief, rng)
        if doubtful is not None and len(proposal.points) == 2 and bool(space.valid(doubtful[None])[0]):
            return Proposal.pair(proposal.points[0], doubtful)
        if listed:
            return outputs.two_rivals(state, posterior, belief, policy, proposal, rng)
        many = space.groups.max() + 1 >= MANY_PARAMETERS
        return outputs.mirrored(state, space, belief, proposal) if many else proposal


def other(points: FloatArray, point: FloatArray) -> FloatArray:
    """Return the first point that differs from a given one; the given one if there is none."""
    found: FloatArray = next(iter(points[(points != point).any(axis=1)]), point)
    return found


def asked(state: State) -> FloatArray:
    """Return the points that were asked for, shape (n, d)."""
    found = [entry.question.points for entry in state.ledger.entries]
    return np.concatenate(found) if found else np.empty((0, state.setup.space.dimension))


def informed(state: State) -> bool:
    """Return whether earlier readings suffice to name a best setting."""
    return state.ledger.added >= MIN_EARLIER


def _forecast(state: State, proposal: Proposal) -> float:
    """Return the baseline for a pair: a number fixed before the coin."""
    if state.baseline is None:
        return 0.0
    return state.baseline.predict(float(state.belief.posterior.at(proposal.points).mean.mean()))
