"""What changes a state, and what it says of a trial: records without behavior."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equipoise.log import Event
from equipoise.spaces import printable

PLACES = ("first", "second")
"""The places of a pair."""


@dataclass(frozen=True, slots=True)
class Record:
    """What happened to a question: a setting to measure, or a pair of settings to judge.

    Attributes:
        trial: Its number.
        duel: The number of its duel; a pair is one by itself.
        worker: Who measured it, or judged.
        x: Where it was measured; of a pair, both settings in their order.
        value: The reading; `None` where there is none (yet).
        time: When, in the user's clock, where that was told.
        error: The reading's own standard error.
        failed: Why there is no reading, or why a pair was skipped.
        void: Whether its duel was given up.
        aside: Why nothing is learned from the reading, where that is so.
        block: To which block it belongs, where that was told.
        earlier: Whether it is of an earlier campaign.
        covariates: What was measured beside it, by name.
        answer: What was said of a pair; `None` where nothing was (yet).
        steps: How many words the scale of a pair has; `None` for a setting to measure.
        again: The pair that was asked again by this one, in the other order.
        plan: The audit or verification that a pair serves, by its number.
        added: Whether a pair was not asked for, so that no coin has decided on its order.
        position: Its place among the trials of its duel, from 1.
        positions: How many trials its duel has.
        asked: When it was last handed out, ISO 8601 in UTC; `None` if the log does not say it.
        ended: When it was answered, or failed.
    """

    trial: int
    duel: int
    worker: str | None
    x: Any
    value: float | None = None
    time: float | None = None
    error: float = 0.0
    failed: str | None = None
    void: bool = False
    aside: str | None = None
    block: str | None = None
    earlier: bool = False
    covariates: Mapping[str, float] = field(default_factory=dict)
    answer: str | float | None = None
    steps: int | None = None
    again: int | None = None
    plan: int | None = None
    added: bool = False
    position: int = 1
    positions: int = 1
    asked: str | None = field(default=None, compare=False, repr=False)
    ended: str | None = field(default=None, compare=False, repr=False)

    @property
    def places(self) -> dict[str, Any]:
        """The setting to measure, as x; or those to judge, as first and second."""
        return {"x": self.x} if self.steps is None else dict(zip(PLACES, self.x, strict=True))


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody said of a study.

    Attributes:
        topic: What it is about, in a word or two.
        text: What was said.
        x: Where the machine was moved, where it was.
        at: When it was said, ISO 8601 in UTC; `None` if the log does not say it.
    """

    topic: str
    text: str = ""
    x: Any = None
    at: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a study that was changed.

    Attributes:
        name: Which: "mode" or "unit".
        value: What it is from then on.
        why: Why, if somebody has said so.
        at: When, ISO 8601 in UTC; `None` if the log does not say it.
    """

    name: str
    value: str
    why: str = ""
    at: str | None = field(default=None, compare=False, repr=False)


def last_set(settings: Sequence[Setting], name: str) -> Setting | None:
    """Return the last change of a setting; `None` if it was never set.

    Example:
        >>> last_set([Setting("unit", "W"), Setting("mode", "pause"), Setting("unit", "mW")], "unit").value
        'mW'
    """
    return next((setting for setting in reversed(settings) if setting.name == name), None)


def unit_of(settings: Sequence[Setting]) -> str:
    """Return the unit of a reading; empty if none is set."""
    unit = last_set(settings, "unit")
    return "" if unit is None else printable(unit.value, "")


@dataclass(frozen=True, slots=True)
class Change:
    """What an event will change, computed but not made yet.

    Attributes:
        make: Makes the change at a time, ISO 8601 in UTC; cannot fail.
        note: What the user should know of it.
        event: The event as it is to be written: with what was fitted by it.
    """

    make: Callable[[str | None], object]
    note: Warning | None = None
    event: Event | None = None


NOTHING = Change(lambda at: None)
