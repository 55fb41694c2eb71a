"""What a study's storage keeps of a duel: short JSON in the attributes of its trial, and nothing anywhere else.

    attribute     of      what
    eq            system  the pair: {"p": {name: [first, second]}, ...}, values in Optuna's internal form
    eq:fit        system  hyperparameters, fitted when this trial was proposed: {"n": duels, "g": space, "h": {...}}
    duel_first    user    the reading of the trial's own parameters
    duel_second   user    the reading of its rival's

The trial's own parameters are the first member of the pair.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from optuna.storages import BaseStorage
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from equipoise.integrations.optuna.translation import internal

PAIR, FIT = "eq", "eq:fit"
FIRST, SECOND = "duel_first", "duel_second"


@dataclass(frozen=True, slots=True)
class Pair:
    """A duel as its trial keeps it.

    Attributes:
        values: First and second member, by parameter, in internal form.
        swapped: The second is measured first.
        measured: The number of the trial that has measured both; a retried trial inherits the pair, not this.
        sign: Of a one-point duel: the sign and size with which its only reading enters the outcome.
        baseline: Of a one-point duel: what is subtracted from the reading.
        predicted: Of a one-point duel: the posterior mean where it is measured, when it was proposed.
    """

    values: Mapping[str, tuple[float, float]]
    swapped: bool = False
    measured: int | None = None
    sign: float | None = None
    baseline: float = 0.0
    predicted: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, what is not needed left out."""
        result: dict[str, Any] = {"p": {name: list(pair) for name, pair in self.values.items()}}
        if self.sign is not None:
            return result | {"s": self.sign, "c": self.baseline, "m": self.predicted}
        return result | {"o": int(self.swapped)} | ({} if self.measured is None else {"n": self.measured})

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Pair":
        """Undo `to_json`."""
        values = {name: (float(first), float(second)) for name, (first, second) in content["p"].items()}
        one_point = (content.get("s"), content.get("c", 0.0), content.get("m", 0.0))
        return cls(values, bool(content.get("o", 0)), content.get("n"), *one_point)

    @classmethod
    def of(cls, trial: FrozenTrial) -> "Pair | None":
        """Return the pair of a trial, if it has one."""
        content = trial.system_attrs.get(PAIR)
        return None if content is None else cls.from_json(content)

    def first(self) -> dict[str, float]:
        """Return the first member."""
        return {name: pair[0] for name, pair in self.values.items()}

    def second(self) -> dict[str, float]:
        """Return the second member."""
        return {name: pair[1] for name, pair in self.values.items()}

    def picked(self) -> dict[str, float]:
        """Return the member a trial measures by itself: the first, or in a one-point duel the one the coin picked."""
        return self.first() if self.sign is None or self.sign > 0 else self.second()


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished duel.

    Attributes:
        number: That of its trial.
        pair: What was compared.
        outcome: What it says of f(first) - f(second), larger values of f being better.
        readings: Those of the first and of the second member, larger being better; of a one-point duel, the only one.
    """

    number: int
    pair: Pair
    outcome: float
    readings: tuple[float, ...] = (0.0, 0.0)

    @classmethod
    def of(cls, trial: FrozenTrial, sign: float) -> "Finished | None":
        """Return the duel of a trial; `None` where there is none to learn from: failed, pruned, not finite."""
        pair = Pair.of(trial) if trial.state == TrialState.COMPLETE else None
        if pair is None:
            return None
        if pair.sign is None:
            readings = tuple(sign * _attribute(trial, key) for key in (FIRST, SECOND))
            outcome = readings[0] - readings[1] if pair.measured == trial.number else math.nan
        else:
            readings = (sign * (math.nan if trial.value is None else trial.value),)
            outcome = pair.sign * (readings[0] - pair.baseline) if _as_planned(trial, pair) else math.nan
        return cls(trial.number, pair, outcome, readings) if math.isfinite(outcome) else None


def sign_of(study: Study) -> float:
    """Return -1 where a study minimizes, else 1."""
    return -1.0 if study.direction == StudyDirection.MINIMIZE else 1.0


def keep(storage: BaseStorage, trial_id: int, pair: Pair) -> None:
    """Keep the pair of a trial."""
    storage.set_trial_system_attr(trial_id, PAIR, pair.to_json())


def common_names(trials: Iterable[FrozenTrial]) -> set[str]:
    """Return the parameters that both members of every trial had."""
    own = (set(t.distributions) & set(t.system_attrs.get(PAIR, {}).get("p", t.distributions)) for t in trials)
    return set.intersection(*own)


def _attribute(trial: FrozenTrial, key: str) -> float:
    value = trial.user_attrs.get(key)
    return value if isinstance(value, (int, float)) else math.nan


def _as_planned(trial: FrozenTrial, pair: Pair) -> bool:
    """Return whether a one-point trial measured what the coin picked: an enqueued one, say, did not."""
    planned = pair.picked()
    if not planned.keys() <= trial.distributions.keys():
        return False
    return all(internal(trial.distributions[name], trial.params[name]) == v for name, v in planned.items())
