r"""Bets on the signs of paired differences, each measured in random order: what a gambler makes of 1.

    symbol   meaning                                                                   shape
    d        differences of pairs                                                      (n,)
    theta    a possible center                                                         ()
    r        rank of \|d_i - theta\| among the first i, divided by i: 0 < r <= 1         (n,)
    v        r with the sign of d_i - theta; 0 if the two are equal                    (n,)
    z        \|d_i - theta\| over the median of the first i of them                     (n,)
    D, W     shift and width of a possible effect, in that median                      (m,)
    x        exponents of the bets: b v, and those of z with the sign of d_i - theta   (k, n)
    w        weight of each bet                                                        (k,)
    E+, E-   wealth of a gambler who began with 1 and bets on + or on -                ()

**Fair coins.** If d is symmetric about theta then, given all sizes |d - theta| and all earlier signs, the next sign is
a fair coin. So the factor `1 + tanh(x)` has expectation 1, `E+ = sum w prod_i (1 + tanh(x_i))` is a martingale, and it
ever reaches 2/alpha with a probability of alpha/2 at most (Ville 1939); the same for E-, with -x. For two settings
that do not differ, the coin that chose the order of each pair makes d symmetric about 0, whatever the noise and the
offset are.

**The bets.** Two families are mixed. *Ranks*, `x = b v`: more on a larger difference, which is best for normal noise.
*Sizes*, `x = log((W^2 + (z + D)^2) / (W^2 + (z - D)^2)) / 2`: the best bet on a shift D under Cauchy noise of width W.
It is largest at z = D and falls to 0 beyond: a difference of many times the usual size, as on a busy host, says
nothing about the sign. If the noise is symmetric and has one peak, both families lose value as theta moves above the
center, so `E+(theta)` is evidence of a center above theta.

**The last bet.** A gambler who needs 2/alpha stakes no more than is missing from it: all bets of a pair shrink by one
factor if a win would exceed 2/alpha. A win then reaches it all the same, and a loss costs less. So it is never reached
later, and with 4 % fewer pairs on average. For this alpha must be fixed beforehand.
"""

import math
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray

BETS = np.array([*np.geomspace(0.15, 4.0, 6), 1000.0])
"""Stakes: for effects of 0.1 to 4 deviations of a difference; the last one stakes everything on the sign.

Of seven grids tried on normal and t2 noise, effects 0.25 to 3, none needed 3 % fewer rounds anywhere.
"""

WEIGHTS = np.array([*[0.55 / 6] * 6, 0.45])
"""With this weight of the last stake, eight equal signs decide at alpha = 0.05 / 3: 24 duels with three rivals suffice.
It costs 7 % more rounds for an effect of half a deviation than equal weights."""

SHIFTS = np.array([0.15, 0.4, 0.4, 1.0, 1.0])
WIDTHS = np.array([0.4, 0.4, 1.0, 1.0, 0.3])
"""Shifts and widths of possible effects, in medians of the size of a difference. Among seven grids, tried with ranks on
real times under load and on eight kinds of simulated noise (`benchmarks/power.py`), this one needed the fewest rounds
on average: 0.76 times those of ranks alone, 0.4 times for user times under load. Chosen on one half of the data."""

ALL_WEIGHTS = np.array([*[0.15 / 6] * 6, 0.45, *[0.40 / 5] * 5])
"""The weights of the ranks, the sign and the sizes. The sign keeps its weight: few rounds decide if all agree."""

FARTHEST = 1e9
"""Differences are clipped at this many medians."""

ROUNDING = 1e-9
"""The share of what is needed that may be missing by rounding."""


def coin_wealth(v: ArrayLike, bets: ArrayLike = BETS, weights: ArrayLike = WEIGHTS) -> FloatArray:
    """Return the wealth of a gambler who bets on positive signs, after every bet: the martingale of randomized pairs.

    Args:
        v: Signed sizes of the bets, shape (..., n). The size of each may depend on anything but the coins of this pair
            and of later ones: a rank, or the size of the difference in a unit that earlier pairs have set.
        bets: The mixed stakes b, shape (k,).
        weights: Their weights, shape (k,) or (..., k), which sum to 1.

    Returns:
        `sum_b w prod_i (1 + tanh(b v_i))` after every i, shape (..., n). If all signs are fair coins it exceeds 20 in
        at most 5 % of all sequences, ever. A pair at most doubles it.

    Example:
        >>> coin_wealth([1.0, 1.0, 1.0, -1.0], bets=[1000.0], weights=[1.0])
        array([2., 4., 8., 0.])
    """
    x = np.asarray(bets, dtype=np.float64)[:, None] * np.asarray(v, dtype=np.float64)[..., None, :]
    logs = np.cumsum(_log_factors(x), axis=-1)
    mixed: FloatArray = (np.asarray(weights)[..., None] * np.exp(np.minimum(logs, 700.0))).sum(axis=-2)
    return mixed


