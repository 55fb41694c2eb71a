"""A law of the offset that also accounts for blocks, covariates, a season and earlier campaigns.

    symbol   meaning                                                           shape
    S        1 if two readings belong to one block                              (n, m)
    C        1 if two readings belong to one campaign                           (n, m)
    z        a covariate, less its mean, in standard deviations                (n,)
    F        prior covariance of f at the readings                             (n, m)
    t        times of readings                                                 (n,)

The covariance of the offset is

    C K_law + v_block S + effect S F + sum_q v_q z_q z_q' + C v_season cos(2 pi (t - t') / period)

(METHOD section 13). The effect of a block on the settings limits the certainty from a single day, since readings of
that day cannot separate it from f. A missing covariate may have any value: z = 0, and v_q is added to the variance of
that reading alone.
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise._typing import FloatArray
from equipoise.offsets.circumstances import LAST_READING, Circumstances
from equipoise.offsets.moments import Moments, same_block, same_campaign
from equipoise.offsets.offset import LEVEL_VARIANCE, Offset
from equipoise.offsets.terms import Hyperparameter, Prepared

LEVEL = Hyperparameter("block", LEVEL_VARIANCE, 0.0, 3.0, 1e-6, math.exp(14.0), "as unknown as the first level was")
EFFECT = Hyperparameter("effect", 0.02, -4.0, 1.0, 1e-5, 0.25, "on another day settings differ by a seventh of f")
SEASON = Hyperparameter("season", 1.0, 0.0, 3.0, 1e-6, math.exp(14.0), "found because it is large")

CLEAR_SHARE = 0.5
"""A first guess uses covariates if they explain at least this share of the differences inside pairs."""


def slope(name: str) -> Hyperparameter:
    """Return the variance of the slope of the offset in a covariate, in squared steps a standard deviation."""
    return Hyperparameter(name, 0.1, -3.0, 3.0, 1e-7, math.exp(14.0), "of little effect, or of a large one")


@dataclass(frozen=True)
class Covariate:
    """A covariate and its unit.

    Attributes:
        name: Its name.
        center: The value subtracted from it.
        scale: The value by which it is then divided.
    """

    name: str
    center: float
    scale: float

    @classmethod
    def of(cls, name: str, moments: Moments) -> "Covariate":
        """Return a covariate with the unit suggested by its values."""
        known = moments.covariate(name)
        known = known[np.isfinite(known)]
        spread = float(known.std()) if len(known) else 0.0
        return cls(name, float(known.mean()) if len(known) else 0.0, spread if spread > 0 else 1.0)

    def standardized(self, moments: Moments) -> FloatArray:
        """Return its values at some readings in its unit, shape (n,); 0 if it is missing."""
        z: FloatArray = (moments.covariate(self.name) - self.center) / self.scale
        return np.nan_to_num(z, nan=0.0)

    def covariance(self, a: Moments, b: Moments) -> FloatArray:
        """Return z z', plus 1 on the diagonal of each reading without it, shape (n, m)."""
        K: FloatArray = np.outer(self.standardized(a), self.standardized(b))
        unknown = np.isnan(a.covariate(self.name))
        if unknown.any():
            K += unknown[:, None] & (a.time[:, None] == b.time) & same_campaign(a, b)
        return K


@dataclass(frozen=True)
class Accounts:
    """The circumstances that a law accounts for besides its own terms.

    Attributes:
        blocks: If true, blocks have levels, and effects on the settings.
        covariates: Other quantities on which the offset depends.
        period: The number of readings after which the offset repeats; 0 without a season.
    """

    blocks: bool = False
    covariates: tuple[Covariate, ...] = ()
    period: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.period < math.inf:
            raise ValueError(f"`period` must be at least 0, got {self.period!r}")
        for each in self.covariates:  # a log may come from anybody
            if not isinstance(each, Covariate) or not (math.isfinite(each.center) and 0 < each.scale < math.inf):
                raise ValueError(f"`covariates` must have a center and a scale above 0, got {each!r}")


