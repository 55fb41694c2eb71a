"""Beside what a rival is read: the leader, the start, another rival, or the rival's mirror image in the leader.

While offsets are calm the level of the readings is known: what one reading tells of a rival, the leader read once more
would hardly add to. Then another rival is read, for the objective or for a limit. This is done in a study with limits
or of listed settings; with many parameters, the mirror image is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from equipoise.data import Duel, Proposal
from equipoise.policies import safest
from equipoise.study.ledger import Entry

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import Belief, Posterior
    from equipoise.data import Comparison
    from equipoise.policies import Policy
    from equipoise.spaces import Domain
    from equipoise.study.outputs.holding import Named
    from equipoise.study.state import State

NEARBY = 0.3
"""Only a rival that differs from the leader by at most this share of the range in each parameter, and in no option, has
a mirror image."""

Teaching = Callable[..., "Sequence[Comparison]"]
"""Takes points, shape (d,) each, and returns what readings of them, in this order, would teach, outcomes at zero."""

Within = Callable[..., Proposal]
"""The method of a policy that weighs optimism against the probability that limits hold, as `Challenger.within`."""

SPARE = 0.8
"""The leader is not read beside a rival if the rival's reading alone takes away this share of what the pair does of the
variance of their difference."""

FINALISTS = 256
"""Among how many of the most promising settings a second rival is looked for."""

ENOUGH = 2.0
"""Two rivals are measured rather than the leader and one of them, if that leaves no more than this multiple of the
variance by which the first rival is behind: a pair that teaches of two settings may teach half as much of each."""


def teaching(state: State) -> Teaching | None:
    """Return what says what readings would teach; `None` if only pairs do, or pairs on one seed."""
    setup = state.setup
    return partial(_awaited, state) if setup.offset.learns_readings and setup.seeds is None else None


def _awaited(state: State, first: FloatArray, second: FloatArray | None = None) -> tuple[Comparison, ...]:
    """Return what a reading, or a pair of them, would teach, outcomes left at zero."""
    if second is None:
        duel = Duel(Proposal.single(first), first[None], (1.0,), first, None)
    else:
        duel = Duel(Proposal.pair(first, second), np.array([first, second]), (1.0, -1.0), first, second)
    ids = tuple(range(state.ledger.trials, state.ledger.trials + len(duel.points)))
    return state.awaited(Entry(state.duels, duel, ids), state.readings + 1)


def accompanied(
    within: Within,
    posterior: Posterior,
    belief: Belief,
    named: Named,
    holds: FloatArray,
    rng: Generator,
    teaching: Teaching | None,
) -> Proposal:
    """Return what a policy proposes within limits; a second rival instead of a leader whose reading would be spare.

    Args:
        within: The method of the policy.
        posterior: What is believed of the first objective.
        belief: The same at the candidates.
        named: What is believed of all outputs.
        holds: The probability that each candidate holds all limits, shape (m,).
        rng: The source of randomness.
        teaching: Returns what readings would teach; `None` if only pairs do.
    """
    leader = belief.points[safest(belief.mean, holds, rng)]
    pair = within(belief, holds, rng, None if named.placed(leader) else named.origin)
    first, rival = pair.points
    if teaching is None or (first != leader).any() or not _spare(posterior, named, teaching, leader, rival):
        return pair
    others = np.where((belief.points == rival).all(axis=1), 0.0, holds)
    first, second = within(posterior.anticipate_all(teaching(rival)).at(belief.points), others, rng).points
    return Proposal.pair(second if (first == leader).all() else first, rival)


def _spare(posterior: Posterior, named: Named, teaching: Teaching, leader: FloatArray, rival: FloatArray) -> bool:
    """Return whether a reading of a rival alone tells how it compares with the leader, as well as a pair of both would.

    So it is while offsets are calm: the level of the readings is known.
    """
    alone, both = teaching(rival), teaching(leader, rival)

    def spare(posterior: Posterior) -> bool:
        now, single, pair = (
            float(each.difference(rival[None], leader)[1][0])
            for each in (posterior, posterior.anticipate_all(alone), posterior.anticipate_all(both))
        )
        return now > pair and now - single >= SPARE * (now - pair)

    return all(map(spare, (posterior, *(named.beliefs[name].posterior for name in named.limiting))))


def two_rivals(
    state: State, posterior: Posterior, belief: Belief, policy: Policy, proposal: Proposal, rng: Generator
) -> Proposal:
    """Return two rivals instead of a leader and its rival, if that teaches at least half as much of each.

    Listed settings differ by much more than the noise at times, and what the leader reads is soon known. Then half of
    all readings would teach nothing. If each pair has its own level, only a duel with the leader teaches enough.

    Args:
        state: The study.
        posterior: What is believed, with what is still open.
        belief: The same at all candidates.
        policy: Chooses the leader and its rival, or another pair, which stays as it is.
        proposal: What it has chosen.
        rng: The source of randomness.
    """
    taught, (leader, rival), best = teaching(state), proposal.points[[0, -1]], int(belief.mean.argmax())
    if taught is None or len(proposal.points) != 2 or (leader != belief.points[best]).any():
        return proposal
    after = posterior.anticipate_all(taught(leader, rival))
    finalists = belief.points[np.argsort(-belief.optimism(best))[:FINALISTS]]
    second = policy(after.at(finalists), rng).points[-1]
    if any(np.array_equal(second, point) for point in (leader, rival)):
        return proposal
    unknown, known = (
        float(each.difference(rival[None], leader)[1][0])
        for each in (posterior.anticipate_all(taught(second, rival)), after)
    )
    return Proposal.pair(second, rival) if unknown <= ENOUGH * known else proposal


def mirrored(state: State, space: Domain, belief: Belief, proposal: Proposal) -> Proposal:
    """Return a rival and its mirror image in the leader, instead of leader and rival.

    With many parameters rivals are small steps from the leader, and a reading shows little of a small step. Between a
    step and the opposite step f changes twice as much, for the same two readings.

    Args:
        state: The study.
        space: Where points may be asked for.
        belief: What is believed of the candidates.
        proposal: What the policy has chosen; another pair than one with the leader stays as it is.
    """
    leader, rival = proposal.points[[0, -1]]
    best = belief.points[belief.mean.argmax()]
    if teaching(state) is None or len(proposal.points) != 2 or (leader != best).any():
        return proposal
    opposite = space.snap((2.0 * leader - rival)[None])
    near = np.abs(rival - leader).max() <= NEARBY and bool(space.valid(opposite)[0])
    return Proposal.pair(opposite[0], rival) if near else proposal
