"""Constraints: settings that must never be asked, given by a text or by a function of the user's point."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces.arithmetic import Program, run
from equipoise.spaces.columns import Columns
from equipoise.spaces.expressions import compiled

Function = Callable[[Any], object]
"""Takes the user's point; true if it may be measured."""

Constraint = str | Sequence[str] | Function
"""A text, several texts that must all hold, or a function."""

CHUNK = 4_096
"""The number of points evaluated at once, so that a stranger's formula cannot fill the memory."""


@dataclass(frozen=True)
class Formula:
    """One or several texts, evaluated at encoded points.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> from equipoise.spaces.columns import Column
        >>> gain = {"gain": Column(eq.Float(0, 10), slice(0, 1))}
        >>> rule("1 <= gain < 5", gain).holds(np.array([[0.0], [0.1], [0.5]]))
        array([False,  True, False])
    """

    program: Program
    columns: Columns

    def holds(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return at which points, shape (m, d), the texts hold; shape (m,). A text without a value does not hold."""
        starts = range(0, max(len(points), 1), CHUNK)
        return np.concatenate([self._truths(points[start : start + CHUNK]) == 1 for start in starts])

    def _truths(self, points: FloatArray) -> FloatArray:
        return run(self.program, {name: column.read(points) for name, column in self.columns.items()}, len(points))


def checked(constraint: Any) -> Constraint | None:
    """Return the constraint a user gave, or `None`."""
    if constraint is None or callable(constraint) or isinstance(constraint, str):
        result: Constraint | None = constraint
        return result
    if not isinstance(constraint, (list, tuple)) or not all(isinstance(text, str) for text in constraint):
        raise TypeError(
            f"`constraint` must be a text, a list of texts, a function of a point, or None, got {constraint!r}"
        )
    if not constraint:
        raise ValueError("`constraint` must be one text at least, or None, got an empty list")
    return tuple(constraint) if len(constraint) > 1 else str(constraint[0])


def rule(constraint: Constraint | None, columns: Columns) -> Formula | Function | None:
    """Return a constraint in the form for `satisfied`; refuse a text that cannot be parsed."""
    if constraint is None or callable(constraint):
        return constraint
    program = compiled(_texts(constraint), columns)
    return Formula(program, {name: columns[name] for name in program if isinstance(name, str)})


def given_again(description: Mapping[str, Any], constraint: Any) -> Constraint | None:
    """Return the constraint of a loaded space: its texts, or the function that the user gives again."""
    noted, given = description.get("constraint"), checked(constraint)
    if isinstance(noted, list):
        if given is not None and described(given) != noted:
            raise ValueError(f"`constraint` must be the one of the description, {noted!r}, or None, got {constraint!r}")
        return checked(noted)
    if given is None and noted is not None:
        raise ValueError(
            f"`constraint` must be given again: the space was described with a function, {noted!r}. "
            "A text, such as constraint='q1 + q2 <= 1', would be kept and need not be given again"
        )
    return given


def described(constraint: Constraint) -> str | list[str]:
    """Return how a description holds a constraint: a list of texts, or only the name of a function."""
    if callable(constraint):
        return str(getattr(constraint, "__qualname__", type(constraint).__qualname__))
    return _texts(constraint)


def satisfied(
    constraint: Formula | Function | None, decode: Callable[[FloatArray], Any], points: FloatArray
) -> NDArray[np.bool_]:
    """Return which of the encoded points, shape (m, d), satisfy the constraint."""
    if constraint is None:
        return np.ones(len(points), dtype=np.bool_)
    if isinstance(constraint, Formula):
        return constraint.holds(points)
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
    """Return the error to raise if a constraint refuses everything."""
    return RuntimeError(
        f"`constraint` must leave something to measure, but it refused all {tried} points tried: "
        "check it, or narrow the bounds to where it holds"
    )


def _texts(constraint: str | Sequence[str]) -> list[str]:
    return [constraint] if isinstance(constraint, str) else list(constraint)
