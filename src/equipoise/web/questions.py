"""Questions: which one is open here, and what the screen shows of it."""

import hashlib
from dataclasses import dataclass
from typing import Any

from equipoise.optimizer import Optimizer
from equipoise.study import Record
from equipoise.web.forms import AnswerForm
from equipoise.web.judging import Side as Side
from equipoise.web.judging import Sitting as Sitting
from equipoise.web.judging import dials as dials


@dataclass(frozen=True)
class OpenQuestion:
    """The question that is open here, as the screen shows it.

    Attributes:
        number: By which it is answered.
        about: Which part of which pair it is, in words.
        sides: Its setting; or A and B, to be judged.
        form: How it is answered.
        asked: When it was handed out.
    """

    number: int
    about: str
    sides: tuple[Side, ...]
    form: AnswerForm
    asked: str = ""


def seated(opt: Optimizer) -> Sitting | None:
    """Return how a study is judged that has more pairs to be judged than readings; `None` if it has not."""
    if opt.judgements + len(opt.study.open_pairs) <= opt.readings:
        return None
    said = [answer for _, answer in opt.study.answers()]
    return Sitting(numbers=bool(said) and not any(isinstance(answer, str) for answer in said))


def stands(opt: Optimizer, worker: str | None) -> Any:
    """Return where the machine of a worker stands: where it was moved last, else at the start; `None` if unknown."""
    at, start = opt.study.position(worker), opt.study.setup.start
    return opt.space.decode(start) if at is None and start is not None else at


def open_here(opt: Optimizer, worker: str | None, sitting: Sitting | None) -> Record | None:
    """Return the question that waits for a worker, or for the judge who sits here: the oldest one."""
    if sitting is None:
        waiting = opt.records(aside=False, trials=opt.study.open_trials)
        return next((record for record in waiting if record.worker == worker), None)
    pairs = [pair.id for pair in opt.study.open_pairs if pair.judge == sitting.judge]
    return next(iter(opt.records(aside=False, judgements=True, trials=pairs)), None)


def answer_of(record: Record) -> Any:
    """Return the answer to a question: the reading, or what was said of a pair; `None` if there is none (yet)."""
    if record.steps is not None:
        return record.answer
    return record.told


def told_of(value: Any) -> str:
    """Return a short text by which a form says what it has shown: a setting, or an answer.

    Example:
        >>> told_of({"q1": 0.5}) == told_of({"q1": 0.25})
        False
    """
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
