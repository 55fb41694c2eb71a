"""Optuna's distributions as a space of named parameters, and back.

Values are in Optuna's internal form, which JSON can store: one number each; a choice is its index.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from equipoise._typing import FloatArray
from equipoise.answer import FrontPoint, Recommendation
from equipoise.spaces import Choice, Float, Int, Parameter, Space, readouts_of

Claimed = TypeVar("Claimed", Recommendation, FrontPoint)


def internal(distribution: BaseDistribution, value: Any) -> float:
    """Return a value in Optuna's internal form."""
    return float(distribution.to_internal_repr(value))


def must_tell_apart(name: str, distribution: BaseDistribution) -> BaseDistribution:
    """Return a distribution; refuse choices that compare equal, as `True` and `1`: Optuna takes each for the first."""
    choices = getattr(distribution, "choices", ())
    if any(internal(distribution, choice) != i for i, choice in enumerate(choices)):
        raise ValueError(f"choices of {name!r} must not compare equal, got {choices}")
    return distribution


class Translation:
    """Encodes Optuna's parameters as points of a `Space`, and decodes them."""

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = dict(distributions)
        self._axes = {name: _axis(must_tell_apart(name, d)) for name, d in self.distributions.items()}
        self.space = Space({name: parameter for name, (parameter, _, _) in self._axes.items()})
        ranges = [(name, len(getattr(d, "choices", "")) or d) for name, d in self.distributions.items()]
        self.signature = hashlib.sha256(repr(ranges).encode()).hexdigest()[:8]

    def encode(self, values: Mapping[str, float]) -> FloatArray | None:
        """Return a point, shape (d,), or `None` if a value is missing or no longer in its range."""
        if any(name not in values or not d._contains(values[name]) for name, d in self.distributions.items()):
            return None
        return self.space.encode({name: encode(values[name]) for name, (_, encode, _) in self._axes.items()})

    def decode(self, point: FloatArray) -> dict[str, float]:
        """Return the values of a point, in internal form."""
        x = self.space.decode(point)
        return {name: decode(x[name]) for name, (_, _, decode) in self._axes.items()}

    def members(self, points: FloatArray, fixed: Mapping[str, Any]) -> dict[str, list[float]]:
        """Return challenger and best by name; a fixed setting duels the best or, if it is the best, the challenger."""
        first, best = self.decode(points[0]), self.decode(points[1])
        given = {name: internal(d, fixed[name]) for name, d in self.distributions.items() if name in fixed}
        wanted, rival = best | given if given else first, first if given and best | given == best else best
        return {name: [wanted[name], rival[name]] for name in first}

    def shown(self, claim: Claimed) -> Claimed:
        """Return a claim about a point with the values that an objective sees; steps and choices are not counted."""
        x = {name: d.to_external_repr(self._axes[name][2](claim.x[name])) for name, d in self.distributions.items()}
        known = {name: each for name, each in readouts_of(self.space).items() if isinstance(self._axes[name][0], Float)}
        return replace(claim, x=x, readouts=known)


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
