"""Programs and what they cost: wall, user and system time, memory, or the last number they print."""

import copy
import os
import shlex
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from equipoise.cli.common import noted
from equipoise.programs.commands.metrics import EVENTS, Read, everything, last_number
from equipoise.programs.comparison_log import Execution
from equipoise.runners import Ended, FailedError, Launcher, Order, status

CALIBRATIONS = 50
"""How often an empty command is run to learn what the shell costs, as hyperfine does."""

FLOOR_MARGIN = 1.1
"""The launcher passes its size on, which grows by some pages as it works: so much above its first cannot be told."""


LAST = Read("reading")
"""The last number that is printed."""

EVERYTHING = Read("*")
"""All numbers in the last line of JSON."""


@dataclass(frozen=True)
class Site:
    """Where a program runs.

    Attributes:
        folder: Its working directory; `None` for ours.
        cores: Numbers of the cores it may use; none for all that we may.
    """

    folder: str | None = None
    cores: Sequence[int] = ()


HERE = Site()


@dataclass(frozen=True)
class RunOptions:
    """How programs are run.

    Attributes:
        shell: Words of the shell that a command line is given to; none if it is split into words here.
        stdin: File for standard input.
        stdout: File for standard output; `None` for where ours goes, and standard error too.
        piped: Whether standard output goes through a pipe instead, and is thrown away.
        timeout: After how many seconds a program is stopped; 0 for never.
        ignore_failure: Whether the time of a program that fails counts.
        reads: What is read from what it prints; nothing if that does not count.
        events: What the kernel counts: names of `EVENTS`.
    """

    shell: tuple[str, ...] = ("sh",)
    stdin: str = os.devnull
    stdout: str | None = os.devnull
    timeout: float = 0.0
    ignore_failure: bool = False
    reads: tuple[Read, ...] = ()
    events: tuple[str, ...] = ()
    piped: bool = False

    def words(self, command: str) -> list[str]:
        """Return the words to start; refuse a command line that has none."""
        words = [*self.shell, "-c", command] if self.shell else shlex.split(command)
        if not words:
            raise FailedError("a command line must have a word")
        return words


class Programs:
    """Runs programs, one at a time or together, from small helper processes; use it in a `with` statement.

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
        self._calibrated = False
        self._launchers = [Launcher(noted)]
        self.floor = FLOOR_MARGIN * self._launchers[0].run(Order(["true"], stdout=os.devnull)).rss

    def __enter__(self) -> "Programs":
        return self

    def __exit__(self, *error: object) -> None:
        """End the programs that run, if any."""
        for launcher in self._launchers:
            launcher.stop()

    def calibrate(self) -> None:
        """Learn what the shell alone costs, once."""
        if self.setup.shell and not self._calibrated:
            empty = [self._ran([*self.setup.shell, "-c", ""], HERE) for _ in range(CALIBRATIONS)]
            self.shell_cost = {
                name: statistics.median(getattr(each, name) for each in empty) for name in self.shell_cost
            }
        self._calibrated = True

    def but(self, **changes: Any) -> "Programs":
        """Return what runs programs by the same processes, with other options."""
        other = copy.copy(self)
        other.setup = replace(self.setup, **changes)
        return other

    def together(self, commands: Mapping[str, str], places: Sequence[Site]) -> dict[str, Callable[[], Execution]]:
        """Run a command line of each arm at once, each in its place, and return what gives the cost of each."""
        if len(commands) == 1:
            return {arm: partial(self.run, arm, line, places[0]) for arm, line in commands.items()}
        self._launchers += [Launcher(noted) for _ in range(len(commands) - len(self._launchers))]
        pool = ThreadPoolExecutor(len(commands))
        try:
            calls = zip(commands.items(), places, self._launchers, strict=False)
            ended = {arm: pool.submit(self.run, arm, line, place, by) for (arm, line), place, by in calls}
            wait(ended.values())
            return {arm: each.result for arm, each in ended.items()}
        except BaseException:  # Ctrl-C
            self.__exit__()
            raise
        finally:
            pool.shutdown()

    def run(self, arm: str, command: str, place: Site = HERE, launcher: Launcher | None = None) -> Execution:
        """Run a command line of an arm and return what it has cost; `FailedError` if that says nothing."""
        ended = self._ran(self.setup.words(command), place, True, launcher)
        if ended.exit and not self.setup.ignore_failure:
            raise FailedError(status(ended.exit), ended.err)
        net = {name: max(getattr(ended, name) - shell, 0.0) for name, shell in self.shell_cost.items()}
        memory = ended.rss if ended.rss > self.floor else None
        numbers = dict(zip(self.setup.events, map(float, ended.counts), strict=True))
        for each in self.setup.reads:
            numbers |= everything(ended.out) if each == EVERYTHING else {} if each == LAST else each.read(ended.out)
        last = last_number(ended.out) if LAST in self.setup.reads else None
        return Execution(arm, **net, rss=memory, exit=ended.exit, reading=last, numbers=numbers)

    def do(self, command: str, place: Site = HERE) -> None:
        """Run a command line whose cost is of no interest, with a shell if there is one."""
        ended = self._ran(self.setup.words(command), place)
        if ended.exit:
            raise FailedError(status(ended.exit), ended.err)

    def _ran(self, words: list[str], place: Site, measured: bool = False, launcher: Launcher | None = None) -> Ended:
        """Let a program run to its end; refuse one that cannot be started, or does not come to an end in time."""
        setup = self.setup
        order = Order(
            words,
            setup.stdin,
            stdout=setup.stdout,
            capture=measured and (setup.piped or bool(setup.reads)),
            complaints=setup.stdout is not None,
            timeout=setup.timeout,
            folder=place.folder,
            cores=place.cores,
            events=[EVENTS[name] for name in setup.events] if measured else (),
        )
        try:
            ended = (launcher or self._launchers[0]).run(order)
        except OSError as error:
            raise FailedError(_why(error, words[0])) from error
        if ended.late:
            raise FailedError(f"no end after {setup.timeout:g} s", ended.err)
        return ended


def _why(error: OSError, program: str) -> str:
    """Return why a program could not be started."""
    if error.filename == "perf_event_open":
        rule = "the processor and kernel.perf_event_paranoid must allow it, and many virtual machines count no hardware"
        return f"its events cannot be counted ({error.strerror}: {rule})"
    return f"{error.filename} could not be {'started' if error.filename == program else 'opened'}: {error.strerror}"


def file_for(name: str) -> str:
    """Return the file that an option names: `null` is nothing."""
    return os.devnull if name == "null" else str(Path(name).absolute())
