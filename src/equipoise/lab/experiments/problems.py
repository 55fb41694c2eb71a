"""Problems: the prior knowledge of a learner, the same for every learner.

symbol    meaning                                                                shape
sigma     standard deviation of a reading's noise                                ()
rho       noise of an outcome; the paper has rho = sigma, METHOD section 8       ()
B         bound on the norm of f, if one is known                             ()
s         spread of f over its domain, the unit in which the prior is set up     ()
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equipoise._typing import FloatArray, Seed
from equipoise.belief import Confidence, FixedConfidence, PaperConfidence
from equipoise.kernels import RBF, Kernel, Linear
from equipoise.lab.environments import Function
from equipoise.optimizer import Optimizer
from equipoise.policies import Policy
from equipoise.reductions import Reduction
from equipoise.spaces import Box, Domain, Finite

CAMELBACK_NOISE = math.sqrt(0.1)  # KK21 section 6: noise variance 0.1


@dataclass(frozen=True)
class Problem:
    """The prior knowledge of a learner, before the first reading.

    Attributes:
        space: The space of points.
        kernel: The prior covariance of f.
        noise: sigma, the standard deviation of a reading's noise.
        regularizer: lambda in the paper's setting.
        norm_bound: B if it is known: then the coefficient is the paper's theorem. Otherwise it is as large as the
            regularizer: an interval is one posterior standard deviation to each side, as in the paper's camelback.
        delta: The probability with which the confidence intervals may fail.

    Example:
        >>> from equipoise.lab.environments import linear
        >>> problem("linear", linear(rng=0)).confidence()
        PaperConfidence(outcome_noise=1.0, norm_bound=1.0, delta=0.05)
    """

    space: Domain
    kernel: Kernel
    noise: float
    regularizer: float = 1.0
    norm_bound: float | None = None
    delta: float = 0.05

    @cached_property
    def key(self) -> tuple[object, ...]:
        """The values that distinguish it from other problems."""
        points = None if self.space.points is None else self.space.points.tobytes()
        numbers = self.noise, self.regularizer, self.norm_bound, self.delta
        return repr(self.space), points, repr(self.kernel), *numbers

    def confidence(self, rho: float | None = None, widening: float = 1.0) -> Confidence:
        """Return the confidence coefficient.

        Args:
            rho: The true noise of an outcome; by default the paper's setting.
            widening: A factor on the width of all intervals.
        """
        if self.norm_bound is not None:
            scale = self.noise if rho is None else rho
            return PaperConfidence(widening * scale, widening * self.norm_bound, self.delta)
        if rho is None:
            return FixedConfidence(widening**2 * self.regularizer)
        return FixedConfidence(2 * math.log(1 / self.delta) * (widening * rho) ** 2)  # the tail bound at one pair

    def learner(
        self,
        policy: Policy,
        rng: Seed,
        reduction: Reduction | None = None,
        rho: float | None = None,
        widening: float = 1.0,
    ) -> Optimizer:
        """Return an optimizer with exactly this prior knowledge.

        Args:
            policy: The policy that proposes points.
            rng: The learner's random stream.
            reduction: The way to measure; by default the one that suits the policy.
            rho: The true noise of an outcome; without B its square is the regularizer too. By default the paper's
                setting: sigma for every reduction.
            widening: A factor on the width of all confidence intervals.
        """
        return Optimizer(
            self.space,
            kernel=self.kernel,
            policy=policy,
            reduction=reduction,
            confidence=self.confidence(rho, widening),
            regularizer=self.regularizer if rho is None or self.norm_bound is not None else rho**2,
            rng=rng,
        )


def problem(name: str, function: Function, noise: float | None = None, lengthscale: float | None = None) -> Problem:
    """Return the standard problem for a function.

    Args:
        name: Its name in `FUNCTIONS`; the paper's two have the paper's settings.
        function: The function.
        noise: sigma, if it differs from the standard value.
        lengthscale: The lengthscale of the RBF kernel, if it differs from the standard value; in the units of a finite
            set's points, as a share of the range for a box. Not for "linear".

    Example:
        >>> from equipoise.lab.environments import camelback
        >>> problem("camelback-grid", camelback().on_grid(30)).kernel
        RBF(lengthscale=0.2)
    """
    if lengthscale is not None and name == "linear":
        raise ValueError(f"`lengthscale` must not be given for 'linear', whose kernel is linear, got {lengthscale!r}")
    return PROBLEMS.get(name, _standardized)(function, noise, lengthscale)


def _linear(function: Function, noise: float | None, lengthscale: float | None) -> Problem:
    return Problem(_space(function), Linear(), 1.0 if noise is None else noise, norm_bound=1.0)  # METHOD section 8


def _camelback_grid(function: Function, noise: float | None, lengthscale: float | None) -> Problem:
    kernel = RBF(0.2 if lengthscale is None else lengthscale)
    return Problem(_space(function), kernel, CAMELBACK_NOISE if noise is None else noise)


def _standardized(function: Function, noise: float | None, lengthscale: float | None) -> Problem:
    """Return the paper's camelback setting in units of the function's spread, with a noise of a tenth of that."""
    space = _space(function)
    extent = np.ones(space.dimension) if space.points is None else np.ptp(space.points, axis=0)
    width = 0.2 * np.where(extent > 0, extent, 1.0) if lengthscale is None else np.full(space.dimension, lengthscale)
    s = spread(function)
    return Problem(space, s**2 * RBF(tuple(width)), 0.1 * s if noise is None else noise, regularizer=s**2)


def spread(function: Function) -> float:
    """Return the standard deviation of a function over its domain.

    Example:
        >>> from equipoise.lab.environments import camelback
        >>> round(spread(camelback()), 2)
        1.07
    """
    deviation = float(np.std(function(_sample(function))))
    return deviation if deviation > 0 else 1.0


def _sample(function: Function) -> FloatArray:
    """Return all points of a finite domain, or many well-spread points of a box."""
    if function.points is not None:
        return function.points
    from scipy.stats import qmc  # slow to import

    low, high = np.asarray(function.bounds).T
    unit = qmc.Sobol(function.dimension, scramble=False).random_base2(10)
    sample: FloatArray = low + (high - low) * unit
    return sample


def _space(function: Function) -> Domain:
    return Finite(function.points) if function.points is not None else Box(np.asarray(function.bounds))


PROBLEMS: dict[str, Callable[[Function, float | None, float | None], Problem]] = {
    "linear": _linear,
    "camelback-grid": _camelback_grid,
}
"""The functions whose standard problem is the paper's; all others use units of their spread."""
