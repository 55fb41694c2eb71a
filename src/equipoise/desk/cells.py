"""Numbers as programs print them, and cells as spreadsheets may read them."""

import re
from typing import Any

NUMBER = re.compile(r"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)
"""A number as programs print it: `float` also takes 1_000 and the digits of other scripts."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell begins with that a spreadsheet would run."""


def cell(value: Any) -> Any:
    """Return a value for a spreadsheet: a text that it would run, whoever wrote it, gets an apostrophe before it.

    Example:
        >>> [cell(value) for value in (-0.5, "-5", "=1+1", "open", None)]
        [-0.5, '-5', "'=1+1", 'open', None]
    """
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) and NUMBER.fullmatch(text) is None else value
