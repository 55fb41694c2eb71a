r"""Bets on the signs of paired differences, with limits that are valid whenever one looks.

    symbol   meaning                                                                   shape
    d        differences of pairs, each measured in random order                       (n,)
    theta    a possible center                                                         ()
    r        rank of \|d_i - theta\| among the first i, divided by i: 0 < r <= 1         (n,)
    v        r with the sign of d_i - theta; 0 if the two are equal                    (n,)
    z        \|d_i - theta\| over the median of the first i of them                     (n,)
    D, W     shift and width of a possible effect, in that median                      (m,)
    x        exponents of the bets: b v, and those of z with the sign of d_i - theta   (k, n)
    w        weight of each bet                                                        (k,)
    E+, E-   wealth of a gambler who began with 1 and bets on + or on -                ()

**Typical difference.** If d is symmetric about theta then, given all sizes |d - theta| and all earlier signs, the next
sign is a fair coin. So the factor `1 + tanh(x)` has expectation 1, `E+ = sum w prod_i (1 + tanh(x_i))` is a martingale,
and it ever reaches 2/alpha with a probability of alpha/2 at most (Ville 1939); the same for E-, with -x. For two
settings that do not differ, the coin that chose the order of each pair makes d symmetric about 0, whatever the noise
and the offset are. An interval excludes 0 if and only if E+(0) or E-(0) has reached 2/alpha.

**The bets.** Two families are mixed. *Ranks*, `x = b v`: more on a larger difference, which is best for normal noise.
*Sizes*, `x = log((W^2 + (z + D)^2) / (W^2 + (z - D)^2)) / 2`: the best bet on a shift D under Cauchy noise of width W.
It is largest at z = D and falls to 0 beyond: a difference of many times the usual size, as on a busy host, says nothing
about the sign. If the noise is symmetric and has one peak, both families lose value as theta moves above the center, so
`E+(theta)` is evidence of a center above theta.

**Readings in steps.** Successes, grades and whole numbers have no typical difference: about 0.9 more successes are
never 0.9 in one pair. They are bounded, so their mean has an interval (`bounded.py`).

**Median.** The signs about the median are fair coins, whatever the law and the order; a flat mixture over all biases of
the coin (Robbins 1970) has the closed form `2^n B(k + 1, n - k + 1)`. It is the same martingale with equal ranks.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer.sequential.bounded import bounded_mean
from equipoise.answer.sequential.sequence import Interval

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

HALVINGS = 16
"""The number of halvings of the range in which a limit of the typical difference lies: its outer end is returned."""

STRIDE = 1.5
"""Factor between the distances from the estimate in the search for a limit: the outermost valid one counts."""

TINY = math.ulp(0.0)
"""The least number above 0: a limit that excludes 0 and nothing else."""

FARTHEST = 1e9
"""Differences are clipped at this many medians."""

MOST_STEPS = 4
"""Readings differ in steps if all differences are whole multiples, up to this, of the smallest: five grades do."""

ROUNDING = 1e-6
"""The tolerance for a multiple to be a whole number."""


def paired(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the difference of two settings: the mean if readings come in steps, as successes do; else the typical one.

    The interval excludes 0 only if the bets on the signs about 0 have won: two settings that do not differ are called
    different with a probability of at most alpha, over all looks, whatever the noise and the offset are.

    Example:
        >>> success = paired([1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
        >>> success.value, round(success.low, 2), round(success.high, 2)
        (0.8, 0.04, 0.99)
        >>> paired([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0]).value
        1.05
    """
    d, limit = _door(differences, alpha)
    if d.any() and not in_steps(d):
        return typical(d, alpha)
    bound = float(np.abs(d).max(initial=0.0))
    if not bound or 2.0 ** len(d) < 2.0 * limit:  # no step is known, or these signs exclude nothing whatever is bet
        return Interval(float(d.mean()) if len(d) else math.nan)
    found = bounded_mean((d / bound + 1.0) / 2.0, alpha)
    low, high = bound * (2.0 * found.low - 1.0), bound * (2.0 * found.high - 1.0)
    up, down = _sides(d, 0.0)
    return Interval(
        float(d.mean()),
        low if low <= 0 or up >= 2.0 * limit else 0.0,
        high if high >= 0 or down >= 2.0 * limit else 0.0,
    )


