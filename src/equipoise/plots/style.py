"""Colors and axes that all pictures share."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
"""Colors of Okabe and Ito's palette, which color-blind readers can distinguish too."""

GRAY, LIGHT = "#666666", "#cccccc"

METHODS: Mapping[str, str] = {
    "default": "#332288",
    "two-point": BLUE,
    "one-point": GREEN,
    "forecast": "#117733",
    "pairs": "#56B4E9",
    "UCB": ORANGE,
    "UCB-scaled": "#E69F00",
    "TPE": "#882255",
    "CMA": "#44AA99",
    "blocks": "#AA4499",
    "GP": "#999933",
    "SemiTS": PINK,
    "BOSE": GRAY,
    "random": "#000000",
}
"""The color of each method, the same in every picture; colors beyond Okabe and Ito's eight are Paul Tol's."""

MAP = "cividis"
"""The color map of a surface: similar for everyone, and ordered in gray too."""

TITLE_WIDTH = 58
"""The number of letters in a line of a title: about the width of the Axes."""


def titled(*sentences: str) -> str:
    """Return sentences as a title: each begins a line, and is wrapped if it is long."""
    return "\n".join(line for each in sentences for line in textwrap.wrap(each, TITLE_WIDTH, break_long_words=False))


def pyplot() -> Any:
    """Return matplotlib's pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: install equipoise[plot]") from error
    return plt


def dark() -> Any:
    """Return the colors of a surface without the lightest ones, for lines on white paper."""
    from matplotlib.colors import ListedColormap

    return ListedColormap([pyplot().get_cmap(MAP)(0.85 * i / 255) for i in range(256)])


def axes(ax: Any = None) -> Any:
    """Return Axes with a quiet style: the given ones, or those of a new figure."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def figure(drawn: Any) -> Any:
    """Return the figure of the Axes that a picture function has returned, one or several."""
    return np.asarray(drawn, dtype=object).flat[0].figure


def star(ax: Any, x: float, y: float, *, label: str | None = None) -> None:
    """Mark the leader."""
    look = {"markersize": 15, "color": ORANGE, "markeredgecolor": "white", "markeredgewidth": 1.0, "linestyle": "none"}
    ax.plot([x], [y], marker="*", label=label, zorder=5, **look)


def logarithmic(ax: Any, which: str) -> None:
    """Make the x or the y axis logarithmic, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogFormatter

    axis = getattr(ax, f"{which}axis")
    getattr(ax, f"set_{which}scale")("log")
    chooses = LogFormatter(minor_thresholds=(2.0, 0.4))  # it decides which minor ticks have room for a number
    chooses.set_axis(axis)

    def minor(value: float, position: int | None) -> str:
        if position == 0:
            chooses.set_locs(axis.get_minorticklocs())
        return f"{value:g}" if chooses(value, position) else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(FuncFormatter(minor))


def whole(axis: Any) -> None:
    """Put ticks at whole numbers only: there is nothing between them."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def shown(value: Any) -> str:
    """Return a value as text for a title.

    Example:
        >>> shown(0.123456), shown("in"), shown(3)
        ('0.1235', 'in', '3')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)
