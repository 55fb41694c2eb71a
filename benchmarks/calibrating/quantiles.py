"""The calibration of bounds, fitted to simulated studies (METHOD section 11).

    symbol   meaning                                                          shape
    r        true regret of what was recommended                              (n,)
    q        pivot                                                            (n,)
    Z        signs, the first column ones                                     (n, k)
    w        weights: log r <= log q + Z w in 95 % of rows                    (k,)
    c        what is added for a group of knobs                               ()

The weights minimize the pinball loss, each family with the same weight. The multiplier of up to four knobs is the 95 %
quantile, each family with the same weight, of what was missing on a family if the weights were fitted to the others:
families are exchangeable, their studies are not. With more knobs families differ so much that this held in 73 to 88 %
on further families: there it is what the worst family needs for 90 %, families with cusps among them.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrating.function_families import FAMILIES
from calibrating.trial_studies import Row
from equipoise._typing import FloatArray

SIGNS = ("bold", "readings", "gained", "near", "noise", "unsure")
"""What the bound depends on, beside the pivot and the number of knobs."""

AUDIT_SIGNS = ("bold", "knobs", "noise", "holes")
"""What it depends on how much an audit brings."""

FEW_KNOBS, MOST_KNOBS = 4, 8
"""Most knobs of the two groups that have a multiplier each; with more there is no bound."""

LEVEL, PENALTY = 0.95, 0.002
"""Share of rows in which the bound is to hold; weight of the absolute weights of standardized signs in the loss."""

WORST_LEVEL, WORST_READINGS = 0.9, 40
"""Share of rows of the worst family in which it is to hold with many knobs, and from how many readings on."""

LEAST_REGRET = 1e-5
"""Least regret, in standard deviations of f: it may be zero, and has a logarithm."""

LEAST_READINGS, MOST_HOLES = 10, 0.1

Mask = NDArray[np.bool_]


class RowArrays:
    """Rows as arrays.

    Args:
        rows: As of `stored`.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if row["signs"]]
        self.family = np.array([row["family"] for row in self.rows])
        self.knobs, self.readings, self.regret = (self._column(name) for name in ("knobs", "readings", "regret"))
        self.log_q = self.sign("pivot")
        prior = np.exp(self.log_q - self.sign("unsure"))
        self.missing = np.log(np.maximum(self.regret, LEAST_REGRET * prior)) - self.log_q

    def _column(self, name: str) -> FloatArray:
        return np.array([row[name] for row in self.rows], dtype=np.float64)

    def sign(self, name: str) -> FloatArray:
        """Return a sign of all rows, shape (n,)."""
        return np.array([row["signs"][name] for row in self.rows])

    def design(self, names: Sequence[str]) -> FloatArray:
        """Return ones, then these signs, shape (n, k)."""
        return np.stack([np.ones(len(self.rows)), *(self.sign(name) for name in names)], axis=1)

    def shares(self, some: Mask) -> FloatArray:
        """Return the weight of each of some rows: families weigh the same."""
        names, at, counts = np.unique(self.family[some], return_inverse=True, return_counts=True)
        weights: FloatArray = 1.0 / counts[at] / len(names)
        return weights


