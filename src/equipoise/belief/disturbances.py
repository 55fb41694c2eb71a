"""Disturbances beyond the law of the offset: jumps, which last, blips, which spoil one reading, and seasons.

    symbol   meaning                                                          shape
    h        which readings a disturbance touches: all from some time on,
             or a single one; cosine and sine of a period                     (n,) or (n, 2)
    a, b     h'P h and h'P y, P = (K + lambda I)^-1                           ()
    r        b / a: by how much one reading surprises all others              ()
    w        variance of the step of the offset before each reading           (T,)

A disturbance adds h h' to the covariance of the readings. The likelihood is largest at variance (b^2/a - 1)/a, and
b^2/a is chi-squared where there is none. A reading that is the first of a jump looks like a blip until the next one; so
blips among the last readings are judged again with every reading, and the larger b^2/a wins.

A wave of one period is chi-squared with two degrees of freedom if there is none. A fit that knows of no season takes it
for a fast wave or for noise and holds on to that, so its period is looked for under an offset that changes little.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.evidence import MAX_FITTED_DATA
from equipoise.belief.model import Form, Hyperparameters, Model
from equipoise.belief.observations import Observations
from equipoise.kernels import Scaled
from equipoise.offsets import LAST_READING, Covariate, Disturbance, OffsetModel

RECENT_READINGS = 16
"""How many of the last readings are looked at for a disturbance."""

MIN_READINGS = 12
"""With fewer readings nothing counts as a disturbance: too little is known about f and the noise."""

MIN_STEPS = 2.0
"""Smaller disturbances than this many typical steps are left to the noise and the random walk."""

MAX_FOUND = 4
"""No more disturbances than this are found at a time; an offset that seems to need more jumps, all overlooked since the
last fit, does not jump but wander."""

BOLDER_DEVIATIONS = 5.0
"""What f would explain if its standard deviation were this many times as large is no disturbance."""

OUTLYING_DEVIATIONS = 12.0
"""Readings this many deviations away from those around them in time, f and all, may be spoiled."""

MIN_OUTLIER_READINGS = 8
"""Among fewer readings nobody knows which are the outliers."""

NEARBY = 0.03
"""Root mean square distance, in extents, of two readings that are of one place while no lengthscale is known."""

SAME_PLACE = 0.97
"""Two readings whose values of f are correlated at least so much are of one place."""

AGREEING = 0.5
"""Two surprises at one place that differ by less than this much of the larger are no blips but a discovery."""


MAX_STEPPING = 400
"""Among more readings an offset that steps often is not looked for: it would cost more than the fit."""

MOST_STEPPING_PARAMETERS = 8
"""With more parameters f is too little known to be told from steps: with 18 a walk was mistaken for steps, which cost
38 % (one run of 300 readings).
"""

STEPPING_ROUNDS = 12
"""Rounds of EM: twice as many found no better jumps (camel2, a new level every 5 readings)."""

ACTIVE_STEP = 4.0
"""A step of at least this multiple of a quiet variance is a jump; the noise and the walk explain the others."""

LEAST_STEP = 1e-6
"""No step's variance falls below this share of a quiet one's: it could not grow again."""


MIN_SEASON_READINGS = 24
"""Among fewer readings no season is looked for: a wave of any period explains some of so few."""

MAX_SEASON_READINGS = 400
"""Among more readings none is looked for: it would cost more than the fit."""

MIN_CYCLES = 3.0
"""A season was seen this often: less of it passes for a drift, which the law follows by itself."""

SHORTEST_SEASON = 3.0
"""The shortest period, in readings: faster is noise."""

FINENESS = 6
"""Frequencies that are tried for each cycle more over all readings."""


def sudden(exact: AnywherePosterior, step: float, threshold: float) -> OffsetModel | None:
    """Return the offset with the disturbances that the last readings insist on, also if f may vary far more.

    Args:
        exact: The belief.
        step: The typical step of the readings.
        threshold: How many standard deviations a disturbance must explain.

    Returns:
        `None` where nothing changes.
    """
    offset = exact.offset
    if offset is None or not exact.law.jumps or exact.observations is None or len(_own(exact)) < MIN_READINGS:
        return None
    since = _time(exact, int(_own(exact)[-RECENT_READINGS:][0]))
    settled = replace(offset, blips=tuple(blip for blip in offset.blips if blip[0] < since))
    now = exact if settled == offset else exact.under(Model(exact.kernel, exact.regularizer, settled))
    for _ in range(MAX_FOUND):
        found = _largest(now, step, threshold)
        if found is None:
            break
        now = now.under(Model(now.kernel, now.regularizer, found))
    return None if now.offset == offset else now.offset


def overlooked(exact: AnywherePosterior, form: Form, learned: Hyperparameters, threshold: float) -> OffsetModel | None:
    """Return the offset with the disturbances of all times that an f and an offset would need which vary little.

    Before anything is known of f, a jump passes for a step of f or for a random walk, and the fit then holds on to
    that. Among very many data it is too late to ask, and too costly.

    Returns:
        `None` where there are none, or this many jumps that the offset does not jump but wander.
    """
    n, known = exact.size, exact.offset
    if not form.law.jumps or known is None or n > MAX_FITTED_DATA or len(_own(exact)) < 2:
        return None
    found, calm = known, _calm(form, learned)
    while len(found.jumps) - len(known.jumps) <= MAX_FOUND and len(found.blips) - len(known.blips) <= n // 5:
        posterior = exact.under(form.model(calm, found.jumps, found.blips))
        jump, blip = _candidates(posterior, n, learned.step)
        if max(jump[0], blip[0]) <= threshold**2:
            return None if found == known else found
        (_, index, variance), add = (jump, found.jumping) if jump[0] > blip[0] else (blip, found.blipping)
        found = add((_time(exact, index), variance))
    return None


def _calm(form: Form, learned: Hyperparameters) -> Hyperparameters:
    """Return hyperparameters of an f and an offset that vary little, but for jumps."""
    guess = form.guess()
    lengthscales = tuple(np.maximum(learned.lengthscales, guess.lengthscales).tolist())
    calm = replace(learned, lengthscales=lengthscales, variance=min(learned.variance, guess.variance))
    return replace(calm, offset=form.law.calm(learned.offset))


def stepping(exact: AnywherePosterior, form: Form, learned: Hyperparameters, density: float) -> tuple[Disturbance, ...]:
    """Return the jumps of an offset that is at rest between many of them; none if it does not step so.

    Every step of the offset has its own variance, found by EM: w <- E[step^2] = w + w^2 (b^2 - a). Most of them
    vanish (automatic relevance determination, MacKay 1992); those that remain are the jumps.

    Args:
        exact: The belief.
        form: The form of its model.
        learned: Its hyperparameters.
        density: Logarithm of the density of the data; steps under which they are less likely are not returned.
    """
    data = exact.observations
    if not form.law.jumps or exact.offset is None or data is None or exact.digest is not None:
        return ()
    own, y = _own(exact), data.outcomes
    if len(own) < MIN_READINGS or len(y) > MAX_STEPPING or form.parameters > MOST_STEPPING_PARAMETERS:
        return ()
    d, calm = np.diff(y[own]), exact.under(form.model(_calm(form, learned), (), ()))
    quiet = float(np.median(np.abs(d)) * 1.4826) ** 2 / 2  # two readings differ by a step and two noises
    if quiet == 0.0:
        return ()
    K, w = calm._L @ calm._L.T, np.full(len(d), float(np.mean(d**2)) / 2)
    for _ in range(STEPPING_ROUNDS):
        a, b, _ = _of_steps(K, y, own, w)
        w = np.maximum(w + w * w * (b * b - a), LEAST_STEP * quiet)
    active = w > ACTIVE_STEP * quiet
    active[-1] = False  # a jump before the last reading is a blip, so far
    if 2 * np.count_nonzero(active) > len(w) or _of_steps(K, y, own, w * active)[2] <= density:
        return ()
    return tuple((_time(exact, int(own[t + 1])), float(w[t])) for t in np.flatnonzero(active))


def _of_steps(
    K: FloatArray, y: FloatArray, own: NDArray[np.intp], w: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return a and b of the step before each own reading but the first, shapes (T,), and the log likelihood.

    Args:
        K: Covariance of the readings without any step, shape (n, n).
        y: The readings, shape (n,).
        own: Which of them a step changes, ascending, shape (T + 1,).
        w: Variance of each step, shape (T,).
    """
    level, V = np.concatenate(([0.0], np.cumsum(w))), K.copy()
    if len(own) == len(y):
        V += np.minimum.outer(level, level)  # sum_t w_t h_t h_t', h_t 1 from reading t on
    else:
        V[np.ix_(own, own)] += np.minimum.outer(level, level)
    L, lapack = _linalg.safe_cholesky(V), _linalg.lapack()
    half, alpha = float(np.log(L.diagonal()).sum()), lapack.dpotrs(L, y, lower=1)[0]
    P = lapack.dpotri(L, lower=1, overwrite_c=1)[0]  # the lower triangle of the inverse, with zeros in the other
    P = P if len(own) == len(y) else P[np.ix_(own, own)]
    a = 2.0 * P.sum(axis=0) - P.diagonal()  # a_t - a_(t+1): h_t'P h_t is the sum over a corner of P
    likelihood = -0.5 * float(y @ alpha) - half
    return a[:0:-1].cumsum()[::-1], alpha[own][:0:-1].cumsum()[::-1], likelihood


