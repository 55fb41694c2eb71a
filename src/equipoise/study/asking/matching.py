"""The next pair of settings for a judge."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from equipoise.data import Proposal
from equipoise.likelihoods import known_scale
from equipoise.log import PAIRS
from equipoise.policies import candidates, optimism
from equipoise.study.asking.gate import Checkpoint
from equipoise.study.asking.proposing import asked, informed, other
from equipoise.study.judged_pairs import must_be_pair, named, shown, waiting
from equipoise.study.plans import planned_pair
from equipoise.study.state import MOST_ANTICIPATED

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import Posterior, StudyBelief
    from equipoise.likelihoods import Pair
    from equipoise.log import Asked
    from equipoise.spaces import Domain
    from equipoise.study.asking.proposing import Proposer
    from equipoise.study.session import Session
    from equipoise.study.state import State


def ask_pair(session: Session, context: Mapping[str, Any] | None, judge: str, steps: int, again: int | None) -> Pair:
    """Hand out a pair to a judge."""

    def act() -> Pair:
        part = session.space if again is not None else session.present(context)
        event = paired(session, part, judge, steps, again)
        session.happen(event)
        return shown(session.state.ledger, event.trial)

    return session.change(act)


def paired(session: Session, part: Domain, judge: str, steps: int, again: int | None) -> Asked:
    """Return the event of the next pair for a judge in a part of the space."""
    with session.calmly():
        return matched(session.proposer, session.state, part, judge, steps, again)


def awaiting(state: State) -> StudyBelief:
    """Return the belief as if all open questions came out as expected, those for judges too."""
    belief, pairs = state.anticipated(), waiting(state.ledger)[-MOST_ANTICIPATED:]
    return belief.expecting(pairs) if len(pairs) else belief


def matched(by: Proposer, state: State, part: Domain, judge: Any, steps: Any, again: int | None) -> Asked:
    """Return the event of a pair in a part of the space for a judge: a new one, or an earlier one in the other order.

    `again` is the trial of the earlier pair.
    """
    name = named(judge)
    if again is not None:
        earlier = must_be_pair(state.ledger, again)
        gate = Checkpoint.of(state, state.setup.space.through(earlier.points[1]))
        return gate.paired(earlier.points[::-1].copy(), earlier.steps, name, again)
    chosen, gate = known_scale(steps), Checkpoint.of(state, part)
    rng = by.streams.at(len(state.ledger.pairs), PAIRS)
    open_pairs = [state.ledger.pairs[i].pair for i in state.ledger.open_pairs]
    points, taken = _points(by.at(part), gate, rng), {_unordered(p.points) for p in open_pairs if p.judge == name}
    if _unordered(points) in taken:
        points = _another_pair(points, taken, gate, rng)
    return gate.paired(points, chosen, name)


def _points(by: Proposer, gate: Checkpoint, rng: Generator) -> FloatArray:
    """Propose two points to judge in random order, shape (2, d); if there is a plan, one of its pairs."""
    state = gate.state
    serves, belief = state.serves(by.space), awaiting(state)
    allowed = gate.allowed
    proposal = planned_pair(by, state, serves, rng) if serves else _compared(by, state, belief, allowed, rng)
    if len(proposal.points) != 2:
        raise ValueError(f"`policy` must propose pairs to be judged, got {by.policy!r}")
    points = gate.admit(proposal, rng).points
    if (points[0] == points[1]).all():
        points = np.array([points[0], _rival(belief.posterior, gate, points[0], rng)])
    return points[rng.permutation(2)]


def _compared(by: Proposer, state: State, belief: StudyBelief, space: Domain, rng: Generator) -> Proposal:
    """Return the proposal of the explorer or of the policy for judges; it begins with the start, if there is one."""
    begun, start, proposal = state.proposed + len(state.ledger.pairs), state.setup.start, None
    if by.explorer is not None:
        count = by.explorer.begun(state, begun)
        proposal = by.explorer(belief, count, space, asked(state), rng, informed(state))
    if proposal is None:
        policy, posterior = by.policy if by.judging is None else by.judging, belief.posterior
        proposal = policy(posterior.at(candidates(space, posterior, policy.scores, rng)), rng)
    return proposal if start is None or begun else Proposal.pair(start, other(proposal.points, start))


def _rival(posterior: Posterior, gate: Checkpoint, leader: FloatArray, rng: Generator) -> FloatArray:
    """Return the most promising of the other points: a judge need not compare a setting with itself."""
    found = candidates(gate.allowed, posterior, (optimism,), rng)
    found = found[(found != leader).any(axis=1) & gate.admits(found, [leader])]
    if not len(found):
        raise RuntimeError("there is nothing to compare: a single setting may be asked for")
    belief = posterior.at(np.concatenate((leader[None], found)))
    best: FloatArray = belief.points[1 + int(belief.optimism(0)[1:].argmax())]
    return best


def _unordered(points: FloatArray) -> frozenset[bytes]:
    """Return a pair without its order."""
    return frozenset(point.tobytes() for point in points)


def _another_pair(points: FloatArray, taken: set[frozenset[bytes]], gate: Checkpoint, rng: Generator) -> FloatArray:
    """Return a pair that is not open for a judge, shape (2, d); if possible one that contains the first point."""
    pool = gate.allowed.candidates(rng)
    pool = np.concatenate((points[:1], pool[rng.permutation(len(pool))]))
    for i, j in combinations(range(len(pool)), 2):
        found = pool[[i, j]]
        if (found[0] != found[1]).any() and _unordered(found) not in taken and gate.admits(found, [found[0]]).all():
            return found[rng.permutation(2)]
    raise RuntimeError("there is nothing to compare: the judge has every pair of settings open")
