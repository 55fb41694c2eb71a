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
    """A duel as its trial keeps it; the last three are of one-point duels.

    Attributes:
        values: First and second member, by parameter, in internal form.
        swapped: The second is measured first.
        measured: The number of the trial that has measured both; a retried trial inherits the pair, not this.
        readings: Of the first and the second member, once measured.
        sign: The sign and size with which the only reading enters the outcome.
        baseline: What is subtracted from the reading; `None` where there was nothing to forecast it from.
        predicted: The posterior mean where it is measured, when it was proposed.
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
        values: dict[str, Any] = {"p": {name: [*both] for name, both in self.values.items()}}
        if self.sign is not None:
            return values | {"s": self.sign, "c": self.baseline, "m": self.predicted}
        measured = {} if self.readings is None else {"n": self.measured, "y": [*self.readings]}
        return values | {"o": int(self.swapped)} | measured

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

    def told(self, trial: FrozenTrial) -> list[Reading]:
        """Return what a trial read, in the order of measurement; nothing where it did not come to a finite end."""
        both = self.readings or (trial.user_attrs.get(FIRST), trial.user_attrs.get(SECOND))
        values: list[Any] = [*both[::-1]] if self.swapped else [*both]
        planned = self.measured == trial.number
        if self.sign is not None:  # an enqueued trial, say, measures what no coin picked
            values, known = [trial.value], trial.distributions
            planned = all(k in known and internal(known[k], trial.params[k]) == v for k, v in self.picked.items())
        finite = all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)
        if trial.state != TrialState.COMPLETE or not planned or not finite:
            return []
        return [Reading(value, place=2 * trial.number + i) for i, value in enumerate(values, 1)]


def _numbers(first: Any, second: Any) -> tuple[float, float]:
    return check.number("first", first), check.number("second", second)
