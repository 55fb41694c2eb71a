"""Numbers and counts as programs give them and as people write them."""

import re
from typing import Any

from equipoise import _validation as check
from equipoise._validation import NUMBER

LARGEST_COUNT = 10**15
"""Larger counts are slips or codes: up to here a float holds every whole number."""


def number(text: str) -> float:
    """Return the number that people wrote.

    Example:
        >>> number(" 1e3 "), number("abc")
        Traceback (most recent call last):
        ValueError: `value` must be a number, got 'abc'
    """
    if NUMBER.fullmatch(text.strip()) is None:
        raise ValueError(f"`value` must be a number, got {text!r}")
    return float(text)


def count(name: str, value: Any, at_least: int = 0) -> float:
    """Return a whole number as a float, from an integer or from a float without a fraction.

    Example:
        >>> count("value", 17), count("value", 3.0)
        (17.0, 3.0)
        >>> count("value", 1.5)
        Traceback (most recent call last):
        ValueError: `value` must be a whole number of at least 0, got 1.5
    """
    found = check.number(name, value)
    if not found.is_integer() or found < at_least:
        raise ValueError(f"`{name}` must be a whole number of at least {at_least}, got {value!r}")
    if found > LARGEST_COUNT:
        raise ValueError(f"`{name}` must be at most {LARGEST_COUNT:.0e}, got {value!r}")
    return found


def share(text: str) -> tuple[float, ...]:
    """Return successes and trials as people write them.

    Example:
        >>> share("17/200"), share("17 of 200")
        ((17.0, 200.0), (17.0, 200.0))
    """
    parts = re.split(r"/| of ", text.strip())
    if len(parts) != 2:
        raise ValueError(f"`value` must be successes and trials, such as 17/200, got {text!r}")
    return number(parts[0]), number(parts[1])
