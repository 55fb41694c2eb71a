"""What happens in a study: each kind of event is applied in one place, `study/state.py`.

event     what it says                                        JSON
Planned   duels were planned: an audit or a verification      {"plan": number, "kind": kind, "duels": how many}
Canceled  a plan is not gone on with                          {"cancel": number}
Asked     a new duel was proposed, its first trial handed out {"ask": trial, "duel": number, "points": ...}
Handed    a trial that waited was handed out                  {"hand": trial}
Told      a reading                                           {"tell": trial, "value": number, ...}
Refitted  a fit that a reading had left out was made          {"refit": lessons, "fit": ...}
Added     a reading that nobody asked for                     {"add": trial, "duel": number, "value": number, ...}
Begun     what follows belongs to another block               {"begin": block}
Failed    a trial has no reading                              {"fail": trial, "reason": text}
Expired   a trial was taken back                              {"expire": trial}
Corrected a reading was wrong, and is another                 {"correct": trial, "value": number, ...}
Retracted a reading, failure or judgement never was           {"retract": trial}
Noted     somebody said something of the study                {"note": number, "topic": text, "text": text, ...}
Set       who measures, or the unit, is another from now on   {"set": name, "value": text, ...}
Paired    two settings were handed out to be judged           {"pair": trial, "points": ..., "steps": how many}
Judged    what a judge said of them                           {"judge": trial, "answer": word or number, ...}
Rejudged  a judgement was wrong, and is another               {"correct": trial, "answer": word or number, ...}

A pair has a number among the trials; one that is skipped has failed. An event by which `undo` takes back the last step
says so (`"undo": true`), so that the next one takes back the step before.

Whatever can teach keeps the last fit made when it happened, where one was, of the model (`fit`) and of what was learned
from judges (`heard`): see `fits.py`. A reading may leave out a fit that is due (`"deferred": true`), so that its teller
need not wait; the belief goes on under the fit before until one is `Refitted`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from equipoise._typing import FloatArray
from equipoise.belief import Milestone
from equipoise.belief.judgements import Heard
from equipoise.data import Duel, Reading

Purpose = Literal["audit", "verify"]
"""What duels are planned for."""

MODES = ("by hand", "automatic", "pause")
"""Who measures a study that is served: people, a program, or nobody for now."""

FORMER_SETTINGS = (*MODES, "unit")
"""Topics of notes by which former versions set the mode and the unit; a log that has such notes keeps its meaning."""


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The next duels serve a purpose: an audit, or a verification of the first of some points against the others.

    The first of the points also says at which context that is, where there are contexts; an audit has no other.
    """

    number: int
    purpose: Purpose
    duels: int
    points: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Canceled:
    """A plan is not gone on with; what was told for it stays."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A new duel was proposed, for a plan where one is served, and its first trial handed out."""

    trial: int
    number: int
    duel: Duel
    worker: str | None = None
    plan: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Handed:
    """A trial that waited was handed out: as planned, or at another point, since the context is another by now."""

    trial: int
    worker: str | None = None
    point: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A trial was read; a fit that was due then is deferred where it says so."""

    trial: int
    reading: Reading
    fit: Milestone | None = None
    heard: Heard | None = None
    deferred: bool = False
    undone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """A fit that was deferred was made, from so many lessons; `None` where it is to be made anew."""

    lessons: int
    fit: Milestone | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """There is a reading that nobody asked for, at its own point; or there was, and it is taken back."""

    trial: int
    number: int
    reading: Reading
    withdrawn: bool = False
    fit: Milestone | None = None
    heard: Heard | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Begun:
    """What is told from now on belongs to a block, unless it says otherwise."""

    block: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A trial has no reading."""

    trial: int
    reason: str
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Expired:
    """A trial was taken back, to be handed out again."""

    trial: int


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """What was read of a trial is another reading, at its place among the readings."""

    trial: int
    reading: Reading
    fit: Milestone | None = None
    heard: Heard | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Retracted:
    """What was told of a trial, a reading or a failure, is taken back: the trial is open again."""

    trial: int
    fit: Milestone | None = None
    heard: Heard | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    """Somebody said something of the study; with a point, the machine was moved there. Nothing is learned from it."""

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
            raise ValueError(f"`name` must be mode or unit, got {self.name!r}")
        if self.name == "mode" and self.value not in MODES:
            raise ValueError(f"`value` of mode must be one of {', '.join(MODES)}, got {self.value!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Two settings, encoded, in this order, were handed out to be judged on a scale, for a plan where one is served.

    Or nobody was asked, and what was said of them elsewhere is taken in: then no coin has decided on the order.
    """

    trial: int
    first: FloatArray
    second: FloatArray
    steps: int
    judge: str = ""
    plan: int | None = None
    again: int | None = None
    added: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said of a pair."""

    trial: int
    answer: str | float
    judge: str = ""
    heard: Heard | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What was said of a pair is another answer, at its place among the answers."""

    trial: int
    answer: str | float
    judge: str = ""
    heard: Heard | None = None
    undone: bool = False


Judging = Paired | Judged | Rejudged
"""What happens to pairs that are judged."""

Event = (
    Planned
    | Canceled
    | Begun
    | Added
    | Asked
    | Handed
    | Told
    | Refitted
    | Failed
    | Expired
    | Corrected
    | Retracted
    | Noted
    | Set
    | Judging
)


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event and its time: ISO 8601 in UTC, as the log writes it; `None` if a log does not say it."""

    event: Event
    at: str | None = None


Step = Told | Added | Failed | Corrected | Retracted | Judged | Rejudged
"""What `undo` takes back, one at a time, and by what."""

Teaching = Told | Added | Corrected | Retracted | Judged | Rejudged
"""What may change what was learned."""


def unfitted(event: Event) -> Event:
    """Return an event without what was fitted by it: who lets it happen fits anew, at the same time."""
    if isinstance(event, Refitted):
        return replace(event, fit=None)
    if isinstance(event, Judged | Rejudged):
        return event if event.heard is None else replace(event, heard=None)
    if not isinstance(event, Told | Added | Corrected | Retracted) or (event.fit is None and event.heard is None):
        return event
    return replace(event, fit=None, heard=None)


def anew(events: Iterable[Event]) -> list[Event]:
    """Return events without any fit, none of them deferred: who lets them happen fits whenever that is due."""
    left = (unfitted(event) for event in events if not isinstance(event, Refitted))
    return [replace(event, deferred=False) if isinstance(event, Told) and event.deferred else event for event in left]
