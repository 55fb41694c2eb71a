"""The user's measuring programs: run for a trial, read to the last line, ended with all their children."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from equipoise._validation import NUMBER
from equipoise.data import Trial
from equipoise.likelihoods import parsed
from equipoise.runners.launcher import Ended, Launcher, Order
from equipoise.spaces import settings

MAX_OUTPUT = 2**16
"""Maximum number of bytes kept from the end of a program's output, if there is no launcher."""


class FailedError(Exception):
    """The program gave no reading; the message contains the reason.

    Args:
        message: The reason.
        complaints: The end of its standard error, if known.
    """

    def __init__(self, message: str, complaints: str = "") -> None:
        super().__init__(message)
        self.complaints = complaints

    @property
    def reason(self) -> str:
        r"""The message, with the last line of standard error.

        Example:
            >>> FailedError("exit status 1", "Traceback:\nZeroDivisionError\n").reason
            'exit status 1: ZeroDivisionError'
        """
        return ": ".join([str(self), *self.complaints.rstrip().splitlines()[-1:]])


@dataclass(frozen=True)
class Program:
    """The user's program.

    Attributes:
        words: The command line, before the settings.
        stdin: Whether the settings go to standard input as JSON, rather than to the command line.
        timeout: Seconds after which it is stopped.
        launcher: The launcher that starts it, and ends it if this process ends.
        explains: Whether the reason why it failed ends with the last line of its standard error, which is then shown
            after the program has ended.
    """

    words: Sequence[str]
    stdin: bool = False
    timeout: float | None = None
    launcher: Launcher = field(default_factory=Launcher, compare=False)
    explains: bool = False

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the program."""
        self.stop()

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Run the program for a trial and return its answer: the value, and x, time and error if given.

        Raises:
            FailedError: It gave no reading.
            StoppedError: `stop` ended it; the trial has no result.
            OSError: It could not be started.
            LauncherError: The launcher was killed, which is not the program's fault.
        """
        seed = {} if trial.seed is None else {"seed": trial.seed}
        return reading(self._ended(self.words, settings(trial.x) | seed, {"id": trial.id, "x": trial.x} | seed).out)

    def apply(self, x: Any) -> None:
        """Run the program to set the machine; exit status 0 means success, whatever it prints.

        Args:
            x: The setting.

        Raises:
            FailedError: It failed, or took too long; the message ends with the last line of its standard error.
            StoppedError: As for `measure`.
            OSError: As for `measure`.
            LauncherError: As for `measure`.
        """
        self.output(x)

    def output(self, x: Any) -> str:
        """Return the end of the program's output for a setting; raises what `apply` raises."""
        return self._ended(self.words, settings(x), {"x": x}, complaints=True).out

    def inform(self, *words: str, data: Mapping[str, Any]) -> None:
        """Run the program with extra words, and data as JSON on standard input; raises what `apply` raises."""
        told = Program([*self.words, *words], True, self.timeout, self.launcher)
        told._ended(told.words, {}, data, complaints=True)

    def _ended(
        self, words: Sequence[str], given: Mapping[str, Any], sent: Mapping[str, Any], complaints: bool = False
    ) -> Ended:
        """Run a command line with values inserted, as options or as JSON; return its result if it succeeded."""
        words, rest = placed(words, given)
        named = [] if self.stdin else [f"--{name}={value}" for name, value in rest.items()]  # may begin with a dash
        stdin, text = (None, json_line(sent) + "\n") if self.stdin else (os.devnull, "")
        argv, limit = [*words, *named], self.timeout or 0.0
        order = Order(argv, stdin, text, capture=True, complaints=complaints or self.explains, timeout=limit)
        ended = _on_windows(order) if sys.platform == "win32" else self.launcher.run(order)
        if self.explains:
            print(ended.err, end="", file=sys.stderr, flush=True)
        if ended.late:
            raise FailedError(f"no answer after {self.timeout:g} s")
        if ended.exit:
            last = ended.err.strip().rpartition("\n")[2]
            raise FailedError(status(ended.exit) + (f", {last}" if last else ""), ended.err)
        return ended

    def stop(self) -> None:
        """End the program, if it is running, and all its children; other threads may call this, and it is final."""
        self.launcher.stop()