def evidence(differences: ArrayLike, theta: float = 0.0) -> FloatArray:
    """Return E+ after every difference, shape (n,): the evidence, by the coins alone, that their center is above theta.

    If the center is theta or less, it ever reaches 20 with a probability of at most 5 %. `evidence(-d, -theta)` is the
    evidence for a center below theta.

    Example:
        >>> evidence([1.0, 2.0, 1.5, 1.2, 0.9]).round(1)
        array([ 1.8,  3.1,  5.8, 10.9, 20.3])
    """
    return _mixed(stakes(check.array("differences", differences, (None,)), theta))


def wealth(differences: ArrayLike, theta: float = 0.0) -> FloatArray:
    """Return (E+ + E-) / 2 after every difference, shape (n,): the wealth of bets on the signs about theta.

    At the center it exceeds 20 in at most 5 % of all sequences, ever; elsewhere it grows.

    Example:
        >>> wealth([1.0, 2.0, -1.5, 1.2]).round(2)
        array([1.  , 1.65, 0.34, 0.4 ])
    """
    x = stakes(check.array("differences", differences, (None,)), theta)
    return (_mixed(x) + _mixed(-x)) / 2


def wins(x: FloatArray, level: float) -> NDArray[np.bool_]:
    """Return whether a gambler has this much after every pair, who never stakes more than is missing from it.

    Args:
        x: The exponents of all bets, as from `stakes`, shape (k, n).
        level: The wealth that is needed, fixed before the first bet.

    Returns:
        Whether E+ is at least `level`, shape (n,).

    Example:
        >>> x = stakes(np.array([1.0, 2.0, 1.5, 1.8, -0.5, 1.9, 2.2, 1.7]))
        >>> _mixed(x)[-1] >= 15.5, wins(x, 15.5)[-1]
        (np.False_, np.True_)
    """
    logs, stake = np.cumsum(_log_factors(x), axis=1), np.tanh(np.abs(x))
    w, begun, had, enough = ALL_WEIGHTS, 0, np.zeros((len(x), 1)), level * (1.0 - ROUNDING)
    won = np.zeros(x.shape[1] + 1, dtype=bool)
    while True:
        before = w[:, None] * np.exp(np.minimum(np.hstack([had, logs[:, begun:]]) - had, 700.0))
        total, gain = before.sum(axis=0), before[:, :-1] * stake[:, begun:]
        won[begun:] = total >= enough
        too_much = np.flatnonzero(~won[begun:-1] & (total[:-1] + gain.sum(axis=0) > level))
        if not len(too_much):
            return won[1:]
        i = int(too_much[0])
        share = (level - total[i]) / gain[:, i].sum()
        w = before[:, i] + np.sign(x[:, begun + i]) * share * gain[:, i]
        begun += i + 1
        had = logs[:, begun - 1 : begun]


def stakes(d: FloatArray, theta: float = 0.0) -> FloatArray:
    """Return x, shape (k, n): the exponent of every bet on every difference, with the sign of d - theta.

    Example:
        >>> stakes(np.array([1.0, 2.0, -1.5]))[[0, -1]].round(2)
        array([[ 0.15,  0.15, -0.1 ],
               [ 1.91,  1.06, -1.91]])
    """
    sign, sizes = np.sign(d - theta), np.abs(d - theta)
    r, m = _ranks(sizes)
    z = np.divide(np.minimum(sizes, FARTHEST * m), m, out=np.full(len(d), FARTHEST), where=m > 0)
    D, W = SHIFTS[:, None], WIDTHS[:, None]
    by_size = 0.5 * np.log((W**2 + (z + D) ** 2) / (W**2 + (z - D) ** 2))
    x: FloatArray = sign * np.concatenate([BETS[:, None] * r, by_size])
    return x


def _ranks(sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the relative rank of each size among those so far, and the median so far."""
    seen: list[float] = []
    ranks, medians = np.empty(len(sizes)), np.empty(len(sizes))
    for i, size in enumerate(sizes.tolist()):
        fewer = bisect_left(seen, size)
        upto = bisect_right(seen, size, fewer)
        seen.insert(upto, size)
        ranks[i] = (fewer + upto + 2) / 2 / (i + 1)  # Reynolds 1975: among those so far; equal ones share theirs
        medians[i] = seen[i // 2]
    return ranks, medians


def _log_factors(x: FloatArray) -> FloatArray:
    """Return log(1 + tanh(x)) of exponents."""
    factors: FloatArray = math.log(2.0) - np.logaddexp(0.0, -2.0 * x)
    return factors


def _mixed(x: FloatArray) -> FloatArray:
    """Return E+ after every difference, shape (n,), from the exponents of all bets."""
    logs = np.cumsum(_log_factors(x), axis=1)
    mixed: FloatArray = ALL_WEIGHTS @ np.exp(np.minimum(logs, 700.0))
    return mixed


def final_wealth(x: FloatArray) -> float:
    """Return E+ after all differences."""
    return float(ALL_WEIGHTS @ np.exp(np.minimum(_log_factors(x).sum(axis=1), 700.0)))
