"""Detect a dead sensor: readings of several settings that are equal to the last bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from equipoise.study.alerts import DeadSensor
from equipoise.study.ledger import FEW_EQUAL

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.data import Reading
    from equipoise.study.ledger import Ledger

STUCK_SHARE = 0.5
"""If this share of all readings are the last ones and equal, the readings say nothing about the settings."""


def equal_at_end(readings: Iterable[tuple[float, bytes]]) -> int:
    """Return how many readings, the last one first, are equal to the last bit; 0 if all are of one setting.

    Example:
        >>> equal_at_end([(0.5, b"c"), (0.5, b"a"), (0.5, b"b"), (0.3, b"a")]), equal_at_end([(0.5, b"a"), (0.5, b"a")])
        (3, 0)
    """
    (value, point), *others = list(readings) or [(0.0, b"")]
    same = [point, *(at for _, at in takewhile(lambda reading: reading[0] == value, others))]
    return len(same) if len(set(same)) > 1 else 0


def stuck(ledger: Ledger) -> bool:
    """Return whether the sensor seems dead: many readings at the end are equal, and these are half of all or more."""
    same = equal_at_end(_latest(ledger))
    return same >= FEW_EQUAL and same >= STUCK_SHARE * len(ledger.readings)


def dead_alert(ledger: Ledger, reading: Reading, point: FloatArray) -> DeadSensor | None:
    """Return a warning if a new reading, or one of its outputs, equals the last ten, twenty, forty and so on.

    A further output may be constant, such as a loss of zero: its claims stay.
    """
    if same := _due(chain([(reading.value, point.tobytes())], _latest(ledger))):
        said = f"the last {same} readings are all {reading.value!r}"
        return DeadSensor(f"{said}: check the sensor. There is no bound")
    for name, value in [*reading.values.items()][1:]:  # the first one is the value itself
        if same := _due(chain([(value, point.tobytes())], _latest(ledger, name))):
            return DeadSensor(f"the last {same} readings of {name} are all {value!r}: check its sensor")
    return None


def _due(readings: Iterator[tuple[float, bytes]]) -> int:
    """Return how many of the last readings are equal if that is ten, twenty, forty and so on; else 0."""
    first, second = next(readings), next(readings, None)
    if second is None or second[0] != first[0]:
        return 0
    same, due = equal_at_end(chain([first, second], readings)), FEW_EQUAL
    while due < same:
        due *= 2
    return same if same == due else 0


def _latest(ledger: Ledger, output: str | None = None) -> Iterator[tuple[float, bytes]]:
    """Yield value and point of every reading, or of an output, the last one first; of counts none: they are equal."""
    for i, reading in reversed(ledger.readings.items()):
        value = reading.value if output is None else reading.values.get(output)
        if value is not None and (output is not None or reading.answers is None):
            yield value, ledger.of_trial[i].point(i).tobytes()
