"""The rules for laws of the offset."""

import math
from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.offsets import Hyperparameter, Moments, Offset
from equipoise.optimizer import Optimizer
from equipoise.testing.rehearsal import READINGS, box, must_resume, rehearse
from equipoise.testing.rule import agree, has, obeys, require, rules_of
from equipoise.testing.shared_rules import is_described, pickles

STEP = 1e-4
"""The step of a central difference in a logarithm: the error is about its square, relative to the covariance."""


def check_offset(law: Offset, *, without: Collection[str] = ()) -> None:
    """Check a law of the offset against the rules for laws.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_offset(eq.Blocks(10))
    """
    obeys(law, RULES, without)


def declares_itself(law: Offset) -> None:
    """It declares its source of learning, if it believes readings, if it jumps, and its guard."""
    has(law, ("learns_readings", "believed", "jumps", "guard", "hyperparameters"))
    for name in ("learns_readings", "believed", "jumps"):
        require(isinstance(getattr(law, name), bool), f"`{name}` is {getattr(law, name)!r}")
    require(law.guard is None or law.guard > 0, f"`guard` is {law.guard!r}")
    require(not law.believed or law.learns_readings, "it believes readings and does not learn from them")


def guesses_within_bounds(law: Offset) -> None:
    """Each hyperparameter has a different name, a guess and a prior within positive bounds, and a reason."""
    require(isinstance(law.hyperparameters, tuple), f"`hyperparameters` is {law.hyperparameters!r}")
    names = [each.name for each in law.hyperparameters]
    require(len(set(names)) == len(names), f"the names are {names}")
    for each in law.hyperparameters:
        require(0 < each.low < each.high < math.inf, f"bounds {each.low} and {each.high} of {each.name}")
        require(each.low <= each.guess <= each.high, f"the guess {each.guess} of {each.name}")
        require(each.low <= math.exp(each.mean) <= each.high, f"the prior mean {each.mean} of log {each.name}")
        require(0 < each.deviation < math.inf, f"the prior deviation {each.deviation} of log {each.name}")
        require(each.reason, f"no reason is given for the prior of {each.name}")


def covariance_is_one(law: Offset) -> None:
    """Its covariance is symmetric, finite and positive semidefinite for any readings."""
    for values in _values(law):
        for moments in _moments():
            K = law.covariance(values, moments, moments)
            agree(K, K.T, "the covariance transposed", 1e-12)
            least = float(np.linalg.eigvalsh(0.5 * (K + K.T)).min())
            require(least >= -1e-10 * len(K) * max(1.0, float(np.abs(K).max())), f"an eigenvalue of {least}")


def blocks_agree(law: Offset) -> None:
    """The covariance of some readings with others is a block of the full matrix; without readings it is empty."""
    for values in _values(law):
        for moments in _moments():
            n = len(moments.time) // 3
            some, others, none = moments.take(np.arange(n)), moments.take(np.arange(n, len(moments.time))), np.arange(0)
            K = law.covariance(values, moments, moments)
            agree(law.covariance(values, some, others), K[:n, n:], "the block above", 1e-12)
            agree(law.covariance(values, others, some), K[n:, :n], "the block below", 1e-12)
            shape = law.covariance(values, some, moments.take(none)).shape
            require(shape == (n, 0), f"shape {shape} with no readings")


def derivatives_match(law: Offset) -> None:
    """Its derivatives in the logarithms of its hyperparameters equal central differences of its covariance."""
    for values in _values(law):
        for moments in _moments():
            found = law.derivatives(values, moments, moments)
            require(len(found) == len(values), f"{len(found)} derivatives, {len(values)} hyperparameters")
            for i, each in enumerate(law.hyperparameters):
                up, down = (law.covariance(values * _bump(values, i, s), moments, moments) for s in (STEP, -STEP))
                rounding = 4 * float(np.finfo(np.float64).eps * np.abs(up).max()) / STEP
                agree(found[i], (up - down) / (2 * STEP), f"the derivative in log {each.name}", 1e-6, rounding)


