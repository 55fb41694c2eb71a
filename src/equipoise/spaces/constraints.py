"""Constraints: what must never be asked, said by a function of the user's point."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

Constraint = Callable[[Any], object]
"""Takes the user's point; true where it may be measured."""


def checked(constraint: Any) -> Constraint | None:
    """Return the constraint a user gave, or `None`."""
    if constraint is not None and not callable(constraint):
        raise TypeError(f"`constraint` must be a function of a point, or None, got {constraint!r}")
    result: Constraint | None = constraint
    return result


def given_again(description: Mapping[str, Any], constraint: Any) -> Constraint | None:
    """Return the constraint of a space that is loaded, which no description can hold."""
    if constraint is None and description.get("constraint") is not None:
        raise ValueError(
            f"`constraint` must be given again: the space was described with one, {description['constraint']!r}"
        )
    return checked(constraint)


def name_of(constraint: Constraint) -> str:
    """Return how a description notes a constraint."""
    return str(getattr(constraint, "__qualname__", type(constraint).__qualname__))


def satisfied(
    constraint: Constraint | None, decode: Callable[[FloatArray], Any], points: FloatArray
) -> NDArray[np.bool_]:
    """Return which of the encoded points, shape (m, d), satisfy the constraint."""
    if constraint is None:
        return np.ones(len(points), dtype=np.bool_)
    result = np.empty(len(points), dtype=np.bool_)
    for i, point in enumerate(points):
        x = decode(point)
        try:
            result[i] = bool(constraint(x))
        except Exception as error:
            error.add_note(f"raised by `constraint` at {x!r}")
            raise
    return result


def nothing_valid(tried: int) -> RuntimeError:
    """Return the error to raise where a constraint refuses everything."""
    return RuntimeError(
        f"`constraint` must leave something to measure, but it refused all {tried} points tried: "
        "check it, or narrow the bounds down to where it holds"
    )
