"""What a study's model has learned: found by one worker, kept in the storage, used by all.

Fitting hyperparameters is the expensive part, and with several workers each of them would have to do it for itself. So
whoever first finds the last fit out of date fits again, from there, and keeps the result with the trial it proposes.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.learned import LearnedPosterior
from equipoise.belief.model import Hyperparameters
from equipoise.belief.observations import Data
from equipoise.belief.posterior import direction
from equipoise.data import Comparison
from equipoise.integrations.optuna.translation import Translation
from equipoise.offsets.offset import Arbitrary, Offset
from equipoise.offsets.tracked import OffsetKernel
from equipoise.spaces.named import Space

FEW = 6
"""With fewer duels than this everything is learned anew each time."""

GROWTH = 1.2
"""Then hyperparameters are fitted again when the number of duels has grown by this factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Datum:
    """A finished duel as the posterior learns it.

    Attributes:
        number: That of its trial.
        difference: What it says by itself.
        readings: What its readings say where the offset is tracked, in the order of measurement; may be none.
    """

    number: int
    difference: Comparison
    readings: tuple[Comparison, ...] = ()


class StudyPosterior(LearnedPosterior):
    """A learned posterior that can be taken up from what was learned before, and told many comparisons at once."""

    @classmethod
    def one_by_one(cls, space: Space, law: Offset, comparisons: Sequence[Comparison]) -> Self:
        """Learn as an optimizer does, fitting on the way."""
        posterior = cls(space.extent, space.groups, law)
        for comparison in comparisons:
            posterior = posterior.condition(comparison)
        return posterior

    @classmethod
    def at_once(cls, space: Space, law: Offset, comparisons: Sequence[Comparison], learned: "Learned") -> Self:
        """Return what `one_by_one` comes to under given hyperparameters, by a single factorization."""
        new = cls(space.extent, space.groups, law)
        new.comparisons, new._origin = len(comparisons), learned.origin
        told = [(*direction(c), c) for c in comparisons]
        new._nulls = np.array([c.outcome for points, u, c in told if _null(points, u)])
        new._data = _gathered([entry for entry in told if not _null(*entry[:2])], learned.origin)
        new.offset = None if new.offset is None else OffsetKernel(jumps=learned.jumps)
        return new._with(learned.hyperparameters)

    def fitted_again(self) -> Self:
        """Return the posterior with hyperparameters fitted to what it knows, from the present ones."""
        return self if self._data is None else self._with_jumps()._refitted()

    def watching(self) -> Self:
        """Return the posterior that has looked for jumps of the offset among the last readings."""
        return self._with_jumps()

    @property
    def learned(self) -> "Learned":
        """What is worth keeping of it."""
        jumps = () if self.offset is None else self.offset.jumps
        return Learned(self.hyperparameters, jumps, self._origin or 0.0)


@dataclass(frozen=True)
class Learned:
    """What was learned, but for the data.

    Attributes:
        hyperparameters: Those of the kernel, the noise and the offset.
        jumps: Time and variance of each jump of the offset.
        origin: What is subtracted from every reading.
    """

    hyperparameters: Hyperparameters
    jumps: tuple[tuple[float, float], ...] = ()
    origin: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"h": dataclasses.asdict(self.hyperparameters), "j": [list(j) for j in self.jumps], "y": self.origin}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Learned":
        """Undo `to_json`."""
        fields = content["h"] | {"lengthscales": tuple(content["h"]["lengthscales"])}
        return cls(Hyperparameters(**fields), tuple((time, size) for time, size in content["j"]), content["y"])


