"""Words for people and for scripts: what a study, which may come from a stranger, says of itself."""

import json
from typing import Any

import numpy as np


def printable(text: str, keep: str = "\n\t") -> str:
    r"""Return text without anything that a terminal would obey: a study, and its names, may come from a stranger.

    Args:
        text: Any text.
        keep: Characters that stay though they are not printable; none where the text must be one line.

    Example:
        >>> print(printable("beam \x1b[2J lost"))
        beam \x1b[2J lost
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def json_line(data: Any) -> str:
    """Return data as a line of JSON; what is not printable is escaped."""
    text = json.dumps(data, ensure_ascii=False, default=_plain, allow_nan=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)
