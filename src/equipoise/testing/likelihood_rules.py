"""The rules for likelihoods of readings."""

from collections.abc import Collection
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.likelihoods import Likelihood, parsed, written
from equipoise.testing.rule import agree, has, obeys, require, rules_of
from equipoise.testing.shared_rules import is_described, pickles

STEP = 1e-3
"""The step of a central difference in mu, in units of the deviation sqrt(v)."""

NONSENSE: tuple[Any, ...] = (None, "seventeen", float("nan"), float("inf"), (1.0, 2.0, 3.0), (), {}, 1j, True)
"""Values that are not readings under any likelihood."""


def check_likelihood(likelihood: Likelihood, *, without: Collection[str] = ()) -> None:
    """Check a likelihood of readings against the rules for likelihoods.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_likelihood(eq.likelihoods.Poisson())
    """
    obeys(likelihood, RULES, without)


def declares_itself(likelihood: Likelihood) -> None:
    """It states if it is exact, the scale of f, and the format of an answer."""
    has(likelihood, ("exact", "scale", "example", "check", "glance", "tilt", "expected", "draw"))
    require(isinstance(likelihood.exact, bool), f"`exact` is {likelihood.exact!r}")
    for name in ("scale", "example"):
        require(isinstance(getattr(likelihood, name), str), f"`{name}` is {getattr(likelihood, name)!r}")
    require(likelihood.exact == (not likelihood.scale), "it is exact if and only if f has the scale of the readings")


def reads_what_is_written(likelihood: Likelihood) -> None:
    """It parses what people write as an answer of one or two numbers, and writes it back in the same way."""
    texts = [likelihood.example, *(written(*y) for y in _drawn(likelihood).tolist())]
    for text in texts:
        numbers = likelihood.check("value", parsed(text))
        require(len(numbers) in (1, 2) and all(type(each) is float for each in numbers), f"{text!r} is {numbers!r}")
        require(written(*numbers) == text, f"{text!r} is written {written(*numbers)!r} again")


def refuses_nonsense(likelihood: Likelihood) -> None:
    """It refuses anything but an answer, with a message that names the argument and shows the value."""
    for value in NONSENSE:
        try:
            found = likelihood.check("value", value)
        except (TypeError, ValueError) as error:
            require("`value" in str(error) and repr(value) in str(error), f"{value!r} is refused with: {error}")
        else:
            require(False, f"{value!r} is mistaken for {found!r}")


def derivatives_match(likelihood: Likelihood) -> None:
    """Slope and curvature of log Z equal central differences in the mean of the belief."""
    y, mu, v = _beliefs(likelihood)
    found, step = likelihood.tilt(y, mu, v), STEP * np.sqrt(v)
    up, down = (likelihood.tilt(y, mu + side * step, v) for side in (1.0, -1.0))
    scale = np.maximum(1.0, np.abs(found.slope) * np.sqrt(v))
    agree((up.log_z - down.log_z) / (2 * STEP) / scale, found.slope * np.sqrt(v) / scale, "the slope", 1e-5)
    bend = (down.slope - up.slope) * np.sqrt(v) / (2 * STEP)
    agree(bend, found.curvature * v, "the curvature", 1e-5)


def beliefs_mix(likelihood: Likelihood) -> None:
    """Z under a wide belief is the mean of Z under the narrow beliefs that mix to it."""
    y, mu, v = _beliefs(likelihood)
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    narrow = [likelihood.tilt(y, mu + np.sqrt(0.75 * v) * node, 0.25 * v).log_z for node in nodes]
    wide = likelihood.tilt(y, mu, v).log_z
    mixed = np.log(np.exp(np.array(narrow) - wide).T @ (weights / weights.sum()))
    agree(mixed, np.zeros(len(v)), "the logarithm of Z mixed over Z", 1e-5)


