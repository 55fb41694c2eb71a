"""Programs and their cost: wall, user and system time, memory, or the last number that they print."""

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
"""Number of runs of an empty command that measure the cost of the shell, as in hyperfine."""

FLOOR_MARGIN = 1.1
"""Margin of the memory floor: the launcher passes on its size, which grows by some pages while it works."""

DEFAULT_SHELL = ("sh",)

LAST = Read("reading")
"""The last printed number."""

EVERYTHING = Read("*")
"""All numbers in the last line of JSON."""


@dataclass(frozen=True)
class Site:
    """The site of a program.

    Attributes:
        folder: Its working directory; `None` for the current one.
        cores: Numbers of the allowed cores; empty for all of ours.
    """

    folder: str | None = None
    cores: Sequence[int] = ()


HERE = Site()


@dataclass(frozen=True)
class RunOptions:
    """The options for running programs.

    Attributes:
        shell: Words of the shell that runs the command lines; empty if they are split into words here. Hooks have one
            anyway.
        stdin: File for standard input.
        stdout: File for standard output; `None` to share ours, as standard error does.
        piped: Whether standard output goes through a pipe instead, and is discarded.
        timeout: Seconds after which a measured program is stopped; 0 for never.
        ignore_failure: Whether the time of a failed program counts.
        reads: The numbers to read from the output; empty to ignore it.
        events: The events that the kernel counts: names of `EVENTS`.
    """

    shell: tuple[str, ...] = DEFAULT_SHELL
    stdin: str = os.devnull
    stdout: str | None = os.devnull
    timeout: float = 0.0
    ignore_failure: bool = False
    reads: tuple[Read, ...] = ()
    events: tuple[str, ...] = ()
    piped: bool = False

    def words(self, command: str) -> list[str]:
        """Return the words to start; refuse an empty command line."""
        words = [*self.shell, "-c", command] if self.shell else shlex.split(command)
        if not words:
            raise FailedError("a command line must have a word")
        return words


class Programs:
    """A runner of programs, one at a time or together, below small helper processes; use it in a `with` statement.

    Args:
        setup: The options for running them.

    Attributes:
        shell_cost: Median costs of the shell alone, which are subtracted.
        floor: The smallest measurable memory, in bytes.

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
        """End all running programs."""
        for launcher in self._launchers:
            launcher.stop()

    def calibrate(self) -> None:
        """Measure the cost of the shell, once."""
        if self.setup.shell and not self._calibrated:
            empty = [self._ran([*self.setup.shell, "-c", ""], HERE) for _ in range(CALIBRATIONS)]
            self.shell_cost = {
                name: statistics.median(getattr(each, name) for each in empty) for name in self.shell_cost
            }
        self._calibrated = True

    def but(self, **changes: Any) -> "Programs":
        """Return a runner with the same processes and other options."""
        other = copy.copy(self)
        other.setup = replace(self.setup, **changes)
        return other

    def together(self, commands: Mapping[str, str], places: Sequence[Site]) -> dict[str, Callable[[], Execution]]:
        """Run a command line of each arm at once, each at its site, and return functions that give their costs."""
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
        """Run a command line of an arm and return its cost; raise `FailedError` if the run is invalid."""
        ended = self._ran(self.setup.words(command), place, True, launcher)
        if ended.exit and not self.setup.ignore_failure:
            raise FailedError(status(ended.exit), ended.err)
        net = {name: max(getattr(ended, name) - shell, 0.0) for name, shell in self.shell_cost.items()}
        memory = ended.rss if ended.rss > self.floor else None
        numbers: dict[str, float | None] = dict(zip(self.setup.events, map(float, ended.counts), strict=True))
        try:
            for each in self.setup.reads:
                numbers |= everything(ended.out) if each == EVERYTHING else {} if each == LAST else each.read(ended.out)
            last = last_number(ended.out) if LAST in self.setup.reads else None
        except FailedError as error:
            first = f"{status(ended.exit)}, and " if ended.exit else ""
            raise FailedError(f"{first}{error}", ended.err) from None
        return Execution(arm, **net, rss=memory, exit=ended.exit, reading=last, numbers=numbers)

    def do(self, command: str, place: Site = HERE) -> None:
        """Run a command line whose cost does not matter: in a shell, for as long as it takes."""
        ended = self._ran([*(self.setup.shell or DEFAULT_SHELL), "-c", command], place)
        if ended.exit:
            raise FailedError(status(ended.exit), ended.err)

    def _ran(self, words: list[str], place: Site, measured: bool = False, launcher: Launcher | None = None) -> Ended:
        """Run a program to its end; refuse one that cannot be started or does not end in time."""
        setup = self.setup
        order = Order(
            words,
            setup.stdin,
            stdout=setup.stdout,
            capture=measured and (setup.piped or bool(setup.reads)),
            complaints=setup.stdout is not None,
            timeout=setup.timeout if measured else 0.0,
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
    """Return the file that an option names: `null` is the null device."""
    return os.devnull if name == "null" else str(Path(name).absolute())