def season(exact: AnywherePosterior, form: Form, learned: Hyperparameters, threshold: float) -> float:
    """Return the period of the wave that explains the readings best under an offset that changes little.

    Args:
        exact: The belief.
        form: The form of its model.
        learned: Its hyperparameters.
        threshold: By how many standard deviations the wave must explain them, if the law does not know of any yet.

    Returns:
        The period; 0 if there is none, and the known one if there are too many readings to look.
    """
    data = exact.observations
    if not form.law.jumps or exact.offset is None or data is None or exact.digest is not None:
        return form.period
    own = _own(exact)
    if not MIN_SEASON_READINGS <= len(own) <= MAX_SEASON_READINGS or len(data) > MAX_SEASON_READINGS:
        return form.period
    t = data.moments.time[own]
    span = float(np.ptp(t)) + 1.0
    cycles = np.arange(MIN_CYCLES, span / SHORTEST_SEASON, 1.0 / FINENESS)
    still = form.accounting(data.moments, form.feedback)
    quiet = _calm(still, still.carried(learned, form))
    found = explained(exact.under(still.model(quiet, exact.offset.jumps, exact.offset.blips)), cycles / span)
    best = int(found.argmax())
    if 0 < best < len(found) - 1:  # the top of the parabola through the best three
        left, top, right = found[best - 1 : best + 2]
        cycles[best] += 0.5 * (left - right) / (left - 2 * top + right) / FINENESS
    period = span / float(cycles[best])
    if form.period:
        return period
    clear = explained(exact, cycles[best : best + 1] / span)[0] > threshold**2
    return period if clear else 0.0


