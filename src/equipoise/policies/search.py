"""The search over continuous and mixed spaces: candidates everywhere, then uphill with exact gradients.

    symbol   meaning                                              shape
    xh       leader: the point of largest posterior mean          (d,)
    g        mean(xh) - mean(x)                                   ()
    psi      posterior variance of f(xh) - f(x)                   ()
    sigma    root of lambda, the unit in which climbs measure     ()

A policy chooses among finitely many candidates. On a finite set these are its points; elsewhere they are found here:
quasi-random points, points near the best ones and, where the belief has gradients, from the best few of these the tops
of the mean and of whatever scores the policy maximizes. A score is a function of (g, psi) with its two partial
derivatives, so that the chain rule gives its gradient. The result of a climb is kept only if it is better than where
the climb began. The end of a climb depends on the unit of its function, hence the unit sigma: the same readings in
volts or microvolts give the same result.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief import Posterior, descend
from equipoise.spaces import Domain

Score = Callable[[FloatArray, FloatArray, float, float, float], tuple[FloatArray, FloatArray, FloatArray]]
"""Takes g, psi, delta, beta and lambda; returns the score and its partial derivatives in g and psi."""

CENTERS = 3
"""The number of best known points to search around."""

CLIMBS = 2
"""The number of climbs started for each score."""

CLIMBING: dict[str, Any] = {"steps": 100, "ftol": 1e-6, "gtol": 1e-3}
"""A climb ends at steps far below the noise of a reading, in units of sigma."""

BEST_KNOWN = 64
"""The number of measured points that are candidates: the best ones."""

FINALISTS = 256
"""The number of candidates handed to the policy, besides the results of climbs."""

REACH = (0.1, 0.02)
"""The distances searched around a center, in units of the space's extent."""


def optimism(
    g: FloatArray, psi: FloatArray, delta: float, beta: float, regularizer: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score a point by its largest plausible gain over the leader; its maximum is delta_t."""
    width = np.sqrt(beta * psi / regularizer)
    by_psi = np.divide(0.5 * width, psi, out=np.zeros_like(psi), where=psi > 0)
    return width - g, np.full_like(g, -1.0), by_psi


def measured(space: Domain, posterior: Posterior) -> FloatArray:
    """Return the measured settings that may be asked for, each once, shape (k, d).

    In a part of a space they are the same settings at its context, whatever it was when they were measured.
    """
    known = posterior.support
    if not len(known):
        return known
    here = space.snap(known)
    here = known if np.array_equal(here, known) else here[_linalg.firsts(here)]
    allowed = space.valid(here)
    return here if allowed.all() else here[allowed]  # a reading may have been told at a point that must not be asked


def search(
    space: Domain, posterior: Posterior, scores: Sequence[Score], everywhere: FloatArray, rng: Generator
) -> FloatArray:
    """Return the candidates a policy should choose from, shape (m, d), the leader among them.

    It begins with candidates from everywhere, shape (n, d), and adds points around the best known ones.
    """
    promising = _promising(space, posterior, everywhere, rng)
    leader = _leader(space, posterior, promising)
    belief = posterior.at(np.concatenate((leader[None], promising, everywhere)))
    g, psi = belief.mean[0] - belief.mean, belief.psi(0)
    landscape = posterior.landscape(leader)
    climbed = [leader]
    optimistic = belief.width(psi) - g
    delta, sigma2 = float(optimistic.max()), belief.regularizer
    sigma, beta = sigma2**0.5, belief.beta / sigma2
    for score in scores if landscape is not None else ():
        values = score(g / sigma, psi / sigma2, delta / sigma, beta, 1.0)[0]
        starts = belief.points[np.argsort(-values)[:CLIMBS]]

        def climb(x: FloatArray, score: Score = score, delta: float = delta) -> tuple[float, FloatArray]:
            assert landscape is not None
            g, psi, dg, dpsi = landscape.gap_and_psi(x)
            terms = score(np.array([g]) / sigma, np.array([psi]) / sigma2, delta / sigma, beta, 1.0)
            value, by_g, by_psi = (float(term[0]) for term in terms)
            return value, by_g * dg / sigma + by_psi * dpsi / sigma2

        climbed += [uphill(space, climb, start) for start in starts]
        reached = posterior.at(np.array(climbed))  # the policy will see these too, so its delta_t is at least theirs
        delta = max(delta, float((reached.width(reached.psi(0)) - reached.mean[0] + reached.mean).max()))
    best = np.argsort(-optimistic)[:FINALISTS]
    found = np.concatenate((np.array(climbed), belief.points[best]))
    distinct: FloatArray = found[_linalg.firsts(found)]
    return distinct


def _promising(space: Domain, posterior: Posterior, everywhere: FloatArray, rng: Generator) -> FloatArray:
    """Return the best known points and points around the very best; without data, points from the whole space."""
    known = measured(space, posterior)
    if not len(known):
        return everywhere[:BEST_KNOWN]
    best = known[np.argsort(-posterior.mean(known))]
    near = [space.near(best[:CENTERS], reach * space.extent, 40, rng) for reach in REACH]
    return np.concatenate((best[:BEST_KNOWN], *near))


def _leader(space: Domain, posterior: Posterior, candidates: FloatArray) -> FloatArray:
    """Return the point of largest posterior mean."""
    mean = posterior.mean(candidates)
    best: FloatArray = candidates[int(mean.argmax())]
    landscape, sigma = posterior.landscape(best), posterior.regularizer**0.5
    if landscape is None:
        return best

    def climb(x: FloatArray) -> tuple[float, FloatArray]:
        gap, slope = landscape.gap(x)
        return -gap / sigma, -slope / sigma

    tops = np.array([uphill(space, climb, candidates[i]) for i in np.argsort(-mean)[:CLIMBS]])
    top: FloatArray = tops[int(posterior.mean(tops).argmax())]
    return top


def uphill(space: Domain, climb: Callable[[FloatArray], tuple[float, FloatArray]], start: FloatArray) -> FloatArray:
    """Return the top reached from `start` by moving its free coordinates, or `start` if that is no better."""
    free = space.free
    if not free.any():
        return start

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        x = start.copy()
        x[free] = z
        value, gradient = climb(x)
        return -value, -gradient[free]

    reached, lost = descend(loss, start[free], (0.0, 1.0), **CLIMBING)
    top = start.copy()
    top[free] = reached
    better = -lost > climb(start)[0]
    return top if better and bool(space.valid(top[None])[0]) else start
