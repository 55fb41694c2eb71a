"""The numbers of a trial by name: its objectives, and what has limits or constraints.

kept as        is
values_1       the second objective, and so on; for people it is called as the study's metric
loss           a user attribute that a limit of the sampler names
constraints:k  Optuna's constraint k, which holds at zero or below; of a `constraints_func` k is the position
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial

from equipoise.study.outputs import Limit, Objective, Outputs

Constraints = Callable[[FrozenTrial], Sequence[float]]
"""Returns numbers of a trial, each at most zero if it may be used."""

CONSTRAINTS = "constraints"


class StudyNumbers:
    """Which numbers a study has, and under which name each is kept.

    Args:
        study: The study.
        limits: Those of its sampler.
        kept: The names of what its trials have kept.

    Attributes:
        outputs: Objectives and limits, by the names that people see.
        keys: The name under which each output is kept.
    """

    def __init__(self, study: Study, limits: Sequence[Limit] = (), kept: Iterable[str] = ()) -> None:
        stored = [f"values_{i}" for i in range(len(study.directions))]
        shown = dict(zip(stored, study.metric_names or (stored if len(stored) > 1 else ["value"]), strict=True))
        signs = [-1.0 if each == StudyDirection.MINIMIZE else 1.0 for each in study.directions]
        goals = tuple(Objective(name, sign) for name, sign in zip(shown.values(), signs, strict=True))
        constraints = tuple(Limit(key, True, 0.0) for key in sorted(kept) if key.startswith(f"{CONSTRAINTS}:"))
        self.outputs = Outputs(goals, (*limits, *constraints))
        self.keys = {name: name for name in self.outputs.names} | {name: key for key, name in shown.items()}

    @property
    def several(self) -> bool:
        """Whether there is more than one number a trial, or a limit."""
        return self.outputs.several or bool(self.outputs.limits)


def numbers(
    trial: FrozenTrial, value: Any, study: Study, limits: Sequence[Limit], constraints: Constraints | None
) -> dict[str, float]:
    """Return what was read of a member of a pair, by the name it is kept under, the first objective first.

    Args:
        trial: The member, with its parameters and attributes.
        value: What the objective has returned.
        study: Its study.
        limits: Those of the sampler, each of an objective or a user attribute.
        constraints: Returns further numbers.
    """
    values = [*value] if len(study.directions) > 1 and isinstance(value, (list, tuple)) else [value]
    if len(values) != len(study.directions):
        raise ValueError(f"`objective` must return {len(study.directions)} values, got {value!r}")
    known = StudyNumbers(study, limits)
    named = {limit.name for limit in limits} - {each.name for each in known.outputs.objectives}
    for name in sorted(named - trial.user_attrs.keys()):
        advice = f"call trial.set_user_attr({name!r}, ...) in the objective"
        raise RuntimeError(f"`limits` need the user attribute {name!r}, got none for trial {trial.number}: {advice}")
    given = () if constraints is None else constraints(trial)
    read = [(f"values_{i}", each) for i, each in enumerate(values)]
    read += [(name, trial.user_attrs[name]) for name in sorted(named)]
    read += [(key, each) for key, each in trial.system_attrs.items() if key.startswith(f"{CONSTRAINTS}:")]
    return {key: _number(each) for key, each in [*read, *((f"{CONSTRAINTS}:{i}", c) for i, c in enumerate(given))]}


def _number(reading: Any) -> float:
    """Return a reading as a number; what is none fails the trial as Optuna fails it, without an exception."""
    try:
        return float(reading)
    except (TypeError, ValueError):
        return math.nan
