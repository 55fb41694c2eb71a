"""Settings as an operator reads them: every knob with its unit, to the digits that matter."""

import hashlib
import math
from dataclasses import dataclass
from typing import Any

from equipoise.desk.words import printable
from equipoise.spaces.box import Box
from equipoise.spaces.domain import Domain
from equipoise.spaces.named import Space
from equipoise.spaces.numbers import Float
from equipoise.study.sheets import settings

DIGITS = 4
"""A knob is shown to a ten-thousandth of its range."""


@dataclass(frozen=True)
class Dial:
    """One knob.

    Attributes:
        name: What it is called.
        value: What to set it to.
        unit: Of the value.
        before: Where it stands; empty where that is not known.
    """

    name: str
    value: str
    unit: str = ""
    before: str = ""

    @property
    def changed(self) -> bool:
        """Whether it must be turned, as far as is known."""
        return self.value != self.before

    def __str__(self) -> str:
        return f"{self.name} = {self.value}{' ' * bool(self.unit)}{self.unit}"


def dials(space: Domain, x: Any, before: Any = None) -> tuple[Dial, ...]:
    """Return a setting, knob by knob.

    Args:
        space: Where settings lie.
        x: The setting.
        before: The setting where the machine stands, where that is known.

    Example:
        >>> import equipoise as eq
        >>> space = eq.Space(q1=eq.Float(-2, 2, unit="A"), lens=eq.Choice(["in", "out"]))
        >>> [str(dial) for dial in dials(space, {"q1": 1 / 3, "lens": "in"})]
        ['q1 = 0.3333 A', 'lens = in']
    """
    was = {} if before is None else settings(before)
    return tuple(
        Dial(printable(name, ""), _shown(space, name, value), _unit(space, name), _before(space, name, was))
        for name, value in settings(x).items()
    )


def _before(space: Domain, name: str, was: dict[str, Any]) -> str:
    return _shown(space, name, was[name]) if name in was else ""


def _unit(space: Domain, name: str) -> str:
    parameter = space.parameters.get(name) if isinstance(space, Space) else None
    return printable(getattr(parameter, "unit", ""), "")


def _shown(space: Domain, name: str, value: Any) -> str:
    """Return a value to the digits that matter."""
    if not isinstance(value, float):
        return printable(str(value), "")
    parameter = space.parameters.get(name) if isinstance(space, Space) else None
    span = None
    if isinstance(parameter, Float) and not parameter.log:
        span = parameter.high - parameter.low
    elif isinstance(space, Box):
        low, high = space.bounds[int(name[2:-1])].tolist()
        span = high - low
    if span is None or not 1e-6 < span < 1e9:
        return f"{value:.5g}"
    decimals = max(DIGITS - math.floor(math.log10(span)), 0)
    return f"{value:.{decimals}f}"


def told_of(value: Any) -> str:
    """Return a short text by which a form says what it has shown: a setting, or a reading.

    Example:
        >>> told_of({"q1": 0.5}) == told_of({"q1": 0.25})
        False
    """
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
