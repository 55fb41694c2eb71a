"""The records of duels in a study's storage: short JSON in the attributes of trials.

attribute     of      what
eq            system  the pair, see `TrialPair`; written with the proposal, and again with both readings in one write
eq:fit        system  the fit made when this trial was proposed, see `fit_to_json`; `eq:fit:loss` of the output loss
constraints   system  values of a `constraints_func` at the trial's own parameters, as other samplers keep them
block         user    the block of its readings, if you set it: a day, a batch, a host
duel_first    user    the reading of the trial's own parameters, for people; version 0.1.0 has it here alone
duel_second   user    the reading of its rival's
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from optuna.trial import FrozenTrial, TrialState

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.data import Duel, Proposal, Reading
from equipoise.integrations.optuna.translation import internal
from equipoise.integrations.remembering import Fit
from equipoise.log import described, restored
from equipoise.offsets import Circumstances

PAIR, FIT, FAILED = "eq", "eq:fit", "eq:failed"
FIRST, SECOND, BLOCK = "duel_first", "duel_second", "block"
KEYS = {"values": "p", "swapped": "o", "measured": "n", "readings": "y", "sign": "s", "baseline": "c", "predicted": "m"}
KEYS |= {"block": "b", "others": "v"}
T = TypeVar("T")


class Unreadable(UserWarning):
    """An attribute of a trial, written by another user or version, cannot be read and is skipped."""


def read(trial: FrozenTrial, key: str, parse: Callable[[Any], T]) -> T | None:
    """Return an attribute of a trial; `None` if it is missing or cannot be read."""
    content = trial.system_attrs.get(key)
    try:
        return None if content is None else parse(content)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        warnings.warn(f"skipped {key!r} of trial {trial.number}: {error!r}", Unreadable, stacklevel=2)
        return None


@dataclass(frozen=True, slots=True)
class TrialPair:
    """A duel as its trial stores it; the trial's own parameters are the first member.

    Attributes:
        values: First and second member, by parameter, in Optuna's internal form.
        swapped: The second is measured first.
        measured: The number of the trial that measured both; a retried trial inherits the pair, but not this.
        readings: Of the first and the second member, once measured.
        sign: Of a one-point duel: the sign and size with which its only reading enters the outcome.
        baseline: Of a one-point duel: the forecast that is subtracted from it; `None` if there was no forecast.
        predicted: Of a one-point duel: the posterior mean at the measured point, at the time of the proposal.
        block: The block of its readings, unless the trial has another.
        others: With several numbers per trial: all but the first, by name, of the first and the second member.
    """

    values: Mapping[str, Sequence[float]]
    swapped: bool = False
    measured: int | None = None
    readings: Sequence[float] | None = None
    sign: float | None = None
    baseline: float | None = None
    predicted: float | None = None
    block: str | None = None
    others: Mapping[str, Sequence[float]] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the pair as JSON, without unknown values."""
        return {key: value for name, key in KEYS.items() if (value := getattr(self, name)) is not None}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "TrialPair":
        """Return the pair from JSON: the inverse of `to_json`."""
        check.array("p", [(0, 0), *content["p"].values()], (None, 2))
        check.array("y", content.get("y", (0, 0)), (2,))
        check.array("v", [(0, 0), *content.get("v", {}).values()], (None, 2))
        for key in {"s", "c", "m"} & content.keys():
            check.number(key, content[key])
        if "b" in content:
            check.name("b", content["b"])
        return cls(**{name: content[key] for name, key in KEYS.items() if key in content})

    @classmethod
    def of(cls, trial: FrozenTrial) -> "TrialPair | None":
        """Return the pair of a trial; `None` if it has none."""
        return read(trial, PAIR, cls.from_json)

    def member(self, i: int) -> dict[str, float]:
        """Return the first member, 0, or the second, 1."""
        return {name: both[i] for name, both in self.values.items()}

    @property
    def picked(self) -> dict[str, float]:
        """The member that a single measurement uses: the first, or in a one-point duel the one that the coin picked."""
        return self.member(0 if self.sign is None or self.sign > 0 else 1)

    @property
    def measures(self) -> tuple[int, ...]:
        """The measured members: both, or in a one-point duel the one that the coin picked."""
        return (0, 1) if self.sign is None else (int(self.sign < 0),)

    def failed(self, trial: FrozenTrial) -> tuple[int, ...]:
        """Return the members that failed in a failed trial; none if its worker may have died between two readings."""
        known = read(trial, FAILED, lambda content: tuple(i for i in (0, 1) if i in content))
        return known or (self.measures if self.sign is not None else ())

    def duel(self, encode: Callable[[Mapping[str, float]], FloatArray | None]) -> Duel | None:
        """Return the duel; `None` if a member is no longer in the space."""
        first, second = encode(self.member(0)), encode(self.member(1))
        if first is None or second is None:
            return None
        pair, order = Proposal.pair(first, second), -1 if self.swapped else 1
        if self.sign is None:
            return Duel(pair, pair.points[::order], (float(order), float(-order)), first, second)
        picked = pair.points[:1] if self.sign > 0 else pair.points[1:]
        return Duel(pair, picked, (self.sign,), first, second, self.baseline or 0.0)

    def told(self, trial: FrozenTrial) -> list[Reading]:
        """Return the readings of a trial in the order of measurement; empty if it did not end with finite values."""
        both = self.readings or (trial.user_attrs.get(FIRST), trial.user_attrs.get(SECOND))
        values: list[Any] = [*both[::-1]] if self.swapped else [*both]
        planned = self.measured == trial.number
        if self.sign is not None:  # no coin picked the point of an enqueued trial, for example
            values, known = [(trial.values or [None])[0]], trial.distributions
            planned = all(k in known and internal(known[k], trial.params[k]) == v for k, v in self.picked.items())
        finite = all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)
        if trial.state != TrialState.COMPLETE or not planned or not finite:
            return []
        told = Circumstances.of(trial.user_attrs.get(BLOCK, self.block))
        order, others = (1, 0) if self.swapped else (0, 1), self.others or {}
        named = [{key: float(two[k]) for key, two in others.items()} for k in order]
        read = zip(values, named, strict=False)
        return [
            Reading(y, place=2 * trial.number + i, circumstances=told, values=v) for i, (y, v) in enumerate(read, 1)
        ]


def fit_to_json(fit: Fit) -> dict[str, Any]:
    """Return a fit as JSON."""
    return {"g": fit.model, "n": fit.duels, "k": fit.lessons, "l": described(fit.learned)}


def fit_from_json(content: Mapping[str, Any]) -> Fit | None:
    """Return the fit from JSON; `None` for a fit of version 0.1.0, which followed other rules."""
    if "d" in content:
        return None
    learned = restored("l", content["l"])
    h, disturbances = learned.hyperparameters, (*learned.jumps, *learned.blips)
    for value in (*h.lengthscales, h.variance, h.noise, *h.offset, h.step, *(size for _, size in disturbances)):
        check.positive("l", value)
    known = learned.accounts
    told = 0 if known is None else 2 * known.blocks + len(known.covariates) + bool(known.period)
    told_apart = len(h.theta) - told - int(content["g"].rpartition(" ")[2])  # parameters whose values are
    if not 0 <= told_apart <= len(h.lengthscales) // 2:
        raise ValueError(f"`l` must be of the model {content['g']!r}, got {learned!r}")
    duels, lessons = (check.count(key, content[key], at_least=0) for key in "nk")
    return Fit(content["g"], duels, lessons, learned)