def explained(exact: AnywherePosterior, frequencies: FloatArray) -> FloatArray:
    """Return by how much waves explain the readings, b'A^-1 b of each, shape (k,).

    Args:
        exact: The belief.
        frequencies: Cycles a reading, shape (k,).
    """
    assert exact.observations is not None
    own, k = _own(exact), len(frequencies)
    angle = 2 * math.pi * exact.observations.moments.time[own, None] * frequencies
    waves = np.zeros((len(exact.observations), 2 * k))
    waves[own] = np.concatenate((np.cos(angle), np.sin(angle)), axis=1)
    c, s = np.split(exact.solve(waves), 2, axis=1)
    cc, ss, cs = (np.einsum("nk,nk->k", *each) for each in ((c, c), (s, s), (c, s)))
    bc, bs = exact.whitened @ c, exact.whitened @ s
    chi2: FloatArray = (bc * bc * ss - 2 * bc * bs * cs + bs * bs * cc) / (cc * ss - cs * cs)
    return chi2


def answers(exact: AnywherePosterior, threshold: float) -> bool:
    """Return whether the instrument seems to answer to what it has read before: whether that explains the readings.

    Args:
        exact: The belief, whose offset does not answer to anything.
        threshold: By how many standard deviations.
    """
    data = exact.observations
    if data is None or exact.offset is None or len(data) < MIN_READINGS:
        return False
    before = Covariate.of(LAST_READING, data.moments).standardized(data.moments)
    a, b = _surprise(exact, before[:, None])
    return bool(b[0] ** 2 > threshold**2 * a[0])


def outliers(data: Observations, extent: FloatArray) -> tuple[Disturbance, ...]:
    """Return the readings that lie far from those around them in time, as blips; without any model.

    Args:
        data: Absolute readings.
        extent: Range of each coordinate, shape (d,).
    """
    own = np.flatnonzero(data.moments.campaign == "")
    n = len(own)
    if n < MIN_OUTLIER_READINGS:
        return ()
    data = data if n == len(data) else data.take(own)
    y = data.outcomes
    around = np.clip(np.arange(n) - 4, 0, max(n - 9, 0))[:, None] + np.arange(min(n, 9))  # nine readings, or all
    residual = y - np.median(y[around], axis=1)
    scale = float(np.median(np.abs(residual))) * 1.4826  # the deviation of normal numbers by their median
    far = np.abs(residual) > OUTLYING_DEVIATIONS * scale
    return tuple(
        (float(data.moments.time[i]), float(residual[i] ** 2))
        for i in (np.flatnonzero(far).tolist() if scale > 0 else [])
        if not _confirmed(i, residual, data.points / extent)
    )


