"""A file that keeps every run of a comparison, session by session: lines with checksums, as in the log of a study."""

import os
import platform
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from equipoise.log import LogError, now
from equipoise.programs.question import AGAIN
from equipoise.programs.record_file import Records

FORMAT = 1
BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Execution:
    """One execution of a program.

    Attributes:
        arm: The name of the arm.
        wall: Seconds from start to end.
        user: Seconds of processor time in the program.
        system: Seconds of processor time in the system on its behalf.
        rss: Its peak memory in bytes; `None` if it was too small to measure.
        exit: Its exit code.
        reading: The last number that it printed, if requested.
        numbers: All other requested numbers, by name: events, and further printed ones; `None` for a test that fails.
        benchmark: The name of its benchmark in a suite.
    """

    arm: str
    wall: float
    user: float
    system: float
    rss: float | None
    exit: int = 0
    reading: float | None = None
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    benchmark: str = ""

    @property
    def cpu(self) -> float:
        """Total seconds of processor time, without waiting: finer than its parts, which some systems only estimate."""
        return self.user + self.system

    def has(self, metric: str) -> bool:
        """Return whether there is a number with a name, measured or printed."""
        return self.numbers.get(metric) is not None or hasattr(self, metric)

    def value(self, metric: str) -> float:
        """Return one of the numbers by name; refuse one that was not measured."""
        value = self.numbers[metric] if metric in self.numbers else getattr(self, metric, None)
        if value is None:
            raise ValueError(f"`metric` must be one that was measured, got {metric!r}")
        return float(value)


def by_arm(runs: Iterable[Execution], metric: str) -> dict[str, float]:
    """Return the reading of each arm in a round: the mean, if it ran twice, on either core."""
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run.arm, []).append(run.value(metric))
    return {arm: fmean(each) for arm, each in values.items()}


@dataclass(frozen=True)
class MeasuredSession:
    """The measurements of one session.

    Attributes:
        at: The time when it began.
        host: The machine.
        rounds: The executions of each round, in the order in which they were measured.
    """

    at: str
    host: str
    rounds: tuple[tuple[Execution, ...], ...] = ()

    def values(self, metric: str) -> list[dict[str, float]]:
        """Return the readings of each round, by arm."""
        return [by_arm(runs, metric) for runs in self.rounds]


class ComparisonLog:
    """The sessions of one comparison, in a file; an addition counts once it is on the disk.

    Args:
        path: The file; created if it is missing.
        arms: Command lines by name. A file with other names is refused; `None` reads any file.
        notify: Called with a notice for the user: a crash left an incomplete line.
        exact: Whether the command lines must be equal too: those of revisions contain the commits.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
        >>> results = ComparisonLog(path, {"old": "./old", "new": "./new"})
        >>> results.begin()
        >>> results.add([Execution("new", 0.9, 0.5, 0.1, 1e6), Execution("old", 1.0, 0.5, 0.1, 1e6)])
        >>> ComparisonLog(path).sessions[0].values("wall")
        [{'new': 0.9, 'old': 1.0}]
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        arms: Mapping[str, str] | None = None,
        notify: Callable[[Warning], object] = warnings.warn,
        exact: bool = False,
    ) -> None:
        self._sessions: list[dict[str, Any]] = []
        self._number = 0
        first = None if arms is None else {"arms": dict(arms), "at": now()}
        what = "a log of `equipoise compare`"
        self._records = Records(path, "equipoise-compare", FORMAT, what, self._enter, first, notify)
        kept = self._records.first.get("arms")
        if not isinstance(kept, dict):
            raise LogError(f"{path} must be {what}, but it names no arms")
        self.arms: dict[str, str] = dict(kept)
        if arms is not None and _rivals(arms) != _rivals(self.arms):
            raise LogError(f"{path} compares {', '.join(self.arms)}: it cannot take {', '.join(arms)}")
        for arm, command in (arms or {}).items():
            if exact and self.arms.get(arm, command) != command:
                raise LogError(f"{path} has {arm} as {self.arms[arm]}: it cannot take {command}")

    @property
    def sessions(self) -> list[MeasuredSession]:
        """The sessions in the file, read again; those without a round are left out."""
        self._records.read()
        kept = [found for found in self._sessions if found["rounds"]]
        return [MeasuredSession(found["at"], found["host"], tuple(found["rounds"])) for found in kept]

    def begin(self) -> None:
        """Begin a session: later additions belong to it."""
        boot = BOOT.read_text().strip() if BOOT.exists() else None
        with self._records.writing():
            self._number = len(self._sessions) + 1
            about = {"session": self._number, "host": platform.node(), "boot": boot, "at": now()}
            self._records.append(about)

    def add(self, runs: Sequence[Execution]) -> None:
        """Write a round to the disk."""
        if not self._number:
            raise RuntimeError("`begin` must be called before a round is added")
        with self._records.writing():
            self._records.append({"round": self._number, "runs": [asdict(run) for run in runs], "at": now()})

    def _enter(self, content: Mapping[str, Any]) -> None:
        if "session" in content:
            self._sessions.append({"at": content["at"], "host": content["host"], "rounds": []})
        else:
            runs = tuple(Execution(**run) for run in content["runs"])
            self._sessions[content["round"] - 1]["rounds"].append(runs)


def _rivals(arms: Mapping[str, str]) -> set[str]:
    """Return the names of the competing arms: a session may have the null, or not."""
    return {arm for arm in arms if not arm.endswith(AGAIN)}
