"""The records of a study: questions, notes and settings."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from equipoise._typing import FloatArray
from equipoise.belief import StudyBelief
from equipoise.data import OF, PairToJudge, Reading, SeedName, as_said
from equipoise.likelihoods import written
from equipoise.log import Added, Asked, Failed, Handed, Noted, Retracted, Set, Stamped, Told, Widened
from equipoise.spaces import printable
from equipoise.study.ledger import Entry, Ledger

if TYPE_CHECKING:
    from equipoise.study.state import State

PLACES = ("first", "second")
"""The places of a pair."""


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a question: a setting to measure, or a pair of settings to judge.

    Attributes:
        trial: Its number.
        duel: The number of its duel; a pair is its own duel.
        worker: The worker, or the judge.
        x: The measured setting; for a pair, both settings in their order.
        value: The reading; `None` if there is none (yet).
        values: All numbers that were read, by name, if there are several.
        time: The time in the user's clock, if it was told.
        error: The reading's own standard error.
        failed: The reason why there is no reading, or why a pair was skipped.
        void: Whether its duel is not used.
        aside: The reason why the study ignores the reading, if it does.
        block: Its block, if it was told.
        earlier: Whether it belongs to an earlier campaign.
        covariates: Other measured quantities, by name.
        answer: The answer to a pair; `None` if there is none (yet).
        steps: The number of words on the scale of a pair; `None` for a setting to measure.
        again: The pair that this one asks again in the other order.
        plan: The number of the audit or verification to which a pair belongs.
        added: Whether a pair was imported, so that no coin decided its order.
        position: Its place among the trials of its duel, from 1.
        positions: The number of trials of its duel.
        seed: The seed on which it was measured, if the study has seeds.
        asked: The time when it was last handed out, ISO 8601 in UTC; `None` if the log does not have it.
        ended: The time when it was answered, or failed.
    """

    trial: int
    duel: int
    worker: str | None
    x: Any
    value: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)
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
    seed: SeedName | None = None
    asked: str | None = field(default=None, compare=False, repr=False)
    ended: str | None = field(default=None, compare=False, repr=False)

    @property
    def of(self) -> float | None:
        """The number of trials, if the reading is a share."""
        return self.values.get(OF)

    @property
    def said(self) -> str:
        """The reading as people write it: 0.83, 17, 17/200 or flux=3.1 loss=0.4; empty if there is none."""
        return "" if self.value is None else written(*self.told) if self.of is not None else written(self.told)

    @property
    def told(self) -> Any:
        """The reading as programs give it: a number, a share or numbers by name; `None` if there is none."""
        return None if self.value is None else as_said(self.value, self.values)

    @property
    def level(self) -> float:
        """The reading as one number: the value; of a share, successes over trials; not a number if there is none."""
        return math.nan if self.value is None else self.value / (self.of or 1.0)

    @property
    def places(self) -> dict[str, Any]:
        """The setting to measure, as x; or those to judge, as first and second."""
        return {"x": self.x} if self.steps is None else dict(zip(PLACES, self.x, strict=True))


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a study.

    Attributes:
        topic: The topic, in a word or two.
        text: The text.
        x: The setting to which the machine was moved, if it was.
        at: The time, ISO 8601 in UTC; `None` if the log does not have it.
    """

    topic: str
    text: str = ""
    x: Any = None
    at: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """A changed setting of a study.

    Attributes:
        name: "mode" or "unit".
        value: The new value.
        why: The reason, if one was given.
        at: The time, ISO 8601 in UTC; `None` if the log does not have it.
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


def settings_of(past: Iterable[Stamped]) -> list[Setting]:
    """Return the settings that were changed, in this order."""
    said = ((s.event, s.at) for s in past if isinstance(s.event, Set | Widened))
    return [Setting(*_spelled(event), event.why, at) for event, at in said]


def _spelled(event: Set | Widened) -> tuple[str, str]:
    """Return the name and the value of a setting, as texts."""
    if isinstance(event, Set):
        return event.name, event.value
    return f"range of {event.name}", f"{event.low:g} to {event.high:g}"


