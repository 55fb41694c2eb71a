"""Automatic mode: a program, or a function, measures trial after trial; people watch, pause, take over, resume.

The mode in the log, "automatic", "by hand" or "pause", says whose turn it is. A pause lets the present reading finish,
since a killed program may leave an instrument in any state. When the server ends, it ends the program, as
`equipoise run` does, and the trial waits to be measured again.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from equipoise.data import Trial
from equipoise.log import LogError
from equipoise.runners import Reaching, StoppedError, only_one
from equipoise.web.actions import set_mode
from equipoise.web.station import Station

Measure = Callable[[Trial], dict[str, Any]]
"""A function that measures a trial and returns the arguments of `tell`: value and, if given, x, time and error."""

MOST_FAILURES = 10
"""Number of consecutive failures after which the program is paused."""

TURN_SECONDS = 0.2
"""Seconds between two checks for its turn."""

RETRY_SECONDS = 1.0
"""Seconds between two attempts if the log could not be written."""


class Automatic:
    """A thread that measures a study.

    Args:
        station: The study.
        measure: The function that measures.
        end: Ends the current reading, which then raises `StoppedError`; `None` if that is impossible.

    Attributes:
        ended: The trial whose reading was ended in this way.
    """

    def __init__(self, station: Station, measure: Measure, end: Callable[[], None] | None = None) -> None:
        self.station, self._measure, self._end = station, measure, end
        self.ended: int | None = None
        self._reached = False  # a user who resumes after the goal continues without one
        self._reaching: Reaching | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._alone: AbstractContextManager[None] = only_one(station.path, station.worker)

    def start(self) -> None:
        """Start the thread; refuse a second one for the same worker."""
        self._alone.__enter__()
        if self.station.mode == "by hand":
            set_mode(self.station, "automatic")
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, together with the current reading if that can be ended, else after it."""
        self._ending.set()
        if self._end is not None:
            self._end()
        self._thread.join()
        self._alone.__exit__(None, None, None)

    def _run(self) -> None:
        failures = 0
        while not self._ending.is_set():
            try:
                if self._enough():
                    continue
                trial = self.station.next_trial()
                if trial is None:
                    self._ending.wait(TURN_SECONDS)
                    continue
                failures = 0 if self._measured(trial) else failures + (self.ended is None)
                if failures >= MOST_FAILURES:
                    set_mode(self.station, "pause", f"the program failed {failures} times in a row")
                    failures = 0
            except (LogError, np.linalg.LinAlgError, ValueError) as error:  # full disk, no context: shown on the page
                self.station.trouble = f"The program cannot continue: {error}"
                self._ending.wait(RETRY_SECONDS)
            else:
                self.station.trouble = ""

    def _enough(self) -> bool:
        """Pause once when the goal is reached; return whether it did."""
        if self._reached or self.station.mode != "automatic":
            return False
        why = self._why()
        self._reached = bool(why)
        if why:
            self.station.reached = why
            set_mode(self.station, "pause", why)
        return self._reached

    def _why(self) -> str:
        """Return why the goal is reached, in words; empty if it is not, or if there is no goal."""
        station, goal = self.station, self.station.means.goal
        opt = station.opt
        with station.turn():
            if goal.readings is not None and opt.readings >= goal.readings:
                return f"the budget of {goal.readings} is spent"
            if self._reaching is None:
                self._reaching = Reaching(opt, goal.eps, goal.readings, goal.audit, station.context)
            reached = bool(opt.readings) and self._reaching.reached()
        return f"the bound of {goal.eps:g} is reached" if reached else ""

    def _measured(self, trial: Trial) -> bool:
        """Measure a trial and tell the result; return whether there was a reading."""
        try:
            if self.station.means.set is not None:
                self.station.move(trial.x, trial.id)
            told = self._measure(trial)
            self.station.opt.tell(trial, **told, refit=False)
            self.station.refit()  # the page need not wait for the fit, as it would within `tell`
            return True
        except (LogError, np.linalg.LinAlgError):  # not the program's fault
            raise
        except StoppedError:
            self._take_back(trial)
            return False
        except Exception as error:  # the program failed: no reading; the log records the reason
            self._fail(trial, str(error) or type(error).__name__)
            return False
        finally:
            self.station.busy = False

    def _take_back(self, trial: Trial) -> None:
        """Reopen a trial whose reading was ended."""
        if self._is_open(trial):
            self.station.opt.study.expire(trial)
            self.ended = trial.id

    def _fail(self, trial: Trial, reason: str) -> None:
        if self._is_open(trial):
            self.station.opt.tell(trial, failed=reason)

    def _is_open(self, trial: Trial) -> bool:
        """Return whether nobody has answered a trial meanwhile."""
        self.station.opt.study.follow()
        return trial.id in self.station.opt.study.open_trials
