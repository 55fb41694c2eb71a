"""The progress of a comparison: a few lines that are drawn again on a terminal, a line now and then elsewhere."""

import shutil
import time
from collections.abc import Callable, Sequence
from typing import IO

from equipoise.cli.common import printable

REDRAW = 0.1
"""The least number of seconds between two updates of a terminal."""

FIRST_NOTE = 10
"""Without a terminal, the round of the first progress line; each further line comes after twice as many rounds."""


class Live:
    """Shows the results so far.

    Args:
        stream: The output; a terminal is redrawn, other output gets a line now and then.
        seconds: The time budget.
    """

    def __init__(self, stream: IO[str], seconds: float) -> None:
        self._stream = stream
        self._seconds = seconds
        self._drawn = stream.isatty()
        self._start = time.monotonic()
        self._last = -REDRAW
        self._lines = 0
        self._next_note = FIRST_NOTE

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._start

    def say(self, text: Callable[[], str], rounds: int) -> None:
        """Show a text after a round, if an update is due."""
        if self._drawn and self.elapsed - self._last >= REDRAW:
            self._last = self.elapsed
            self._draw(text().splitlines(), rounds)
        if not self._drawn and rounds >= self._next_note:
            self._next_note = 2 * rounds
            self._stream.write(printable(text()) + "\n")
            self._stream.flush()

    def clear(self) -> None:
        """Erase the drawn lines."""
        if self._lines:
            self._stream.write(f"\x1b[{self._lines}F\x1b[J")
            self._stream.flush()
            self._lines = 0

    def _draw(self, rows: Sequence[str], rounds: int) -> None:
        left = max(self._seconds - self.elapsed, 0.0)
        status = (
            f"round {rounds}, {clock(self.elapsed)}, at most {clock(left)} left; Ctrl-C ends with the verdict so far"
        )
        size = shutil.get_terminal_size()
        lines = [printable(line)[: size.columns - 1] for line in (*rows, status)]  # what wraps would be two lines
        lines = lines[-max(size.lines - 1, 1) :]
        self.clear()
        self._stream.write("".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._lines = len(lines)


def clock(seconds: float) -> str:
    """Return a time as a clock shows it.

    Example:
        >>> clock(75)
        '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
