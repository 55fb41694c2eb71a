"""A file that keeps every run of a comparison, session by session: lines with checksums, as a study has them."""

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
        arm: Which.
        wall: Seconds from start to end.
        user: Seconds of computing in the program.
        system: Seconds of computing in the system for it.
        rss: The most memory it has had, in bytes; `None` if that was too little to be told.
        exit: Its exit code.
        reading: The last number it printed, if that was asked for.
        numbers: Everything else that was asked for, by name: events, and other numbers that it printed.
        benchmark: Which one of a suite it belongs to.
    """

    arm: str
    wall: float
    user: float
    system: float
    rss: float | None
    exit: int = 0
    reading: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    benchmark: str = ""

    @property
    def cpu(self) -> float:
        """Seconds of computing in all: finer than its two parts, which some systems only estimate, and no waiting."""
        return self.user + self.system

    def has(self, metric: str) -> bool:
        """Return whether there is a number of a name, measured or printed."""
        return metric in self.numbers or hasattr(self, metric)

    def value(self, metric: str) -> float:
        """Return one of the numbers, by name; refuse one that was not taken."""
        value = self.numbers[metric] if metric in self.numbers else getattr(self, metric, None)
        if value is None:
            raise ValueError(f"`metric` must be one that was measured, got {metric!r}")
        return float(value)


def by_arm(runs: Iterable[Execution], metric: str) -> dict[str, float]:
    """Return what each arm has read in a round: the mean, if it has run twice, on either core."""
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run.arm, []).append(run.value(metric))
    return {arm: fmean(each) for arm, each in values.items()}


@dataclass(frozen=True)
class MeasuredSession:
    """What was measured in one session.

    Attributes:
        at: When it began.
        host: Where.
        rounds: The executions of each round, in the order in which they were measured.
    """

    at: str
    host: str
    rounds: tuple[tuple[Execution, ...], ...] = ()

    def values(self, metric: str) -> list[dict[str, float]]:
        """Return the readings of each round, by arm."""
        return [by_arm(runs, metric) for runs in self.rounds]


class ComparisonLog:
    """The sessions of one comparison, in a file; what is added is on the disk before it counts.

    Args:
        path: The file; made if there is none.
        arms: Command lines by name. A file that compares other names is refused; `None` reads any.
        notify: Called with what the user should know: that a line was torn by a crash.
        exact: Whether the command lines must be the same too: those of revisions have the commits.

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
        """What the file holds, read again; sessions without a round are left out."""
        self._records.read()
        kept = [found for found in self._sessions if found["rounds"]]
        return [MeasuredSession(found["at"], found["host"], tuple(found["rounds"])) for found in kept]

    def begin(self) -> None:
        """Begin a session: what is added from now on belongs to it."""
        boot = BOOT.read_text().strip() if BOOT.exists() else None
        with self._records.writing():
            self._number = len(self._sessions) + 1
            about = {"session": self._number, "host": platform.node(), "boot": boot, "at": now()}
            self._records.append(about)

    def add(self, runs: Sequence[Execution]) -> None:
        """Put a round on the disk."""
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
    """Return the names that compete: a session may have the null, or not."""
    return {arm for arm in arms if not arm.endswith(AGAIN)}
