"""Disturbances beyond the law of the offset: lasting jumps, blips that spoil one reading, and seasons.

    symbol   meaning                                                          shape
    h        the readings a disturbance affects: all from some time on,
             or a single one; cosine and sine of a period                     (n,) or (n, 2)
    a, b     h'P h and h'P y, P = (K + lambda I)^-1                           ()
    r        b / a: deviation of one reading from the prediction of the rest  ()
    w        variance of the step of the offset before each reading           (T,)

A disturbance adds h h' to the covariance of the readings. The likelihood is largest at variance (b^2/a - 1)/a. Without
a disturbance, b^2/a is chi-squared. The first reading after a jump looks like a blip until the next one. Therefore
blips among the last readings are reconsidered after every reading, and the larger b^2/a wins.

Without a season, the statistic of a wave is chi-squared with two degrees of freedom. A fit without a season explains
one as a fast wave or noise and does not revise this, so the period is searched for under an offset that changes little.
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
"""The number of last readings examined for a disturbance."""

MIN_READINGS = 12
"""The fewest readings for detecting disturbances: with fewer, too little is known about f and the noise."""

MIN_STEPS = 2.0
"""The smallest disturbance, in typical steps: the noise and the random walk explain smaller ones."""

MAX_FOUND = 4
"""The most disturbances found at a time. If an offset seems to need more jumps, all overlooked since the last fit, it
does not jump but drifts."""

BOLDER_DEVIATIONS = 5.0
"""The factor on the standard deviation of f under which a disturbance must remain: else f explains it."""

OUTLYING_DEVIATIONS = 12.0
"""The deviation from neighbors in time, including changes of f, beyond which a reading may be spoiled."""

MIN_OUTLIER_READINGS = 8
"""The fewest readings for detecting outliers: among fewer, outliers cannot be identified."""

NEARBY = 0.03
"""The root mean square distance, in extents, within which readings share a place while no lengthscale is known."""

SAME_PLACE = 0.97
"""The least correlation of f at which two readings share a place."""

AGREEING = 0.5
"""Two surprises at one place that differ by less than this share of the larger are a discovery, not blips."""


MAX_STEPPING = 400
"""The most readings for detecting an offset that steps often: with more, this would cost more than the fit."""

MOST_STEPPING_PARAMETERS = 8
"""The most parameters: with more, f is known too poorly to be distinguished from steps. With 18, a walk was mistaken
for steps, which cost 38 % (one run of 300 readings).
"""

STEPPING_ROUNDS = 12
"""The rounds of EM: twice as many found no better jumps (camel2, a new level every 5 readings)."""

ACTIVE_STEP = 4.0
"""A step with at least this multiple of the quiet variance is a jump; noise and walk explain the others."""

LEAST_STEP = 1e-6
"""The least variance of a step, as a share of the quiet one: from below it could not grow again."""


MIN_SEASON_READINGS = 24
"""The fewest readings for detecting a season: a wave of any period explains some of fewer."""

MAX_SEASON_READINGS = 400
"""The most readings for detecting a season: with more, this would cost more than the fit."""

MIN_CYCLES = 3.0
"""The fewest cycles of a season: the law follows fewer as a drift."""

SHORTEST_SEASON = 3.0
"""The shortest period, in readings: shorter ones are noise."""

FINENESS = 6
"""The number of frequencies tried per additional cycle over all readings."""


def sudden(exact: AnywherePosterior, step: float, threshold: float) -> OffsetModel | None:
    """Return the offset with the disturbances that the last readings require, even if f may vary far more.

    Each must explain `threshold` standard deviations; `None` if nothing changes.
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
    """Return the offset with all disturbances needed, at any time, if f and the offset vary little.

    While f is unknown, a jump looks like a step of f or like a random walk, and later fits do not revise this. With
    very many data this check is too late, and too costly.

    Returns:
        `None` if there are none, or more than `MAX_FOUND` jumps: then the offset drifts rather than jumps.
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
    """Return hyperparameters of an f and an offset that vary little apart from jumps."""
    guess = form.guess()
    lengthscales = tuple(np.maximum(learned.lengthscales, guess.lengthscales).tolist())
    calm = replace(learned, lengthscales=lengthscales, variance=min(learned.variance, guess.variance))
    return replace(calm, offset=form.law.calm(learned.offset))


def stepping(exact: AnywherePosterior, form: Form, learned: Hyperparameters, density: float) -> tuple[Disturbance, ...]:
    """Return the jumps of an offset that steps often and is constant in between; none if it does not.

    Every step of the offset has a separate variance, found by EM: w <- E[step^2] = w + w^2 (b^2 - a). Most of them
    vanish (automatic relevance determination, MacKay 1992); the remaining ones are the jumps. Steps that reduce
    `density`, the logarithm of the density of the data, are not returned.
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
        w = np.maximum(w + w * (w * (b * b - a)), LEAST_STEP * quiet)  # w * w may overflow
    active = w > ACTIVE_STEP * quiet
    active[-1] = False  # so far, a jump before the last reading is a blip
    if 2 * np.count_nonzero(active) > len(w) or _of_steps(K, y, own, w * active)[2] <= density:
        return ()
    return tuple((_time(exact, int(own[t + 1])), float(w[t])) for t in np.flatnonzero(active))


