"""The model of the readings: the kernel of f, the noise, the offset and their hyperparameters.

    symbol   meaning                                                       shape
    G        number of the user's parameters
    l        lengthscale of each parameter, in units of the space's extent (G,)
             and that of equality for C of them with distinguished values   (G + C,)
    v        variance of f                                                 ()
    noise    lambda: variance of the noise of an outcome                   ()
    theta    logarithms of all fitted parameters: l, v, noise, offset       (k,)

Everything is in units of the outcomes' typical step, so the same priors serve any unit.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.kernels import RBF, Kernel, Matern52, Scaled
from equipoise.likelihoods import Compression
from equipoise.offsets import (
    LAST_READING,
    LEVEL_VARIANCE,
    Accounts,
    Disturbance,
    Hyperparameter,
    Moments,
    Offset,
    OffsetModel,
    accounted,
    accounting,
    accounts_of,
    unaccounted,
)

FLAT_LENGTHSCALE = 1e6
"""A lengthscale over which f is constant in any space."""

ROUNDING = 1e-6
"""The relative amount by which a fitted value may exceed its range: other machines round differently."""

MOST_LEVELS = 64
"""The most values of a parameter that are distinguished: with more, hardly any value occurs twice."""

CONTRAST = 0.08
"""Contrast of a parameter for a lengthscale of one: 2 / G for the median of the prior of each of G parameters. So two
settings without a common value keep a seventh of the covariance for any number of parameters."""

LARGEST = 1e200
"""The largest variance that possible readings can have."""

MANY_PARAMETERS = 9
"""From this number of parameters on, f is known too poorly for the search of few: see `lengthscale`, the start design
(study/exploring.py) and pairs of mirror images (study/outputs/company.py)."""

VARIANCE = Hyperparameter("variance", 1.0, 1.5, 1.0, math.exp(-4.0), math.exp(4.0), "f varies by a few steps")
NOISE = Hyperparameter("noise", 0.05, -2.0, 1.5, 1e-4, math.exp(2.0), "mostly below a step, else nothing is learned")


def lengthscale(parameters: int) -> Hyperparameter:
    """Return the lengthscale hyperparameter of each of this many parameters.

    The prior grows with the root of the dimension (Hvarfner, Hellsten and Nardi 2024), so that the distance between
    typical points, in lengthscales, does not grow with the dimension. With many parameters it is narrower: a fit of
    many lengthscales to few readings makes some of them much too short. So the correlation of the mean with f near the
    leader was 0.33 instead of 0.23 after 30 readings, and 0.57 instead of 0.54 after 300 (four functions of 10 to 20
    knobs under a walk).
    """
    root, deviation = parameters**0.5, 1.0 if parameters < MANY_PARAMETERS else 0.5
    reason = "a fifth of the extent in one dimension, growing with the root of their number"
    return Hyperparameter("lengthscale", 0.3 * root, math.log(0.2 * root), deviation, 0.02, 20.0, reason)


@dataclass(frozen=True)
class Model:
    """The model of the data.

    Attributes:
        kernel: Prior covariance of f.
        noise: Variance of the noise of an outcome.
        offset: Prior covariance of the offset; `None` if there is none to separate from f.
    """

    kernel: Kernel
    noise: float
    offset: OffsetModel | None = None

    @property
    def echoes(self) -> bool:
        """True if the offset repeats part of f."""
        return self.offset is not None and self.offset.echoes

    def repeating(self, a: Moments, b: Moments, F: FloatArray) -> FloatArray:
        """Return F, the covariance of f at readings a and b, plus the part that the offset repeats, shape (n, m)."""
        return F if self.offset is None else self.offset.repeating(a, b, F)

    def until(self, time: float) -> "Model":
        """Return the model without disturbances after the given time."""
        return self if self.offset is None else replace(self, offset=self.offset.until(time))


@dataclass(frozen=True, eq=False)
class Form:
    """The form of a model that is learned: all but its hyperparameters.

    Attributes:
        extent: Range of each encoded coordinate, shape (d,).
        groups: The user's parameter of each coordinate, shape (d,): each parameter has one lengthscale.
        law: The law of the offset.
        levels: The number of values of each parameter, shape (G,), zero if not counted; empty if none are.
        leveled: Whether the kernel distinguishes values beyond their distance: see `Levels`.
    """

    extent: FloatArray
    groups: NDArray[np.intp]
    law: Offset
    levels: tuple[int, ...] = ()
    leveled: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", check.array("extent", self.extent, (None,)))
        object.__setattr__(self, "groups", np.asarray(self.groups, dtype=np.intp))
        object.__setattr__(self, "levels", tuple(map(int, self.levels)))

    @property
    def parameters(self) -> int:
        """The number of the user's parameters."""
        return int(self.groups.max()) + 1

    @property
    def table(self) -> tuple[Hyperparameter, ...]:
        """All learned hyperparameters, with guesses and priors, in the order of theta."""
        count = self.parameters + self.leveled * len(self.marked)
        return (*[lengthscale(self.parameters)] * count, VARIANCE, NOISE, *self.law.hyperparameters)

    @property
    def marked(self) -> list[int]:
        """The parameters whose values can be distinguished; with only two values, their distance does this already."""
        return [g for g, count in enumerate(self.levels) if 2 < count <= MOST_LEVELS]

    @property
    def rivals(self) -> tuple["Form", ...]:
        """The forms that data choose between, this one first: with parameter values distinguished or not."""
        return (self, replace(self, leveled=not self.leveled)) if self.marked else (self,)

    def has(self, learned: "Hyperparameters") -> bool:
        """Return whether the number of lengthscales is that of this form or a rival form."""
        return len(learned.lengthscales) in (self.parameters, self.parameters + len(self.marked))

    def fitting(self, learned: "Hyperparameters") -> "Form":
        """Return the form, this one or a rival, with hyperparameters of this shape."""
        leveled = len(learned.lengthscales) > self.parameters
        return self if leveled == self.leveled else replace(self, leveled=leveled)

    @property
    def places(self) -> FloatArray:
        """The amount each coordinate adds to the place of its parameter's value, from 0 to 1, shape (d,)."""
        from equipoise.spaces import HOT

        found = 1.0 / self.extent
        for g in np.flatnonzero(np.bincount(self.groups) > 1):
            options = np.flatnonzero(self.groups == g)
            found[options] = np.arange(len(options)) / (len(options) - 1) / HOT
        return found

    def distances(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return squared distances of points, shape (p, d), before division by lengthscales: shape (G, p p).

        The second array, shape (C, p p), says whether distinguished values differ.
        """
        if self.leveled:
            P = np.stack([(points * self.places)[:, self.groups == g].sum(axis=1) for g in range(self.parameters)])
            z = (P[:, :, None] - P[:, None]).reshape(self.parameters, -1)
            return z**2, CONTRAST * (z[self.marked] != 0.0)
        z, D = (points[:, None, :] - points[None]) / self.extent, np.zeros((self.parameters, len(points) ** 2))
        for j, g in enumerate(self.groups):
            D[g] += (z[:, :, j] ** 2).ravel()
        return D, np.empty((0, D.shape[1]))

    def accounting(self, moments: Moments, feedback: bool, period: float = 0.0) -> "Form":
        """Return the form whose law includes the circumstances of readings, and with `feedback` the previous reading.

        With a period it includes a season.
        """
        return self.under(accounted(unaccounted(self.law), moments, feedback, period))

    def under(self, law: Offset) -> "Form":
        """Return the form with another law of the offset."""
        return self if law == self.law else replace(self, law=law)

    @property
    def feedback(self) -> bool:
        """True if the offset may depend on the previous reading."""
        return any(each.name == LAST_READING for each in self.law.hyperparameters)

    @property
    def period(self) -> float:
        """The number of readings after which the offset repeats; 0 if it has no season."""
        accounts = accounts_of(self.law)
        return 0.0 if accounts is None else accounts.period

    def carried(self, learned: "Hyperparameters", form: "Form") -> "Hyperparameters":
        """Return hyperparameters of another form in this form: matched by name, and guessed if new."""
        known = dict(zip((each.name for each in form.law.hyperparameters), learned.offset, strict=True))
        return replace(learned, offset=tuple(known.get(each.name, each.guess) for each in self.law.hyperparameters))

    def guess(self, step: float = 1.0) -> "Hyperparameters":
        """Return the hyperparameters assumed before there are data to fit."""
        return self.named([each.guess for each in self.table], step)

    def named(self, values: list[float], step: float) -> "Hyperparameters":
        """Return hyperparameters in the order of theta."""
        k = len(values) - len(self.law.hyperparameters)
        variance, noise = values[k - 2 : k]
        return Hyperparameters(tuple(values[: k - 2]), variance, noise, tuple(values[k:]), step)

    def model(
        self, learned: "Hyperparameters", jumps: tuple[Disturbance, ...] = (), blips: tuple[Disturbance, ...] = ()
    ) -> Model:
        """Return the model of given hyperparameters and disturbances, in the user's unit.

        If readings are trusted, their level is part of f, since nothing separates the two.
        """
        unit = learned.step**2
        kernel: Kernel = Scaled(self._shape(np.asarray(learned.lengthscales)), learned.variance * unit)
        offset = None
        if self.law.believed:
            kernel = kernel + Scaled(RBF(FLAT_LENGTHSCALE), LEVEL_VARIANCE * unit)
        elif self.law.learns_readings:
            offset = OffsetModel(self.law, learned.offset, learned.step, jumps, blips)
        return Model(kernel, learned.noise * unit, offset)

    def _shape(self, lengthscales: FloatArray) -> Kernel:
        """Return the kernel of f, of variance one; the number of lengthscales decides if values are distinguished."""
        G = self.parameters
        if len(lengthscales) == G:
            return Matern52(lengthscales[self.groups] * self.extent)
        from equipoise.kernels import Levels

        contrast = np.zeros(G)
        contrast[self.marked] = CONTRAST * lengthscales[G:] ** -2
        return Levels(lengthscales[:G], contrast, self.groups.tolist(), self.places)

    def must_have(self, learned: "Learned") -> None:
        """Refuse hyperparameters that cannot have been fitted: a log may come from anybody.

        Only the variance of f may exceed its range: f varies at least as much as was observed.
        """
        h, law = learned.hyperparameters, unaccounted(self.law)
        law = accounting(law, learned.accounts)
        table, values = self.under(law).fitting(h).table, [*h.lengthscales, h.variance, h.noise, *h.offset]
        if not self.has(h) or len(values) != len(table):
            raise ValueError(f"its fit must have {self.parameters} lengthscales and {len(table)} numbers in all")
        for value, each in zip(values, table, strict=True):
            high = math.inf if each is VARIANCE else each.high * (1 + ROUNDING)
            if not each.low * (1 - ROUNDING) <= value <= high:
                raise ValueError(
                    f"`{each.name}` of its fit must be from {each.low:.3g} to {each.high:.3g}, got {value!r}"
                )
        found = [size for _, size in (*learned.jumps, *learned.blips)]
        if found and not self.law.jumps:
            raise ValueError("its fit must have no jumps and no spoiled readings under this law of the offset")
        if learned.compression is not None and not self.law.timeless:
            raise ValueError("its fit must compress no readings under this law of the offset")
        unit = h.step * h.step
        largest = max(unit, h.variance * unit, abs(learned.origin), *found)
        if not (unit > 0 and largest < LARGEST):
            raise ValueError(f"its fit must have numbers below {LARGEST:.0g} and a step above 0, got {largest:.3g}")


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters of the model, in units of the outcomes' typical step.

    Attributes:
        lengthscales: One per parameter, in units of its extent.
        variance: Variance of f.
        noise: Variance of the noise of an outcome.
        offset: The hyperparameters of the law of the offset, in its order.
        step: The typical step of the outcomes, in the user's unit.
    """

    lengthscales: tuple[float, ...]
    variance: float = 1.0
    noise: float = 0.05
    offset: tuple[float, ...] = ()
    step: float = 1.0

    @property
    def theta(self) -> FloatArray:
        """The logarithms of the fitted parameters."""
        theta: FloatArray = np.log(np.array([*self.lengthscales, self.variance, self.noise, *self.offset]))
        return theta


@dataclass(frozen=True)
class Schedule:
    """A schedule of refits: after `first` data, then whenever their number has grown by `growth`.

    The total cost of all refits then grows like that of the last one.

    Example:
        >>> [Schedule().above(n) for n in (0, 6, 7, 100)]
        [6, 8, 8, 101]
    """

    first: int = 6
    growth: float = 1.2

    def after(self, data: int) -> int:
        """Return the number of data at which to fit next, after a fit to this many."""
        return max(self.first, data + 2, math.ceil(self.growth * data))

    def above(self, data: int) -> int:
        """Return the next number of data at which to fit, regardless of the last fit."""
        due = self.first
        while due <= data:
            due = self.after(due)
        return due


@dataclass(frozen=True)
class Learned:
    """The learned model without the data.

    Attributes:
        hyperparameters: The hyperparameters of the kernel, the noise and the offset.
        jumps: Time and variance of each jump of the offset.
        origin: The number subtracted from every reading.
        blips: Time and variance of each reading found to be spoiled.
        accounts: The circumstances that the law of the offset includes, if any.
        estranged: The campaigns that measured a different f.
        compression: The compression of readings far below the best one; `None` if there is none.
    """

    hyperparameters: Hyperparameters
    jumps: tuple[Disturbance, ...] = ()
    origin: float = 0.0
    blips: tuple[Disturbance, ...] = ()
    accounts: Accounts | None = None
    estranged: tuple[str, ...] = ()
    compression: Compression | None = None


@dataclass(frozen=True)
class Milestone:
    """The learned model without the data, as fitted after this many lessons."""

    lessons: int
    learned: Learned


class Priors:
    """Normal priors on the logarithms, and bounds that keep the fit numerically stable.

    Args:
        table: The fitted hyperparameters.
    """

    def __init__(self, table: tuple[Hyperparameter, ...]) -> None:
        self.mean = np.array([each.mean for each in table])
        self.deviation = np.array([each.deviation for each in table])
        self.low = np.log([each.low for each in table])
        self.high = np.log([each.high for each in table])

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and largest logarithm of each, shapes (k,)."""
        return self.low, self.high

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density, up to a constant, and its gradient."""
        z = (theta - self.mean) / self.deviation
        return float(-0.5 * z @ z), -z / self.deviation
