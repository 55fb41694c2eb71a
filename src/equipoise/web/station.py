"""A study that is served: one optimizer in memory, which follows the log.

Every change goes through the log, by the same doors as those of the shell: see `actions`.
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
from equipoise.study import Record, unit_of
from equipoise.web.forms import AnswerForm, answer_form
from equipoise.web.known import Known, Viewer, ignore_notice, size_of
from equipoise.web.means import NOTHING, Machinist, Means
from equipoise.web.now import Mode, Now, Sitting, contexts, mode_of, now, open_here, seated, stands
from equipoise.web.panels import PANELS


class Station:
    """A study that is served.

    Args:
        path: Its log.
        worker: Under which name it is measured here; both halves of a pair go to one worker.
        machine: Whether a program measures by itself.
        context: What all settings are asked for at, if the study has contexts; else people are asked each time.
        sitting: How pairs are judged here, if they are.
        means: What the server has besides the study.

    Attributes:
        opt: The study.
        busy: Whether that program measures.
        trouble: What keeps it from measuring, such as a full disk.
        reached: Why that program has paused, if there was enough.
        alarm: What somebody should look at, in a sentence.
        deaf: Why a program was not notified.
        machinist: Who sets the machine from here.
        viewer: Who computes what is known.
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
        self.opt = resume(path, notify=ignore_notice)  # what `tell` returns is shown
        self.sitting = sitting if sitting is not None or machine else seated(self.opt)
        if self.sitting is not None:
            self.sitting.must_fit(self.opt.space)
        self._lock = threading.RLock()
        self._followed = 0  # bytes of the log that the study surely knows: it may know more
        self._now: dict[str | None, tuple[tuple[Any, ...], Now]] = {}
        self.viewer = Viewer(path, PANELS, self.blind, self.several, means.goal)
        self._fitting = threading.Lock()
        self.refit_later()  # a fit may be left over from before

    @property
    def size(self) -> int:
        """Bytes of the log: another number if somebody has written."""
        return size_of(self.path)

    @property
    def edition(self) -> str:
        """A text that differs if what is known does."""
        return f"{self.size}.{self.viewer.revision}"

    def now(self, judge: str | None = None) -> Now:
        """Return what is to be done now, by a judge who has said a name if pairs are judged."""
        with self.turn():
            key = (self._followed, *self.beside_log)
            made = self._now.get(judge)
            if made is None or made[0] != key:
                found = now(self.opt, self.worker, self.machine, self.busy, self._seat(judge))
                made = key, replace(found, **self._circumstances(found))
                kept = {who: each for who, each in self._now.items() if each[0] == key}  # of who is still looking
                self._now = kept | {judge: made}
            return made[1]

    @property
    def beside_log(self) -> tuple[Any, ...]:
        """What there is to be seen that is not in the log."""
        return self.busy, self.trouble, self.alarm, self.deaf, self.machinist.dialed

    def _circumstances(self, found: Now) -> dict[str, Any]:
        """Return what else is to be said now; and whether the machine can be set from here, and when it was."""
        at = self.machinist.dialed
        here = at is not None and found.question is not None and found.question.number == at[0]
        troubles = tuple(printable(text, "") for text in (self.trouble, self.deaf) if text)
        reach = {"settable": self.means.set is not None, "dialed": at[1] if here and at is not None else ""}
        return reach | {"troubles": troubles, "alarm": self.alarm}

    def known(self) -> Known:
        """Return what is known; computed once after each change, and nobody who enters a reading waits for it."""
        return self.viewer.known()

    @property
    def several(self) -> bool:
        """Whether several people judge here, each of whom says a name."""
        return self.sitting is not None and self.sitting.judge is None

    @property
    def blind(self) -> bool:
        """Whether those who judge here must not see settings."""
        return self.sitting is not None and self.sitting.blind

    @property
    def start(self) -> Any:
        """The setting where the study started: as the user said, or the first that was read."""
        return series.start_of(self.opt)

    @property
    def stands(self) -> Any:
        """The setting where the machine stands; `None` if nothing has said so."""
        with self.turn():
            return stands(self.opt, self.worker)

    @property
    def unit(self) -> str:
        """The unit of a reading."""
        return unit_of(self.opt.study.settings)

    @property
    def mode(self) -> Mode:
        """Who measures, or whether nobody does."""
        with self.turn():
            return mode_of(self.opt.study.settings, self.machine)

    def record(self, number: int) -> Record | None:
        """Return what happened to a trial or a pair; `None` if there is none of this number."""
        with self.turn():
            asked = (self.opt.records(judgements=judged, trials=[number]) for judged in (False, True))
            return next((record for records in asked for record in records), None)

    def form(self, record: Record) -> AnswerForm:
        """Return the form by which a question is answered here."""
        numbers = self.sitting is not None and self.sitting.numbers
        return answer_form(record, self.opt.study.setup, self.unit, numbers)

    def open(self, judge: str | None = None) -> Record | None:
        """Return the question that is open here."""
        return open_here(self.opt, self.worker, self._seat(judge))

    def hand_out(self, context: Mapping[str, Any] | None, judge: str | None) -> None:
        """Hand out the next setting, or pair, if none is open here."""
        seat = self._seat(judge)
        if seat is not None:
            seat.hand_out(self.opt, context or self.context)
        elif self.open() is None:
            self.opt.ask(worker=self.worker, context=context or self.context)

    def go_on(self, judge: str | None = None) -> None:
        """Hand out the next question if somebody measures by hand, and none is open."""
        if self.mode != "by hand":
            return
        unsaid = contexts(self.opt) and self.context is None
        with suppress(TypeError, ValueError) if unsaid else nullcontext():  # a half that waits needs no context
            self.hand_out(None, judge)

    def next_trial(self) -> Trial | None:
        """Return the trial that the program is to measure, which is busy from now on; `None` if it is not its turn."""
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
        """Make the fits that were deferred in a thread, which ends then: nobody who enters a reading waits for them."""
        threading.Thread(target=self.refit, name="fits", daemon=True).start()

    def refit(self) -> None:
        """Make the fits that were deferred; one that cannot be written is made after the next reading that can be."""
        with self._fitting, suppress(LogError):  # a full disk, a log that is gone: the next reading says so
            while self.opt.study.refit():
                pass

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let one thread in at a time, having followed what others wrote."""
        with self._lock:
            size = self.size
            if size != self._followed:
                self.opt.study.follow()
                self._followed = size
            yield

    def _seat(self, judge: str | None) -> Sitting | None:
        return None if self.sitting is None else self.sitting.of(judge)
