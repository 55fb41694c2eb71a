"""Programs and what they cost: wall, user and system time, memory, or the last number they print."""

import json
import math
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from equipoise.contest.diary import Execution
from equipoise.desk.program import FailedError, reading

LAUNCHER = Path(__file__).with_name("launcher.py")
"""The script that starts programs; never imported here, since it needs a POSIX system."""

CALIBRATIONS = 50
"""How often an empty command is run to learn what the shell costs, as hyperfine does."""

FLOOR_MARGIN = 1.1
"""The launcher passes its size on, which grows by some pages as it works: so much above its first cannot be told."""

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Setup:
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
        """Return the words to start."""
        return [*self.shell, "-c", command] if self.shell else shlex.split(command)


class Programs:
    """Runs programs, one at a time, from a small process of its own, to be used in a `with` statement.

    Args:
        setup: How they are run.

    Attributes:
        shell_cost: Medians of what the shell alone costs, which is taken off.
        floor: The least memory that can be told, in bytes.

    Example:
        >>> with Programs(Setup(shell=())) as programs:
        ...     programs.run("nothing", "true").exit
        0
    """

    def __init__(self, setup: Setup) -> None:
        if sys.platform == "win32":
            raise RuntimeError("programs are measured on POSIX systems only: use `equipoise.compare` in Python")
        self.setup = setup
        self.shell_cost = {"wall": 0.0, "user": 0.0, "system": 0.0}
        asked, self._orders = os.pipe()
        self._answers, told = os.pipe()
        words = [sys.executable, "-I", "-S", str(LAUNCHER), str(asked), str(told)]
        self._process = subprocess.Popen(words, pass_fds=(asked, told), start_new_session=True)  # Ctrl-C is for us
        os.close(asked)
        os.close(told)
        self._said = os.fdopen(self._answers)
        self.floor = FLOOR_MARGIN * float(self._ran(["true"], capture=False)["rss"])

    def __enter__(self) -> "Programs":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the program that runs, if any."""
        self._process.send_signal(signal.SIGTERM)
        os.close(self._orders)
        self._said.close()
        self._process.wait()

    def calibrate(self) -> None:
        """Learn what the shell alone costs."""
        if self.setup.shell:
            empty = [self._ran([*self.setup.shell, "-c", ""], capture=False) for _ in range(CALIBRATIONS)]
            self.shell_cost = {name: statistics.median(cost[name] for cost in empty) for name in self.shell_cost}

    def run(self, arm: str, command: str) -> Execution:
        """Run a command line of an arm and return what it has cost; `FailedError` where that says nothing."""
        cost = self._ran(self.setup.words(command), self.setup.reads)
        if cost["late"]:
            raise FailedError(f"no end after {self.setup.timeout:g} s")
        if cost["exit"] and not self.setup.ignore_failure:
            raise FailedError(f"exit status {cost['exit']}")
        net = {name: max(cost[name] - shell, 0.0) for name, shell in self.shell_cost.items()}
        read = last_number(cost["out"]) if self.setup.reads else None
        return Execution(arm, **net, rss=cost["rss"], exit=cost["exit"], reading=read)

    def do(self, command: str) -> None:
        """Run a command line whose cost is of no interest, with a shell where there is one."""
        cost = self._ran(self.setup.words(command), capture=False)
        if cost["exit"]:
            raise FailedError(f"exit status {cost['exit']}")

    def _ran(self, words: list[str], capture: bool) -> dict[str, Any]:
        """Let a program run; return what the launcher says of it."""
        setup = self.setup
        order = {"argv": words, "stdin": setup.stdin, "stdout": setup.stdout, "timeout": setup.timeout}
        os.write(self._orders, json.dumps(order | {"capture": capture}).encode() + b"\n")
        answer = self._heard()
        if "error" in answer:
            raise FailedError(answer["error"])
        return answer

    def _heard(self) -> dict[str, Any]:
        line = self._said.readline()
        if not line:
            raise FailedError("the process that starts programs has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


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
