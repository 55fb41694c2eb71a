"""Text for programs: numbers as they print them, JSON as they read it, cells as spreadsheets may read them."""

import json
import re
from typing import Any

import numpy as np

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


def json_line(data: Any) -> str:
    """Return data as a line of JSON; what is not printable is escaped."""
    text = json.dumps(data, ensure_ascii=False, default=_plain, allow_nan=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)
