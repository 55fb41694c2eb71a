"""The circumstances of many readings as arrays, from which the covariance of an offset is computed."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._typing import FloatArray
from equipoise.offsets.circumstances import NOTHING_TOLD, Circumstances

Names = NDArray[np.str_]


class Moments:
    """The circumstances of several readings.

    Args:
        time: The number of each reading in its campaign, counted from 1, shape (n,).
        pair: The number of its duel, shape (n,); below zero for none.
        block: The name of its block, shape (n,).
        campaign: The name of its campaign, shape (n,).
        covariates: Other numbers that were measured, by name, shape (n,) each; nan if it was not measured.

    Example:
        >>> Moments([1.0, 2.0], [0, 0], block=["monday", "tuesday"]).take(np.array([1])).block.tolist()
        ['tuesday']
    """

    __slots__ = ("block", "campaign", "covariates", "pair", "time")

    def __init__(
        self,
        time: ArrayLike,
        pair: ArrayLike,
        block: ArrayLike | None = None,
        campaign: ArrayLike | None = None,
        covariates: Mapping[str, FloatArray] | None = None,
    ) -> None:
        self.time: FloatArray = np.asarray(time, dtype=np.float64)
        self.pair: FloatArray = np.asarray(pair, dtype=np.float64)
        self.block: Names = _names(block, len(self.time))
        self.campaign: Names = _names(campaign, len(self.time))
        self.covariates = dict(covariates or {})

    @classmethod
    def at(cls, time: float, pair: float, known: Circumstances = NOTHING_TOLD) -> "Moments":
        """Return the circumstances of one reading."""
        beside = {name: np.array([value]) for name, value in known.covariates.items()}
        return cls([time], [pair], [known.block], [known.campaign], beside)

    @classmethod
    def of(cls, time: FloatArray, pair: FloatArray, known: Sequence[Circumstances]) -> "Moments":
        """Return the circumstances of several readings, shape (n,) each."""
        names = {name for each in known for name in each.covariates}
        beside = {name: np.array([each.covariates.get(name, np.nan) for each in known]) for name in sorted(names)}
        return cls(time, pair, [each.block for each in known], [each.campaign for each in known], beside)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def last(self) -> float:
        """The time of the last reading of the study itself; 0 if there is none."""
        own = self.time[self.campaign == ""]
        return float(own[-1]) if len(own) else 0.0

    def add(self, other: "Moments") -> "Moments":
        """Return these readings followed by others."""
        names = {**self.covariates, **other.covariates}
        return Moments(
            np.concatenate((self.time, other.time)),
            np.concatenate((self.pair, other.pair)),
            np.concatenate((self.block, other.block)),
            np.concatenate((self.campaign, other.campaign)),
            {name: np.concatenate((self.covariate(name), other.covariate(name))) for name in names},
        )

    def take(self, kept: NDArray[np.intp] | NDArray[np.bool_] | slice) -> "Moments":
        """Return a selection of the readings."""
        beside = {name: values[kept] for name, values in self.covariates.items()}
        return Moments(self.time[kept], self.pair[kept], self.block[kept], self.campaign[kept], beside)

    def covariate(self, name: str) -> FloatArray:
        """Return a covariate of each reading, shape (n,); nan if it was not measured."""
        found = self.covariates.get(name)
        return np.full(len(self), np.nan) if found is None else found


def _names(given: ArrayLike | None, n: int) -> Names:
    return np.full(n, "") if given is None else np.asarray(given, dtype=np.str_)


def same_pair(a: Moments, b: Moments) -> NDArray[np.bool_]:
    """Return a mask of readings in the same duel, shape (n, m); readings without a duel share nothing."""
    pairs = a.pair[:, None]
    same: NDArray[np.bool_] = (pairs == b.pair) & (pairs >= 0)
    return same


def same_block(a: Moments, b: Moments) -> NDArray[np.bool_]:
    """Return a mask of readings in the same block, shape (n, m); readings without a block form one too."""
    same: NDArray[np.bool_] = a.block[:, None] == b.block
    return same


def same_campaign(a: Moments, b: Moments) -> NDArray[np.bool_]:
    """Return a mask of readings in the same campaign, shape (n, m)."""
    same: NDArray[np.bool_] = a.campaign[:, None] == b.campaign
    return same
