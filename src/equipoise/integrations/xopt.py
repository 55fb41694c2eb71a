"""Xopt, and through it Badger: a generator that compares. Importing this module registers it by the name `duel`.

    X = Xopt(generator=XoptDuelGenerator(vocs=vocs), evaluator=Evaluator(function=measure))
    for _ in range(60):
        X.step()
    X.generator.get_best_points()

All of its state is in the file that `X.dump` writes: a study resumed by `Xopt.from_file` continues with the open half
of a duel, without any difference.
"""

import math
import secrets
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from pydantic import Field, PrivateAttr, field_serializer
    from xopt.generator import Generator, StateOwner
    from xopt.generators import generators
except ImportError as error:
    raise ImportError(f'generators in Xopt need more packages: pip install "equipoise[xopt]" ({error})') from error

from equipoise.answer import Recommendation
from equipoise.integrations.gest import NotCompared
from equipoise.integrations.vocs import VocsProblem
from equipoise.log import MemoryLog
from equipoise.optimizer import Optimizer

__all__ = ["NotCompared", "XoptDuelGenerator"]

TOLERANCE = 1e-6
"""Maximum difference, relative to its size, between a measured and a requested variable that counts as a match."""


class XoptStudy:
    """An optimizer that keeps its history as JSON, and can be rebuilt from it.

    Args:
        problem: The problem to optimize.
        parts: Further arguments of `Optimizer`: the seed of its random numbers, the start.
        events: The earlier history. Trials without a reading are handed out again.
    """

    def __init__(
        self, problem: VocsProblem, parts: Mapping[str, Any], events: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.problem, self.journal = problem, MemoryLog(problem.space, events)
        self.optimizer = Optimizer(problem.space, **problem.goal, **parts, log=self.journal)
        for i in reversed(self.optimizer.study.open_trials):
            self.optimizer.study.expire(i)

    def learn(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Learn from measured rows; match each to an open trial by its variables."""
        for row in rows:
            asked = self._open()
            i = next((i for i, x in asked.items() if self._alike(self.problem.row(x), row)), None)
            told = self.problem.reading(row)
            if i is None:
                warnings.warn("a row that was not suggested belongs to no duel and is ignored", NotCompared, 4)
            elif told is None:
                self.optimizer.tell(i, failed=f"its {self.problem.objective} is {row.get(self.problem.objective)}")
            else:
                self.optimizer.tell(i, **told, x=self.problem.observed(asked[i], row))

    def _open(self) -> dict[int, Any]:
        """Return the points of open trials, by trial, oldest first."""
        open_trials = set(self.optimizer.study.open_trials)
        return {r.trial: r.x for r in self.optimizer.records(aside=False) if r.trial in open_trials}

    def _alike(self, x: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
        names = set(self.problem.space.parameters) - set(self.problem.space.contexts)
        return all(_close(x[name], row.get(name)) for name in names)


class XoptDuelGenerator(Generator, StateOwner):  # type: ignore[misc]
    """A generator that suggests points in pairs, and learns from the differences of their readings: drift cancels.

    Any number of candidates may be generated at once; an odd one leaves half a duel open, with which the next call
    begins. Results are matched by their variables. A row without a finite value fails, and its duel is abandoned.
    """

    name = "duel"
    supports_batch_generation: bool = Field(default=True, frozen=True, exclude=True)
    supports_single_objective: bool = Field(default=True, frozen=True, exclude=True)
    supports_multi_objective: bool = Field(default=True, frozen=True, exclude=True)
    supports_constraints: bool = Field(default=True, frozen=True, exclude=True)
    supports_discrete_variables: bool = Field(default=True, frozen=True, exclude=True)
    supports_contextual_variables: bool = Field(default=True, frozen=True, exclude=True)
    seed: int = Field(default_factory=lambda: secrets.randbelow(2**32), description="seed of the random numbers")
    start: dict[str, Any] | None = Field(default=None, description="the present setting, by variable")
    limits: list[str] = Field(default_factory=list, description="limits besides the constraints: size <= start + 1")
    events: list[dict[str, Any]] = Field(default_factory=list, description="what has happened in the study")
    _study: XoptStudy | None = PrivateAttr(default=None)

    @property
    def study(self) -> XoptStudy:
        """The optimizer; created on first use, since the ranges may change until then."""
        if self._study is None:
            parts = {"rng": self.seed, "start": self.start}
            self._study = XoptStudy(VocsProblem(self.vocs, self.limits), parts, self.events)
        return self._study

    def generate(self, n_candidates: int) -> list[dict[str, Any]]:
        """Return points to measure, in order."""
        study = self.study
        context = study.problem.present(study.optimizer)
        trials = [study.optimizer.ask(context=context) for _ in range(n_candidates)]
        return [study.problem.to_measure(trial.x) for trial in trials]

    def add_data(self, new_data: Any) -> None:
        """Learn from measured points."""
        self.study.learn(new_data.to_dict(orient="records"))
        super().add_data(new_data)

    def set_data(self, data: Any) -> None:
        """Load the data of a study; without data, start again."""
        self.data = data
        if data.empty:
            self.events, self._study = [], None

    def recommend(self) -> Recommendation:
        """Return the best known point at the present context, with a bound on the remaining gain."""
        return self.study.problem.recommended(self.study.optimizer)

    def get_best_points(self) -> list[dict[str, Any]]:
        """Return the best known point. Under drift the point with the best reading is the luckiest one.

        With several objectives, return all points of the front.
        """
        return self.study.problem.best_points(self.study.optimizer)

    @field_serializer("events")
    def _current(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return events if self._study is None else [dict(event) for event in self._study.journal.events]


def _close(asked: Any, measured: Any) -> bool:
    if isinstance(asked, float) and isinstance(measured, (int, float)):
        return math.isclose(asked, measured, rel_tol=TOLERANCE, abs_tol=1e-12)
    return bool(asked == measured)


generators[XoptDuelGenerator.name] = XoptDuelGenerator
