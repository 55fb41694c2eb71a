"""VOCS, the description of a problem in Xopt, libEnsemble and optimas, as a space of named parameters."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gest_api.vocs import (
    VOCS,
    BoundsConstraint,
    ContextualVariable,
    ContinuousVariable,
    DiscreteVariable,
    GreaterThanConstraint,
    LessThanConstraint,
    MaximizeObjective,
)
from gest_api.vocs import MinimizeObjective as Minimize

from equipoise.answer import Recommendation
from equipoise.optimizer import Optimizer
from equipoise.spaces import Choice, Context, Float, Int, Parameter, Space
from equipoise.study.outputs import limited


class VocsProblem:
    """An optimization problem in VOCS, as a space and a goal.

    A discrete variable with numeric values is searched in their order, any other one as a choice. A variable with a
    single value is, like the constants, part of every point. A contextual variable is observed, not chosen: it is not
    part of the suggested points, and comes back with their readings.

    Args:
        vocs: Variables, objectives, constraints and constants. Objectives are to be minimized or maximized; constraints
            are limits of measured numbers.
        limits: Further limits, such as "size <= start + 1", of objectives, constraints and observables.

    Attributes:
        objective: The first objective.
        outputs: All objectives and all outputs with limits.
        goal: The arguments of `Optimizer` for the goal.

    Example:
        >>> vocs = VOCS(variables={"q1": [-2, 2], "shots": {1, 5, 10}}, objectives={"f": "MAXIMIZE"},
        ...             constants={"mode": "fast"})
        >>> problem = VocsProblem(vocs)
        >>> problem.space, problem.objective, problem.goal
        (Space(q1=Float(-2.0, 2.0), shots=Int(0, 2)), 'f', {'minimize': False})
        >>> problem.row({"q1": 0.5, "shots": 1})
        {'q1': 0.5, 'shots': 5, 'mode': 'fast'}
    """

    def __init__(self, vocs: VOCS, limits: Sequence[str] = ()) -> None:
        if not vocs.objectives:
            raise ValueError("`vocs` must have an objective, got none")
        for goal in vocs.objectives.values():
            if not isinstance(goal, (Minimize, MaximizeObjective)):
                raise ValueError(f"`vocs` must have objectives to minimize or to maximize, got {type(goal).__name__}")
        signs = {name: "-" if isinstance(goal, Minimize) else "" for name, goal in vocs.objectives.items()}
        self.objective, told = next(iter(signs)), [text for row in vocs.constraints.items() for text in _limits(*row)]
        kept = limited([*told, *limits])
        self.outputs = tuple(dict.fromkeys((*signs, *(limit.name for limit in kept))))
        measured = {*signs, *vocs.constraints, *vocs.observables}
        if unknown := [name for name in self.outputs if name not in measured]:
            raise ValueError(f"`limits` must name numbers that `vocs` measures, got {', '.join(unknown)}")
        if len(self.outputs) == 1 and not kept:
            self.goal: dict[str, Any] = {"minimize": signs[self.objective] == "-"}
        else:
            text = ", ".join(f"{sign}{name}" for name, sign in signs.items())
            self.goal = {"objective": text} | ({"limits": tuple(map(str, kept))} if kept else {})
        self._values = {name: _values(v) for name, v in vocs.variables.items() if isinstance(v, DiscreteVariable)}
        fixed = {name: values[0] for name, values in self._values.items() if len(values) == 1}
        self.constants = fixed | {name: constant.value for name, constant in vocs.constants.items()}
        # By name: Xopt's YAML gives the variables back in this order, whatever it was before.
        self.space = Space({n: self._parameter(n, v) for n, v in sorted(vocs.variables.items()) if n not in fixed})

    def row(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return a point of the space with the names of VOCS, constants included."""
        return {n: self._values[n][v] if n in self._values else v for n, v in x.items()} | self.constants

    def to_measure(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a point that must be set: all but the contexts, which are observed."""
        return {n: v for n, v in self.row(x).items() if n not in self.space.contexts}

    def observed(self, x: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a point of the space at the context of a row; `None` if the row has no context."""
        seen = {n: float(row[n]) for n in self.space.contexts if row.get(n) is not None and row[n] == row[n]}
        return {**x, **seen} if seen else None

    def context(self, x: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the context of the point read last, or the middle of the range before any; `None` without contexts."""
        point = self.space.decode(np.full(self.space.dimension, 0.5)) if x is None else x
        return {n: point[n] for n in self.space.contexts} or None

    def present(self, optimizer: Optimizer) -> dict[str, Any] | None:
        """Return the present value of each contextual variable, by the last row that was read."""
        read = [record.x for record in optimizer.records() if record.value is not None]
        return self.context(read[-1] if read else None)

    def recommended(self, optimizer: Optimizer) -> Recommendation:
        """Return the best known point at the present context, with a bound on the remaining gain."""
        best = optimizer.recommend(context=self.present(optimizer))
        known = {name: each for name, each in best.readouts.items() if name not in self._values}  # those are counted
        return replace(best, x=self.row(best.x), readouts=known)

    def best_points(self, optimizer: Optimizer) -> list[dict[str, Any]]:
        """Return the best known point; with several objectives all points of the front."""
        several = optimizer.study.setup.outputs
        points = [] if several is None or not several.several else optimizer.front(context=self.present(optimizer))
        return [self.row(point.x) for point in points] or [self.recommended(optimizer).x]

    def reading(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of `tell` for a row: `value` and `missing`; `None` without the first objective."""
        found = {name: value for name in self.outputs if (value := _finite(row.get(name))) is not None}
        if self.objective not in found:
            return None
        if len(self.outputs) == 1:
            return {"value": found[self.objective]}
        return {"value": found, "missing": [name for name in self.outputs if name not in found]}

    def _parameter(self, name: str, variable: Any) -> Parameter:
        if name in self._values:
            values = self._values[name]
            return Int(0, len(values) - 1) if _ordered(values) else Choice(range(len(values)))
        if not isinstance(variable, ContinuousVariable):
            raise ValueError(f"`vocs` must have continuous and discrete variables only, got {name!r}: {variable!r}")
        if isinstance(variable.dtype, tuple):
            raise ValueError(f"`vocs` must have variables of single numbers, got {name!r}: {variable!r}")
        if not all(map(math.isfinite, variable.domain)):
            raise ValueError(f"`vocs` must give {name!r} a domain of two finite numbers, got {list(variable.domain)}")
        return Context(*variable.domain) if isinstance(variable, ContextualVariable) else Float(*variable.domain)


def _limits(name: str, constraint: Any) -> list[str]:
    """Return the limits that a constraint describes."""
    match constraint:
        case LessThanConstraint(value=value):
            return [f"{name} <= {value!r}"]
        case GreaterThanConstraint(value=value):
            return [f"{name} >= {value!r}"]
        case BoundsConstraint(range=(low, high)):
            return [f"{name} >= {low!r}", f"{name} <= {high!r}"]
    raise ValueError(f"`vocs` must have constraints LESS_THAN, GREATER_THAN or BOUNDS, got {name!r}: {constraint!r}")


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _values(variable: DiscreteVariable) -> list[Any]:
    """Return the values of a discrete variable, a set, in an order that is the same in every process."""
    values = list(variable.values)
    return sorted(values) if _ordered(values) else sorted(values, key=lambda v: (type(v).__name__, repr(v)))


def _ordered(values: list[Any]) -> bool:
    return all(isinstance(v, numbers.Real) for v in values)
