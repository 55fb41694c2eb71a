"""What the library warns of, kept for whoever has asked: warnings have no other way to a page."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from equipoise.spaces.readouts import printable

_heard = threading.local()


def listen() -> None:
    """Let warnings of this process go to the thread that gave rise to them; called once, where a server starts."""
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = _keep


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Yield a list that has, afterwards, what was warned of in this thread."""
    found: list[str] = []
    before = getattr(_heard, "found", None)
    _heard.found = found
    try:
        yield found
    finally:
        _heard.found = before


def _keep(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    found = getattr(_heard, "found", None)
    if found is not None and issubclass(category, UserWarning):
        text = printable(str(message), "")
        found.append(text[0].upper() + text[1:])
