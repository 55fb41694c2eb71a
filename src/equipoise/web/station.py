"""A served study: one optimizer in memory, which follows the log.

Every change goes through the log, by the same functions as those of the shell: see `actions`.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.data import Trial
from equipoise.log import LogError
from equipoise.optimizer import resume
from equipoise.plots import series
from equipoise.spaces import printable
from equipoise.study import Record, way
from equipoise.web.forms import AnswerForm
from equipoise.web.known import Known, Viewer, ignore_notice, size_of
from equipoise.web.means import NOTHING, Machinist, Means
from equipoise.web.now import Mode, Now, Sitting, contexts, form_of, mode_of, now, open_here, seated, stands, told_of
from equipoise.web.panels import PANELS


class Station:
    """A served study.

    Args:
        path: Its log.
        worker: The name of the worker who measures here; both halves of a pair go to one worker.
        machine: Whether a program measures.
        context: The context of all settings, if the study has contexts; otherwise each form asks for it.
        sitting: How pairs are judged here; `None` if they are not.
        means: The means of the server besides the study.

    Attributes:
        opt: The study.
        busy: Whether the program is measuring.
        trouble: The reason why the program cannot measure, such as a full disk.
        reached: The reason why the program paused, if the goal is reached.
        alarm: The current alarm, in a sentence.
        deaf: The reason why the alarm program was not notified.
        machinist: The controller that sets the machine.
        viewer: The object that computes the view.
    """

    def __init__(
        self,
        path: Path,
        worker: str | None = "page",
        machine: bool = False,
        context: Mapping[str, Any] | None = None,
        sitting: Sitting | None = None,
        means: Means = NOTHING,
    ) -> None:
        self.path, self.worker, self.machine, self.context, self.means = path, worker, machine, context, means
        self.busy = False
        self.trouble = self.reached = self.alarm = self.deaf = ""
        self.machinist = Machinist(means.set)
        self.opt = resume(path, notify=ignore_notice)  # the page shows what `tell` returns
        self.sitting = sitting if sitting is not None or machine else seated(self.opt)
        if self.sitting is not None:
            self.sitting.must_fit(self.opt.space)
        self._lock = threading.RLock()
        self._followed = 0  # bytes of the log that the study has read at least
        self._now: dict[str | None, tuple[tuple[Any, ...], Now]] = {}
        self.viewer = Viewer(path, PANELS, self.blind, self.several, means.goal)
        self._fitting = threading.Lock()
        self.refit_later()  # an earlier process may have left a fit

    @property
    def size(self) -> int:
        """Size of the log in bytes: it differs if the log was extended."""
        return size_of(self.path)

    @property
    def edition(self) -> str:
        """A fingerprint of the view: it differs if the view does."""
        return f"{self.size}.{self.viewer.revision}"

    def now(self, judge: str | None = None) -> Now:
        """Return the current task; for a named judge if pairs are judged."""
        with self.turn():
            key = (self._followed, *self.beside_log)
            made = self._now.get(judge)
            if made is None or made[0] != key:
                found = now(self.opt, self.worker, self.stands, self.machine, self.busy, self._seat(judge))
                made = key, replace(found, **self._circumstances(found))
                kept = {who: each for who, each in self._now.items() if each[0] == key}  # for the users who still look
                self._now = kept | {judge: made}
            return made[1]

    @property
    def beside_log(self) -> tuple[Any, ...]:
        """The visible state that is not in the log."""
        return self.busy, self.trouble, self.alarm, self.deaf, self.machinist.dialed, self.machinist.moves

    def _circumstances(self, found: Now) -> dict[str, Any]:
        """Return the remaining state of the page, including whether and when the page set the machine."""
        at = self.machinist.dialed
        here = at is not None and found.question is not None and found.question.number == at[0]
        troubles = tuple(printable(text, "") for text in (self.trouble, self.deaf) if text)
        reach = {"settable": self.means.set is not None, "dialed": at[1] if here and at is not None else ""}
        return reach | {"troubles": troubles, "alarm": self.alarm}

    def known(self) -> Known:
        """Return the view; computed once after each change, without delaying users who enter readings."""
        return self.viewer.known()

    @property
    def several(self) -> bool:
        """True if several people judge here, each under a name."""
        return self.sitting is not None and self.sitting.judge is None

    @property
    def blind(self) -> bool:
        """True if judges must not see settings."""
        return self.sitting is not None and self.sitting.blind

    @property
    def start(self) -> Any:
        """The start of the study: the user's start, or the first measured setting."""
        return series.start_of(self.opt)

    @property
    def stands(self) -> Any:
        """The machine's current setting; `None` if it is unknown."""
        with self.turn():
            told = stands(self.opt, self.worker)
            since, x = self.machinist.reached
            return x if since == told_of(told) else told

    def move(self, x: Any, trial: int | None = None) -> None:
        """Set the machine to a setting, that of a trial or another one, in steps that `max_step` allows."""
        with self.turn():
            steps = way(self.opt.study.setup, self.stands, x)
            since = told_of(stands(self.opt, self.worker))
        self.machinist.move(steps, since, trial)

    @property
    def mode(self) -> Mode:
        """The mode of the study: by hand, automatic or pause."""
        with self.turn():
            return mode_of(self.opt.study.settings, self.machine)

    def record(self, number: int) -> Record | None:
        """Return the record of a trial or a pair; `None` if no question has this number."""
        with self.turn():
            asked = (self.opt.records(judgements=judged, trials=[number]) for judged in (False, True))
            return next((record for records in asked for record in records), None)

    def form(self, record: Record) -> AnswerForm:
        """Return the form that answers a question."""
        return form_of(self.opt, record, self.sitting)

    def open(self, judge: str | None = None) -> Record | None:
        """Return the question that is open here."""
        return open_here(self.opt, self.worker, self._seat(judge))

    def hand_out(self, context: Mapping[str, Any] | None, judge: str | None) -> None:
        """Hand out the next setting or pair, unless a question is open here."""
        seat = self._seat(judge)
        if seat is not None:
            seat.hand_out(self.opt, context or self.context)
        elif self.open() is None:
            self.opt.ask(worker=self.worker, context=context or self.context)

    def go_on(self, judge: str | None = None) -> None:
        """Hand out the next question if a person measures and none is open."""
        if self.mode != "by hand":
            return
        unsaid = contexts(self.opt) and self.context is None
        with suppress(TypeError, ValueError) if unsaid else nullcontext():  # the second half of a pair needs no context
            self.hand_out(None, judge)

    def next_trial(self) -> Trial | None:
        """Return the next trial of the program and mark it busy; `None` if it is not the program's turn."""
        with self.turn():
            if self.mode != "automatic":
                return None
            waiting = open_here(self.opt, self.worker, None)
            if waiting is None:
                trial = self.opt.ask(worker=self.worker, context=self.context)
            else:
                trial = Trial(waiting.trial, waiting.x, waiting.seed)
            self.busy = True
            return trial

    def refit_later(self) -> None:
        """Make deferred fits in a short-lived thread: users who enter readings do not wait for them."""
        threading.Thread(target=self.refit, name="fits", daemon=True).start()

    def refit(self) -> None:
        """Make deferred fits; if one cannot be written, try again after the next reading."""
        with self._fitting, suppress(LogError):  # a full disk, a missing log: the next reading reports it
            while self.opt.study.refit():
                pass

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Admit one thread at a time, after reading what others wrote to the log."""
        with self._lock:
            size = self.size
            if size != self._followed:
                self.opt.study.follow()
                self._followed = size
            yield

    def _seat(self, judge: str | None) -> Sitting | None:
        return None if self.sitting is None else self.sitting.of(judge)
