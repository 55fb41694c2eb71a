"""Proposing the next duel: candidates from the space, a choice by the policy, the coin of the reduction."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer import audit_pair
from equipoise.belief import Posterior, StudyBelief
from equipoise.data import Comparison, Duel, Proposal, SeedName
from equipoise.likelihoods import known_scale
from equipoise.log import AUDIT, PAIRS, Asked, Streams
from equipoise.policies import Policy, candidates, seeded
from equipoise.reductions import Reduction, TwoPoint
from equipoise.spaces import Domain
from equipoise.study.defaults import default_explorer, judging_policy
from equipoise.study.exploring import Explorer, another_pair, apart, rival, sequence, unasked, unordered
from equipoise.study.gate import Checkpoint
from equipoise.study.ledger import Entry
from equipoise.study.outputs import Named, likely, proposed
from equipoise.study.plans import Plan
from equipoise.study.requests import named
from equipoise.study.setup import Setup
from equipoise.study.state import State
from equipoise.study.views import on_seeds


@dataclass(frozen=True)
class Proposer:
    """Space, policy and reduction of a study, and what looks around: together they say what to measure next.

    `judging` chooses the pairs that are judged, where that is not the policy itself.
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
    def of(cls, setup: Setup, streams: Streams) -> "Proposer":
        """Return what proposes duels; it explores if the model is learned, or if the user asks for a start design."""
        space, policy, reduction = setup.space, setup.policy, setup.reduction
        explores = setup.learned or bool(setup.design)
        explorer = default_explorer(space, reduction, setup.design, streams) if explores else None
        return cls(space, policy, reduction, streams, explorer, judging_policy(policy))

    def at(self, space: Domain) -> "Proposer":
        """Return what proposes in a part of the space."""
        if space is self.space:
            return self
        return replace(self, space=space, explorer=None if self.explorer is None else self.explorer.at(space))

    def seeded(self, gate: Checkpoint, rng: Generator) -> tuple[Duel, SeedName | None]:
        """Propose the next duel, and the seed on which it is measured, if the study has seeds.

        A plan gets new seeds: its duels are evidence of their own.
        """
        state, duel = gate.state, self.duel(gate, rng)
        seeds, law = state.setup.seeds, state.setup.offset
        if seeds is None:
            return duel, None
        alone = law.learns_readings and not law.believed and state.serves(self.space) is None
        read = on_seeds(state.ledger)
        seed, measured = seeded(duel, seeds, read, state.anticipated().posterior, partial(_teaching, state), alone)
        return measured, seed

    def duel(self, gate: Checkpoint, rng: Generator) -> Duel:
        """Propose the next duel; what is still open already shrinks the variance, so that the next one differs.

        A plan that is under way comes first. Its duels are of two readings, whatever the reduction of the study.
        """
        state = gate.state
        plan = state.serves(self.space)
        if plan is not None:
            return TwoPoint()(gate.admit(self._planned(state, plan, rng), rng), rng)
        belief, proposal = state.anticipated(), None
        named = state.named(self.space, belief)
        if self.explorer is not None:
            part = likely(gate.allowed, named)
            proposal = self.explorer(belief, state.proposed, part, state.asked, rng, state.informed)
        if proposal is None:
            proposal = self._chosen(state, belief.posterior, gate.allowed, named, rng)
        if state.setup.start is not None and not state.proposed:
            return self._started(state.setup.start, proposal, gate, rng)
        proposal = gate.admit(proposal, rng)
        return self.reduction(proposal, rng, _forecast(state, proposal))

    def pair(self, gate: Checkpoint, rng: Generator) -> FloatArray:
        """Propose two points to be judged, in the order of a coin, shape (2, d); of a plan if one is under way."""
        state = gate.state
        serves, belief = state.serves(self.space), state.awaiting()
        if serves is not None:
            proposal = self._planned(state, serves, rng)
        else:
            proposal = self._compared(state, belief, gate.allowed, rng)
        if len(proposal.points) != 2:
            raise ValueError(f"`policy` must propose pairs to be judged, got {self.policy!r}")
        points = gate.admit(proposal, rng).points
        if (points[0] == points[1]).all():
            points = np.array([points[0], rival(belief.posterior, gate, points[0], rng)])
        return points[rng.permutation(2)]

    def pairing(self, state: State, part: Domain, judge: Any, steps: Any, again: int | None) -> Asked:
        """Return the event of a pair to be judged: a new one, or an earlier one in the other order."""
        name = named(judge)
        if again is not None:
            earlier = state.ledger.must_be_pair(again)
            gate = Checkpoint.of(state, state.setup.space.through(earlier.points[1]))
            return gate.paired(earlier.points[::-1].copy(), earlier.steps, name, again)
        chosen, gate = known_scale(steps), Checkpoint.of(state, part)
        rng = self.streams.at(len(state.ledger.pairs), PAIRS)
        waiting = [state.ledger.pairs[i].pair for i in state.ledger.open_pairs]
        points, taken = self.at(part).pair(gate, rng), {unordered(p.points) for p in waiting if p.judge == name}
        if unordered(points) in taken:
            points = another_pair(points, taken, gate, rng)
        return gate.paired(points, chosen, name)

    def _compared(self, state: State, belief: StudyBelief, space: Domain, rng: Generator) -> Proposal:
        """Return what the explorer or the policy for judges wants compared; the start first, where there is one."""
        begun, start, proposal = state.proposed + len(state.ledger.pairs), state.setup.start, None
        if self.explorer is not None:
            proposal = self.explorer(belief, begun, space, state.asked, rng, state.informed)
        if proposal is None:
            policy, posterior = self.policy if self.judging is None else self.judging, belief.posterior
            proposal = policy(posterior.at(candidates(space, posterior, policy.scores, rng)), rng)
        return proposal if start is None or begun else Proposal.pair(start, _other(proposal.points, start))

    def _started(self, start: FloatArray, proposal: Proposal, gate: Checkpoint, rng: Generator) -> Duel:
        """Return the first duel: the start against another point of a proposal, both measured; or the start alone."""
        start = self.space.snap(start[None])[0]
        if len(proposal.points) == 1:
            return self.reduction(gate.admit(Proposal.single(start), rng), rng)
        return TwoPoint()(gate.admit(Proposal.pair(start, _other(proposal.points, start)), rng), rng)

    def _planned(self, state: State, plan: Plan, rng: Generator) -> Proposal:
        """Return the next pair of a plan: of an audit, or the leader to be verified and its rivals in turn."""
        begun = plan.duels - plan.left
        if plan.purpose == "verify" and plan.points is not None:
            return Proposal.pair(plan.points[0], plan.points[1 + begun % (len(plan.points) - 1)])
        feasibility = state.feasibility
        spread = sequence(self.space, apart(self.streams).at(len(state.plans) - 1, AUDIT))
        left = unasked(spread, state.asked)
        left = left[feasibility.allows(left)]
        return audit_pair(self.space, state.anticipated(), feasibility, left, begun, plan.duels, rng)

    def _chosen(
        self, state: State, posterior: Posterior, space: Domain, named: Named | None, rng: Generator
    ) -> Proposal:
        """Let the policy choose among what may be measured; a reading to be confirmed comes first."""
        suspect = state.suspect()
        if named is not None:
            return proposed(self.policy, posterior, space, named, rng)
        proposal = self.policy(posterior.at(candidates(space, posterior, self.policy.scores, rng)), rng)
        if suspect is not None and len(proposal.points) == 2 and bool(space.valid(suspect[None])[0]):
            return Proposal.pair(proposal.points[0], suspect)
        return proposal


def _teaching(state: State, seed: SeedName, duel: Duel) -> tuple[Comparison, ...]:
    """Return what a duel on a seed would teach, outcomes left at zero."""
    ids = tuple(range(state.trials, state.trials + len(duel.points)))
    return state._awaited(Entry(state.duels, duel, ids, seed=seed), state.readings + 1)


def _other(points: FloatArray, point: FloatArray) -> FloatArray:
    """Return the first of some points that is another one than a given point; that one where there is none."""
    others = points[(points != point).any(axis=1)]
    other: FloatArray = others[0] if len(others) else point
    return other


def _forecast(state: State, proposal: Proposal) -> float:
    """Return the baseline for a pair: a number fixed before the coin."""
    if state.baseline is None:
        return 0.0
    return state.baseline.predict(float(state.belief.posterior.at(proposal.points).mean.mean()))
