"""What a study's storage keeps of a duel: short JSON in the attributes of its trial, and nothing anywhere else.

    attribute     of      what
    eq            system  the pair: {"p": {name: [first, second]}, "o": second goes first}, values in Optuna's internal
                          form; once measured {"n": trial, "y": [first, second]} too, both readings in one write
    eq:fit        system  what was learned when this trial was proposed: see `learning.py`
    duel_first    user    the reading of the trial's own parameters, for people; version 0.1.0 has it here alone
    duel_second   user    the reading of its rival's

The trial's own parameters are the first member of the pair.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.data import Duel, Proposal, Reading
from equipoise.integrations.optuna.translation import internal

PAIR, FIT = "eq", "eq:fit"
FIRST, SECOND = "duel_first", "duel_second"
T = TypeVar("T")


class Unreadable(UserWarning):
    """An attribute of a trial, written by another user or version, makes no sense: it is passed over."""


def read(trial: FrozenTrial, key: str, parse: Callable[[Any], T]) -> T | None:
    """Return an attribute of a trial, if it has one that can be read."""
    content = trial.system_attrs.get(key)
    try:
        return None if content is None else parse(content)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        note = f"attribute {key!r} of trial {trial.number} cannot be read and is passed over: {error!r}"
        warnings.warn(note, Unreadable, stacklevel=2)
        return None


@dataclass(frozen=True, slots=True)
class Pair:
    """A duel as its trial keeps it.

    Attributes:
        values: First and second member, by parameter, in internal form.
        swapped: The second is measured first.
        measured: The number of the trial that has measured both; a retried trial inherits the pair, not this.
        readings: Of the first and the second member, once measured.
        sign: Of a one-point duel: the sign and size with which its only reading enters the outcome.
        baseline: Of a one-point duel: what is subtracted from the reading; `None` where nothing forecasts it.
        predicted: Of a one-point duel: the posterior mean where it is measured, when it was proposed.
    """

    values: Mapping[str, tuple[float, float]]
    swapped: bool = False
    measured: int | None = None
    readings: tuple[float, float] | None = None
    sign: float | None = None
    baseline: float | None = None
    predicted: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, what is not needed left out."""
        if self.sign is not None:
            return {"p": self.values, "s": self.sign, "c": self.baseline, "m": self.predicted}
        given = {"p": self.values, "o": int(self.swapped), "n": self.measured, "y": self.readings}
        return {key: value for key, value in given.items() if value is not None}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Pair":
        """Undo `to_json`."""
        values = {name: _numbers(*both) for name, both in content["p"].items()}
        if "s" in content:
            (sign, predicted), c = _numbers(content["s"], content["m"]), content["c"]
            return cls(values, sign=sign, baseline=None if c is None else check.number("c", c), predicted=predicted)
        return cls(values, bool(content["o"]), content.get("n"), _numbers(*content["y"]) if "y" in content else None)

    @classmethod
    def of(cls, trial: FrozenTrial) -> "Pair | None":
        """Return the pair of a trial, if it has one."""
        return read(trial, PAIR, cls.from_json)

    def keep(self, storage: BaseStorage, trial_id: int) -> None:
        """Write it to its trial."""
        storage.set_trial_system_attr(trial_id, PAIR, self.to_json())

    def member(self, i: int) -> dict[str, float]:
        """Return the first member, 0, or the second, 1."""
        return {name: both[i] for name, both in self.values.items()}

    @property
    def picked(self) -> dict[str, float]:
        """The member a trial measures by itself: the first, or in a one-point duel the one the coin picked."""
        return self.member(0 if self.sign is None or self.sign > 0 else 1)

    def duel(self, encode: Callable[[Mapping[str, float]], FloatArray | None]) -> Duel | None:
        """Return the duel; `None` where a member is no longer in the space."""
        first, second = encode(self.member(0)), encode(self.member(1))
        if first is None or second is None:
            return None
        pair, order = Proposal.pair(first, second), -1 if self.swapped else 1
        if self.sign is None:
            return Duel(pair, pair.points[::order], (float(order), float(-order)), first, second)
        picked = pair.points[:1] if self.sign > 0 else pair.points[1:]
        return Duel(pair, picked, (self.sign,), first, second, self.baseline or 0.0)

    def place(self, number: int) -> int:
        """Return which reading of the study the first one of trial `number` is, counted from 1 over all trials."""
        return 2 * number + 1 if self.sign is None else number + 1

    def told(self, trial: FrozenTrial) -> list[Reading]:
        """Return what was read, in the order of measurement; nothing where the duel did not come to a finite end."""
        values: list[Any] = [trial.value] if self.sign is not None and self._as_planned(trial) else []
        if self.sign is None and self.measured == trial.number:
            both = self.readings or (trial.user_attrs.get(FIRST), trial.user_attrs.get(SECOND))
            values = [*both[::-1]] if self.swapped else [*both]
        finite = all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)
        if trial.state != TrialState.COMPLETE or not finite:
            return []
        return [Reading(value, place=place) for place, value in enumerate(values, self.place(trial.number))]

    def _as_planned(self, trial: FrozenTrial) -> bool:
        """Return whether a one-point trial measured what the coin picked: an enqueued one, say, did not."""
        known = {name: internal(d, trial.params[name]) for name, d in trial.distributions.items()}
        return all(known.get(name) == value for name, value in self.picked.items())


def _numbers(first: Any, second: Any) -> tuple[float, float]:
    return check.number("first", first), check.number("second", second)
