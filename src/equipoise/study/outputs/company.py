"""The other setting of a rival's pair: the leader, the start, another rival, or the rival's mirror image in the leader.

While offsets are calm, the level of the readings is known. Then one reading of a rival suffices, and another reading of
the leader would add little. So the pair has another rival, for the objective or for a limit. This holds in a study with
limits or with listed settings; with many parameters the pair has the mirror image.
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
"""Takes points, shape (d,) each, and returns the lessons of readings of them in this order, with outcomes of zero."""

Within = Callable[..., Proposal]
"""The method of a policy that weighs optimism against the probability that limits hold, as `Challenger.within`."""

SPARE = 0.8
"""The leader is not measured beside a rival if the rival's reading alone removes at least this share of the variance of
their difference that the pair would remove."""

FINALISTS = 256
"""The number of most promising settings among which a second rival is chosen."""

ENOUGH = 2.0
"""Two rivals are measured instead of the leader and the first rival, if this leaves at most this multiple of the
variance of their difference that a duel of these two would leave: a pair that teaches about two settings may teach half
as much about each."""


def teaching(state: State) -> Teaching | None:
    """Return a function for the lessons of future readings; `None` if only pairs teach, or pairs on one seed."""
    setup = state.setup
    return partial(_awaited, state) if setup.offset.learns_readings and setup.seeds is None else None


def _awaited(state: State, first: FloatArray, second: FloatArray | None = None) -> tuple[Comparison, ...]:
    """Return the lessons of a future reading or pair, with outcomes of zero."""
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
    """Return the proposal of a policy within limits; a second rival replaces a leader whose reading would add little.

    Args:
        within: The method of the policy.
        posterior: The belief about the first objective.
        belief: The same at the candidates.
        named: The beliefs about all outputs.
        holds: The probability that each candidate holds all limits, shape (m,).
        rng: The source of randomness.
        teaching: Returns the lessons of future readings; `None` if only pairs teach.
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
    """Return whether a reading of a rival alone compares it with the leader about as well as a pair of both would.

    This holds while offsets are calm, since the level of the readings is then known.
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

    Listed settings may differ by much more than the noise. Then the value of the leader is soon known, and half of all
    readings would teach nothing. If each pair has its own level, only a duel with the leader teaches enough.

    Args:
        state: The study.
        posterior: The belief, with the expected lessons of open questions.
        belief: The same at all candidates.
        policy: Chooses the leader and its rival, or another pair, which stays as it is.
        proposal: Its choice.
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
        space: The settings that may be proposed.
        belief: The belief about the candidates.
        proposal: The choice of the policy; a pair without the leader stays as it is.
    """
    leader, rival = proposal.points[[0, -1]]
    best = belief.points[belief.mean.argmax()]
    if teaching(state) is None or len(proposal.points) != 2 or (leader != best).any():
        return proposal
    opposite = space.snap((2.0 * leader - rival)[None])
    near = np.abs(rival - leader).max() <= NEARBY and bool(space.valid(opposite)[0])
    return Proposal.pair(opposite[0], rival) if near else proposal
