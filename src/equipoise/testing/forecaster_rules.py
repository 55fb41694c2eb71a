"""The rules for forecasters: the baselines of the one-point reduction."""

from collections.abc import Collection, Sequence

import numpy as np

from equipoise._typing import FloatArray
from equipoise.kernels import RBF
from equipoise.optimizer import Optimizer
from equipoise.policies import IDS
from equipoise.reductions import Baseline, OnePoint
from equipoise.testing.rehearsal import finite, must_resume, rehearse
from equipoise.testing.rule import agree, has, obeys, require, rules_of
from equipoise.testing.shared_rules import is_described, pickles

LONG = 500
"""The readings of a long study."""

UNIT = -1024.0
"""Another unit with the opposite direction: a power of two, so that all forecasts are the same to the last bit."""


def check_forecaster(baseline: Baseline, *, without: Collection[str] = ()) -> None:
    """Check a forecaster against the rules for forecasters.

    Skip `learns_a_level` for a forecaster that is not meant to learn one.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_forecaster(eq.reductions.Trend())
    """
    obeys(baseline, RULES, without)


def declares_itself(baseline: Baseline) -> None:
    """It can predict and update, and so can its updates."""
    for each in (baseline, baseline.update(1.0, 0.5)):
        has(each, ("predict", "update"))


def stays_as_it_is(baseline: Baseline) -> None:
    """It is immutable: `update` returns a new forecaster and `predict` changes nothing."""
    used = baseline.update(3.0, 0.25)
    before = [each.predict(0.5) for each in (baseline, used)]
    used.update(9.0, 0.0).predict(0.0)
    baseline.update(-7.0, 0.0)
    require([each.predict(0.5) for each in (baseline, used)] == before, "an update of it changed its own forecast")


def forecasts_numbers(baseline: Baseline) -> None:
    """Its forecasts are finite floats, and stay bounded if the readings are."""
    offsets = np.sin(np.arange(float(LONG)))
    for forecast in _forecasts(baseline, offsets, np.zeros(LONG)):
        require(isinstance(forecast, float), f"a forecast {forecast!r}")
        require(abs(forecast) < 100, f"a forecast of {forecast} where all readings lie within 1")


def learns_a_level(baseline: Baseline) -> None:
    """It eventually forecasts a constant offset exactly, on top of the mean of f."""
    means = np.cos(np.arange(float(LONG)))
    final = _forecasts(baseline, np.full(LONG, 7.5), means)[-1]
    agree(final, 7.5 + means[-1], "the forecast", 1e-3)


def ignores_the_unit(baseline: Baseline) -> None:
    """It forecasts readings equally well in another unit, or with the opposite sign for minimization."""
    rng = np.random.default_rng(0)
    offsets, means = rng.normal(size=(2, 60)).cumsum(axis=1)
    plain = np.array(_forecasts(baseline, offsets, means))
    agree(np.array(_forecasts(baseline, UNIT * offsets, UNIT * means)), UNIT * plain, "a forecast")


def works_in_a_study(baseline: Baseline) -> None:
    """An optimizer that measures one point of a pair can ask, tell and recommend with it."""
    rehearse(Optimizer(finite(), kernel=RBF(0.5), policy=IDS(), reduction=OnePoint(baseline), rng=0))


def is_resumed(baseline: Baseline) -> None:
    """A logged study with it resumes to the same belief and the same next proposal."""
    must_resume(finite(), kernel=RBF(0.5), policy=IDS(), reduction=OnePoint(baseline))


RULES = rules_of(__name__, is_described, pickles)
"""The rules for a forecaster."""


def _forecasts(baseline: Baseline, offsets: FloatArray, means: FloatArray) -> Sequence[float]:
    """Return the forecast of each reading `offset + mean of f`, made before that reading."""
    found = []
    for offset, mean in zip(offsets.tolist(), means.tolist(), strict=True):
        found.append(baseline.predict(mean))
        baseline = baseline.update(offset + mean, mean)
    return found
