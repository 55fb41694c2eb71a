"""Optuna's distributions as a space of named parameters, and back.

Values travel in Optuna's internal form, one number each: that of a choice is its index, so a choice may be any object,
and JSON keeps them all.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from equipoise._typing import FloatArray
from equipoise.spaces.named import Space
from equipoise.spaces.numbers import Float, Int
from equipoise.spaces.options import Choice, Parameter

ON_GRID = 1e-8
"""How far from a multiple of its step a value may be, in steps; Optuna's own tolerance."""


def internal(distribution: BaseDistribution, value: Any) -> float:
    """Return a value in Optuna's internal form."""
    return float(distribution.to_internal_repr(value))


def contains(distribution: BaseDistribution, value: float) -> bool:
    """Return whether a value, in internal form, may be suggested under a distribution."""
    if isinstance(distribution, CategoricalDistribution):
        return value.is_integer() and 0 <= value < len(distribution.choices)
    low, high, step = _range(distribution)
    return low <= value <= high and (step is None or _off_grid(value, low, step) < ON_GRID)


class Translation:
    """Encodes what Optuna knows by name as points of a `Space`, and decodes them.

    Args:
        distributions: What each parameter may be; none of a single value.

    Example:
        >>> from optuna.distributions import FloatDistribution, IntDistribution
        >>> both = Translation({"rate": FloatDistribution(0, 2), "size": IntDistribution(16, 64, step=16)})
        >>> both.space
        Space(rate=Float(0.0, 2.0), size=Int(0, 3))
        >>> point = both.encode({"rate": 0.5, "size": 32.0})
        >>> point.round(3), both.decode(point)
        (array([0.25 , 0.333]), {'rate': 0.5, 'size': 32.0})
        >>> both.encode({"rate": 3.0, "size": 32.0}) is None
        True
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = dict(distributions)
        self.space = Space({name: _parameter(d) for name, d in self.distributions.items()})
        described = {name: _described(d) for name, d in self.distributions.items()}
        self.signature = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:8]

    def encode(self, values: Mapping[str, float]) -> FloatArray | None:
        """Return a point, shape (d,), or `None` where a value is missing or no longer in its range."""
        x = {}
        for name, d in self.distributions.items():
            if name not in values or not contains(d, values[name]):
                return None
            x[name] = _to_parameter(d, values[name], self.space.parameters[name])
        return self.space.encode(x)

    def decode(self, point: FloatArray) -> dict[str, float]:
        """Return the values of a point, in internal form."""
        x = self.space.decode(point)
        return {
            name: _from_parameter(d, x[name], self.space.parameters[name]) for name, d in self.distributions.items()
        }

    def external(self, point: FloatArray) -> dict[str, Any]:
        """Return the values of a point as an objective sees them."""
        return {name: self.distributions[name].to_external_repr(v) for name, v in self.decode(point).items()}


def _described(distribution: BaseDistribution) -> list[Any]:
    """Return what makes two distributions the same space; choices never change within a study."""
    if isinstance(distribution, CategoricalDistribution):
        return [len(distribution.choices)]
    return [*_range(distribution), bool(getattr(distribution, "log", False))]


def _range(distribution: BaseDistribution) -> tuple[float, float, float | None]:
    """Return the bounds and the step of a number; on a logarithmic scale a whole number has none but one."""
    if not isinstance(distribution, (FloatDistribution, IntDistribution)):
        raise TypeError(f"`distribution` must be a float, an int or a categorical one, got {distribution!r}")
    return distribution.low, distribution.high, distribution.step


def _parameter(distribution: BaseDistribution) -> Parameter:
    if isinstance(distribution, CategoricalDistribution):
        return Choice(range(len(distribution.choices)))
    low, high, step = _range(distribution)
    log = bool(getattr(distribution, "log", False))
    if step is None:
        return Float(low, high, log=log)
    if log:
        return Int(int(low), int(high), log=True) if high <= Int.MAX else Float(low, high, log=True)
    steps = round((high - low) / step)
    return Int(0, steps) if steps <= Int.MAX else Float(low, high)  # too many to count: rounded when decoded


def _to_parameter(distribution: BaseDistribution, value: float, parameter: Parameter) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return int(value)
    low, _, step = _range(distribution)
    counted = isinstance(parameter, Int) and not parameter.log and step is not None
    return round((value - low) / step) if counted and step is not None else value


def _from_parameter(distribution: BaseDistribution, x: Any, parameter: Parameter) -> float:
    if isinstance(distribution, CategoricalDistribution):
        return float(x)
    low, high, step = _range(distribution)
    if step is None or (isinstance(parameter, Int) and parameter.log):
        return float(x)
    k = x if isinstance(parameter, Int) else round((x - low) / step)
    return float(min(low + k * step, high))


def _off_grid(value: float, low: float, step: float) -> float:
    k = (value - low) / step
    return abs(k - math.floor(k + 0.5))
