"""The second member of a pair, as a trial that an unchanged objective can be called with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalChoiceType,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FixedTrial, Trial

from equipoise.integrations.optuna.translation import contains

Draw = Callable[[str, BaseDistribution], Any]
"""Draws a value of a parameter at random."""


class Rival(FixedTrial):
    """Suggests what the sampler proposed, draws what it did not.

    A parameter that the model does not know gets the value it has in the trial itself: what it does then cancels.
    Where nothing was proposed yet, or the proposed value has left the range, it is drawn at random.

    Args:
        trial: The trial it is compared with.
        proposed: The proposed values, in Optuna's internal form; `None` where the space is not known yet.
        draw: Draws a value.
    """

    def __init__(self, trial: Trial, proposed: Mapping[str, float] | None, draw: Draw) -> None:
        self._values: dict[str, Any] = {}
        super().__init__(self._values, trial.number)
        self._trial, self._proposed, self._draw = trial, proposed, draw

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """Suggest a real number."""
        self._decide(name, FloatDistribution(low, high, log=log, step=step))
        return super().suggest_float(name, low, high, step=step, log=log)

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """Suggest a whole number."""
        self._decide(name, IntDistribution(low, high, log=log, step=step))
        return super().suggest_int(name, low, high, step=step, log=log)

    def suggest_categorical(  # type: ignore[override]
        self, name: str, choices: Sequence[CategoricalChoiceType]
    ) -> CategoricalChoiceType:
        """Suggest one of several choices: the very object."""
        self._decide(name, CategoricalDistribution(choices))
        return super().suggest_categorical(name, choices)

    def _decide(self, name: str, distribution: BaseDistribution) -> None:
        if name in self._values:
            return
        if self._proposed is not None and name not in self._proposed:
            self._values[name] = _suggested(self._trial, name, distribution)
        elif self._proposed is not None and contains(distribution, self._proposed[name]):
            self._values[name] = distribution.to_external_repr(self._proposed[name])
        else:
            self._values[name] = self._draw(name, distribution)


def _suggested(trial: Trial, name: str, distribution: BaseDistribution) -> Any:
    """Let a trial suggest a parameter."""
    if isinstance(distribution, CategoricalDistribution):
        return trial.suggest_categorical(name, distribution.choices)
    if isinstance(distribution, IntDistribution):
        return trial.suggest_int(
            name, distribution.low, distribution.high, step=distribution.step, log=distribution.log
        )
    assert isinstance(distribution, FloatDistribution)
    return trial.suggest_float(name, distribution.low, distribution.high, step=distribution.step, log=distribution.log)
