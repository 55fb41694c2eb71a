"""A setting of a question as the screen shows it."""

import math
from dataclasses import dataclass, field
from typing import Any

from equipoise.spaces import Dial, Domain, readouts_of
from equipoise.spaces import dials as all_dials
from equipoise.web.judging.contents import Content

KNOBS_PER_COLUMN, MOST_COLUMNS = 8, 3
"""Knobs per column, and the maximum number of columns side by side."""


@dataclass(frozen=True)
class Side:
    """A setting of a question as the screen shows it.

    Attributes:
        dials: The setting, compared with the machine's setting or with the other side; empty if it is hidden.
        letter: A or B, for a pair.
        content: The content that shows the setting.
    """

    dials: tuple[Dial, ...]
    letter: str = ""
    content: Content = field(default_factory=Content)

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """The first and last knob of each column, counted from 1: many knobs need several columns.

        Example:
            >>> Side((Dial("q", "1"),) * 14).columns
            ((1, 7), (8, 14))
        """
        count = len(self.dials)
        columns = min(math.ceil(count / KNOBS_PER_COLUMN), MOST_COLUMNS)
        rows = math.ceil(count / max(columns, 1))
        return tuple((rows * k + 1, min(rows * (k + 1), count)) for k in range(columns))


def dials(space: Domain, x: Any, before: Any = None) -> tuple[Dial, ...]:
    """Return a setting knob by knob, as an operator reads it.

    Args:
        space: The space of the settings.
        x: The setting.
        before: The machine's current setting, if it is known.
    """
    return all_dials(readouts_of(space), x, before)
