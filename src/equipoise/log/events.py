"""The events of a study: each kind of event changes the state in one place, `study/changes`.

event     meaning                                              JSON
Planned   duels were planned: an audit or a verification       {"plan": number, "kind": kind, "duels": count}
Canceled  a plan was canceled                                  {"cancel": number}
Asked     a question: a duel, whose first trial is handed out  {"ask": trial, "duel": number, "points": ...}
          or a pair to be judged                               {"ask": trial, "points": ..., "steps": count, ...}
Handed    a trial that waited was handed out                   {"hand": trial}
Told      an answer: a reading                                 {"tell": trial, "value": number, ...}
          or a preference                                      {"tell": trial, "answer": word or number, ...}
Refitted  a deferred fit was made                              {"refit": lessons, "fit": ...}
Added     a reading that the study did not ask for             {"add": trial, "duel": number, "value": number, ...}
Begun     another block begins                                 {"begin": block}
Failed    a trial has no reading, or a pair was skipped        {"fail": trial, "reason": text}
Expired   a trial was taken back                               {"expire": trial}
Corrected an answer was replaced                               {"correct": trial, "value": number, ...}
Retracted an answer or failure was taken back                  {"retract": trial}
Noted     a note on the study                                  {"note": number, "topic": text, "text": text, ...}
Set       the mode or the unit changes                         {"set": name, "value": text, ...}
Widened   a number may take more values from now on            {"set": name, "value": [low, high], ...}

Points are written as the space of their time encodes them: those after a `Widened` lie in the wider space.

Trials and pairs share one sequence of numbers. An event by which `undo` takes back the last step says so
(`"undo": true`), so that the next `undo` takes back the step before.

An event that teaches keeps the last fit that was made when it happened, if there was one (`"fit"`): see `fits.py`. A
reading may defer a fit that is due (`"deferred": true`), so that `tell` returns at once; the belief continues under the
fit before until the fit is `Refitted`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from equipoise._typing import FloatArray
from equipoise.data import Answer, Question, Reading, SeedName
from equipoise.log.fits import KeptFit

Purpose = Literal["audit", "verify"]
"""The purposes of planned duels."""

MODES = ("by hand", "automatic", "pause")
"""The modes of a served study: measured by people, by a program, or paused."""

FORMER_SETTINGS = (*MODES, "unit")
"""Topics of notes by which former versions set the mode and the unit; a log that has such notes keeps its meaning."""


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The next duels belong to an audit, or to a verification of the first of some points against the others.

    If there are contexts, the first of the points also says at which one; an audit has no other points.
    """

    number: int
    purpose: Purpose
    duels: int
    points: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Canceled:
    """A plan was canceled; the answers that it has stay."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question was asked, for a plan if it serves one: a duel, whose first trial was handed out, or a pair.

    A duel has a number among the duels, a worker if one has asked for it, and a seed if the study has seeds.
    """

    trial: int
    question: Question
    number: int | None = None
    worker: str | None = None
    plan: int | None = None
    seed: SeedName | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Handed:
    """A trial that waited was handed out: as planned, or at another point, since the context has changed."""

    trial: int
    worker: str | None = None
    point: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A trial was read, or a pair was judged; a fit that was due may be deferred."""

    trial: int
    answer: Answer
    fit: KeptFit | None = None
    deferred: bool = False
    undone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """A deferred fit was made, from a number of lessons; if it has no fit, that is to be made again."""

    lessons: int
    fit: KeptFit | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """A reading was added that the study did not ask for, or it was withdrawn again."""

    trial: int
    number: int
    answer: Reading
    withdrawn: bool = False
    fit: KeptFit | None = None
    undone: bool = False
    seed: SeedName | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """Later answers belong to a block, unless they name another one."""

    block: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A trial has no reading, or a pair was skipped."""

    trial: int
    reason: str
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Expired:
    """A trial was taken back, to be handed out again."""

    trial: int


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """An answer was replaced, at its place among the answers."""

    trial: int
    answer: Answer
    fit: KeptFit | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Retracted:
    """An answer or a failure was taken back: the trial or pair is open again."""

    trial: int
    fit: KeptFit | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    """A note on the study; with a point, the machine was moved there. Nothing is learned from it."""

    number: int
    topic: str
    text: str = ""
    point: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """A setting of the study has another value from now on: its mode, or the unit of its readings."""

    name: str
    value: str
    why: str = ""

    def __post_init__(self) -> None:
        for name, text in (("name", self.name), ("value", self.value), ("why", self.why)):
            if not isinstance(text, str):
                raise TypeError(f"`{name}` must be a text, got {text!r}")
        if self.name not in ("mode", "unit"):
            raise ValueError(f"`name` must be mode or unit, or `value` the ends of a range, got {self.name!r}")
        if self.name == "mode" and self.value not in MODES:
            raise ValueError(f"`value` of mode must be one of {', '.join(MODES)}, got {self.value!r}")


@dataclass(frozen=True, slots=True)
class Widened:
    """A number has a wider range from now on: all that was learned is learned again in the wider space."""

    name: str
    low: float
    high: float
    why: str = ""
    fit: KeptFit | None = field(default=None, compare=False)


Teaching = Told | Added | Corrected | Retracted
"""The events that may change what was learned."""

Step = Teaching | Failed
"""The events that `undo` takes back, one at a time, and those that take them back."""

Event = Planned | Canceled | Asked | Handed | Refitted | Begun | Expired | Noted | Set | Widened | Step
"""Every kind of event: a line of the log."""


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event and its time: ISO 8601 in UTC, as the log writes it; `None` if a log does not say it."""

    event: Event
    at: str | None = None


def unfitted(event: Event) -> Event:
    """Return an event without its fit: a replay fits again, at the same time."""
    if not isinstance(event, Teaching | Refitted | Widened) or event.fit is None:
        return event
    return replace(event, fit=None)


def without_fits(events: Iterable[Event]) -> list[Event]:
    """Return events without any fit, none of them deferred: a replay fits whenever that is due."""
    left = (unfitted(event) for event in events if not isinstance(event, Refitted))
    return [replace(event, deferred=False) if isinstance(event, Told) and event.deferred else event for event in left]