def _confirmed(i: int, residual: FloatArray, points: FloatArray) -> bool:
    """Return whether readings nearby are as far off: then it is f that is."""
    distance = np.sqrt(((points - points[i]) ** 2).mean(axis=1))
    near = (distance < NEARBY) & (np.arange(len(points)) != i)
    return _mostly_agree(residual[near], float(residual[i]))


def _largest(exact: AnywherePosterior, step: float, threshold: float) -> OffsetModel | None:
    """Return the offset with one more disturbance, the one that explains the last readings best, if one does."""
    offset = exact.offset
    assert offset is not None
    jump, blip = _candidates(exact, RECENT_READINGS, step)
    bolder: AnywherePosterior | None = None
    for is_jump, (z2, index, variance) in sorted(((True, jump), (False, blip)), key=lambda each: -each[1][0]):
        if z2 <= threshold**2:
            return None
        if bolder is None:
            wider = Scaled(exact.kernel, BOLDER_DEVIATIONS**2)
            bolder = exact.under(Model(wider, exact.regularizer, offset))
        if _candidates(bolder, RECENT_READINGS, step)[0 if is_jump else 1][0] <= threshold**2:
            continue
        found = (_time(exact, index), variance)
        if is_jump:
            return offset.jumping(found)
        return None if _discovered(exact, index) else offset.blipping(found)
    return None


Candidate = tuple[float, int, float]
"""b^2/a of a disturbance, the index of the first reading it touches, and its variance."""


def _candidates(exact: AnywherePosterior, recent_readings: int, step: float) -> tuple[Candidate, Candidate]:
    """Return the jump and the blip among the last readings that explain them best."""
    n, own = len(exact.observations or ()), _own(exact)
    recent = own[max(1, len(own) - recent_readings) :]
    after = np.zeros((n, len(recent)))
    after[own] = own[:, None] >= recent
    z2, variance = _explained(exact, np.concatenate((after, np.identity(n)[:, recent]), axis=1), step)
    k = len(recent)
    z2[k - 1] = 0.0  # a jump before the last reading is a blip, so far
    jump, blip = int(z2[:k].argmax()), int(z2[k:].argmax()) + k
    return tuple((float(z2[i]), int(recent[i % k]), float(variance[i])) for i in (jump, blip))  # type: ignore[return-value]


def _surprise(exact: AnywherePosterior, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a and b of each direction h among the data that are not folded, one per column, shapes (j,)."""
    folded = 0 if exact.digest is None else len(exact.digest)
    solved = exact.solve(np.concatenate((np.zeros((folded, directions.shape[1])), directions)))
    return np.einsum("nj,nj->j", solved, solved), exact.whitened @ solved


def _explained(exact: AnywherePosterior, directions: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Return b^2/a and the likeliest variance of disturbances, one per column; zero if they are too small to count."""
    a, b = _surprise(exact, directions)
    z2 = b**2 / a
    variance: FloatArray = np.maximum(z2 - 1.0, 0.0) / a
    z2[variance < (MIN_STEPS * step) ** 2] = 0.0
    return z2, variance


def _discovered(exact: AnywherePosterior, index: int) -> bool:
    """Return whether other readings of the same place surprise in the same way: then it is f that surprises."""
    data = exact.observations
    assert data is not None
    x = data.points[index : index + 1]
    alike = exact.kernel(x, data.points)[0] >= SAME_PLACE * float(exact.kernel.diagonal(x)[0])
    alike[index] = False
    others = np.flatnonzero(alike)
    if not len(others):
        return False
    a, b = _surprise(exact, np.eye(len(data))[:, np.append(others, index)])
    surprise = b / a
    return _mostly_agree(surprise[:-1], float(surprise[-1]))


def _mostly_agree(others: FloatArray, own: float) -> bool:
    """Return whether at least half of other surprises, and one, are about as large as one's own."""
    agreeing = np.count_nonzero(np.abs(others - own) < AGREEING * np.maximum(np.abs(others), abs(own)))
    return bool(agreeing > 0 and 2 * agreeing >= len(others))


def _own(exact: AnywherePosterior) -> NDArray[np.intp]:
    """Return which readings are of the study itself: disturbances are looked for among these."""
    assert exact.observations is not None
    return np.flatnonzero(exact.observations.moments.campaign == "")


def _time(exact: AnywherePosterior, index: int) -> float:
    assert exact.observations is not None
    return float(exact.observations.moments.time[index])