def notes_of(past: Iterable[Stamped], decode: Callable[[FloatArray], Any]) -> list[Note]:
    """Return the notes on a study, in this order."""
    noted = [(s.event, s.at) for s in past if isinstance(s.event, Noted)]
    return [Note(n.topic, n.text, None if n.point is None else decode(n.point), at) for n, at in noted]


def next_note(past: Sequence[Stamped]) -> int:
    """Return the number of the next note; logs of former versions skip the numbers of settings."""
    return next((s.event.number + 1 for s in reversed(past) if isinstance(s.event, Noted)), 0)


def records(
    state: "State", aside: bool = True, judgements: bool = False, trials: Iterable[int] | None = None
) -> list[Record]:
    """Return a record for each trial: first those with an answer, in the order of answers, then the others.

    Without `aside` it is not computed which readings the belief ignores. With `judgements` it returns the pairs
    instead, and with `trials` only these.
    """
    ledger, belief = state.ledger, state.belief if aside and not judgements else None
    known = ledger.judgements if judgements else ledger.readings
    others = ledger.pairs if judgements else (*ledger.failed, *ledger.open_trials)
    wanted = None if trials is None else set(trials)
    asked, ended = _times(state.past)
    return [
        replace(_record(ledger, i, state.setup.space.decode, belief), asked=asked.get(i), ended=ended.get(i))
        for i in dict.fromkeys((*known, *others))
        if wanted is None or i in wanted
    ]


def _times(past: Iterable[Stamped]) -> tuple[dict[int, str | None], dict[int, str | None]]:
    """Return when each trial or pair was last handed out, and when it was answered or failed."""
    asked: dict[int, str | None] = {}
    ended: dict[int, str | None] = {}
    for stamped in past:
        match stamped.event:
            case Asked(trial=i) | Handed(trial=i):
                asked[i] = stamped.at
            case Added(trial=i):
                asked[i] = ended[i] = stamped.at
            case Told(trial=i) | Failed(trial=i):
                ended[i] = stamped.at
            case Retracted(trial=i):
                ended.pop(i, None)
    return asked, ended


def _record(ledger: Ledger, i: int, decode: Callable[[FloatArray], Any], belief: StudyBelief | None) -> Record:
    entry, reading = ledger.of_trial[i], ledger.readings.get(i)
    record = Record(i, entry.number, entry.worker, None, failed=ledger.failed.get(i, ledger.skipped.get(i)))
    if isinstance(entry.question, PairToJudge):
        return _pair_record(entry, record, decode)
    k, n = entry.ids.index(i), len(entry.ids)
    record = replace(record, x=decode(entry.point(i)), void=entry.void, position=k + 1, positions=n, seed=entry.seed)
    if reading is None:
        return record
    known = reading.circumstances.to_dict()
    return replace(
        record,
        value=reading.value,
        values=reading.values,
        time=reading.time,
        error=reading.error,
        aside=_aside(reading, i in entry.aside, belief),
        block=known["block"],
        earlier=known["campaign"] is not None,
        covariates=known["covariates"] or {},
    )


def _pair_record(entry: Entry, record: Record, decode: Callable[[FloatArray], Any]) -> Record:
    pair, said = entry.pair, entry.judgement
    return replace(
        record,
        worker=entry.worker or None,
        x=tuple(map(decode, pair.points)),
        answer=None if said is None else said.answer,
        steps=pair.steps,
        again=pair.again,
        plan=entry.plan,
        added=entry.added,
    )


def _aside(reading: Reading, strange: bool, belief: StudyBelief | None) -> str | None:
    """Return why nothing is learned from a reading, if that is so."""
    if strange:
        return "it cannot be"
    if belief is None or belief.learned is None:
        return None
    if reading.circumstances.campaign:
        return (
            "it contradicts the readings of now" if reading.circumstances.campaign in belief.learned.strangers else None
        )
    spoiled = (time for time, _ in belief.learned.blips)
    return "it is spoiled" if reading.place in spoiled else None
