"""VOCS, in which Xopt, libEnsemble and optimas say what is to be optimized, as a space of named parameters."""

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable, DiscreteVariable, MaximizeObjective
from gest_api.vocs import MinimizeObjective as Minimize

from equipoise.spaces import Choice, Context, Float, Int, Parameter, Space


class VocsProblem:
    """What is optimized, and where.

    A discrete variable with numbers for values is searched in their order, any other one as a choice. What may be one
    value only is not searched, and is, like the constants, part of every point. A contextual variable is observed, not
    chosen: it is no part of the points to be measured, and comes back with their readings.

    Args:
        vocs: Variables, objectives and constants. One objective, to be minimized or maximized.

    Example:
        >>> vocs = VOCS(variables={"q1": [-2, 2], "shots": {1, 5, 10}}, objectives={"f": "MAXIMIZE"},
        ...             constants={"mode": "fast"})
        >>> problem = VocsProblem(vocs)
        >>> problem.space, problem.objective, problem.minimize
        (Space(q1=Float(-2.0, 2.0), shots=Int(0, 2)), 'f', False)
        >>> problem.row({"q1": 0.5, "shots": 1})
        {'q1': 0.5, 'shots': 5, 'mode': 'fast'}
    """

    def __init__(self, vocs: VOCS) -> None:
        if vocs.constraints:
            rule = "must be without constraints, which are about what is measured beside the objective"
            raise ValueError(f"`vocs` {rule}, got {list(vocs.constraints)}")
        if len(vocs.objectives) != 1:
            raise ValueError(f"`vocs` must have a single objective, got {list(vocs.objectives)}")
        ((self.objective, goal),) = vocs.objectives.items()
        if not isinstance(goal, (Minimize, MaximizeObjective)):
            raise ValueError(f"`vocs` must have an objective to minimize or to maximize, got {type(goal).__name__}")
        self.minimize = isinstance(goal, Minimize)
        self._values = {name: _values(v) for name, v in vocs.variables.items() if isinstance(v, DiscreteVariable)}
        fixed = {name: values[0] for name, values in self._values.items() if len(values) == 1}
        self.constants = fixed | {name: constant.value for name, constant in vocs.constants.items()}
        # By name: Xopt's YAML gives the variables back in this order, whatever it was before.
        self.space = Space({n: self._parameter(n, v) for n, v in sorted(vocs.variables.items()) if n not in fixed})

    def row(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return a point of the space as VOCS knows it, constants and all."""
        return {n: self._values[n][v] if n in self._values else v for n, v in x.items()} | self.constants

    def to_measure(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of a point is to be set: all but the contexts, which are observed."""
        return {n: v for n, v in self.row(x).items() if n not in self.space.contexts}

    def observed(self, x: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a point of the space at the context that a row says; `None` where it says none."""
        seen = {n: float(row[n]) for n in self.space.contexts if row.get(n) is not None and row[n] == row[n]}
        return {**x, **seen} if seen else None

    def context(self, x: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the context of the point read last, or the middle of the range before any; `None` without contexts."""
        point = self.space.decode(np.full(self.space.dimension, 0.5)) if x is None else x
        return {n: point[n] for n in self.space.contexts} or None

    def reading(self, row: Mapping[str, Any]) -> float | None:
        """Return the value of the objective in a row; `None` where it is missing or no finite number."""
        try:
            value = float(row[self.objective])
        except (KeyError, TypeError, ValueError):
            return None
        return value if math.isfinite(value) else None

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


def _values(variable: DiscreteVariable) -> list[Any]:
    """Return the values of a discrete variable, a set, in an order that is the same in every process."""
    values = list(variable.values)
    return sorted(values) if _ordered(values) else sorted(values, key=lambda v: (type(v).__name__, repr(v)))


def _ordered(values: list[Any]) -> bool:
    return all(isinstance(v, numbers.Real) for v in values)