def placed(words: Sequence[str], given: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the words of a program with each `{name}` replaced by its value, and the values without a place.

    Example:
        >>> placed(["train", "--rate", "{rate}", "${seed}"], {"rate": 0.1, "seed": 3})
        (['train', '--rate', '0.1', '${seed}'], {'seed': 3})
    """
    pattern = re.compile(r"(?<!\$)\{(" + "|".join(map(re.escape, given)) + r")\}")  # the shell replaces ${name}
    used = {name for word in words for name in pattern.findall(word)} & set(given)
    filled = [pattern.sub(lambda match: str(given.get(match[1], match[0])), word) for word in words]
    return filled, {name: value for name, value in given.items() if name not in used}


def _on_windows(order: Order) -> Ended:
    """Run a program without a launcher: only a clean exit of this process ends the program."""
    with subprocess.Popen(order.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            out, late = process.communicate(order.sent.encode(), timeout=order.timeout or None)[0], False
        except subprocess.TimeoutExpired:
            out, late = b"", True
        finally:
            process.kill()
    return Ended(0.0, 0.0, 0.0, 0.0, process.returncode, late, out[-MAX_OUTPUT:].decode(errors="replace"), "")


def status(code: int) -> str:
    """Return the exit status of a program in words.

    Example:
        >>> status(3), status(-9)
        ('exit status 3', 'ended by SIGKILL')
    """
    with suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"exit status {code}"


TOLD = ("value", "x", "time", "error", "block", "covariates", "missing")
"""The keys of a reading that a program may print."""


def reading(out: str) -> dict[str, Any]:
    r"""Return the reading in a program's last line: a number, a share, numbers by name, or a JSON object.

    A JSON object has a "value", or the numbers by name. All lines such as `flux = 3.1` that end the output are read.

    Example:
        >>> reading("warming up\n0.83")
        {'value': 0.83}
        >>> reading("17/200")
        {'value': (17.0, 200.0)}
        >>> reading('{"value": 0.83, "error": 0.02}')
        {'value': 0.83, 'error': 0.02}
        >>> reading("ready\nflux=3.1\nloss=0.4")
        {'value': {'flux': 3.1, 'loss': 0.4}}
        >>> reading('{"flux": 3.1, "loss": null, "time": 12.5}')
        {'value': {'flux': 3.1}, 'time': 12.5, 'missing': ['loss']}
    """
    last = out.strip().rpartition("\n")[2]
    try:
        data = json.loads(last) if last.startswith("{") else {"value": parsed(_named_lines(out) or last)}
    except (ValueError, RecursionError):
        raise FailedError(
            f'its last line must be a number, JSON with "value", or numbers such as flux=3.1, got {last[:80]!r}'
        ) from None
    if isinstance(data.get("value"), Mapping) and set(data["value"]) & set(TOLD):
        raise FailedError(f"its numbers must not be called {', '.join(TOLD)}, got {last[:80]!r}")
    if data.get("failed"):
        raise FailedError(str(data["failed"]))
    numbers = {name: value for name, value in data.items() if name not in (*TOLD, "failed", "id")}
    if "value" not in data and any(value is not None for value in numbers.values()):
        data["value"] = {name: value for name, value in numbers.items() if value is not None}
        data["missing"] = [name for name, value in numbers.items() if value is None] or None
    if data.get("value") is None:
        raise FailedError(f'its JSON must have a "value", got {last[:80]}')
    return {name: data[name] for name in TOLD if data.get(name) is not None}


NAMED_LINE = re.compile(rf"\s*[^\W\d][\w.:/]*\s*=\s*{NUMBER.pattern}\s*", re.IGNORECASE)
"""A line such as `flux = 3.1`."""


def _named_lines(out: str) -> str:
    """Return the lines with a name and a number that end an output, joined; empty if the last line is none."""
    named = takewhile(NAMED_LINE.fullmatch, reversed(out.strip().split("\n")))
    return " ".join(reversed(list(named)))


def json_line(data: Any) -> str:
    """Return data as a line of JSON; unprintable characters are escaped."""
    text = json.dumps(data, ensure_ascii=False, default=_plain, allow_nan=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)
