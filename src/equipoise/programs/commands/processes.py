"""Programs and what they cost: wall, user and system time, memory, or the last number they print."""

import math
import os
import re
import shlex
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from equipoise.cli.common import noted
from equipoise.programs.comparison_log import Execution
from equipoise.runners import Ended, FailedError, Launcher, Order, reading, status

CALIBRATIONS = 50
"""How often an empty command is run to learn what the shell costs, as hyperfine does."""

FLOOR_MARGIN = 1.1
"""The launcher passes its size on, which grows by some pages as it works: so much above its first cannot be told."""

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class RunOptions:
    """How programs are run.

    Attributes:
        shell: Words of the shell that a command line is given to; none where it is split into words here.
        stdin: File for standard input.
        stdout: File for standard output; `None` for where ours goes, and standard error too.
        timeout: After how many seconds a program is stopped; 0 for never.
        ignore_failure: Whether the time of a program that fails counts.
        reads: Whether the last number printed is the reading.
    """

    shell: tuple[str, ...] = ("sh",)
    stdin: str = os.devnull
    stdout: str | None = os.devnull
    timeout: float = 0.0
    ignore_failure: bool = False
    reads: bool = False

    def words(self, command: str) -> list[str]:
        """Return the words to start; refuse a command line that has none."""
        words = [*self.shell, "-c", command] if self.shell else shlex.split(command)
        if not words:
            raise FailedError("a command line must have a word")
        return words


class Programs:
    """Runs programs, one at a time, from a small process of its own, to be used in a `with` statement.

    Args:
        setup: How they are run.

    Attributes:
        shell_cost: Medians of what the shell alone costs, which is taken off.
        floor: The least memory that can be told, in bytes.

    Example:
        >>> with Programs(RunOptions(shell=())) as programs:
        ...     programs.run("nothing", "true").exit
        0
    """

    def __init__(self, setup: RunOptions) -> None:
        if sys.platform == "win32":
            raise RuntimeError("programs are measured on POSIX systems only: use `equipoise.compare` in Python")
        self.setup = setup
        self.shell_cost = {"wall": 0.0, "user": 0.0, "system": 0.0}
        self._launcher = Launcher(noted)
        self.floor = FLOOR_MARGIN * self._launcher.run(Order(["true"], stdout=os.devnull)).rss

    def __enter__(self) -> "Programs":
        return self

    def __exit__(self, *error: object) -> None:
        """End the program that runs, if any."""
        self._launcher.stop()

    def calibrate(self) -> None:
        """Learn what the shell alone costs."""
        if self.setup.shell:
            empty = [self._ran([*self.setup.shell, "-c", ""]) for _ in range(CALIBRATIONS)]
            self.shell_cost = {
                name: statistics.median(getattr(each, name) for each in empty) for name in self.shell_cost
            }

    def run(self, arm: str, command: str) -> Execution:
        """Run a command line of an arm and return what it has cost; `FailedError` where that says nothing."""
        ended = self._ran(self.setup.words(command), self.setup.reads)
        if ended.exit and not self.setup.ignore_failure:
            raise FailedError(status(ended.exit), ended.err)
        net = {name: max(getattr(ended, name) - shell, 0.0) for name, shell in self.shell_cost.items()}
        read = last_number(ended.out) if self.setup.reads else None
        memory = ended.rss if ended.rss > self.floor else None
        return Execution(arm, **net, rss=memory, exit=ended.exit, reading=read)

    def do(self, command: str) -> None:
        """Run a command line whose cost is of no interest, with a shell where there is one."""
        ended = self._ran(self.setup.words(command))
        if ended.exit:
            raise FailedError(status(ended.exit), ended.err)

    def _ran(self, words: list[str], capture: bool = False) -> Ended:
        """Let a program run to its end; refuse one that cannot be started, or does not come to an end in time."""
        setup = self.setup
        quiet = setup.stdout is not None
        order = Order(words, setup.stdin, "", setup.stdout, capture, complaints=quiet, timeout=setup.timeout)
        try:
            ended = self._launcher.run(order)
        except OSError as error:
            what = "started" if error.filename == words[0] else "opened"
            raise FailedError(f"{error.filename} could not be {what}: {error.strerror}") from error
        if ended.late:
            raise FailedError(f"no end after {setup.timeout:g} s", ended.err)
        return ended


def last_number(out: str) -> float:
    r"""Return the last number a program has printed; of a last line of JSON, its "value".

    Example:
        >>> last_number("read: 12\nthroughput: 83.5 MB/s\n"), last_number('{"value": 3, "error": 2}')
        (83.5, 3.0)
    """
    try:
        value = float(reading(out)["value"])
    except (FailedError, TypeError, ValueError):
        found = NUMBER.findall(out)
        if not found:
            raise FailedError(f"it must print a number, got {out.strip()[-80:]!r}") from None
        value = float(found[-1])
    if not math.isfinite(value):
        raise FailedError(f"the number it prints must be finite, got {value}")
    return value


def file_for(name: str) -> str:
    """Return the file that an option names: `null` is nothing."""
    return os.devnull if name == "null" else str(Path(name).absolute())
