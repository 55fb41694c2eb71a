"""Arithmetic of constraints that are texts, over columns of numbers, shape (m,).

NaN stands for a missing value: a division by zero, the root of a negative number. It propagates through every
operation, so no comparison with it is true. Truth values are 1 and 0. A number that is too large is infinite.

Exponentials and the like go through Python's `math`, number by number: in NumPy the last bit may depend on where in the
array a number stands, and a point must not be allowed among others and forbidden alone.

A program is a list of steps: numbers and names are put on a stack, an operation takes its arguments from there.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

Operation = Callable[..., FloatArray]
Relation = Callable[[FloatArray, FloatArray], NDArray[np.bool_]]
Step = float | str | tuple[Operation, int]
"""A number, a name, or an operation and how many values it takes."""

Program = tuple[Step, ...]


def run(program: Program, values: Mapping[str, FloatArray], size: int) -> FloatArray:
    """Return the result of a program, shape (m,).

    Example:
        >>> run(("a", 2.0, (divided, 2)), {"a": np.array([1.0, 3.0])}, 2)
        array([0.5, 1.5])
    """
    stack: list[FloatArray] = []
    with np.errstate(all="ignore"):  # a missing value is NaN, without a warning
        for step in program:
            if isinstance(step, tuple):
                operation, count = step
                stack[-count:] = [operation(*stack[-count:])]
            else:
                stack.append(values[step] if isinstance(step, str) else np.full(size, step))
    return stack[0]


def divided(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the quotient."""
    return np.where(b == 0, np.nan, a / b)


def floor_divided(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the quotient, rounded down."""
    return np.where(b == 0, np.nan, a // b)


def raised(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the power."""
    sign = np.where((a < 0) & (b % 2 == 1), -1.0, 1.0)
    size = _each(math.pow, a, b)  # too large a power is infinite, of either sign
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.copysign(size, sign))  # to `math`, 1 ** NaN is 1


def inverted(a: FloatArray) -> FloatArray:
    """Return `not` of truth values."""
    return 1.0 - a


def both(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the `and` of truth values: if the first is false, the second need not have a value."""
    return np.where(a == 1, b, a)


def either(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the `or` of truth values: if the first is true, the second need not have a value."""
    return np.where(a == 0, b, a)


def chained(comparisons: tuple[Relation, ...], *columns: FloatArray) -> FloatArray:
    """Return whether each column compares with the next, as in `0 < a <= b`.

    Example:
        >>> chained((np.less, np.less_equal), np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([1.0, np.nan]))
        array([ 1., nan])
    """
    result = np.ones_like(columns[0])
    for compare, a, b in zip(comparisons, columns, columns[1:], strict=False):
        result = both(result, np.where(np.isnan(a) | np.isnan(b), np.nan, compare(a, b)))
    return result


def within(a: FloatArray, *others: FloatArray) -> FloatArray:
    """Return whether a column equals any of the others."""
    unknown = np.isnan([a, *others]).any(axis=0)
    return np.where(unknown, np.nan, np.equal(a, others).any(axis=0))


def translated(table: tuple[float, ...], a: FloatArray) -> FloatArray:
    """Return the entries of a table, by their number."""
    return np.array(table)[a.astype(np.intp)]


def _each(function: Callable[..., float], *columns: FloatArray) -> FloatArray:
    """Return a function of plain numbers, for each row."""
    numbers = [column.tolist() for column in columns]
    try:
        return np.array([*map(function, *numbers)])
    except (ValueError, OverflowError):
        return np.array([_guarded(function, *row) for row in zip(*numbers, strict=True)])


def _guarded(function: Callable[..., float], *row: float) -> float:
    try:
        return function(*row)
    except ValueError:  # no such value
        return math.nan
    except OverflowError:
        return math.inf


FUNCTIONS: dict[str, Operation] = {
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "sqrt": np.sqrt,
    "exp": partial(_each, math.exp),
    "log": partial(_each, math.log),
    "sin": partial(_each, math.sin),
    "cos": partial(_each, math.cos),
    "tan": partial(_each, math.tan),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
}
"""The functions of a text: `min` and `max` take two values or more, the others one."""
