"""The numbers of a trial by name: its objectives, and the numbers with limits or constraints.

kept as        meaning
values_1       the second objective, and so on; people see the study's metric name
of             the number of trials, if the objective is a share
loss           a user attribute that a limit of the sampler names
constraints:k  Optuna's constraint k, which holds at zero or below; k is its position in a `constraints_func`
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial

from equipoise.data import OF
from equipoise.likelihoods import Likelihood
from equipoise.study.outputs import Limit, Objective, Outputs

Constraints = Callable[[FrozenTrial], Sequence[float]]
"""A function that returns numbers of a trial; all are at most zero if the trial is feasible."""

CONSTRAINTS = "constraints"


class StudyNumbers:
    """The numbers of a study, and the name under which each is kept.

    Args:
        study: The study.
        limits: The limits of its sampler.
        kept: The names of the numbers that its trials keep.

    Attributes:
        outputs: Objectives and limits, by their displayed names.
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
        """True if a trial has more than one number, or a limit."""
        return self.outputs.several or bool(self.outputs.limits)


def numbers(
    trial: FrozenTrial,
    value: Any,
    study: Study,
    likelihood: Likelihood,
    limits: Sequence[Limit],
    constraints: Constraints | None,
) -> dict[str, float]:
    """Return the readings of a member of a pair, by the names under which they are kept, the first objective first.

    Args:
        trial: The member, with its parameters and attributes.
        value: The return value of the objective.
        study: The study of the trial.
        likelihood: The likelihood of the first objective.
        limits: The limits of the sampler, each on an objective or a user attribute.
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
    if not likelihood.exact:
        first = likelihood.check("objective", values[0])
        read[:1] = zip(("values_0", OF), first, strict=False)
    read += [(name, trial.user_attrs[name]) for name in sorted(named)]
    read += [(key, each) for key, each in trial.system_attrs.items() if key.startswith(f"{CONSTRAINTS}:")]
    return {key: _number(each) for key, each in [*read, *((f"{CONSTRAINTS}:{i}", c) for i, c in enumerate(given))]}


def _number(reading: Any) -> float:
    """Return a reading as a number; an invalid one fails the trial as in Optuna, without an exception."""
    try:
        return float(reading)
    except (TypeError, ValueError):
        return math.nan