def _of_steps(
    K: FloatArray, y: FloatArray, own: NDArray[np.intp], w: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return a and b of the step before each own reading except the first, shapes (T,), and the log likelihood.

    Args:
        K: Covariance of the readings without any step, shape (n, n).
        y: The readings, shape (n,).
        own: The indices of the readings that a step changes, ascending, shape (T + 1,).
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
    """Return the period of the wave that best explains the readings under an offset that changes little, or 0.

    It must explain `threshold` standard deviations; a season that the law has already need not, and stays if there
    are too many readings to search.
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
    if 0 < best < len(found) - 1:  # the maximum of the parabola through the best three
        left, top, right = found[best - 1 : best + 2]
        cycles[best] += 0.5 * (left - right) / (left - 2 * top + right) / FINENESS
    period = span / float(cycles[best])
    if form.period:
        return period
    clear = explained(exact, cycles[best : best + 1] / span)[0] > threshold**2
    return period if clear else 0.0


def explained(exact: AnywherePosterior, frequencies: FloatArray) -> FloatArray:
    """Return how well waves of these frequencies, in cycles per reading, explain the readings: b'A^-1 b, shape (k,)."""
    assert exact.observations is not None
    own, k = _own(exact), len(frequencies)
    angle = 2 * math.pi * exact.observations.moments.time[own, None] * frequencies
    waves = np.zeros((len(exact.observations), 2 * k))
    waves[own] = np.concatenate((np.cos(angle), np.sin(angle)), axis=1)
    c, s = np.split(exact.solve(waves), 2, axis=1)
    cc, ss, cs = (np.einsum("nk,nk->k", *each) for each in ((c, c), (s, s), (c, s)))
    bc, bs = exact.whitened @ c / np.sqrt(cc), exact.whitened @ s / np.sqrt(ss)
    shared = cs / np.sqrt(cc) / np.sqrt(ss)  # in this form, no product of squares leaves the range of a float
    chi2: FloatArray = (bc * bc - 2 * bc * bs * shared + bs * bs) / (1 - shared * shared)
    return chi2


def answers(exact: AnywherePosterior, threshold: float) -> bool:
    """Return whether the previous reading seems to affect the instrument: it explains `threshold` deviations."""
    data = exact.observations
    if data is None or exact.offset is None or len(data) < MIN_READINGS:
        return False
    before = Covariate.of(LAST_READING, data.moments).standardized(data.moments)
    a, b = _surprise(exact, before[:, None])
    return bool(b[0] ** 2 > threshold**2 * a[0])


def outliers(data: Observations, extent: FloatArray) -> tuple[Disturbance, ...]:
    """Return the absolute readings that lie far from their neighbors in time, as blips, without using a model."""
    own = np.flatnonzero(data.moments.campaign == "")
    n = len(own)
    if n < MIN_OUTLIER_READINGS:
        return ()
    data = data if n == len(data) else data.take(own)
    y = data.outcomes
    around = np.clip(np.arange(n) - 4, 0, max(n - 9, 0))[:, None] + np.arange(min(n, 9))  # nine readings, or all
    residual = y - np.median(y[around], axis=1)
    scale = float(np.median(np.abs(residual))) * 1.4826  # the standard deviation of normal numbers from their median
    far = np.abs(residual) > OUTLYING_DEVIATIONS * scale
    return tuple(
        (float(data.moments.time[i]), float(residual[i] ** 2))
        for i in (np.flatnonzero(far).tolist() if scale > 0 else [])
        if not _confirmed(i, residual, data.points / extent)
    )


def _confirmed(i: int, residual: FloatArray, points: FloatArray) -> bool:
    """Return whether nearby readings deviate as much: then f explains the deviation."""
    distance = np.sqrt(((points - points[i]) ** 2).mean(axis=1))
    near = (distance < NEARBY) & (np.arange(len(points)) != i)
    return _mostly_agree(residual[near], float(residual[i]))


def _largest(exact: AnywherePosterior, step: float, threshold: float) -> OffsetModel | None:
    """Return the offset with the disturbance added that best explains the last readings, if there is one."""
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
"""b^2/a of a disturbance, the index of the first reading it affects, and its variance."""


def _candidates(exact: AnywherePosterior, recent_readings: int, step: float) -> tuple[Candidate, Candidate]:
    """Return the jump and the blip that best explain the last readings."""
    n, own = len(exact.observations or ()), _own(exact)
    recent = own[max(1, len(own) - recent_readings) :]
    after = np.zeros((n, len(recent)))
    after[own] = own[:, None] >= recent
    z2, variance = _explained(exact, np.concatenate((after, np.identity(n)[:, recent]), axis=1), step)
    k = len(recent)
    z2[k - 1] = 0.0  # so far, a jump before the last reading is a blip
    jump, blip = int(z2[:k].argmax()), int(z2[k:].argmax()) + k
    return tuple((float(z2[i]), int(recent[i % k]), float(variance[i])) for i in (jump, blip))  # type: ignore[return-value]


def _surprise(exact: AnywherePosterior, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a and b of each direction h among the unfolded data, one per column, shapes (j,)."""
    folded = 0 if exact.digest is None else len(exact.digest)
    solved = exact.solve(np.concatenate((np.zeros((folded, directions.shape[1])), directions)))
    return np.einsum("nj,nj->j", solved, solved), exact.whitened @ solved


def _explained(exact: AnywherePosterior, directions: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Return b^2/a and the likeliest variance of disturbances, one per column; zero for those too small to count."""
    a, b = _surprise(exact, directions)
    z2 = b**2 / a
    variance: FloatArray = np.maximum(z2 - 1.0, 0.0) / a
    z2[variance < (MIN_STEPS * step) ** 2] = 0.0
    return z2, variance


def _discovered(exact: AnywherePosterior, index: int) -> bool:
    """Return whether other readings at the same place deviate in the same way: then f explains the deviation."""
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
    """Return whether at least half of the other surprises, and at least one, are about as large as `own`."""
    agreeing = np.count_nonzero(np.abs(others - own) < AGREEING * np.maximum(np.abs(others), abs(own)))
    return bool(agreeing > 0 and 2 * agreeing >= len(others))


def _own(exact: AnywherePosterior) -> NDArray[np.intp]:
    """Return the indices of the study's own readings: only these are examined for disturbances."""
    assert exact.observations is not None
    return np.flatnonzero(exact.observations.moments.campaign == "")


def _time(exact: AnywherePosterior, index: int) -> float:
    assert exact.observations is not None
    return float(exact.observations.moments.time[index])
