"""The parameters of a named space: `Float`, `Int`, `Choice`, `Context`, and `Fixed` for constants."""

from collections.abc import Mapping, Set
from typing import Any

from equipoise.spaces.context import Context, Pinned
from equipoise.spaces.numbers import Float, Int
from equipoise.spaces.options import Choice, Fixed, restored

Parameter = Float | Int | Choice | Fixed | Context | Pinned
"""A parameter of a named space."""


def as_parameter(name: str, value: Any) -> Parameter:
    """Return a parameter unchanged, and a plain value as a constant."""
    if isinstance(value, Parameter):
        return value
    if isinstance(value, (tuple, list, range, Set, type)):  # perhaps meant as bounds or options
        raise TypeError(
            f"`{name}` must be a Float, an Int, a Choice, a Context or a constant, got {value!r}: "
            "write Float(low, high), Choice([...]) or, if it is meant as a constant, Fixed(...)"
        )
    return Fixed(value)


def parameter_from_dict(name: str, description: Mapping[str, Any]) -> Parameter:
    """Return the parameter that its `to_dict` described."""
    fields = dict(description)
    match kind := fields.pop("type", None):
        case "float":
            return Float(**fields)
        case "int":
            return Int(**fields)
        case "choice":
            return Choice([restored(name, option) for option in fields["options"]])
        case "fixed":
            return Fixed(restored(name, fields["value"]))
        case "context" if "options" in fields:
            return Context([restored(name, option) for option in fields["options"]])
        case "context":
            return Context(**fields)
    kinds = "'float', 'int', 'choice', 'context' or 'fixed'"
    raise ValueError(f"the type of parameter {name!r} must be {kinds}, got {kind!r}")
