"""Folding: of very many data the old ones are replaced by what they come to, so that cost and memory do not grow.

The data are folded a chunk at a time, always the same chunks: what a digest stands for depends on the data and on the
model alone, not on when it was made.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief.digest import Digest, digest
from equipoise.belief.model import Model
from equipoise.belief.observations import Observations
from equipoise.offsets import OffsetModel

if TYPE_CHECKING:
    from equipoise.belief.anywhere import AnywherePosterior


@dataclass(frozen=True)
class Folding:
    """Which data are kept as they are: all of few, of many the last.

    Attributes:
        exact: Up to so many all are kept.
        window: Of more at least so many.
        chunk: The others are folded so many at a time.

    Example:
        >>> [Folding(exact=500, window=100, chunk=200).folded(n) for n in (500, 501, 699, 700)]
        [0, 400, 400, 600]
    """

    exact: int = 500
    window: int = 100
    chunk: int = 200

    def __post_init__(self) -> None:
        check.count("exact", self.exact, 0)
        check.count("window", self.window, 0)
        check.count("chunk", self.chunk, 1)
        if self.window > self.exact:
            raise ValueError(f"`window` must be at most `exact`, {self.exact}, got {self.window}")

    @property
    def of_pairs(self) -> "Folding":
        """The same for the differences of so many data."""
        return Folding(self.exact // 2, self.window // 2, max(self.chunk // 2, 1))

    def folded(self, data: int) -> int:
        """Return how many of so many data are folded: a multiple of a chunk."""
        return 0 if data <= self.exact else (data - self.window) // self.chunk * self.chunk

    def after(self, data: int) -> int:
        """Return the number of data at which more of them are folded next."""
        return max(self.exact + 1, self.window + self.chunk + self.folded(data))


def fold(posterior: "AnywherePosterior", data: Observations, model: Model) -> Digest | None:
    """Return what the old ones among very many data come to under a model; `None` where they are few.

    Where the offset of a block repeats f they are never many: how a block goes on must not be forgotten, since its
    readings tell less than those of several.

    Args:
        posterior: The posterior, whose digest is used where it stands for some of these data.
        data: All data.
        model: What explains them.
    """
    folding, known = posterior.folding, posterior.digest
    if folding is None or (model.offset is not None and model.offset.echoes):
        return None
    end = folding.folded(len(data))
    known = known if known is not None and known.stands_for(data.since(0, end), model) else None
    for first in range(0 if known is None else len(known.source), end, folding.chunk):
        some = posterior.under(model, (known, data.since(first, first + folding.chunk)))
        known = digest(some, data.since(0, first + folding.chunk))
    return known


def lasting(offset: OffsetModel) -> OffsetModel:
    """Return the offset of the instrument: without what spoils single readings."""
    return replace(offset, blips=())


def folded_offsets(posterior: "AnywherePosterior") -> FloatArray:
    """Return the offset at the data that are folded, shape (n,), f taken to be what is known of it now."""
    if posterior.digest is None or posterior.folding is None or posterior.offset is None:
        return np.empty(0)
    data, found = posterior.digest.source, [np.empty(0)]
    rest = data.outcomes - data.combine(posterior.mean(data.points))
    for first in range(0, len(data), posterior.folding.chunk):
        some = slice(first, first + posterior.folding.chunk)
        moments, noise = data.moments.take(some), posterior.noises(data.variances[some])
        K = posterior.offset(moments, moments)
        found.append(lasting(posterior.offset)(moments, moments) @ np.linalg.solve(K + np.diag(noise), rest[some]))
    return np.concatenate(found)
