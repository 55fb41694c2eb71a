"""Numbers, counts, shares and named numbers, as values and as text."""

import re
from collections.abc import Mapping
from typing import Any

from equipoise import _validation as check
from equipoise._validation import NUMBER

LARGEST_COUNT = 10**15
"""The largest count: larger ones are typing errors or codes, and up to here floats represent all whole numbers."""


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
    """Return the answer in a text: a number, a tuple of two numbers separated by a slash, or numbers by name.

    Example:
        >>> parsed("0.83"), parsed("17/200"), parsed("flux=3.1 loss=0.4")
        (0.83, (17.0, 200.0), {'flux': 3.1, 'loss': 0.4})
    """
    if "=" in text:
        return by_name(text)
    parts = text.strip().replace("\N{MINUS SIGN}", "-").split("/")
    if len(parts) > 2 or any(NUMBER.fullmatch(part.strip()) is None for part in parts):
        raise ValueError(f"`value` must be a number such as 0.83, or a share such as 17/200, got {text!r}")
    numbers = tuple(map(float, parts))
    return numbers if len(numbers) == 2 else numbers[0]


def by_name(text: str) -> dict[str, float]:
    """Return numbers by name, from words separated by commas or spaces.

    Example:
        >>> by_name("flux = 3.1, loss=-4e-1")
        {'flux': 3.1, 'loss': -0.4}
    """
    found: dict[str, float] = {}
    for word in re.split(r"\s*[,;\s]\s*", re.sub(r"\s*=\s*", "=", text.strip().strip(",;"))):
        name, _, number = word.replace("\N{MINUS SIGN}", "-").partition("=")
        if not name or name in found or NUMBER.fullmatch(number) is None:
            raise ValueError(f"`value` must be numbers by name, each once, such as flux=3.1 loss=0.4, got {text!r}")
        found[name] = float(number)
    return found


def written(value: float | Mapping[str, float], of: float | None = None) -> str:
    """Return an answer as text; `parsed` is the inverse.

    Example:
        >>> written(0.83), written(17.0), written(17.0, 200.0), written({"flux": 3.1, "loss": 0.4})
        ('0.83', '17', '17/200', 'flux=3.1 loss=0.4')
    """
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_plain(number)}" for name, number in value.items())
    return "/".join(_plain(each) for each in (value, of) if each is not None)


def _plain(number: float) -> str:
    return f"{number:.0f}" if float(number).is_integer() and abs(number) <= LARGEST_COUNT else repr(number)
