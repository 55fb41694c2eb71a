"""Jumps of the offset: found where the readings insist on one.

    symbol   meaning                                                          shape
    h        indicator of the readings from some time on                      (n,)
    a, b     h'P h and h'P y, P = (K + lambda I)^-1                           ()

A jump adds h h' to the covariance of the readings. The likelihood is largest at variance (b^2/a - 1)/a, and b^2/a is
chi-squared without a jump.
"""

from dataclasses import replace

import numpy as np

from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.evidence import MAX_FITTED_DATA
from equipoise.belief.model import Form, Hyperparameters, Model
from equipoise.kernels import Scaled

RECENT_READINGS = 16
"""How many of the last readings are looked at for a jump before them."""

MIN_READINGS = 12
"""Before there are so many readings nothing is taken for a jump: too little is known of f and of the noise."""

MIN_STEPS = 2.0
"""Smaller jumps than so many typical steps are left to the random walk."""

MAX_JUMPS_PER_REFIT = 4
"""An offset that seems to need more jumps, all overlooked since the last fit, does not jump but wander."""

BOLDER_DEVIATIONS = 5.0
"""What f would explain if its standard deviation were so many times as large is not taken for a jump."""

Jump = tuple[float, float]
"""Time and variance of a jump."""


def largest_jump(exact: AnywherePosterior, recent: int, step: float, threshold: float) -> Jump | None:
    """Return the jump among the last readings that explains them best, if one does.

    What the last reading alone explains best must wait: it cannot tell a jump of the offset from a surprise of f.

    Args:
        exact: The belief.
        recent: How many of the last readings may be the first after the jump.
        step: The typical step of the readings.
        threshold: How many standard deviations a jump must explain.
    """
    data = exact.observations
    assert data is not None
    n = len(data)
    first = np.arange(max(1, n - recent), n)
    a, b = exact.surprise((np.arange(n)[:, None] >= first).astype(np.float64))
    z2 = b**2 / a
    variance = np.maximum(z2 - 1.0, 0.0) / a
    z2[variance < (MIN_STEPS * step) ** 2] = 0.0
    best = int(z2.argmax())
    if first[best] == n - 1 or z2[best] <= threshold**2:
        return None
    return float(data.moments.time[first[best]]), float(variance[best])


def sudden_jump(exact: AnywherePosterior, step: float, threshold: float) -> Jump | None:
    """Return a jump that the last readings insist on, also if f may vary far more than believed."""
    if exact.offset is None or not exact.law.jumps or len(exact.observations or ()) < MIN_READINGS:
        return None
    found = largest_jump(exact, RECENT_READINGS, step, threshold)
    if found is None:
        return None
    bolder = exact.under(Model(Scaled(exact.kernel, BOLDER_DEVIATIONS**2), exact.regularizer, exact.offset))
    return None if largest_jump(bolder, RECENT_READINGS, step, threshold) is None else found


def overlooked_jumps(
    exact: AnywherePosterior, form: Form, learned: Hyperparameters, threshold: float
) -> tuple[Jump, ...]:
    """Return the jumps of all times, beside those known, that an f and an offset would need which vary little.

    Before anything is known of f, a jump passes for a step of f or for a random walk, and the fit then holds on to
    that. Among very many data it is too late to ask, and too costly.
    """
    n = len(exact.observations or ())
    if not form.law.jumps or exact.offset is None or n > MAX_FITTED_DATA:
        return ()
    guess, known = form.guess(), exact.offset.jumps
    lengthscales = tuple(np.maximum(learned.lengthscales, guess.lengthscales).tolist())
    calm = replace(learned, lengthscales=lengthscales, variance=min(learned.variance, guess.variance))
    calm = replace(calm, offset=form.law.calm(learned.offset))
    found: tuple[Jump, ...] = ()
    while len(found) <= MAX_JUMPS_PER_REFIT:
        posterior = exact.under(form.model(calm, (*known, *found)))
        jump = largest_jump(posterior, n, learned.step, threshold)
        if jump is None:
            return found
        found = (*found, jump)
    return ()
