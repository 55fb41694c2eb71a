"""A setting of a question as the screen shows it."""

import math
from dataclasses import dataclass, field
from typing import Any

from equipoise.spaces import Dial, Domain, readouts_of
from equipoise.spaces import dials as all_dials
from equipoise.web.judging.contents import Content

KNOBS_PER_COLUMN, MOST_COLUMNS = 8, 3
"""A setting of more knobs than fit in one column is shown in several, side by side."""


@dataclass(frozen=True)
class Side:
    """A setting of a question as the screen shows it.

    Attributes:
        dials: The setting, against where the machine stands, or against the other one; none if it is hidden.
        letter: A or B, of two.
        content: What shows it.
    """

    dials: tuple[Dial, ...]
    letter: str = ""
    content: Content = field(default_factory=Content)

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """Between which knobs, counted from 1, each column of the setting goes: many knobs have several columns.

        Example:
            >>> Side((Dial("q", "1"),) * 14).columns
            ((1, 7), (8, 14))
        """
        count = len(self.dials)
        columns = min(math.ceil(count / KNOBS_PER_COLUMN), MOST_COLUMNS)
        rows = math.ceil(count / max(columns, 1))
        return tuple((rows * k + 1, min(rows * (k + 1), count)) for k in range(columns))


def dials(space: Domain, x: Any, before: Any = None) -> tuple[Dial, ...]:
    """Return a setting as an operator reads it, knob by knob.

    Args:
        space: Where settings lie.
        x: The setting.
        before: The setting where the machine stands, if that is known.
    """
    return all_dials(readouts_of(space), x, before)
