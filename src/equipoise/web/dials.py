"""Settings as an operator reads them, and by what a form says which setting it has shown."""

import hashlib
from typing import Any

from equipoise.spaces import Dial as Dial
from equipoise.spaces import Domain, readouts_of
from equipoise.spaces import dials as all_dials


def dials(space: Domain, x: Any, before: Any = None) -> tuple[Dial, ...]:
    """Return a setting, knob by knob.

    Args:
        space: Where settings lie.
        x: The setting.
        before: The setting where the machine stands, if that is known.
    """
    return all_dials(readouts_of(space), x, before)


def told_of(value: Any) -> str:
    """Return a short text by which a form says what it has shown: a setting, or a reading.

    Example:
        >>> told_of({"q1": 0.5}) == told_of({"q1": 0.25})
        False
    """
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