@dataclass(frozen=True)
class Fit:
    """What was learned, and from what.

    Attributes:
        duels: How many duels there were.
        signature: That of the space.
        differences: From the differences inside trials.
        readings: From the readings, where the offset is tracked.
        explained: Whether a tracked offset explains the readings.
    """

    duels: int
    signature: str
    differences: Learned
    readings: Learned | None = None
    explained: bool = False

    @classmethod
    def to(
        cls, data: Sequence[Datum], total: int, translation: Translation, law: Offset, last: "Fit | None" = None
    ) -> "Fit":
        """Fit to duels.

        Args:
            data: Those to fit to.
            total: How many there are.
            translation: The space.
            law: What is assumed of the offset.
            last: The fit before; without one, or with few duels, everything is learned one by one.
        """
        last, space = None if total < FEW else last, translation.space
        duels = [datum.difference for datum in data]
        free = _learn(space, Arbitrary(), duels, None if last is None else last.differences)
        pairs = [datum.readings for datum in data if datum.readings]
        if not pairs:
            return cls(total, translation.signature, free.learned)
        readings = [reading for pair in pairs for reading in pair]
        tracked = _learn(space, law, readings, None if last is None else last.readings)
        return cls(total, translation.signature, free.learned, tracked.learned, _explained(tracked, free, pairs))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        result: dict[str, Any] = {"n": self.duels, "g": self.signature, "d": self.differences.to_json()}
        if self.readings is None:
            return result
        return result | {"t": self.readings.to_json(), "e": int(self.explained)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Fit":
        """Undo `to_json`."""
        readings = Learned.from_json(content["t"]) if "t" in content else None
        return cls(content["n"], content["g"], Learned.from_json(content["d"]), readings, bool(content.get("e")))

    def outdated(self, duels: int, patience: float = 0.0) -> bool:
        """Return whether it is time to fit again; `patience` is how much more the duels may have grown first."""
        return duels < FEW or duels >= max(self.duels + 2, math.ceil((GROWTH + patience) * self.duels))


def _learn(space: Space, law: Offset, comparisons: Sequence[Comparison], last: Learned | None) -> StudyPosterior:
    if last is None:
        return StudyPosterior.one_by_one(space, law, comparisons)
    return StudyPosterior.at_once(space, law, comparisons, last).fitted_again()


def _explained(tracked: StudyPosterior, free: StudyPosterior, pairs: Sequence[tuple[Comparison, ...]]) -> bool:
    """Return whether a tracked offset explains the differences inside trials as well as no law at all.

    It does not where the offset changes more between trials than inside them: on other workers, on other days. That
    the law-free kernel was fitted to these very differences is allowed for, by one unit for each hyperparameter.
    """
    allowance = len(free.hyperparameters.lengthscales) + 2.0
    return _predicted(tracked, pairs) > _predicted(free, pairs) - allowance


def _predicted(posterior: StudyPosterior, pairs: Sequence[tuple[Comparison, ...]]) -> float:
    """Return how well each difference of a pair of readings is predicted by all others: log densities, summed.

    Unlike the marginal likelihood it asks for no surprise but that of a reading: how large the slope of a steady drift
    is was not known beforehand, but is soon learned. Leaving one out: Rasmussen and Williams 2006, Eq. (5.10)-(5.12).
    """
    told = [reading for pair in pairs for reading in pair]
    X, t = np.array([reading.first for reading in told]), np.array([reading.time for reading in told])
    G, n, noise = posterior.kernel(X, X), len(pairs), posterior.regularizer
    if posterior.offset is not None:
        G, noise = G + posterior.offset(t, t), 2 * noise
    D = G.reshape(n, 2, n, 2)
    K = D[:, 0, :, 0] - D[:, 0, :, 1] - D[:, 1, :, 0] + D[:, 1, :, 1] + noise * np.eye(n)
    y = np.array([first.outcome - second.outcome for first, second in pairs])
    inverse = np.linalg.inv(K)
    precision = inverse.diagonal()
    return 0.5 * float((np.log(precision) - (inverse @ y) ** 2 / precision).sum())


def _gathered(told: Sequence[tuple[FloatArray, FloatArray, Comparison]], origin: float) -> Data | None:
    """Return what was told, by points, weights and comparison, as data."""
    if not told:
        return None
    points, weights, kept = zip(*told, strict=True)
    starts = np.cumsum([0, *map(len, weights[:-1])])
    times, outcomes, variances = np.array([(c.time, c.outcome, c.variance) for c in kept]).T
    return Data(np.concatenate(points), np.concatenate(weights), starts, times, outcomes - origin, variances)


def _null(points: FloatArray, u: FloatArray) -> bool:
    """Return whether a point is compared with itself."""
    return len(u) == 2 and bool((points[0] == points[1]).all())
