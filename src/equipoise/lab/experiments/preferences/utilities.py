"""The seven utilities of the benchmark of MaxMinLCB, each on a grid of 10 x 10 settings.

Functions, ranges, kernels and constants are those of the configurations published with PKK24's code
(github.com/ayakayal/MaxMinLCB, data/preference_feedback). The kernel acts on the raw coordinates, so that on most
grids neighbors are almost independent.

PKK24 is Pasztor, Kassraie and Krause, Bandits with Preference Feedback: A Stackelberg Game Perspective, NeurIPS 2024.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equipoise._typing import FloatArray
from equipoise.kernels import RBF
from equipoise.lab.environments import ackley, branin, rosenbrock

SIDE = 10
"""The number of settings along a side of the grid."""

RANGE = 6.0
"""The range of every utility after scaling to [-3, 3]: the worst setting beats the best in 0.2 % of cases."""


@dataclass(frozen=True)
class Utility:
    """The utility of a simulated judge, and the rules' prior knowledge of it.

    Attributes:
        name: The name of the utility.
        function: Takes points, shape (..., 2), and returns values, shape (...).
        x: The range of the first coordinate.
        y: The range of the second coordinate.
        lengthscale: The lengthscale of the RBF kernel that the rules know.
        variance: The variance of that kernel.
        norm: The bound on the norm of f in PKK24.
        penalty: The weight of the regularization in PKK24.

    Example:
        >>> ackley = UTILITIES["ackley"]
        >>> ackley.points.shape, [float(f(ackley.values)) for f in (np.min, np.max)]
        ((100, 2), [-3.0, 3.0])
    """

    name: str
    function: Callable[[FloatArray], FloatArray]
    x: tuple[float, float]
    y: tuple[float, float]
    lengthscale: float = 1.0
    variance: float = 1.0
    norm: float = 1.0
    penalty: float = 1.0

    @property
    def points(self) -> FloatArray:
        """The settings, shape (100, 2)."""
        x, y = np.meshgrid(np.linspace(*self.x, SIDE), np.linspace(*self.y, SIDE), indexing="ij")
        return np.stack((x.ravel(), y.ravel()), axis=1)

    @property
    def values(self) -> FloatArray:
        """The utility of each setting, shape (100,)."""
        f = self.function(self.points)
        scaled: FloatArray = RANGE * ((f - f.min()) / np.ptp(f) - 0.5)
        return scaled

    @property
    def covariance(self) -> FloatArray:
        """The known kernel at all settings, shape (100, 100)."""
        points = self.points
        return self.variance * RBF(self.lengthscale)(points, points)


def eggholder(x: FloatArray) -> FloatArray:
    """Return the negated eggholder function."""
    a, b = x[..., 0], x[..., 1] + 47
    result: FloatArray = b * np.sin(np.sqrt(np.abs(a / 2 + b))) + a * np.sin(np.sqrt(np.abs(a - b)))
    return result


def hoelder(x: FloatArray) -> FloatArray:
    """Return the negated Hoelder table."""
    a, b = x[..., 0], x[..., 1]
    result: FloatArray = np.abs(np.sin(a) * np.cos(b) * np.exp(np.abs(1 - np.hypot(a, b) / np.pi)))
    return result


def matyas(x: FloatArray) -> FloatArray:
    """Return the negated Matyas function."""
    a, b = x[..., 0], x[..., 1]
    result: FloatArray = 0.48 * a * b - 0.26 * (a * a + b * b)
    return result


def michalewicz(x: FloatArray) -> FloatArray:
    """Return the negated Michalewicz function, with PKK24's exponent of 10 instead of the usual 20."""
    i = np.arange(1, x.shape[-1] + 1)
    result: FloatArray = (np.sin(x) * np.sin(i * x * x / np.pi) ** 10).sum(axis=-1)
    return result


UTILITIES = {
    each.name: each
    for each in (
        Utility("ackley", ackley(), (-5, 5), (-5, 5)),
        Utility("branin", branin(), (-5, 10), (0, 15), variance=0.1, norm=2.0, penalty=5.0),
        Utility("eggholder", eggholder, (-100, 100), (-100, 100), penalty=0.1),
        Utility("hoelder", hoelder, (-10, 10), (-10, 10), penalty=0.1),
        Utility("matyas", matyas, (-10, 10), (-10, 10)),
        Utility("michalewicz", michalewicz, (0, 3.14), (0, 3.14), lengthscale=0.1, penalty=0.1),
        Utility("rosenbrock", rosenbrock(), (-5, 10), (-5, 10), variance=0.1, norm=3.0),
    )
}
"""The utilities of PKK24, by name."""
