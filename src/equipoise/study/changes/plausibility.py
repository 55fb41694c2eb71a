"""Impossible readings, such as overload codes: the study sets them aside before it learns from them.

The log keeps them. This module sets aside only readings that no unit can explain. A reading that is merely far off may
be a discovery; the belief decides about it (`belief/disturbances.py`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from equipoise.study.changes.trials import LARGEST_PLAUSIBLE

if TYPE_CHECKING:
    from equipoise.data import Reading

LARGEST_VALUE = 1e100
"""Larger values are always set aside: their squares overflow."""

LARGEST_RATIO = 1e12
"""Values above `LARGEST_PLAUSIBLE` are set aside if they are this many times as far from the others as those are from
each other."""


def absurd(values: Sequence[float]) -> frozenset[int]:
    """Return the indices of the values that cannot be readings.

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


def absurd_readings(told: "Mapping[int, Reading]") -> frozenset[int]:
    """Return the trials of which any number cannot be a reading; each output is compared with itself."""
    columns: dict[str, dict[int, float]] = {}
    for trial, reading in told.items():
        for name, value in {"": reading.value, **reading.values}.items():
            columns.setdefault(name, {})[trial] = value
    found = ((list(column), absurd(list(column.values()))) for column in columns.values())
    return frozenset(trials[k] for trials, strange in found for k in strange)
