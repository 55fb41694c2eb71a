"""Numbers, counts and shares as programs give them, and as people write them."""

from typing import Any

from equipoise import _validation as check
from equipoise._validation import NUMBER

LARGEST_COUNT = 10**15
"""Larger counts are slips or codes: up to here a float holds every whole number."""


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


def parsed(text: str) -> Any:
    """Return the answer that people or programs wrote: a number; or two with a slash between them, as a tuple.

    Example:
        >>> parsed("0.83"), parsed("17/200")
        (0.83, (17.0, 200.0))
    """
    parts = text.strip().replace("\N{MINUS SIGN}", "-").split("/")
    if len(parts) > 2 or any(NUMBER.fullmatch(part.strip()) is None for part in parts):
        raise ValueError(f"`value` must be a number such as 0.83, or a share such as 17/200, got {text!r}")
    numbers = tuple(map(float, parts))
    return numbers if len(numbers) == 2 else numbers[0]


def written(value: float, of: float | None = None) -> str:
    """Return an answer as people write it: `parsed` undoes it.

    Example:
        >>> written(0.83), written(17.0), written(17.0, 200.0)
        ('0.83', '17', '17/200')
    """
    return "/".join(_plain(each) for each in (value, of) if each is not None)


def _plain(number: float) -> str:
    return f"{number:.0f}" if float(number).is_integer() and abs(number) <= LARGEST_COUNT else repr(number)
