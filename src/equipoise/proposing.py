"""Proposing the next duel: candidates from the space, a choice by the policy, the coin of the reduction."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.acquisition import Score, search
from equipoise.dual import DualPosterior
from equipoise.duel import Comparison, Duel, Proposal
from equipoise.ledger import OpenDuel
from equipoise.offsets import Constant
from equipoise.policies import Policy
from equipoise.posterior import Posterior
from equipoise.progress import Progress
from equipoise.reductions import Reduction
from equipoise.space import Domain


@dataclass(frozen=True)
class Proposer:
    """Space, policy and reduction of a study, which together say what to measure next."""

    space: Domain
    policy: Policy
    reduction: Reduction

    def __post_init__(self) -> None:
        offered, needed = self.policy.proposal_size, self.reduction.proposal_size
        if offered == 1 and not isinstance(self.reduction.offset, Constant):
            fit = f"{self.reduction!r} compares, {self.policy!r} proposes single points"
            raise ValueError(f"`reduction` must fit `policy`: {fit}")
        if needed is not None and offered != needed:
            raise ValueError(
                f"`reduction` must fit `policy`: {self.reduction!r} needs proposals of {needed} points, "
                f"{self.policy!r} makes proposals of {'varying size' if offered is None else offered}"
            )

    def duel(self, progress: Progress, rng: Generator) -> Duel:
        """Propose the next duel; what is still open already shrinks the variance, so that the next one differs."""
        posterior, readings = progress.posterior, len(progress.ledger.told)
        for entry in progress.ledger.open_duels:
            posterior = _anticipating(posterior, entry, readings)
        proposal = self.policy(posterior, self.candidates(posterior, self.policy.scores, rng), rng)
        return self.reduction(proposal, rng, _predicted(progress, proposal))

    def candidates(self, posterior: Posterior, scores: tuple[Score, ...] | None, rng: Generator) -> FloatArray:
        """Return the points to choose from, shape (m, d): all, or what a search climbing the scores finds."""
        active = posterior.active
        if not isinstance(active, DualPosterior):
            return active.support
        everywhere = self.space.candidates(rng)
        if everywhere is self.space.points:
            return everywhere
        if scores is not None:
            return search(self.space, active, scores, everywhere, rng)
        known = active.support
        return np.concatenate((known[self.space.valid(known)], everywhere)) if len(known) else everywhere


def _anticipating(posterior: Posterior, entry: OpenDuel, readings: int) -> Posterior:
    if not posterior.learns_readings:
        return posterior.anticipate(Comparison(entry.duel.first, entry.duel.second, 0.0, duel=entry.duel))
    for k, i in enumerate(j for j in entry.ids if j not in entry.readings):
        posterior = posterior.anticipate(Comparison(entry.point(i), None, 0.0, readings + 1.0 + k, duel=entry.duel))
    if entry.duel.second is None:  # its only reading says it all
        return posterior
    return posterior.anticipate(Comparison(entry.duel.first, entry.duel.second, 0.0, duel=entry.duel))


def _predicted(progress: Progress, proposal: Proposal) -> float:
    """Return the baseline for a pair: a number fixed before the coin."""
    if progress.baseline is None:
        return 0.0
    return progress.baseline.predict(float(progress.posterior.at(proposal.points).mean.mean()))
