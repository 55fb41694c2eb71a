"""A small frame for charts, drawn as SVG: matplotlib takes 100 ms a picture, this takes one.

Positions are shares of the frame, so that a chart fills any box while its text, dots and lines keep their size. Colors,
fonts and margins come from the page's CSS, by class: charts have no inline style, so that dark screens and printers can
adapt them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

FULL = 100.0
"""Length of an axis: positions are percentages."""

CHARACTERS = 26
"""Maximum number of characters of all labels across, so that they fit a chart of half a panel."""

LONGEST_NAME = 7
"""Maximum number of characters of an option beside the axis up."""

LONGEST_LABEL = 6
"""Number of characters of a number that fit beside the axis up and its title; longer ones have a power of ten."""

LINES = '<svg viewBox="0 0 100 100" preserveAspectRatio="none">'
"""A picture whose lines stretch with the frame; the page's CSS keeps their width."""


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
    start: float = 0.0
    end: float = FULL
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

    def ticks(self, room: int = CHARACTERS) -> list[tuple[float, str]]:
        """Return round values and their labels, which have at most `room` characters together, if that is possible.

        Example:
            >>> Axis(0, 10).ticks(room=8)
            [(0.0, '0'), (5.0, '5'), (10.0, '10')]
        """
        if self.names:
            most = max(room // len(self.names), 3)
            return [(float(k), shortened(name, most)) for k, name in enumerate(self.names)]
        if self.log:
            found = self._powers()
        else:
            step = _step((self.high - self.low) / 3.5)
            found = [self._multiples(_step(times * step)) for times in (1, 2, 5)]
        known = [ticks for ticks in found if len(ticks) > 1]
        return next((ticks for ticks in known if sum(len(label) + 1 for _, label in ticks) <= room), known[-1])

    def _powers(self) -> list[list[tuple[float, str]]]:
        """Return powers of ten, ever fewer; of less than two, three values of the range."""
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        if last > first:
            strides = range(max((last - first) // 4, 1), last - first + 1)
            return [[(10.0**k, f"{10.0**k:g}") for k in range(first, last + 1, stride)] for stride in strides]
        return [[(value, f"{value:.2g}") for value in (self.low, math.sqrt(self.low * self.high), self.high)]]

    def _multiples(self, step: float) -> list[tuple[float, str]]:
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, label(k * step)) for k in range(first, last + 1)]


def label(value: float) -> str:
    """Return a number as a label that fits beside the axis up, if that is possible.

    Example:
        >>> label(0.25), label(6e8), label(-0.00025), label(1200500.0)
        ('0.25', '6e8', '-2.5e-4', '1200500')
    """
    plain = f"{value:.10g}"
    if len(plain) <= LONGEST_LABEL:
        return plain
    mantissa, exponent = f"{value:.9e}".split("e")
    short = f"{float(mantissa):.10g}e{int(exponent)}"
    return short if len(short) < len(plain) else plain


def _step(rough: float) -> float:
    """Return the round number nearest to a rough one, as a ratio: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(math.log(k * power / rough)))


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
    """

    x: Axis
    y: Axis

    @classmethod
    def of(
        cls,
        across: tuple[float, float],
        up: tuple[float, float],
        *,
        log_x: bool = False,
        log_y: bool = False,
        names: tuple[str, ...] = (),
        names_y: tuple[str, ...] = (),
    ) -> "Chart":
        """Return a frame for values of the given ranges."""
        return cls(Axis(*across, log=log_x, names=names), Axis(*up, FULL, 0.0, log_y, names_y))

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """Return a line through points."""
        return f'{LINES}<polyline class="{kind}" points="{self._path(points)}"/></svg>' if len(points) > 1 else ""

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """Return an area between points."""
        return f'{LINES}<polygon class="{kind}" points="{self._path(points)}"/></svg>' if len(points) > 2 else ""

    def dots(self, points: Iterable[tuple[float, float]], kind: str, radius: float = 2.2) -> str:
        """Return a dot at each point."""
        places = ((self.x.at(a), self.y.at(b)) for a, b in points)
        return "".join(f'<circle class="{kind}" cx="{a:.2f}%" cy="{b:.2f}%" r="{radius}"/>' for a, b in places)

    def crosses(self, points: Iterable[tuple[float, float]], kind: str, half: float = 3.0) -> str:
        """Return a cross at each point: a different shape, for people who cannot see colors."""
        cross = (
            f'<path class="{kind}" d="M{-half} {-half}l{2 * half} {2 * half}m0 {-2 * half}l{-2 * half} {2 * half}"/>'
        )
        return "".join(_at(self.x.at(a), self.y.at(b), cross) for a, b in points)

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
        names = [
            _at(FULL / 2, FULL, _text(across, "name", "middle", 'y="31"')),
            _at(0.0, FULL / 2, _text(up, "name", "middle", 'transform="translate(-47 0) rotate(-90)"')),
        ]
        inside = "".join([*self._across(), *self._up(), *names, *parts])
        return f'<svg class="chart" role="img" aria-label="{escape(says)}">{inside}</svg>'

    def _path(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.x.at(a):.2f},{self.y.at(b):.2f}" for a, b in points)

    def _across(self) -> Iterable[str]:
        yield '<line class="axis" x2="100%" y1="100%" y2="100%"/>'
        for value, name in self.x.ticks():
            mark = '<path class="axis" d="M0 0v4"/>' + _text(name, "tick", "middle", 'y="15"')
            yield _at(self.x.at(value), FULL, mark)

    def _up(self) -> Iterable[str]:
        for value, name in self.y.ticks(LONGEST_NAME * max(len(self.y.names), 8)):
            at = f"{self.y.at(value):.2f}%"
            yield f'<line class="grid" x2="100%" y1="{at}" y2="{at}"/>'
            yield _text(name, "tick", "end", f'x="-6" y="{at}" dy="4"')


def _at(x: float, y: float, inside: str) -> str:
    """Return an element at a position, in units of the screen from there."""
    return f'<svg x="{x:.2f}%" y="{y:.2f}%">{inside}</svg>'


def _text(text: str, kind: str, anchor: str, where: str) -> str:
    return f'<text class="{kind}" text-anchor="{anchor}" {where}>{escape(text)}</text>'


def shortened(name: str, most: int) -> str:
    """Return a name with at most some characters.

    Example:
        >>> shortened("thin", 8), shortened("thin foil of gold", 8)
        ('thin', 'thin fo\N{HORIZONTAL ELLIPSIS}')
    """
    return name if len(name) <= most else f"{name[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
