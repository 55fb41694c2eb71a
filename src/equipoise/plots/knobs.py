"""The user's parameters as axes: their values, and the functions that read and set them in a point."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.plots.style import logarithmic, whole
from equipoise.spaces import Box, Choice, Context, Domain, Fixed, Space, labeled, names, printable

MANY = 60
"""The number of values above which a whole number is drawn like a real one."""


@dataclass(frozen=True)
class Knob:
    """One parameter.

    Attributes:
        name: The name of the parameter.
        values: The values to draw, in order.
        put: Returns a point with another value of this parameter.
        get: Returns the value of this parameter at a point.
        log: True if its axis is logarithmic.
        steps: True if there are no values between those listed.
        unit: The unit of the values.
    """

    name: str
    values: Sequence[Any]
    put: Callable[[Any, Any], Any]
    get: Callable[[Any], Any]
    log: bool = False
    steps: bool = False
    unit: str = ""

    @property
    def label(self) -> str:
        """The label of its axis: its name, with its unit."""
        return labeled(self.name, self.unit)

    def position(self, value: Any) -> float:
        """Return the position of a value on the axis: a number at itself, an option at its index."""
        if not self.is_choice:
            return float(value)
        return float(next(i for i, option in enumerate(self.values) if option is value or option == value))

    @cached_property
    def is_choice(self) -> bool:
        """True if the values are options instead of numbers."""
        return not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in self.values)

    @property
    def is_whole(self) -> bool:
        """True if the values are whole numbers."""
        return all(isinstance(value, int) and not isinstance(value, bool) for value in self.values)

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of an axis on which every value has room."""
        first, last = self.position(self.values[0]), self.position(self.values[-1])
        if self.log:
            room = (last / first) ** 0.03
            return first / room, last * room
        room = 0.5 if self.is_choice or self.is_whole or first == last else 0.03 * (last - first)
        return first - room, last + room

    def dress(self, ax: Any, which: str) -> None:
        """Label and scale the x or the y axis of a picture."""
        axis = getattr(ax, f"{which}axis")
        axis.set_label_text(self.label)
        if self.is_choice:
            axis.set_ticks(range(len(self.values)), [str(value) for value in self.values])
        elif self.log:
            logarithmic(ax, which)
        elif self.is_whole:
            whole(axis)


def knobs(space: Domain, points: int = 200) -> list[Knob]:
    """Return the chosen parameters of a space, real ones at `points` values; none for a plain set of points."""
    if isinstance(space, Box):
        return [_of_box(space, i, points) for i in range(space.dimension)]
    if isinstance(space, Space):
        return [_named(n, p, points) for n, p in space.parameters.items() if not isinstance(p, (Fixed, Context))]
    return []


def contexts(space: Domain, points: int = 200) -> list[Knob]:
    """Return the parameters of a space that are given and not chosen, real ones at `points` values."""
    parameters = space.parameters if isinstance(space, Space) else {}
    return [_named(n, p.values, points) for n, p in parameters.items() if isinstance(p, Context)]


def chosen(space: Domain, along: Sequence[str], points: int = 200) -> list[Knob]:
    """Return the parameters of the given names, one or two, in this order."""
    known = {knob.name: knob for knob in (*knobs(space, points), *contexts(space, points))}
    if unknown := [name for name in along if name not in known]:
        raise ValueError(f"`along` must name parameters of the space, {', '.join(known) or 'none'}, got {unknown}")
    if len(along) > 2 or len(set(along)) < len(along):
        raise ValueError(f"`along` must name one or two parameters, got {', '.join(along)}")
    return [known[name] for name in along]


def coordinates(space: Domain) -> list[Knob]:
    """Return the coordinates of a plain set of points, or its names; a picture can show them but not vary them."""
    if (found := names(space)) is not None:
        return [Knob("x", found, lambda x, value: value, lambda x: x, steps=True)]
    points = space.candidates(np.random.default_rng(0))

    def of(i: int) -> Knob:
        values = np.unique(points[:, i]).tolist()
        return Knob(f"x[{i}]", values, lambda x, value: x, lambda x: float(x[i]), steps=True)

    return [of(i) for i in range(points.shape[1])]


def encoded(space: Domain, points: Sequence[Any]) -> tuple[FloatArray, list[bool]]:
    """Return the encoded points, shape (m, d), and which of them may be measured."""
    rows = np.array([space.encode(x) for x in points])
    return rows, space.valid(rows).tolist()


def _of_box(space: Box, i: int, points: int) -> Knob:
    def put(x: Any, value: Any) -> Any:
        result = np.array(x)
        result[i] = value
        return result

    low, high = space.bounds[i].tolist()
    return Knob(f"x[{i}]", np.linspace(low, high, points).tolist(), put, lambda x: float(x[i]))


def _named(name: str, parameter: Any, points: int) -> Knob:
    def put(x: Any, value: Any) -> Any:
        return x | {name: value}

    def get(x: Any) -> Any:
        return x[name]

    if isinstance(parameter, Choice):
        return Knob(name, parameter.options, put, get, steps=True)
    unit = printable(parameter.unit, "")
    if parameter.grid is not None:
        few = parameter.grid.count <= MANY
        at = parameter.grid.place(np.arange(float(parameter.grid.count)))[:, 0] if few else np.linspace(0, 1, points)
        return Knob(name, sorted({parameter.decode([u]) for u in at.tolist()}), put, get, parameter.log, few, unit)
    spread = np.geomspace if parameter.log else np.linspace
    values = np.clip(spread(parameter.low, parameter.high, points), parameter.low, parameter.high)
    return Knob(name, values.tolist(), put, get, parameter.log, unit=unit)
