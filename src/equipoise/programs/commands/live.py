"""How a comparison goes on: a few lines that are drawn anew on a terminal, a line now and then elsewhere."""

import shutil
import time
from collections.abc import Callable, Sequence
from typing import IO

from equipoise.cli.common import printable
from equipoise.programs.findings import Finding
from equipoise.programs.phrases import short, told
from equipoise.programs.verdict import Verdict

REDRAW = 0.1
"""Seconds between two pictures on a terminal, at least."""

LONGEST_NAME = 24
"""Letters of the name of an arm that a row has room for."""

FIRST_NOTE = 10
"""The round after which something is said where there is no terminal; then after twice as many, and so on."""


class Live:
    """Shows the verdict so far.

    Args:
        stream: Where to; drawn on a terminal, written line by line elsewhere.
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

    def show(self, verdict: Verdict, rounds: int) -> None:
        """Show a verdict after this many rounds, if it is time to."""
        if self._drawn and self.elapsed - self._last >= REDRAW:
            self._last = self.elapsed
            self._draw(verdict, rounds)
        if not self._drawn and rounds >= self._next_note:
            self._next_note = 2 * rounds
            self._stream.write(printable(told(verdict)) + "\n")
            self._stream.flush()

    def say(self, text: Callable[[], str], rounds: int) -> None:
        """Show a text of several lines after a round, if it is time to."""
        if self._drawn and self.elapsed - self._last >= REDRAW:
            self._last = self.elapsed
            self._show(text().splitlines(), rounds)
        if not self._drawn and rounds >= self._next_note:
            self._next_note = 2 * rounds
            self._stream.write(f"{printable(text())} ({rounds} rounds, {clock(self.elapsed)})\n")
            self._stream.flush()

    def clear(self) -> None:
        """Take what was drawn away."""
        if self._lines:
            self._stream.write(f"\x1b[{self._lines}F\x1b[J")
            self._stream.flush()
            self._lines = 0

    def _draw(self, verdict: Verdict, rounds: int) -> None:
        self._show([_row(verdict, found) for found in _shown(verdict)], rounds)

    def _show(self, rows: Sequence[str], rounds: int) -> None:
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


def _shown(verdict: Verdict) -> list[Finding]:
    """Return the pairs to show: with the first arm where there are two or a limit, else with the leader."""
    question = verdict.question
    if question.fail_above is not None or len(question.rivals) == 2:
        return list(verdict.against_first)
    return [verdict.between(verdict.leader, arm) for arm in question.rivals if arm != verdict.leader]


def _row(verdict: Verdict, found: Finding) -> str:
    """Return a pair in one row of a terminal: names, interval, and what it says."""
    first, second = (_clipped(name) for name in (found.first, found.second))
    says = found.standing if found.more is None else f"open, {found.more}"
    return f"{second} : {first}  {short(found, verdict.question)}  {says}"


def _clipped(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def clock(seconds: float) -> str:
    """Return a time as a clock shows it.

    Example:
        >>> clock(75)
        '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
