"""The fits of a search as the table `cv_results_`: a row for each setting, a column for each split."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equipoise._typing import FloatArray

Key = bytes
"""An encoded setting."""


@dataclass
class Fits:
    """All fits of a search.

    Attributes:
        error_score: The score of a fit that failed.
        rows: The results of each fit, by setting and split: times and scores by name.
        candidates: The parameters of each setting.
    """

    error_score: float = np.nan
    rows: dict[tuple[Key, int], dict[str, float]] = field(default_factory=dict)
    candidates: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def enter(self, keys: Sequence[Key], split: int, results: Mapping[str, Any] | None) -> None:
        """Add the last fits; `None` if all of them failed.

        Args:
            keys: The settings.
            split: The split of these fits.
            results: The results of all fits so far, in scikit-learn's format; the last ones are these.
        """
        measured = {} if results is None else {k[5:]: v for k, v in results.items() if k.startswith("mean_")}
        for i, key in enumerate(keys):
            self.rows[key, split] = {name: float(column[i - len(keys)]) for name, column in measured.items()}

    @property
    def names(self) -> list[str]:
        """The names of the results."""
        return list(dict.fromkeys(name for row in self.rows.values() for name in row))

    @property
    def splits(self) -> list[int]:
        """The splits with fits."""
        return sorted({split for _, split in self.rows})

    def score(self, key: Key, split: int, metric: str) -> float:
        """Return the score of a fit."""
        return self.rows[key, split].get(f"test_{metric}", self.error_score)

    def numbers(self, name: str) -> FloatArray:
        """Return a result of every fit, shape (settings, splits); NaN if there was no fit."""
        failed = self.error_score if re.match("test_|train_", name) else np.nan
        table = np.full((len(self.candidates), len(self.splits)), np.nan)
        place = {key: i for i, key in enumerate(self.candidates)}
        column = {split: j for j, split in enumerate(self.splits)}
        for (key, split), row in self.rows.items():
            table[place[key], column[split]] = row.get(name, failed)
        return table

    def table(self, metric: str, estimate: FloatArray, best: int) -> dict[str, Any]:
        """Return the table.

        Args:
            metric: The optimized score.
            estimate: The estimated mean score of each setting over splits, shape (settings,).
            best: The number of the recommended setting.
        """
        params = list(self.candidates.values())
        done: dict[str, Any] = {}
        for name in self.names:
            numbers = self.numbers(name)
            done[f"mean_{name}"], done[f"std_{name}"] = _moments(numbers)
            if re.match("test_|train_", name):
                done |= {f"split{j}_{name}": numbers[:, j] for j in range(numbers.shape[1])}
            if name.startswith("test_"):
                done[f"rank_{name}"] = _ranks(done[f"mean_{name}"])
        merit = np.array(estimate)
        merit[best] = np.inf
        done |= {f"rank_test_{metric}": _ranks(merit), f"estimated_test_{metric}": estimate}
        done["n_fits"] = np.bincount([list(self.candidates).index(key) for key, _ in self.rows])
        return done | {f"param_{name}": _column(name, params) for name in params[0]} | {"params": params}


def _moments(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of the fits of each setting; NaN if it has none."""
    n = np.isfinite(numbers).sum(axis=1)
    count = np.where(n, n, np.nan)
    mean = np.nansum(numbers, axis=1) / count
    return mean, np.sqrt(np.nansum((numbers - mean[:, None]) ** 2, axis=1) / count)


def _ranks(merit: FloatArray) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return ranks from 1 for the largest; equal values share a rank, and NaN comes last."""
    known = np.where(np.isnan(merit), -np.inf, merit)
    return np.array([1 + int((known > each).sum()) for each in known], dtype=np.int32)


def _column(name: str, params: Sequence[Mapping[str, Any]]) -> Any:
    """Return the values of a parameter as an array that may have missing ones, in scikit-learn's format."""
    column = np.empty(len(params), dtype=object)
    column[:] = [each[name] for each in params]
    return np.ma.MaskedArray(column, mask=False)