def typical(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the center about which differences are symmetric: the pseudo-median of Hodges and Lehmann.

    Example:
        >>> typical([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0]).value
        1.05
        >>> typical([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0]).low > 0.5
        True
    """
    d, limit = _door(differences, alpha)
    if not len(d):
        return Interval(math.nan)
    value = _center(d)
    step = float(np.median(np.abs(d - value)) + 1e-6 * np.abs(d).max() + 1e-300) / math.sqrt(len(d))
    low, high = _edge(d, limit, value, -step), _edge(d, limit, value, step)
    up, down = (side >= 2.0 * limit for side in _sides(d, 0.0))
    low = max(low, TINY) if up and value > 0 else min(low, 0.0) if value > 0 and not up else low
    high = min(high, -TINY) if down and value < 0 else max(high, 0.0) if value < 0 and not down else high
    return Interval(value, low, high)


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


def median(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the median difference: exact for differences that are alike, of any law.

    Args:
        differences: One per round, shape (n,).
        alpha: How often the interval may miss, over all looks.

    Example:
        >>> median([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0])
        Interval(value=1.05, low=0.8, high=55.0)
    """
    from scipy.special import betaln  # slow to import

    d, limit = _door(differences, alpha)
    n = len(d)
    if not n:
        return Interval(math.nan)
    k = np.arange(n + 1)
    M = np.exp(betaln(k + 1.0, n - k + 1.0) + n * math.log(2.0))  # Robbins 1970: coins of unknown p, mixed uniformly
    inside = np.flatnonzero(limit > M)
    ordered, value = np.sort(d), float(np.median(d))
    if inside[0] == 0:
        return Interval(value)
    return Interval(value, float(ordered[inside[0] - 1]), float(ordered[inside[-1]]))


def _door(differences: ArrayLike, alpha: float) -> tuple[FloatArray, float]:
    """Return the differences as an array, and 1/alpha."""
    d = check.array("differences", differences, (None,)) if np.size(differences) else np.empty(0)
    return d, 1.0 / check.probability("alpha", alpha)


def in_steps(d: FloatArray) -> bool:
    """Return whether all differences, not all of them zero, are a few steps of one size."""
    sizes = np.abs(d[d != 0])
    multiples = sizes / sizes.min()
    return bool(multiples.max() <= MOST_STEPS + ROUNDING and np.abs(multiples - multiples.round()).max() <= ROUNDING)


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


def _final(x: FloatArray) -> float:
    """Return E+ after all differences."""
    return float(ALL_WEIGHTS @ np.exp(np.minimum(_log_factors(x).sum(axis=1), 700.0)))


def _sides(d: FloatArray, theta: float) -> tuple[float, float]:
    """Return E+ and E- after all differences."""
    x = stakes(d, theta)
    return _final(x), _final(-x)


def _center(d: FloatArray) -> float:
    """Return the Hodges-Lehmann estimate: the median of the means of all pairs, including each number with itself."""
    if len(d) <= 300:
        i, j = np.triu_indices(len(d))
        return float(np.median((d[i] + d[j]) / 2))
    low, high = _crossing(lambda theta: _rank_sum(d - theta) > 0, float(d.min()), float(d.max()))
    return (low + high) / 2


def _rank_sum(d: FloatArray) -> float:
    """Return the sum of the ranks of the sizes with their signs."""
    return float(np.sign(d[np.argsort(np.abs(d))]) @ np.arange(1, len(d) + 1))


def _edge(d: FloatArray, limit: float, middle: float, step: float) -> float:
    """Return the outer end, in the direction of `step`, of the centers that the bets have not excluded."""
    side = math.copysign(1.0, step)

    def holds(theta: float) -> bool:
        return _final(-side * stakes(d, theta)) < 2.0 * limit

    outermost = math.nextafter(float(d.max() if side > 0 else d.min()), side * math.inf)
    if holds(outermost):  # all signs alike are not enough
        return side * math.inf
    if d.min() == d.max():
        return middle
    far = max(abs(outermost - middle), abs(step))
    distances = [0.0, *(abs(step) * STRIDE**i for i in range(math.ceil(math.log(far / abs(step), STRIDE)))), far]
    last = max((i for i, far in enumerate(distances) if holds(middle + side * far)), default=None)
    if last is None or last + 1 == len(distances):  # seldom, as among ties: the estimate belongs to its interval
        return middle if last is None else outermost
    return _crossing(holds, middle + side * distances[last], middle + side * distances[last + 1])[1]


def _crossing(rule: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return a narrow range from a number at which a rule holds to one at which it fails."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rule(middle) else (low, middle)
    return low, high
