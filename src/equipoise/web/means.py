"""The means of a server besides the study: a goal, a program that sets the machine, and one for alarms."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from equipoise.runners import StoppedError


@dataclass(frozen=True)
class Target:
    """The goal of a study.

    Attributes:
        readings: The budget of readings, or of judgements if pairs are judged; `None` for no limit.
        eps: The required bound on the remaining gain; `None` for any.
        audit: Whether that bound must be audited; otherwise an estimate is enough.
        truth: The true f at a setting, if it is known: the page shows it once the budget is spent.
    """

    readings: int | None = None
    eps: float | None = None
    audit: bool = True
    truth: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Means:
    """The means of a server besides the study.

    Attributes:
        goal: The goal: the page shows the progress, and a measuring program pauses when it is reached.
        set: Sets the machine: takes a setting, and raises an exception if that fails. It is called for each trial of a
            program; by hand for a trial, the best setting or the start, once a person has confirmed it.
        on_event: Called with an event that needs attention: the attributes of an `Alarm` by name, and the study's path.
        overdue: After how many seconds a reading is overdue; `None` for ten times as long as readings usually take.

    Example:
        >>> stands = []
        >>> Means(Target(readings=80), set=stands.append).goal.readings
        80
    """

    goal: Target = field(default_factory=Target)
    set: Callable[[Any], object] | None = None
    on_event: Callable[[Mapping[str, Any]], object] | None = None
    overdue: float | None = None


NOTHING = Means()


class Machinist:
    """A controller that sets the machine of a study, one move at a time.

    Args:
        put: Takes a setting, and raises an exception if that fails; `None` if the machine cannot be set.

    Attributes:
        dialed: The last trial to which the machine was set, and when; `None` if it was moved elsewhere since.
        reached: The last setting that the machine reached, after a token of the one known from the log at that time.
        moves: Number of settings that it reached.
    """

    def __init__(self, put: Callable[[Any], object] | None) -> None:
        self._put = put
        self.dialed: tuple[int, str] | None = None
        self.reached: tuple[str, Any] = "", None
        self.moves = 0
        self._moving = threading.Lock()

    def move(self, points: Sequence[Any], since: str, trial: int | None = None) -> None:
        """Set the machine to each setting in turn, without blocking other users.

        Args:
            points: The settings.
            since: A token of the setting known from the log.
            trial: The trial of the last setting.

        Raises:
            RuntimeError: Another user is setting the machine, or it could not be set.
        """
        if self._put is None:
            raise RuntimeError("no program sets the machine here: `equipoise serve STUDY --set COMMAND`")
        if not self._moving.acquire(blocking=False):
            raise RuntimeError("somebody else is setting the machine: look again")
        try:
            self.dialed = None
            for k, x in enumerate(points):
                self._set(x, f" at step {k + 1} of {len(points)}" if len(points) > 1 else "")
                self.reached, self.moves = (since, x), self.moves + 1
            if trial is not None:
                self.dialed = trial, f"{datetime.now().astimezone():%H:%M:%S}"
        finally:
            self._moving.release()

    def _set(self, x: Any, where: str) -> None:
        assert self._put is not None
        try:
            self._put(x)
        except StoppedError:  # the server ends: the trial stays open
            raise
        except Exception as error:  # any error: shown on the page, or the reason of a failed trial
            said = str(error) or type(error).__name__
            raise RuntimeError(f"the machine could not be set{where}: {said}; check its position") from error
