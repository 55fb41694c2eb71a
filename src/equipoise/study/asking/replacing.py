"""What is asked for instead of a point that does not pass the gate: one that does, drawn towards a known setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from equipoise.policies import measured

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.study.asking.gate import Checkpoint

SHARES = np.array([0.9, 0.75, 0.5, 0.35, 0.25, 0.17, 0.1, 0.06, 0.03, 0.015, 0.0])[:, None]
"""How far from a setting that passes a point is drawn that does not, in units of where it was."""

NEAREST = 64
"""How many candidates, the nearest ones, are tried where nothing that is known passes."""


@dataclass(frozen=True, eq=False)
class Replacing:
    """Finds what is asked for instead of a point that does not pass.

    Attributes:
        gate: What lets points pass.
    """

    gate: Checkpoint

    def instead_of(
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
            passes = self.gate.admits(found, beside)
            if passes.any():
                passing: FloatArray = found[int(passes.argmax())]
                return passing
        return beside[0] if beside and self.gate.state.limited else self._worst_case(point)

    def _instead(self, point: FloatArray, targets: Sequence[FloatArray], rng: Generator | None) -> Iterator[FloatArray]:
        """Yield points that come near to one which does not pass, the nearest first, shapes (m, d)."""
        listed = self.gate.allowed.points
        if listed is not None:
            yield self._nearest(listed, point)
            return
        yield self.gate.space.snap(point[None])
        for target in targets:
            yield self.gate.space.snap(target + SHARES * (point - target))
        if rng is not None:
            yield self._nearest(self.gate.allowed.candidates(rng), point)

    def _nearest(self, points: FloatArray, point: FloatArray) -> FloatArray:
        distances = (((points - point) / self.gate.space.extent) ** 2).sum(axis=1)
        return points[np.argsort(distances, kind="stable")[:NEAREST]]

    def _worst_case(self, point: FloatArray) -> FloatArray:
        """Return what is asked for if nothing passes: the way back to the start; without limits the point itself."""
        instead: FloatArray = self.gate.space.snap(point[None])[0] if self._anchors is None else self._anchors[0]
        return instead

    @cached_property
    def _known(self) -> FloatArray:
        """The settings that pass and are known, shape (k, d): those the search begins at, then the best measured."""
        posterior = self.gate.state.belief.posterior
        known = measured(self.gate.allowed, posterior).reshape(-1, self.gate.space.dimension)
        best = known[np.argsort(-posterior.mean(known))] if len(known) else known
        best = best[:NEAREST]
        return best if self._anchors is None else np.concatenate((self._anchors, best))

    @property
    def _anchors(self) -> FloatArray | None:
        """Where further settings are looked for from, if there are limits, shape (k, d)."""
        anchors: FloatArray | None = getattr(self.gate.allowed, "anchors", None)
        return anchors
