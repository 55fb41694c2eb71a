"""The gate: the one place where trials and pairs are handed out, whatever has proposed them.

A policy, a start, a scout, an audit, a verification, a pair to be judged, a half that waits: each passes here, and here
alone the events `Asked` and `Handed` are made. The gate looks at the space and its constraint, at settings
that fail, at `max_step` and at `drop`. A point that does not pass is not refused: it is replaced by one that does,
drawn towards a setting that passes; in the worst case by where the machine stands, or by the way back to the start.

Both points of a duel must be within a step of where the machine stands, and of each other: a coin says which is first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.data import Duel, PairToJudge, Proposal, SeedName
from equipoise.log import Asked, Handed
from equipoise.policies import measured
from equipoise.spaces import Domain
from equipoise.study.moving import Reach
from equipoise.study.state import State

SHARES = np.array([0.9, 0.75, 0.5, 0.35, 0.25, 0.17, 0.1, 0.06, 0.03, 0.015, 0.0])[:, None]
"""How far from a setting that passes a point is drawn that does not, in units of where it was."""

NEAREST = 64
"""How many candidates, the nearest ones, are tried where nothing that is known passes."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Lets pass what may be asked for in a part of the space.

    Attributes:
        state: What happened.
        space: The part of the space at the present context.
        reach: What is within a step of where the machine may stand, if steps are limited.
        allowed: What of the space may be asked for.
    """

    state: State
    space: Domain
    reach: Reach | None
    allowed: Domain

    @classmethod
    def of(cls, state: State, space: Domain, worker: str | None = None) -> "Checkpoint":
        """Return the gate of a state."""
        reach = state.reach(space, worker)
        return cls(state, space, reach, state.allowed(space, reach))

    def admit(self, proposal: Proposal, rng: Generator) -> Proposal:
        """Return a proposal whose points may be measured, in any order; the same one if its points may."""
        kept: list[FloatArray] = []
        for point in proposal.points:
            kept.append(self._passing(point, kept, rng))
        points = np.array(kept)
        return proposal if points.tobytes() == proposal.points.tobytes() else Proposal(points, proposal.weights)

    def admits(self, points: FloatArray, beside: Sequence[FloatArray] = ()) -> NDArray[np.bool_]:
        """Return which points, shape (m, d), may be asked for, beside others of the same duel, shape (m,)."""
        passes: NDArray[np.bool_] = self.allowed.valid(points) & (self.space.snap(points) == points).all(axis=1)
        if self.reach is not None:
            for other in beside:
                passes &= self.reach.joins(points, other)
        return passes

    def asked(self, duel: Duel, worker: str | None, seed: SeedName | None = None) -> Asked:
        """Return the event of a new duel: its first trial is handed out."""
        return Asked(self.state.ledger.trials, duel, self.state.duels, worker, self._plan, seed)

    def paired(self, points: FloatArray, steps: int, judge: str, again: int | None = None) -> Asked:
        """Return the event of a pair that is handed out to be judged; refuse an earlier one that may not be, again."""
        if again is not None and self.state.limited and not self.admits(points, [points[0]]).all():
            raise RuntimeError(f"`again` must be a pair within `drop` and `max_step`, which forbid pair {again} now")
        plan = self._plan if again is None else None
        return Asked(self.state.ledger.trials, PairToJudge(points, steps, judge, again), plan=plan)

    def handed(self, i: int, planned: FloatArray, worker: str | None) -> Handed | None:
        """Return the event of a trial that waited; `None` if the constraint forbids it at the present context.

        Args:
            i: The trial.
            planned: Where it was to be measured, encoded, shape (d,).
            worker: Who measures it.
        """
        here: FloatArray = self.space.snap(planned[None])[0]
        if not self.space.valid(here[None])[0]:
            return None
        point = here if self.admits(here[None])[0] else self._replaced(here, [], self._partners(i), None)
        return Handed(i, worker, None if point.tobytes() == planned.tobytes() else point)

    def _partners(self, i: int) -> list[FloatArray]:
        """Return where the other readings of the duel of a trial were taken."""
        entry = self.state.ledger.of_trial[i]
        return [entry.point(j) for j in entry.readings if j != i]

    @property
    def _plan(self) -> int | None:
        """The plan that is served, if any."""
        return None if self.state.serves(self.space) is None else len(self.state.planned) - 1

    def _passing(self, point: FloatArray, beside: Sequence[FloatArray], rng: Generator) -> FloatArray:
        """Return a point that may be asked for beside others: the one proposed if it may."""
        return point if self.admits(point[None], beside)[0] else self._replaced(point, beside, beside, rng)

    def _replaced(
        self, point: FloatArray, beside: Sequence[FloatArray], targets: Sequence[FloatArray], rng: Generator | None
    ) -> FloatArray:
        """Return what is asked for instead of a point that does not pass.

        Args:
            point: What was wanted.
            beside: The other points of the same duel.
            targets: The settings towards which it is drawn first.
            rng: The source of randomness; `None` if only what is known may be asked for.
        """
        for found in self._instead(point, [*targets, *self._known], rng):
            passes = self.admits(found, beside)
            if passes.any():
                replaced: FloatArray = found[int(passes.argmax())]
                return replaced
        return beside[0] if beside and self.state.limited else self._worst_case(point)

    def _instead(self, point: FloatArray, targets: Sequence[FloatArray], rng: Generator | None) -> Iterator[FloatArray]:
        """Yield points that come near to one which does not pass, the nearest first, shapes (m, d)."""
        listed = self.allowed.points
        if listed is not None:
            yield self._nearest(listed, point)
            return
        yield self.space.snap(point[None])
        for target in targets:
            yield self.space.snap(target + SHARES * (point - target))
        if rng is not None:
            yield self._nearest(self.allowed.candidates(rng), point)

    def _nearest(self, points: FloatArray, point: FloatArray) -> FloatArray:
        distances = (((points - point) / self.space.extent) ** 2).sum(axis=1)
        return points[np.argsort(distances, kind="stable")[:NEAREST]]

    def _worst_case(self, point: FloatArray) -> FloatArray:
        """Return what is asked for if nothing passes: the way back to the start; without limits the point itself."""
        instead: FloatArray = self.space.snap(point[None])[0] if self.anchors is None else self.anchors[0]
        return instead

    @cached_property
    def _known(self) -> FloatArray:
        """The settings that pass and are known, shape (k, d): those the search begins at, then the best measured."""
        posterior = self.state.belief.posterior
        known = measured(self.allowed, posterior).reshape(-1, self.space.dimension)
        best = known[np.argsort(-posterior.mean(known))] if len(known) else known
        best = best[:NEAREST]
        return best if self.anchors is None else np.concatenate((self.anchors, best))

    @property
    def anchors(self) -> FloatArray | None:
        """Where further settings are looked for from, if there are limits, shape (k, d)."""
        anchors: FloatArray | None = getattr(self.allowed, "anchors", None)
        return anchors


def handed(state: State, worker: str | None, part: Domain | None) -> Handed | None:
    """Return the event of the first trial that waits for a worker and may be handed out; `None` if there is none.

    Args:
        state: What happened.
        worker: Who measures.
        part: The part of the space at the present context, to which a waiting setting is moved. `None` if nothing is
            said of the context: then it is as planned.
    """
    for i in state.ledger.waiting(worker):
        planned = state.ledger.of_trial[i].point(i)
        if part is None and state.unrestricted:
            return Handed(i, worker)
        here = state.setup.space.through(planned) if part is None else part
        event = Checkpoint.of(state, here, worker).handed(i, planned, worker)
        if event is not None:
            return event
    return None
