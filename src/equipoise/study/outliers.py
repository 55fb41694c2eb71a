"""Readings that cannot be: overload codes and the like, set aside before anybody learns from them.

What is merely far off is for the belief to judge (`belief/disturbances.py`): it may be a discovery. Here only what no
unit explains is set aside; the log keeps it.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

import numpy as np

LARGEST_VALUE = 1e100
"""Larger values are set aside always: their squares are no numbers any more."""

LARGEST_PLAUSIBLE = 1e20
"""Values up to this are never set aside here, whatever the others are: units from 1e-12 to 1e12 lie far below. The code
for an overload, 9.9e37, lies far above."""

LARGEST_RATIO = 1e12
"""Larger values are set aside where they are so many times as far from the others as those are from each other."""


FEW_EQUAL = 10
"""After so many equal readings in a row it is asked whether the sensor lives."""

STUCK_SHARE = 0.5
"""Where so many of all readings are the last ones and equal, nothing is known of the settings."""


class DeadSensor(UserWarning):
    """Many readings in a row are equal to the last bit, as those of a sensor that is not connected are."""


class SetAside(UserWarning):
    """A reading cannot be: it is kept in the log, and nothing is learned from it."""


def absurd(values: Sequence[float]) -> frozenset[int]:
    """Return which of the values told so far cannot be readings.

    Example:
        >>> sorted(absurd([0.3, 9.9e37, 0.5, 0.2]))
        [1]
        >>> sorted(absurd([3e37, 9.9e37, 5e37, 2e37]))  # a strange unit, but that of all of them
        []
    """
    large = [i for i, value in enumerate(values) if abs(value) > LARGEST_PLAUSIBLE]
    if not large:
        return frozenset()
    y = np.array(values)
    usual = y[np.abs(y) <= LARGEST_VALUE]
    middle = float(np.median(usual)) if len(usual) else 0.0
    spread = float(np.median(np.abs(usual - middle))) if len(usual) else 0.0
    limit = LARGEST_RATIO * spread if len(usual) > 2 and spread > 0 else np.inf
    return frozenset(i for i in large if abs(y[i]) > LARGEST_VALUE or abs(y[i] - middle) > limit)


def equal_at_end(readings: Iterable[tuple[float, bytes]]) -> int:
    """Return how many of the last readings are equal to the last bit; 0 where all of these are of one setting.

    Args:
        readings: Value and point of each, the last one first.

    Example:
        >>> equal_at_end([(0.5, b"c"), (0.5, b"a"), (0.5, b"b"), (0.3, b"a")]), equal_at_end([(0.5, b"a"), (0.5, b"a")])
        (3, 0)
    """
    (value, point), *others = list(readings) or [(0.0, b"")]
    same = [point, *(at for _, at in takewhile(lambda reading: reading[0] == value, others))]
    return len(same) if len(set(same)) > 1 else 0


def stuck(same: int, readings: int) -> bool:
    """Return whether the sensor seems dead: many readings at the end are equal, and these are half of all or more."""
    return same >= FEW_EQUAL and same >= STUCK_SHARE * readings


def stuck_note(same: int, value: float) -> DeadSensor | None:
    """Return what is to be said of equal readings at the end: when there are ten, twenty, forty and so on."""
    due = FEW_EQUAL
    while due < same:
        due *= 2
    if same != due:
        return None
    return DeadSensor(f"the last {same} readings are all {value!r}: is the sensor alive? No bound is claimed of it")
