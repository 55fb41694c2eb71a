"""A study that is served: one optimizer in memory, which follows the log, and what people may do with it.

Every change goes through the log, by the same doors as those of the shell. A form names the trial it is about, so one
that is out of date is refused, and told why.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.data import Trial
from equipoise.log import Header
from equipoise.optimizer import resume
from equipoise.spaces import printable
from equipoise.study import started, unit_of
from equipoise.web.context_page import contexts
from equipoise.web.known import Known, described
from equipoise.web.notices import in_sentences, unheard
from equipoise.web.now import Mode, Now, clock, current, mode_of, now
from equipoise.web.pair_page import Sitting, on_button, open_pair, seated
from equipoise.web.refits import Refits
from equipoise.web.viewer import Viewer, first_setting, size_of

SKIPPED = "skipped by the operator"


class RefusedError(Exception):
    """A change was refused; the message says why, and nothing was changed."""


class Station:
    """A study that is served.

    Args:
        path: Its log.
        worker: Under which name it is measured here; both halves of a pair go to one worker.
        machine: Whether a program measures by itself.
        context: What all settings are asked for at, where the study has contexts; else people are asked each time.
        sitting: How pairs are judged here, if they are.

    Attributes:
        opt: The study.
        busy: Whether that program measures.
        trouble: What keeps it from measuring, such as a full disk.
    """

    def __init__(
        self,
        path: Path,
        worker: str | None = "page",
        machine: bool = False,
        context: Mapping[str, Any] | None = None,
        sitting: Sitting | None = None,
    ) -> None:
        self.path, self.worker, self.machine, self.context = path, worker, machine, context
        self.busy = False
        self.trouble = ""
        self.opt = resume(path, notify=unheard)  # what `tell` returns is shown
        self.sitting = sitting if sitting is not None or machine else seated(self.opt)
        if self.sitting is not None:
            self.sitting.must_fit(self.opt.space)
        self._started = started(Header.read(path), self.opt.space)
        self._lock = threading.RLock()
        self._followed = 0  # bytes of the log that the study surely knows: it may know more
        self._now: dict[str | None, tuple[tuple[int, bool, str], Now]] = {}
        self._viewer = Viewer(path, self._started, self.blind, self.several)
        self._refits = Refits(self.opt)
        self._refits.want()  # one may be left over from before

    @property
    def size(self) -> int:
        """Bytes of the log: another number where somebody has written."""
        return size_of(self.path)

    @property
    def edition(self) -> str:
        """A text that differs where what is known does."""
        return f"{self.size}.{self._viewer.revision}"

    def now(self, judge: str | None = None) -> Now:
        """Return what is to be done now, by a judge who has said a name where pairs are judged."""
        with self.turn():
            key = (self._followed, self.busy, self.trouble)
            made = self._now.get(judge)
            if made is None or made[0] != key:
                found = now(self.opt, self.worker, self.machine, self.busy, self._seat(judge))
                made = key, replace(found, trouble=printable(self.trouble, ""))
                kept = {who: each for who, each in self._now.items() if each[0] == key}  # of who is still looking
                self._now = kept | {judge: made}
            return made[1]

    def known(self) -> Known:
        """Return what is known; computed once after each change, and nobody who enters a reading waits for it."""
        return self._viewer.known()

    @property
    def several(self) -> bool:
        """Whether several people judge here, each of whom says a name."""
        return self.sitting is not None and self.sitting.judge is None

    @property
    def blind(self) -> bool:
        """Whether whoever judges here must not see settings."""
        return self.sitting is not None and self.sitting.blind

    @property
    def start(self) -> Any:
        """The setting where the study started: as was said, or the first that was read."""
        return first_setting(self.opt, self._started)

    @property
    def stands(self) -> Any:
        """The setting where the machine stands; `None` where nothing has said so."""
        with self.turn():
            return self.opt.study.position(self.worker)

    @property
    def unit(self) -> str:
        """The unit of a reading."""
        return unit_of(self.opt.study.settings)

    @property
    def mode(self) -> Mode:
        """Who measures, or whether nobody does."""
        with self.turn():
            return mode_of(self.opt.study.settings, self.machine)

    def ask(self, context: Mapping[str, Any] | None = None, judge: str | None = None) -> None:
        """Hand out the next trial, if none is open here and nobody has paused; at a context, if the study has such."""
        with self.turn():
            if self.mode == "pause":
                raise RefusedError("The study is paused: let it go on first.")
            self._hand_out(context or self.context, judge)

    def judge(self, pair: int, answer: str | float | None, reason: str = "", judge: str | None = None) -> list[str]:
        """Report what was said of the pair that is open here, or why nothing can be; then hand out the next."""
        with self.turn():
            if answer is not None and (pair, answer) in ((judged.id, was) for judged, was in self.opt.study.answers()):
                return [f"Pair {pair} was judged so already: {on_button(answer)}."]
            self._must_be_open(pair, judge)
            self.opt.judge(pair, answer, skip=reason or "can't tell" if answer is None else None)
            self._go_on(judge)
        return []

    def judged_by(self, pair: int, judge: str) -> bool:
        """Whether a pair was judged, or skipped, by a judge."""
        with self.turn():
            records = self.opt.records(judgements=True)
        return any(record.trial == pair and (record.worker or "") == judge for record in records)

    def tell(self, trial: int, value: float, error: float = 0.0) -> list[str]:
        """Report a reading of the trial that is open here, then hand out the next; return what is to be said."""
        with self.turn():
            if self._told_before(trial, value):
                return [f"Trial {trial} was told {value:g} already."]
            self._must_be_current(trial)
            when = None if self.opt.study.setup.max_gap is None else time.time()
            notices = self.opt.tell(trial, value, error=error, time=when, refit=False)
            self._go_on()
        self._refits.want()
        return in_sentences(notices or ())

    def fail(self, trial: int, reason: str) -> list[str]:
        """Report that the trial that is open here has no reading, then hand out the next."""
        with self.turn():
            self._must_be_current(trial)
            notices = self.opt.tell(trial, failed=reason or SKIPPED)
            self._go_on()
        return in_sentences(notices or ())

    def switch(self, mode: Mode, why: str = "") -> None:
        """Pause, or let the study go on: by hand, or by the program."""
        with self.turn():
            if mode == "automatic" and not self.machine:
                raise RefusedError("There is no program to measure by itself: `equipoise serve STUDY -- COMMAND`.")
            if self.mode != mode:
                self.opt.study.set("mode", mode, why)

    def target(self, where: str) -> Any:
        """Return the setting of the start, or the best one as far as is known."""
        with self.turn():
            x = self.start if where == "start" else self.opt.recommend().x
            if x is None:
                raise RefusedError("Where the study started is not known yet.")
            return x

    def note(self, text: str) -> None:
        """Write down what somebody says."""
        with self.turn():
            self.opt.study.note("note", text)

    def next_trial(self) -> Trial | None:
        """Return the trial that the program is to measure, which is busy from now on; `None` if it is not its turn."""
        with self.turn():
            if self.mode != "automatic":
                return None
            waiting = current(self.opt, self.worker)
            if waiting is None:
                trial = self.opt.ask(worker=self.worker, context=self.context)
            else:
                trial = Trial(waiting.trial, waiting.x)
            self.busy = True
            return trial

    def follow(self) -> None:
        """Learn what others wrote."""
        with self.turn():
            return

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let one thread in at a time, having followed what others wrote."""
        with self._lock:
            size = self.size
            if size != self._followed:
                self.opt.study.follow()
                self._followed = size
            yield

    def _go_on(self, judge: str | None = None) -> None:
        """Hand out the next trial where somebody measures by hand, and none is open."""
        if mode_of(self.opt.study.settings, self.machine) != "by hand":
            return
        unsaid = contexts(self.opt) and self.context is None
        with suppress(TypeError, ValueError) if unsaid else nullcontext():  # a half that waits needs no context
            self._hand_out(self.context, judge)

    def _seat(self, judge: str | None) -> Sitting | None:
        return None if self.sitting is None else self.sitting.of(judge)

    def _hand_out(self, context: Mapping[str, Any] | None, judge: str | None) -> None:
        """Hand out the next trial, or pair, if none is open here."""
        seat = self._seat(judge)
        if seat is not None:
            seat.hand_out(self.opt, context)
        elif current(self.opt, self.worker) is None:
            self.opt.ask(worker=self.worker, context=context)

    def _must_be_open(self, pair: int, judge: str | None) -> None:
        """Refuse a form that is about another pair than the one that is open here."""
        seat = self._seat(judge)
        here = None if seat is None else open_pair(self.opt, seat)
        if here is not None and here.id == pair:
            return
        became, at = "is not open here", ""
        for record in self.opt.records(judgements=True, trials=[pair]):
            became = became if record.failed is None else "was skipped"
            became = became if record.answer is None else f"was judged: {on_button(record.answer)}"
            at = clock(record.ended)
        now_open = "no pair is" if here is None else f"pair {here.id} is"
        raise RefusedError(
            f"This form is out of date: pair {pair} {became}{f' at {at}' if at else ''}, and {now_open} open here now. "
            "Nothing was changed."
        )

    def _told_before(self, trial: int, value: float) -> bool:
        """Return whether the very same was told: a button that was pressed twice."""
        if trial in self.opt.study.open_trials:
            return False
        return any(record.trial == trial and record.value == value for record in self.opt.records())

    def _must_be_current(self, trial: int) -> None:
        """Refuse a form that is about another trial than the one that is open here."""
        open_here = current(self.opt, self.worker)
        if open_here is not None and trial == open_here.trial:
            return
        record = next(iter(self.opt.records(trials=[trial])), None)
        became = "is not known" if record is None else described(record)
        if record is not None and record.value is not None:
            at = clock(record.ended)
            became = f"was told {record.value:g}{f' at {at}' if at else ''}"
        here = "no trial is open here" if open_here is None else f"trial {open_here.trial} is open here"
        raise RefusedError(f"This form is out of date: trial {trial} {became}, and {here} now. Nothing was changed.")
