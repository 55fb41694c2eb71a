"""gest-api, the generator standard of Xopt, libEnsemble and optimas: a generator that compares.

    generator = DuelGenerator(vocs)
    points = generator.suggest(4)                                # two duels
    generator.ingest([p | measure(p) for p in points])           # by "_id", in any order
    generator.get_best_points()

Measure the points of a batch in the order in which they were suggested: the halves of a duel follow each other, and
which of them comes first was drawn at random.
"""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

try:
    from gest_api import Generator
    from gest_api.vocs import VOCS
except ImportError as error:
    raise ImportError(f'generators need more packages: pip install "equipoise[gest]" ({error})') from error

from equipoise import _validation as check
from equipoise.answer import Recommendation
from equipoise.integrations.vocs import VocsProblem
from equipoise.optimizer import Optimizer, resume

__all__ = ["DuelGenerator", "NotCompared"]


class NotCompared(UserWarning):
    """A reading without an `_id` belongs to no duel and is ignored."""


class DuelGenerator(Generator):  # type: ignore[misc]
    """Suggests points in pairs, and learns from the differences of their readings.

    You may ask for any number of points: the last one of an odd number is the first half of a duel, and the next call
    begins with the second. Rows are identified by their `_id`. A row without a finite value is a failure: the study
    does not use its duel, with a `DuelGivenUp` warning, and nothing else is lost.

    Args:
        vocs: Objectives, to be minimized or maximized; continuous, discrete and contextual variables; constants;
            constraints, which are limits of measured numbers.
        log: A file for the study. An existing one is continued with its own parts; points that were suggested and never
            read are suggested again.
        limits: Limits that VOCS cannot express, such as "size <= start + 1"; with `start`. See `VocsProblem`.
        **parts: Arguments of `Optimizer`, such as `rng`, `offset` or `reduction`. With `seeds` each point has a `seed`
            for its measurement.

    Example:
        >>> from gest_api.vocs import VOCS
        >>> vocs = VOCS(variables={"x": [0, 1]}, objectives={"f": "MAXIMIZE"})
        >>> generator = DuelGenerator(vocs, rng=0)
        >>> for day in range(20):  # the reading drifts by more than the signal: it does not matter
        ...     points = generator.suggest(3)
        ...     generator.ingest([p | {"f": -4 * (p["x"] - 0.7) ** 2 + 0.1 * p["_id"]} for p in points])
        >>> [{name: round(value, 1) for name, value in p.items()} for p in generator.get_best_points()]
        [{'x': 0.7}]
    """

    returns_id = True

    def __init__(
        self, vocs: VOCS, *, log: str | os.PathLike[str] | None = None, limits: Sequence[str] = (), **parts: Any
    ) -> None:
        super().__init__(vocs)
        self.vocs, self._problem = vocs, VocsProblem(vocs, limits)
        self.optimizer = self._taken_up(log) if log is not None and Path(log).exists() else self._begun(log, parts)
        self._suggested = {record.trial for record in self.optimizer.records(aside=False)}
        for i in reversed(self.optimizer.study.open_trials):
            self.optimizer.study.expire(i)
        if parts.get("block") is not None:
            self.optimizer.begin_block(parts["block"])

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Return points to measure, in this order.

        Args:
            num_points: How many; one by default.
        """
        n = 1 if num_points is None else check.count("num_points", num_points, at_least=0)
        trials = [self.optimizer.ask(context=self.context) for _ in range(n)]
        self._suggested.update(trial.id for trial in trials)
        return [
            self._problem.to_measure(trial.x) | {"_id": trial.id} | ({} if trial.seed is None else {"seed": trial.seed})
            for trial in trials
        ]

    def ingest(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Learn from measured points; rows without an `_id`, measured elsewhere, teach nothing.

        Args:
            results: Points as they were suggested, with the value of the objective, and a `block` if you like; in any
                order; the study learns in the order of suggestion.

        Raises:
            ValueError: A point has an `_id` that was not suggested, or was told another value before; if the former,
                nothing was learned from any of them.
        """
        known = []
        for row in results:
            i = row.get("_id")
            if i is None or i != i:  # a table has NaN if there is none
                warnings.warn("a reading without `_id` belongs to no duel and is ignored", NotCompared, 2)
            else:
                known.append((self._identified(i), row))
        asked = {record.trial: record.x for record in self.optimizer.records()} if self._problem.space.contexts else {}
        for i, row in sorted(known, key=itemgetter(0)):
            told = self._problem.reading(row)
            if told is None:
                self.optimizer.tell(i, failed=f"its {self._problem.objective} is {row.get(self._problem.objective)}")
            else:
                at = self._problem.observed(asked[i], row) if asked else None
                self.optimizer.tell(i, **told, x=at, block=row.get("block"))

    @property
    def context(self) -> dict[str, Any] | None:
        """The present value of each contextual variable, by the last row that was read; the middle before any."""
        return self._problem.present(self.optimizer)

    def recommend(self) -> Recommendation:
        """Return the best known point at the present context, with a bound on the remaining gain."""
        return self._problem.recommended(self.optimizer)

    def get_best_points(self) -> list[dict[str, Any]]:
        """Return the best known point. Under drift the point with the best reading is the luckiest one.

        With several objectives, return all points of the front.
        """
        return self._problem.best_points(self.optimizer)

    def _validate_vocs(self, vocs: VOCS) -> None:
        VocsProblem(vocs)

    def _identified(self, i: Any) -> int:
        if i not in self._suggested:
            raise ValueError(f"`_id` must be that of a suggested point, got {i!r}")
        return int(i)

    def _begun(self, log: str | os.PathLike[str] | None, parts: Mapping[str, Any]) -> Optimizer:
        return Optimizer(self._problem.space, log=log, **self._problem.goal, **parts)

    def _taken_up(self, log: str | os.PathLike[str]) -> Optimizer:
        optimizer = resume(log, space=self._problem.space)
        setup, goal = optimizer.study.setup, self._problem.goal
        wanted = {"objective": None, "limits": None} | goal
        if any(getattr(setup, name) != said for name, said in wanted.items()):
            raise ValueError(
                f"`vocs` and `limits` must have the goal with which {log} was begun, got another one: {goal}"
            )
        return optimizer
