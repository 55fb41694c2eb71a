"""The `param_distributions` of scikit-learn as a space: lists, distributions of SciPy, and our parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from equipoise.spaces import Choice, Float, Int, Space

TAIL = 0.001
"""Probability omitted at each end of an unbounded distribution."""

MIN_ORDERED = 3
"""Minimum length of a list of numbers with an order; nothing can lie between two."""


@dataclass(frozen=True)
class Tunable:
    """A parameter of an estimator, with its counterpart in the study.

    Attributes:
        parameter: The parameter of the study; `None` for a constant.
        value: Turns a value of the study into one for the estimator.
    """

    parameter: Float | Int | Choice | None
    value: Callable[[Any], Any]


class Tuned:
    """Parameters of an estimator, and the space that they make.

    Args:
        given: By name: a list of values, a distribution with `ppf`, or a `Float`, an `Int` or a `Choice`.

    Example:
        >>> from scipy.stats import loguniform
        >>> tuned = Tuned({"C": loguniform(1e-2, 1e2), "gamma": [0.1, 1, 10], "kernel": ["rbf", "poly"]})
        >>> tuned.space
        Space(C=Float(0.0, 1.0), gamma=Int(0, 2), kernel=Choice([0, 1]))
        >>> values = tuned.values({"C": 0.5, "gamma": 2, "kernel": 0})
        >>> round(values["C"], 6), values["gamma"], values["kernel"]
        (1.0, 10, 'rbf')
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        if not isinstance(given, Mapping):
            raise TypeError(f"`param_distributions` must be a single dict, got {given!r}: make a search for each")
        self._tunables = {name: tunable(name, each) for name, each in given.items()}
        chosen = {name: each.parameter for name, each in self._tunables.items() if each.parameter is not None}
        if not chosen:
            raise ValueError(f"`param_distributions` must leave something to choose, got {dict(given)!r}")
        self.space = Space(chosen)

    def values(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return a setting of the space as parameters of the estimator."""
        return {name: each.value(x.get(name)) for name, each in self._tunables.items()}


def tunable(name: str, given: Any) -> Tunable:
    """Return the parameter of the study for one of the estimator."""
    if isinstance(given, (Float, Int, Choice)):
        return Tunable(given, lambda value: value)
    if hasattr(given, "ppf") and hasattr(given, "support"):
        return _discrete(given) if hasattr(given, "pmf") else _continuous(given)
    if isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, (str, bytes)) and len(given):
        return _listed(list(given))
    what = "a list that is not empty, a distribution with `ppf`, or a Float, an Int or a Choice"
    raise TypeError(f"`param_distributions[{name!r}]` must be {what}, got {given!r}")


def _continuous(distribution: Any) -> Tunable:
    """Return a real number, by its quantile: likely values are tried more often, as in a random search."""
    low, high = (end if np.isfinite(bound) else tail for end, tail, bound in _ends(distribution))
    return Tunable(Float(low, high), lambda u: float(distribution.ppf(u)))


def _ends(distribution: Any) -> list[tuple[float, float, float]]:
    """Return for both ends the probability below it, without the tail, and the bound."""
    low, high = distribution.support()
    return [(0.0, TAIL, low), (1.0, 1.0 - TAIL, high)]


def _discrete(distribution: Any) -> Tunable:
    low, high = (bound if np.isfinite(bound) else distribution.ppf(tail) for _, tail, bound in _ends(distribution))
    return _listed(list(range(int(low), int(high) + 1)))


def _listed(options: list[Any]) -> Tunable:
    """Return the place of a value in a list; numbers have an order, other values have none."""
    if len(options) == 1:
        return Tunable(None, lambda _: options[0])
    if len(options) < MIN_ORDERED or not all(isinstance(v, Real) and not isinstance(v, bool) for v in options):
        return Tunable(Choice(range(len(options))), lambda i: options[i])
    ordered = sorted(options)
    return Tunable(Int(0, len(ordered) - 1), lambda i: ordered[i])