def prepared_agrees(law: Offset) -> None:
    """After preparation for given readings, it has the same covariance and the same derivatives, for any matrix W."""
    for values in _values(law):
        for moments in _moments():
            ready, n = law.prepared(moments), len(moments.time)
            agree(ready.covariance(values), law.covariance(values, moments, moments), "the covariance", 1e-12)
            W = np.tril(np.random.default_rng(0).normal(size=(n, n)))  # the fit passes a triangle
            expected = [0.5 * np.vdot(W, each) for each in law.derivatives(values, moments, moments)]
            agree(ready.gradient(values, W, np.zeros((n, n))), np.array(expected), "the gradient of tr(W K) / 2")


def calm_keeps_the_bounds(law: Offset) -> None:
    """It has as many calm hyperparameters as hyperparameters, and they are within the bounds."""
    for values in _values(law):
        calm = law.calm(tuple(values.tolist()))
        require(len(calm) == len(values), f"{len(calm)} instead of {len(values)}")
        _must_lie_within(law, calm)


def estimates_numbers(law: Offset) -> None:
    """Its first guesses from readings, even few or equal ones, are positive numbers: a fit may start there."""
    rng = np.random.default_rng(0)
    for moments in _moments():
        for n in (0, 1, 2, len(moments.time)):
            for readings in (np.zeros(n), 100 * rng.normal(size=n)):
                found = law.estimate(moments.take(np.arange(n)), readings)
                require(len(found) == len(law.hyperparameters), f"{found} for {n} readings")
                require(all(0 < value < math.inf for value in found), f"{found} for {n} readings")


def is_fitted(law: Offset) -> None:
    """A fit to the readings of a study keeps its hyperparameters within bounds, and estimates its offset."""
    opt = rehearse(Optimizer(box(), offset=law, rng=0))
    learned = opt.study.belief.learned
    assert learned is not None
    require(opt.study.setup.offset == law and learned.law == law, f"the belief assumes {learned.law!r}")
    _must_lie_within(law, learned.hyperparameters.offset)
    offsets = learned.exact.offsets(opt.space.encode(opt.recommend().x))
    if law.learns_readings and not law.believed:
        assert offsets is not None
        require(offsets[1].shape == (READINGS,), "no offset is estimated for each reading")
        require(np.isfinite(offsets).all(), f"an estimated offset is not finite: {offsets}")


def is_resumed(law: Offset) -> None:
    """A logged study with it resumes to the same belief and the same next proposal."""
    must_resume(box(), offset=law)


RULES = rules_of(__name__, is_described, pickles)
"""The rules for a law of the offset."""


def _moments() -> Iterator[Moments]:
    """Yield circumstances of readings: one by one, thinned, and out of order with pairs unknown."""
    rng = np.random.default_rng(0)
    yield _readings(np.arange(30) + 1, np.arange(30) // 2)
    thinned = np.sort(rng.choice(400, 24, replace=False)) + 1
    yield _readings(thinned, (thinned - 1) // 2)
    yield _readings(rng.permutation(18) + 1, np.full(18, -1))


def _readings(time: NDArray[np.intp], pair: NDArray[np.intp]) -> Moments:
    return Moments(time.astype(np.float64), pair.astype(np.float64))


def _values(law: Offset) -> Iterator[FloatArray]:
    """Yield hyperparameters: the guesses, draws from the prior, and both bounds."""
    rng, table = np.random.default_rng(0), law.hyperparameters
    yield np.array([each.guess for each in table])
    yield np.array([_within(each, math.exp(each.mean + each.deviation * rng.normal())) for each in table])
    yield np.array([each.low for each in table])
    yield np.array([each.high for each in table])


def _within(each: Hyperparameter, value: float) -> float:
    return min(max(value, each.low), each.high)


def _bump(values: FloatArray, i: int, step: float) -> FloatArray:
    """Return factors that move the logarithm of hyperparameter i by a step."""
    result = np.ones(len(values))
    result[i] = math.exp(step)
    return result


def _must_lie_within(law: Offset, values: tuple[float, ...]) -> None:
    require(len(values) == len(law.hyperparameters), f"{len(values)} hyperparameters: {values}")
    for each, value in zip(law.hyperparameters, values, strict=True):
        inside = each.low * (1 - 1e-9) <= value <= each.high * (1 + 1e-9)
        require(inside, f"{each.name} = {value}, outside of [{each.low}, {each.high}]")