def is_log_concave(likelihood: Likelihood) -> None:
    """An answer never makes a belief less certain, nor more than certain: 0 <= v curvature <= 1."""
    y, mu, v = _beliefs(likelihood)
    share = likelihood.tilt(y, mu, v).curvature * v
    require((share >= -1e-12).all() and (share <= 1 + 1e-12).all(), f"v curvature from {share.min()} to {share.max()}")


def broadcasts(likelihood: Likelihood) -> None:
    """It gives a subset of answers the same results as within all answers, and no results for no answers."""
    y, mu, v = _beliefs(likelihood)
    some = np.arange(0, len(v), 3)
    agree(likelihood.tilt(y[some], mu[some], v[some]).log_z, likelihood.tilt(y, mu, v).log_z[some], "log Z of some")
    for part, whole in zip(likelihood.glance(y[some]), likelihood.glance(y), strict=True):
        agree(part, whole[some], "the glance at some")
    require(likelihood.tilt(y[:0], mu[:0], v[:0]).slope.shape == (0,), "no answers have a slope")


def glance_is_near(likelihood: Likelihood) -> None:
    """Its glance is close to the outcome that makes the answer likeliest, with a variance above zero."""
    y, _, _ = _beliefs(likelihood)
    outcome, variance = likelihood.glance(y)
    require(np.isfinite(outcome).all() and np.isfinite(variance).all(), f"{outcome}, {variance}")
    if likelihood.exact:
        return
    require((variance > 0).all(), f"variances {variance}")
    wide = np.full(len(y), 9.0)
    found = likelihood.tilt(y, outcome, wide)
    require((np.abs(found.slope) * np.sqrt(wide) < 1.0).all(), f"from its glance the belief moves by {found.slope * 9}")


def survives_extremes(likelihood: Likelihood) -> None:
    """Beliefs that are far off, narrow or wide give finite numbers."""
    y = _drawn(likelihood)
    for far in (-300.0, 0.0, 300.0):
        for variance in (1e-12, 1.0, 1e4):
            n = len(y)
            found = likelihood.tilt(y, np.full(n, far), np.full(n, variance))
            for name in ("log_z", "slope", "curvature"):
                require(np.isfinite(getattr(found, name)).all(), f"{name} at N({far}, {variance}) is not finite")


def expects_more_of_more(likelihood: Likelihood) -> None:
    """The expected reading grows with u, and drawn answers have about that mean."""
    u = np.linspace(-2.0, 2.0, 9)
    mean = likelihood.expected(u)
    require((np.diff(mean) > 0).all(), f"the expected readings are {mean}")
    rng = np.random.default_rng(0)
    for each in (-1.0, 1.0):
        drawn = [likelihood.check("value", likelihood.draw(each, rng)) for _ in range(2000)]
        values = np.array([y[0] / (y[1] if len(y) > 1 else 1.0) for y in drawn])
        off = abs(float(values.mean()) - float(likelihood.expected(np.array([each]))[0]))
        require(
            off <= 5 * float(values.std()) / 2000**0.5 + 1e-9, f"at {each} the mean of what is drawn is off by {off}"
        )


RULES = rules_of(__name__, is_described, pickles)
"""The rules for a likelihood of readings."""


def _drawn(likelihood: Likelihood) -> FloatArray:
    """Return answers at all levels, shape (n, k)."""
    rng = np.random.default_rng(0)
    answers: list[Any] = [likelihood.draw(u, rng) for u in np.repeat(np.linspace(-4.0, 5.0, 10), 2)]
    return np.array([likelihood.check("value", answer) for answer in answers])


def _beliefs(likelihood: Likelihood) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return answers, and the mean and variance of a belief about each: near and far, narrow and wide."""
    y = _drawn(likelihood)
    near = likelihood.glance(y)[0]
    table = [(each, at + shift, v) for each, at in zip(y, near, strict=True) for shift in (-2, 0, 1) for v in (0.01, 2)]
    numbers, mu, v = zip(*table, strict=True)
    return np.array(numbers), np.array(mu), np.array(v)
