"""Questions: which one is open here, what the screen shows of its settings, and how pairs are judged."""

import hashlib
import math
import mimetypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from equipoise.likelihoods import CHECK_EVERY, DEFAULT_STEPS
from equipoise.optimizer import Optimizer
from equipoise.spaces import Dial, Domain, printable, readouts_of, settings
from equipoise.spaces import dials as all_dials
from equipoise.study import Record
from equipoise.web.forms import AnswerForm

KINDS = ("image", "audio", "video")
"""What can be shown in a page."""

KNOBS_PER_COLUMN, MOST_COLUMNS = 8, 3
"""A setting of more knobs than fit in one column is shown in several, side by side."""


class _Filler(Formatter):
    """Fills in values by name; a name is taken as it is, so that nothing of a value can be reached by it."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs[field_name], field_name


@dataclass(frozen=True)
class Sitting:
    """How pairs are judged here.

    Attributes:
        judge: Who judges; `None` if everybody who does says a name.
        steps: How many answers there are to choose from.
        blind: Whether the settings are hidden.
        show: A template of the file that shows a setting, such as "pictures/{gain:.2f}-{filter}.png"; all files lie in
            the folder that is named before the first brace.
        numbers: Whether the answer is a number: how much better, in the judge's own unit.
        check_every: After this number of new pairs an earlier one is asked in the other order; 0 for never.

    Example:
        >>> Sitting(show="/data/{gain}-{filter}.png").file({"gain": 3, "filter": "../x"})
        PosixPath('/data/3-.._x.png')
    """

    judge: str | None = ""
    steps: int = DEFAULT_STEPS
    blind: bool = False
    show: str | None = None
    numbers: bool = False
    check_every: int = CHECK_EVERY

    def of(self, judge: str | None) -> "Sitting":
        """Return how a judge who has said a name judges; without one, the judge who is expected."""
        return self if judge is None else replace(self, judge=judge)

    def hand_out(self, opt: Optimizer, context: Mapping[str, Any] | None) -> None:
        """Hand out a pair to the judge, if none waits."""
        if self.judge is None:
            raise ValueError("say who judges first")
        lag = max(self.check_every, 1)
        opt.study.next_pair(judge=self.judge, steps=self.steps, check_every=self.check_every, lag=lag, context=context)

    def file(self, x: Any) -> Path | None:
        """Return the file that shows a setting, there or not; text of a setting is one name, never a path."""
        if self.show is None:
            return None
        known = {name: _one_name(value) for name, value in settings(x).items()}
        try:
            return Path(_Filler().format(self.show, **known))
        except KeyError as error:
            raise ValueError(
                f"`show` must name knobs of the study ({', '.join(known)}), got {error.args[0]!r}"
            ) from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"`show` must be a template such as 'pictures/{{gain:.2f}}.png': {error}") from error

    def must_fit(self, space: Domain) -> None:
        """Refuse a template that cannot be filled in with the settings of a space."""
        self.file(space.decode(space.candidates(np.random.default_rng(0))[0]))

    def kind(self, x: Any) -> str:
        """Return what the file of a setting is: an image, audio or video; nothing if there is none to be shown."""
        path = self.file(x)
        if path is None or not os.path.isfile(path) or not self._holds(path):  # a name that cannot be is no file
            return ""
        kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
        return kind if kind in KINDS else ""

    def side(self, opt: Optimizer, letter: str, x: Any, other: Any) -> "Side":
        """Return a setting of a pair as the screen shows it, against the other one."""
        kind, lacks = self.kind(x), ""
        if self.show is not None and not kind:  # the name of the file would tell the setting
            lacks = f"There is no file of {letter}" + ("." if self.blind else f": {printable(str(self.file(x)), '')}.")
        return Side(() if self.blind else dials(opt.space, x, other), letter, kind, lacks)

    def _holds(self, path: Path) -> bool:
        """Return whether a file lies in the folder of all files, wherever links lead."""
        folder = (self.show or "").partition("{")[0].rpartition("/")
        return path.resolve().is_relative_to(Path(folder[0] + folder[1] or ".").resolve())


@dataclass(frozen=True)
class Side:
    """A setting of a question as the screen shows it.

    Attributes:
        dials: The setting, against where the machine stands, or against the other one; none if it is hidden.
        letter: A or B, of two.
        kind: What the file is that shows it; empty if there is none.
        lacks: The message that such a file is missing.
    """

    dials: tuple[Dial, ...]
    letter: str = ""
    kind: str = ""
    lacks: str = ""

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """Between which knobs, counted from 1, each column of the setting goes: many knobs have several columns.

        Example:
            >>> Side((Dial("q", "1"),) * 14).columns
            ((1, 7), (8, 14))
        """
        count = len(self.dials)
        columns = min(math.ceil(count / KNOBS_PER_COLUMN), MOST_COLUMNS)
        rows = math.ceil(count / max(columns, 1))
        return tuple((rows * k + 1, min(rows * (k + 1), count)) for k in range(columns))


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


def dials(space: Domain, x: Any, before: Any = None) -> tuple[Dial, ...]:
    """Return a setting as an operator reads it, knob by knob.

    Args:
        space: Where settings lie.
        x: The setting.
        before: The setting where the machine stands, if that is known.
    """
    return all_dials(readouts_of(space), x, before)


def told_of(value: Any) -> str:
    """Return a short text by which a form says what it has shown: a setting, or an answer.

    Example:
        >>> told_of({"q1": 0.5}) == told_of({"q1": 0.25})
        False
    """
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def _one_name(value: Any) -> Any:
    return value.replace(os.sep, "_").replace("/", "_") if isinstance(value, str) else value
