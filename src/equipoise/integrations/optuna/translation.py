"""Optuna's distributions as a space of named parameters, and back.

Values travel in Optuna's internal form, one number each: that of a choice is its index, so a choice may be any object,
and JSON keeps them all.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from equipoise._typing import FloatArray
from equipoise.spaces import Choice, Float, Int, Space
from equipoise.spaces.options import Parameter


def internal(distribution: BaseDistribution, value: Any) -> float:
    """Return a value in Optuna's internal form."""
    return float(distribution.to_internal_repr(value))


def must_tell_apart(name: str, distribution: BaseDistribution) -> None:
    """Refuse choices that compare equal, such as `True` and `1`: Optuna takes each of them for the first."""
    choices = distribution.choices if isinstance(distribution, CategoricalDistribution) else ()
    for i, choice in enumerate(choices):
        first = int(internal(distribution, choice))
        if first != i:
            both = f"{choices[first]!r} and {choice!r}"
            raise ValueError(f"choices of {name!r} must differ, got {both}, which compare equal")


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
        for name, d in self.distributions.items():
            must_tell_apart(name, d)
        self._axes = {name: _axis(d) for name, d in self.distributions.items()}
        self.space = Space({name: parameter for name, (parameter, _, _) in self._axes.items()})
        ranges = [(name, len(getattr(d, "choices", "")) or d) for name, d in self.distributions.items()]
        self.signature = hashlib.sha256(repr(ranges).encode()).hexdigest()[:8]

    def encode(self, values: Mapping[str, float]) -> FloatArray | None:
        """Return a point, shape (d,), or `None` where a value is missing or no longer in its range."""
        if any(name not in values or not d._contains(values[name]) for name, d in self.distributions.items()):
            return None
        return self.space.encode({name: encode(values[name]) for name, (_, encode, _) in self._axes.items()})

    def decode(self, point: FloatArray) -> dict[str, float]:
        """Return the values of a point, in internal form."""
        x = self.space.decode(point)
        return {name: decode(x[name]) for name, (_, _, decode) in self._axes.items()}

    def external(self, point: FloatArray) -> dict[str, Any]:
        """Return the values of a point as an objective sees them."""
        return {name: self.distributions[name].to_external_repr(v) for name, v in self.decode(point).items()}


def _axis(d: BaseDistribution) -> tuple[Parameter, Callable[[float], Any], Callable[[Any], float]]:
    """Return the parameter for a distribution, and how values in internal form become its own and come back."""
    if isinstance(d, CategoricalDistribution):
        return Choice(range(len(d.choices))), int, float
    if not isinstance(d, (FloatDistribution, IntDistribution)):
        raise TypeError(f"`distribution` must be a float, an int or a categorical one, got {d!r}")
    low, high, step = d.low, d.high, d.step
    if step is None:
        return Float(low, high, log=d.log), float, float
    if d.log and high <= Int.MAX:
        return Int(int(low), int(high), log=True), float, float
    if d.log or round((high - low) / step) > Int.MAX:  # too many to count: rounded when decoded
        return Float(low, high, log=d.log), float, lambda x: float(min(low + round((x - low) / step) * step, high))
    steps = Int(0, round((high - low) / step))
    return steps, lambda value: round((value - low) / step), lambda k: float(min(low + k * step, high))