def fitted(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the table of a calibration, as it is kept: fitted to the families that may be chosen on, less needles."""
    known = {name for name, family in FAMILIES.items() if family.chosen and not family.needle}
    some = [row for row in rows if row["family"] in known and row["readings"] >= LEAST_READINGS]
    weights, few, many = conformal(RowArrays(some))
    seeds = [row["seed"] for row in some]
    content: dict[str, Any] = {
        "weights": dict(zip(("", *SIGNS), _short(weights), strict=True)),
        "multipliers": [[FEW_KNOBS, round(few, 4)], [MOST_KNOBS, round(many, 4)]],
        "least_readings": LEAST_READINGS,
        "most_holes": MOST_HOLES,
        "families": sorted(known),
        "seeds": [min(seeds), max(seeds) + 1],
        "studies": len({(row["family"], row["offset"], row["seed"]) for row in some}),
    }
    content["audit"] = dict(zip(("", *AUDIT_SIGNS), _short(_audit_weights(some, weights)), strict=True))
    return content


def conformal(table: RowArrays) -> tuple[FloatArray, float, float]:
    """Return the weights, shape (k,), and the multipliers with few and with many knobs, in logarithms."""
    Z, within = table.design(SIGNS), table.knobs <= MOST_KNOBS
    smooth = within & ~np.isin(table.family, [name for name, family in FAMILIES.items() if family.cusp])
    left_out = np.full(len(Z), math.nan)
    for name in np.unique(table.family[within]):
        others, own = smooth & (table.family != name), within & (table.family == name)
        left_out[own] = table.missing[own] - Z[own] @ pinball(Z[others], table.missing[others], table.shares(others))
    weights = pinball(Z[smooth], table.missing[smooth], table.shares(smooth))
    few = smooth & (table.knobs <= FEW_KNOBS)
    many = within & (table.knobs > FEW_KNOBS) & (table.readings >= WORST_READINGS)
    worst = [np.quantile(left_out[many & (table.family == name)], WORST_LEVEL) for name in set(table.family[many])]
    return weights, weighted_quantile(left_out[few], table.shares(few), LEVEL), float(max(worst, default=math.inf))


def pinball(Z: FloatArray, y: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the weights w of the quantile regression of y on Z, by linear programming (Koenker and Bassett 1978).

    Args:
        Z: Signs, shape (n, k), the first column ones.
        y: Shape (n,).
        shares: How much each row counts, shape (n,).
    """
    from scipy import sparse
    from scipy.optimize import linprog

    center, scale = Z.mean(axis=0), Z.std(axis=0)
    center[0], scale[scale == 0.0] = 0.0, 1.0  # ones stay as they are
    S, n, k = (Z - center) / scale, len(Z), Z.shape[1]
    price = np.full(k, PENALTY)
    price[0] = 0.0
    costs = np.concatenate((price, price, LEVEL * shares, (1 - LEVEL) * shares))
    A = sparse.hstack([sparse.csr_matrix(S), -sparse.csr_matrix(S), sparse.eye(n), -sparse.eye(n)]).tocsr()
    x = linprog(costs, A_eq=A, b_eq=y, bounds=(0, None), method="highs").x
    w: FloatArray = (x[:k] - x[k : 2 * k]) / scale
    w[0] -= w[1:] @ center[1:]
    return w


def weighted_quantile(x: FloatArray, shares: FloatArray, level: float) -> float:
    """Return the least of x below or at which there is this share.

    Example:
        >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.5, 0.4]), 0.9)
        2.0
    """
    order = np.argsort(x)
    reached = np.cumsum(shares[order]) >= level * shares.sum() * (1 - 1e-12)
    return float(x[order][int(reached.argmax())])


def _audit_weights(rows: Sequence[Row], weights: FloatArray) -> FloatArray:
    """Return the weights, by least squares, of how far an audit lowers the bound: a power of 1 + 2 duels/readings."""
    pairs = audits(rows)
    if not pairs:
        return np.zeros(1 + len(AUDIT_SIGNS))
    before, after = RowArrays([a for a, _ in pairs]), RowArrays([b for _, b in pairs])
    logs = [each.log_q + each.design(SIGNS) @ weights for each in (before, after)]
    Z = before.design(AUDIT_SIGNS) * np.log(after.readings / before.readings)[:, None]
    return np.asarray(np.linalg.lstsq(Z, logs[0] - logs[1], rcond=None)[0], dtype=np.float64)


def audits(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return the row before each audit, and the one at its end."""
    studies: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        studies.setdefault((row["family"], row["offset"], row["seed"]), []).append(row)
    found = []
    for each in studies.values():
        for before, after in itertools.pairwise(each):
            if after["audited"] and not before["audited"] and after["readings"] < before["readings"] + 2 * 48 + 1:
                found.append((before, after))
    return found


def _short(numbers: FloatArray) -> list[float]:
    return [round(float(number), 4) for number in numbers]
