"""Replacements of points that do not pass the gate, drawn towards a known setting."""

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
"""The distances of replacements from a passing setting, as shares of the distance of the refused point."""

NEAREST = 64
"""The number of nearest candidates tried if no known setting passes."""


@dataclass(frozen=True, eq=False)
class Replacing:
    """The replacement rule for points that do not pass.

    Attributes:
        gate: The gate.
    """

    gate: Checkpoint

    def instead_of(
        self, point: FloatArray, beside: Sequence[FloatArray], targets: Sequence[FloatArray], rng: Generator | None
    ) -> FloatArray:
        """Return the replacement of a refused point, `beside` the others of its duel, drawn towards `targets` first.

        Without `rng` only known settings may be proposed.
        """
        for found in self._instead(point, [*targets, *self._known], rng):
            passes = self.gate.admits(found, beside)
            if passes.any():
                passing: FloatArray = found[int(passes.argmax())]
                return passing
        return beside[0] if beside and self.gate.state.limited else self._worst_case(point)

    def _instead(self, point: FloatArray, targets: Sequence[FloatArray], rng: Generator | None) -> Iterator[FloatArray]:
        """Yield points near one that does not pass, the nearest first, shapes (m, d)."""
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
        """Return the proposal if nothing passes: on the way back to the start; without limits the point itself."""
        instead: FloatArray = self.gate.space.snap(point[None])[0] if self._anchors is None else self._anchors[0]
        return instead

    @cached_property
    def _known(self) -> FloatArray:
        """The known settings that pass, shape (k, d): the anchors of the search, then the best measured ones."""
        posterior = self.gate.state.belief.posterior
        known = measured(self.gate.allowed, posterior).reshape(-1, self.gate.space.dimension)
        best = known[np.argsort(-posterior.mean(known))] if len(known) else known
        best = best[:NEAREST]
        return best if self._anchors is None else np.concatenate((self._anchors, best))

    @property
    def _anchors(self) -> FloatArray | None:
        """The starting points of the search if there are limits, shape (k, d)."""
        anchors: FloatArray | None = getattr(self.gate.allowed, "anchors", None)
        return anchors