@dataclass(frozen=True)
class Accounted:
    """A law of the offset that accounts for the circumstances of the readings.

    The belief makes it automatically if readings have blocks, covariates or earlier campaigns.

    Attributes:
        law: The change of the offset with time.
        blocks: If true, blocks have levels, and effects on the settings.
        covariates: The other quantities on which the offset depends.
        period: The number of readings after which the offset repeats; 0 without a season.

    Example:
        >>> import equipoise as eq
        >>> law = Accounted(eq.Tracked(), blocks=True)
        >>> [each.name for each in law.hyperparameters]
        ['walk', 'wave', 'duration', 'pair', 'block', 'effect']
    """

    law: Offset
    blocks: bool = False
    covariates: tuple[Covariate, ...] = ()
    period: float = 0.0

    @property
    def accounts(self) -> Accounts:
        """The circumstances it accounts for."""
        return Accounts(self.blocks, self.covariates, self.period)

    @property
    def learns_readings(self) -> bool:
        """The property of the law."""
        return self.law.learns_readings

    @property
    def believed(self) -> bool:
        """The property of the law."""
        return self.law.believed

    @property
    def jumps(self) -> bool:
        """The property of the law."""
        return self.law.jumps

    @property
    def timeless(self) -> bool:
        """The property of the law."""
        return self.law.timeless

    @property
    def guard(self) -> float | None:
        """The property of the law."""
        return self.law.guard

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The hyperparameters of the law, then of blocks, then the slope of each covariate, then of the season."""
        blocks, season = (LEVEL, EFFECT) if self.blocks else (), (SEASON,) if self.period else ()
        return (*self.law.hyperparameters, *blocks, *(slope(each.name) for each in self.covariates), *season)

    def covariance(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray:
        """Return the part of the covariance that does not depend on the settings."""
        own, (level, _), beside = self._parts(values)
        K = self.law.covariance(own, a, b) * same_campaign(a, b)
        if self.blocks:
            K += level * same_block(a, b)
        for v, each in zip(beside, self.beside(a, b), strict=True):
            K += v * each
        return K

    def beside(self, a: Moments, b: Moments) -> list[FloatArray]:
        """Return the covariance of each covariate and of the season, in their units."""
        found = [each.covariance(a, b) for each in self.covariates]
        if self.period:
            lag = np.asarray(a.time)[:, None] - np.asarray(b.time)
            found.append(np.cos(2 * math.pi / self.period * lag) * same_campaign(a, b))
        return found

    def echo(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray | None:
        """Return the share of f that the offset repeats: effect S, shape (n, m); `None` without blocks."""
        effect = float(self._parts(values)[1][1])
        return effect * same_block(a, b).astype(np.float64) if self.blocks else None

    def derivatives(self, values: FloatArray, a: Moments, b: Moments) -> tuple[FloatArray, ...]:
        """Return the derivatives of `covariance` in the logarithm of each hyperparameter."""
        own, (level, _), beside = self._parts(values)
        C = same_campaign(a, b)
        of_law = (each * C for each in self.law.derivatives(own, a, b))
        S = same_block(a, b)
        blocks = (level * S, np.zeros(S.shape)) if self.blocks else ()
        return (*of_law, *blocks, *(v * each for v, each in zip(beside, self.beside(a, b), strict=True)))

    def prepared(self, moments: Moments) -> Prepared:
        """Return the law at given readings, ready to be fitted."""
        return _AtReadings(self, moments)

    def calm(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the law's hyperparameters of an offset that changes little, and the learned values of all others."""
        k = len(self.law.hyperparameters)
        return (*self.law.calm(values[:k]), *values[k:])

    def estimate(self, moments: Moments, readings: FloatArray) -> tuple[float, ...]:
        """Return a quick guess of the hyperparameters from readings, in steps."""
        blocks = (LEVEL.guess, EFFECT.guess) if self.blocks else ()
        y, z = _differences(moments, readings, self.covariates)
        found = np.linalg.lstsq(z, y, rcond=None)[0] if z.size else np.zeros(len(self.covariates))
        slopes = (max(slope(each.name).guess, float(b**2)) for each, b in zip(self.covariates, found, strict=True))
        cleared = self.cleared(moments, readings)
        return (*self.law.estimate(moments, cleared), *blocks, *slopes, *((SEASON.guess,) if self.period else ()))

    def cleared(self, moments: Moments, readings: FloatArray) -> FloatArray:
        """Return readings minus a first fit of the covariates, if these explain most differences in pairs."""
        y, z = _differences(moments, readings, self.covariates)
        if len(y) < 3 * len(self.covariates) + 3 or not z.size:
            return readings
        found = np.linalg.lstsq(z, y, rcond=None)[0]
        left = y - z @ found
        if left @ left > CLEAR_SHARE * (y @ y):
            return readings
        beside = np.array([each.standardized(moments) for each in self.covariates])
        cleared: FloatArray = readings - found @ beside
        return cleared

    def _parts(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the hyperparameters of the law, level and effect of blocks, and the slopes with the season."""
        k = len(self.law.hyperparameters)
        blocks = values[k : k + 2] if self.blocks else np.zeros(2)
        return values[:k], blocks, values[k + 2 * self.blocks :]


def accounted(law: Offset, moments: Moments, feedback: bool = False, period: float = 0.0) -> Offset:
    """Return a law that accounts for the circumstances of readings: itself if there are none.

    With `feedback` the previous reading counts as a covariate; the offset repeats after `period` readings, if any.
    """
    if law.believed or not law.learns_readings:
        return law
    names = sorted(name for name in moments.covariates if feedback or name != LAST_READING)
    blocks = bool((moments.block != "").any())
    if not names and not blocks and not period and not (moments.campaign != "").any():
        return law
    return Accounted(law, blocks, tuple(Covariate.of(name, moments) for name in names), period)


def unaccounted(law: Offset) -> Offset:
    """Return a law without its circumstances."""
    return law.law if isinstance(law, Accounted) else law


def accounts_for(law: Offset, told: Circumstances) -> bool:
    """Return True if a law accounts for the circumstances of one more reading."""
    if law.believed or not law.learns_readings:
        return True
    known = law if isinstance(law, Accounted) else Accounted(law)
    names = {each.name for each in known.covariates} | {LAST_READING}
    strange = told.campaign and known is not law
    return not strange and (known.blocks or not told.block) and names >= told.covariates.keys()


def accounts_of(law: Offset) -> Accounts | None:
    """Return the circumstances that a law accounts for; `None` if there are none."""
    return law.accounts if isinstance(law, Accounted) else None


def accounting(law: Offset, accounts: Accounts | None) -> Offset:
    """Return a law that accounts for the given circumstances; itself for `None`."""
    return law if accounts is None else Accounted(law, accounts.blocks, accounts.covariates, accounts.period)


class _AtReadings:
    """The law at given readings, with everything computed beforehand that does not depend on hyperparameters."""

    def __init__(self, law: Accounted, moments: Moments) -> None:
        self._law, self._base = law, law.law.prepared(moments)
        self._C = same_campaign(moments, moments).astype(np.float64)
        self._S = same_block(moments, moments).astype(np.float64)
        self._Z = law.beside(moments, moments)

    def covariance(self, values: FloatArray) -> FloatArray:
        """Return the part of the covariance that does not depend on the settings."""
        own, (level, _), beside = self._law._parts(values)
        K = self._base.covariance(own) * self._C
        if self._law.blocks:
            K += level * self._S
        for v, Z in zip(beside, self._Z, strict=True):
            K += v * Z
        return K

    def echo(self, values: FloatArray) -> FloatArray | None:
        """Return the share of f that the offset repeats."""
        effect: float = self._law._parts(values)[1][1]
        return effect * self._S if self._law.blocks else None

    def gradient(self, values: FloatArray, W: FloatArray, F: FloatArray) -> FloatArray:
        """Return the derivative of tr(W K) / 2 in each logarithm."""
        own, (level, effect), beside = self._law._parts(values)
        found = [self._base.gradient(own, W * self._C, F)]
        if self._law.blocks:
            found.append(0.5 * np.array([level * np.vdot(W, self._S), effect * np.vdot(W, self._S * F)]))
        found.append(np.array([0.5 * v * np.vdot(W, Z) for v, Z in zip(beside, self._Z, strict=True)]))
        return np.concatenate(found)


def _differences(
    moments: Moments, readings: FloatArray, covariates: tuple[Covariate, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the differences of successive readings of one pair, else of one campaign, and those of covariates."""
    z = np.array([each.standardized(moments) for each in covariates]).reshape(len(covariates), len(moments)).T
    order = np.argsort(moments.pair, kind="stable")
    number = moments.pair[order]
    inside = (np.diff(number) == 0) & (number[1:] >= 0)
    if not inside.any():
        order = np.arange(len(moments))
        inside = moments.campaign[1:] == moments.campaign[:-1]
    return np.diff(readings[order])[inside], np.diff(z[order], axis=0)[inside]
