"""Settings as people read them: with units and with a useful number of digits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from equipoise.spaces.box import Box
from equipoise.spaces.context import Context, Pinned
from equipoise.spaces.domain import Domain
from equipoise.spaces.numbers import Float, Int

RESOLUTION = 1e-4
"""Numbers are rounded to this share of their range, so that an operator can dial them in."""

SIGNIFICANT = 5
"""Digits of a number that has no range, or of which ratios matter."""

PLAIN = 1e-6, 1e9
"""A number of a range between these is written without an exponent."""


def printable(text: str, keep: str = "\n\t") -> str:
    r"""Return text with control characters escaped, since a study and its names may come from a stranger.

    The characters of `keep` stay though they are not printable.

    Example:
        >>> print(printable("beam \x1b[2J lost"))
        beam \x1b[2J lost
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def labeled(name: str, unit: str) -> str:
    """Return the label of an axis: a name with its unit, if it has one.

    Example:
        >>> labeled("q1", "A"), labeled("q1", "")
        ('q1 / A', 'q1')
        >>> labeled("gain", "in log rate")
        'gain / log rate'
    """
    shown = unit.removeprefix("in ") if unit.startswith("in log ") else unit
    return f"{name} / {shown}" if shown else name


def settings(x: Any) -> dict[str, Any]:
    """Return a point by name; the coordinates of a point without names are called x[0], x[1] and so on, a name x.

    Example:
        >>> settings([0.5, 1.0])
        {'x[0]': 0.5, 'x[1]': 1.0}
    """
    if isinstance(x, str):
        return {"x": x}
    if isinstance(x, Mapping):
        return dict(x)
    return {f"x[{i}]": value for i, value in enumerate(x.tolist() if hasattr(x, "tolist") else x)}


def names(space: Domain) -> tuple[str, ...] | None:
    """Return the settings, if they are names without features."""
    found: tuple[str, ...] | None = getattr(space, "names", None)
    return found


def tuned(space: Domain) -> list[str]:
    """Return the names of parameters and contexts; names without features are called x."""
    if names(space) is not None:
        return ["x"]
    parameters = getattr(space, "parameters", None)
    if parameters is None:
        return [f"x[{i}]" for i in range(space.dimension)]
    return [name for name, parameter in parameters.items() if parameter.width]


@dataclass(frozen=True)
class Readout:
    """The display of the values of one parameter.

    Attributes:
        unit: Of a value.
        low: The least value.
        high: The largest value.
        decimals: Digits after the point; `None` for significant digits.

    Example:
        >>> Readout("A", -2.0, 2.0, 4).text(1 / 3), Readout().text(1 / 3), Readout().text("in")
        ('0.3333', '0.33333', 'in')
    """

    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    decimals: int | None = None

    def text(self, value: Any) -> str:
        """Return a value to the digits that matter; rounding never leaves the range."""
        if not isinstance(value, float):
            return printable(str(value), "")
        if self.decimals is None:
            return f"{value:.{SIGNIFICANT}g}"
        shown, digit = Decimal(f"{value:.{self.decimals}f}"), Decimal(1).scaleb(-self.decimals)
        if self.low <= value <= self.high:
            shown += digit * ((shown < Decimal(self.low)) - (shown > Decimal(self.high)))
        return f"{shown + 0:.{self.decimals}f}"


def readouts_of(space: Domain) -> dict[str, Readout]:
    """Return how each parameter of a space is shown, by name; any other value is shown unchanged.

    Example:
        >>> import equipoise as eq
        >>> known = readouts_of(eq.Space(q1=eq.Float(-2, 2, unit="A"), gap=eq.Float(0, 1, step=0.25)))
        >>> known["q1"].text(0.123456), known["q1"].unit, known["gap"].text(0.75)
        ('0.1235', 'A', '0.75')
    """
    if isinstance(space, Box):
        return {f"x[{i}]": _readout("", *bounds) for i, bounds in enumerate(space.bounds.tolist())}
    parameters: Mapping[str, Any] = getattr(space, "parameters", {})
    return {name: _of_parameter(each) for name, each in parameters.items()}


def _of_parameter(parameter: Any) -> Readout:
    """Return how a chosen number is shown; a context keeps the digits that were told."""
    if isinstance(parameter, (Context, Pinned)):
        return Readout(printable(getattr(parameter.values, "unit", ""), ""))
    if not isinstance(parameter, (Float, Int)):
        return Readout()
    unit, low, high = printable(parameter.unit, ""), parameter.low, parameter.high
    if parameter.log:
        return Readout(unit)
    step = parameter.step if isinstance(parameter, Float) else 1
    return _readout(unit, low, high) if step is None else Readout(unit, low, high, _decimals(low, step))


def _readout(unit: str, low: float, high: float) -> Readout:
    span = high - low
    if not PLAIN[0] < span < PLAIN[1]:
        return Readout(unit)
    return Readout(unit, low, high, max(-math.floor(math.log10(RESOLUTION * span)), 0))


def _decimals(*steps: float) -> int:
    """Return the digits after the point that write a lowest value and its steps exactly."""
    exponents = [Decimal(repr(step)).normalize().as_tuple().exponent for step in steps]
    return max(0, *(-each for each in exponents if isinstance(each, int)))


@dataclass(frozen=True)
class Dial:
    """One parameter at a setting, as an operator reads it."""

    name: str
    value: str
    unit: str = ""
    before: str = ""

    @property
    def changed(self) -> bool:
        """True if it differs from the last known position."""
        return self.value != self.before

    def __str__(self) -> str:
        return f"{self.name} = {self.value}{' ' * bool(self.unit)}{self.unit}"


def dials(known: Mapping[str, Readout], x: Any, before: Any = None) -> tuple[Dial, ...]:
    """Return a setting, parameter by parameter.

    Example:
        >>> import equipoise as eq
        >>> space = eq.Space(q1=eq.Float(-2, 2, unit="A"), lens=eq.Choice(["in", "out"]))
        >>> [str(dial) for dial in dials(readouts_of(space), {"q1": 1 / 3, "lens": "in"})]
        ['q1 = 0.3333 A', 'lens = in']
    """
    was = {} if before is None else settings(before)
    found = []
    for name, value in settings(x).items():
        shown = known.get(name, Readout())
        stood = shown.text(was[name]) if name in was else ""
        found.append(Dial(printable(name, ""), shown.text(value), shown.unit, stood))
    return tuple(found)
