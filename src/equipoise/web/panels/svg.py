"""A small frame for charts, drawn as SVG: matplotlib takes 100 ms a picture, this takes one.

Colors and fonts come from the page's CSS, by class: charts have no inline style, so that dark screens
and printers can adapt them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

LEFT, RIGHT, TOP, BOTTOM = 58.0, 10.0, 8.0, 34.0
"""Margins around the plot, for numbers and names."""


@dataclass(frozen=True)
class Axis:
    """One axis: its values, and its position on the picture.

    Attributes:
        low: The smallest value.
        high: The largest value.
        start: Position of the smallest value on the picture.
        end: Position of the largest value on the picture.
        log: Whether the axis is logarithmic.
        names: Options in place of numbers, at 0, 1, 2 and so on.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    names: tuple[str, ...] = ()

    def at(self, value: float) -> float:
        """Return the position of a value; a value outside the range is at the edge.

        Example:
            >>> Axis(0, 10, 100, 200).at(5), Axis(1, 100, 0, 10, log=True).at(10), Axis(0, 1, 0, 9).at(7)
            (150.0, 5.0, 9.0)
        """
        low, high, value = (math.log(v) for v in (self.low, self.high, value)) if self.log else self._plain(value)
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return self.start + share * (self.end - self.start)

    def _plain(self, value: float) -> tuple[float, float, float]:
        return self.low, self.high, value

    def ticks(self) -> list[tuple[float, str]]:
        """Return round values and their labels."""
        if self.names:
            return [(float(k), name) for k, name in enumerate(self.names)]
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            if last > first:
                return [(10.0**k, f"{10.0**k:g}") for k in range(first, last + 1, max((last - first) // 4, 1))]
            return [(value, f"{value:.2g}") for value in (self.low, math.sqrt(self.low * self.high), self.high)]
        step = _step((self.high - self.low) / 4)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:.10g}") for k in range(first, last + 1)]


def _step(rough: float) -> float:
    """Return a round number near a rough one: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k - rough / power))


def around(values: Iterable[float], room: float = 0.06) -> tuple[float, float]:
    """Return the ends of an axis that has room for all values.

    Example:
        >>> around([2.0, 2.0]), around([])
        ((1.0, 3.0), (0.0, 1.0))
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        return low - max(abs(low), 1.0) / 2, high + max(abs(high), 1.0) / 2
    return low - room * (high - low), high + room * (high - low)


@dataclass(frozen=True)
class Chart:
    """A frame with two axes, to draw on.

    Attributes:
        x: The axis across.
        y: The axis up.
        width: Width of the picture.
        height: Height of the picture.
    """

    x: Axis
    y: Axis
    width: float
    height: float

    @classmethod
    def of(
        cls,
        across: tuple[float, float],
        up: tuple[float, float],
        size: tuple[float, float],
        *,
        log_x: bool = False,
        log_y: bool = False,
        names: tuple[str, ...] = (),
        names_y: tuple[str, ...] = (),
    ) -> "Chart":
        """Return a frame for values of the given ranges."""
        width, height = size
        x = Axis(*across, LEFT, width - RIGHT, log_x, names)
        return cls(x, Axis(*up, height - BOTTOM, TOP, log_y, names_y), width, height)

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """Return a line through points."""
        return f'<polyline class="{kind}" points="{self._path(points)}"/>' if len(points) > 1 else ""

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """Return an area between points."""
        return f'<polygon class="{kind}" points="{self._path(points)}"/>' if len(points) > 2 else ""

    def dots(self, points: Iterable[tuple[float, float]], kind: str, radius: float = 2.2) -> str:
        """Return a dot at each point."""
        places = ((self.x.at(a), self.y.at(b)) for a, b in points)
        return "".join(f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="{radius}"/>' for a, b in places)

    def crosses(self, points: Iterable[tuple[float, float]], kind: str, half: float = 3.0) -> str:
        """Return a cross at each point: a different shape, for people who cannot see colors."""
        places = ((self.x.at(a), self.y.at(b)) for a, b in points)
        return "".join(
            f'<path class="{kind}" d="M{a - half:.1f} {b - half:.1f}l{2 * half} {2 * half}m0 {-2 * half}l{-2 * half} '
            f'{2 * half}"/>'
            for a, b in places
        )

    def level(self, value: float, kind: str) -> str:
        """Return a horizontal line at a value."""
        return self.line([(self.x.low, value), (self.x.high, value)], kind)

    def drawn(self, parts: Iterable[str], across: str, up: str, says: str) -> str:
        """Return the picture.

        Args:
            parts: The elements on the frame.
            across: Label of the horizontal axis.
            up: Label of the vertical axis.
            says: A description of the picture in a sentence, for people who cannot see it.
        """
        size = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        frame = [*self._across(), *self._up(), _text(across, (self._middle_x, self.height - 3), "name", "middle")]
        turned = f'transform="rotate(-90 11 {self._middle_y:.1f})"'
        frame.append(_text(up, (11, self._middle_y), "name", "middle", turned))
        inside = "".join([*frame, *parts])
        return f'<svg class="chart" {size} role="img" aria-label="{escape(says)}">{inside}</svg>'

    @property
    def _middle_x(self) -> float:
        return (self.x.start + self.x.end) / 2

    @property
    def _middle_y(self) -> float:
        return (self.y.start + self.y.end) / 2

    def _path(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.x.at(a):.1f},{self.y.at(b):.1f}" for a, b in points)

    def _across(self) -> Iterable[str]:
        base = self.y.start
        yield f'<path class="axis" d="M{self.x.start:.1f} {base:.1f}H{self.x.end:.1f}"/>'
        for value, name in self.x.ticks():
            at = self.x.at(value)
            yield f'<path class="axis" d="M{at:.1f} {base:.1f}v4"/>' + _text(name, (at, base + 15), "tick", "middle")

    def _up(self) -> Iterable[str]:
        for value, name in self.y.ticks():
            at = self.y.at(value)
            yield f'<path class="grid" d="M{self.x.start:.1f} {at:.1f}H{self.x.end:.1f}"/>'
            yield _text(name, (self.x.start - 6, at + 4), "tick", "end")


def _text(text: str, at: tuple[float, float], kind: str, anchor: str, more: str = "") -> str:
    x, y = at
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'
