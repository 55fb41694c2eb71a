"""Random functions: linear, a Gaussian-process draw, a sum over coordinates, bumps on flat ground.

Notation of the random Fourier features:
    omega  frequencies, (features, d)
    phase  (features,)
    r      amplitudes, (features,)
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray, Seed
from equipoise._validation import array, count, positive
from equipoise.lab.environments.function import Function, checked_bounds

APART = 0.5
"""The least distance between two bumps, in units of the range."""


def linear(actions: int = 20, dimension: int = 4, rng: Seed = None) -> Function:
    """Return a linear function on random actions of the unit sphere, the paper's first problem.

    Args:
        actions: The number of actions, uniform on the unit sphere.
        dimension: The number of coordinates.
        rng: The generator for actions and parameter.

    Examples:
        >>> f = linear(rng=0)
        >>> f.points.shape, bool(np.allclose(np.linalg.norm(f.points, axis=1), 1))
        ((20, 4), True)
    """
    m, d = count("actions", actions), count("dimension", dimension)
    rng = np.random.default_rng(rng)
    directions = rng.standard_normal((m + 1, d))  # KK21 section 5.2: actions and theta are unit vectors
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return Function.finite("linear", _Linear(directions[-1]), directions[:-1])


def gp_draw(
    *,
    bounds: ArrayLike | None = None,
    points: ArrayLike | None = None,
    lengthscale: float | ArrayLike = 0.2,
    features: int = 1024,
    smoothness: float | None = None,
    rng: Seed = None,
) -> Function:
    """Return a draw from a Gaussian process with a unit-variance kernel, by random Fourier features.

    Over `points` the optimum is exact. Over `bounds` it is the best of many local searches: reliable in few dimensions
    with lengthscales that are not tiny compared with the box, otherwise the best known value.

    Args:
        bounds: Shape (d, 2); give this or `points`.
        points: Shape (m, d).
        lengthscale: One number, or one for each coordinate, in the units of the coordinates.
        features: The number of features: more are closer to the Gaussian process and slower to evaluate.
        smoothness: nu of a Matern kernel; the RBF kernel by default.
        rng: The generator for the function.

    Examples:
        >>> f = gp_draw(bounds=[[0, 1], [0, 1]], lengthscale=0.3, rng=0)
        >>> bool(f(np.random.default_rng(1).uniform(size=(1000, 2))).max() <= f.maximum)
        True
        >>> gp_draw(points=[[0.0], [0.5], [1.0]], rng=0).is_finite
        True
    """
    if bounds is not None and points is None:
        box = checked_bounds(bounds)
        draw = waves(len(box), lengthscale, features, rng, smoothness)
        return Function.box("gp", draw, box, _maximizer(draw, box))
    if points is not None and bounds is None:
        points = array("points", points, (None, None))
        return Function.finite("gp", waves(points.shape[1], lengthscale, features, rng, smoothness), points)
    raise ValueError("exactly one of `bounds` and `points` must be given, got both or neither")


def additive(dimension: int = 4, lengthscale: float = 0.2, rng: Seed = None) -> Function:
    """Return a sum of smooth functions of one coordinate each, on the unit cube.

    Since the parts share no coordinate, the optimum of the sum consists of the optima of the `parts`. Several learners
    may optimize one part each; the other parts are then an offset to them (KK21 section 1.1).

    Args:
        dimension: The number of parts.
        lengthscale: The lengthscale of each part.
        rng: The generator for the parts.

    Examples:
        >>> f = additive(3, rng=0)
        >>> bool(np.isclose(f.maximum, sum(part.maximum for part in f.parts)))
        True
    """
    d = count("dimension", dimension)
    rng = np.random.default_rng(rng)
    parts = tuple(gp_draw(bounds=[[0.0, 1.0]], lengthscale=lengthscale, features=64, rng=rng) for _ in range(d))
    maximizer = np.concatenate([part.maximizer for part in parts])
    return replace(Function.box("additive", _Sum(parts), [[0.0, 1.0]] * d, maximizer), parts=parts)


def two_bumps(sigma: float = 0.1, rng: Seed = None) -> Function:
    """Return a narrow bump of height 1 beside a broad one of height 0.3, on the unit square.

    Args:
        sigma: The standard deviation of the narrow bump; that of the broad one is 0.3.
        rng: The generator for their positions: the tops are at least half the range apart.

    Examples:
        >>> f = two_bumps(rng=0)
        >>> bool(1.0 <= f.maximum <= 1.3), f.dimension
        (True, 2)
    """
    rng = np.random.default_rng(rng)
    narrow = broad = np.zeros(2)
    while np.linalg.norm(narrow - broad) < APART:
        narrow, broad = rng.uniform(0.1, 0.9, (2, 2))
    widths = np.array([[positive("sigma", sigma)] * 2, [0.3, 0.3]])
    return _bumps("two-bumps", Bumps(np.array([narrow, broad]), widths, np.array([1.0, 0.3])))


def peak(dimension: int = 3, height: float = 5.0, rng: Seed = None) -> Function:
    """Return a single peak on flat ground, with a full width at half maximum of 22 to 33 % of each range.

    Args:
        dimension: The number of knobs.
        height: The height of the peak.
        rng: The generator for its position and width.

    Examples:
        >>> f = peak(rng=0)
        >>> f.dimension, round(f.maximum, 6)
        (3, 5.0)
    """
    d = count("dimension", dimension)
    rng = np.random.default_rng(rng)
    center, width = rng.uniform(0.1, 0.9, (1, d)), rng.uniform(0.22, 0.33, (1, d)) / np.sqrt(8 * np.log(2))
    return _bumps("peak", Bumps(center, width, np.array([positive("height", height)])))


@dataclass(frozen=True, eq=False)
class _Linear:
    """The function x to x' theta."""

    theta: FloatArray  # (d,)

    def __call__(self, x: FloatArray) -> FloatArray:
        return x @ self.theta


@dataclass(frozen=True, eq=False)
class _Sum:
    """The function x to the sum of the parts, each at its own coordinate."""

    parts: tuple[Function, ...]

    def __call__(self, x: FloatArray) -> FloatArray:
        result: FloatArray = np.zeros(x.shape[:-1])
        for i, part in enumerate(self.parts):
            result = result + part.evaluate(x[..., i : i + 1])
        return result


@dataclass(frozen=True, eq=False)
class Waves:
    """The function x to sum_j r_j cos(omega_j' x + phase_j)."""

    omega: FloatArray  # (features, d)
    phase: FloatArray  # (features,)
    r: FloatArray  # (features,)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at points, shape (..., d): shape (...)."""
        return np.cos(x @ self.omega.T + self.phase) @ self.r

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return the gradient at one point, shape (d,)."""
        return -(np.sin(self.omega @ x + self.phase) * self.r) @ self.omega


@dataclass(frozen=True, eq=False)
class Bumps:
    """The function x to sum_i height_i exp(-|(x - center_i) / width_i|^2 / 2)."""

    centers: FloatArray  # (k, d)
    widths: FloatArray  # (k, d)
    heights: FloatArray  # (k,)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at points, shape (..., d): shape (...)."""
        z = (x[..., None, :] - self.centers) / self.widths
        result: FloatArray = np.exp(-0.5 * (z * z).sum(-1)) @ self.heights
        return result


def waves(
    dimension: int, lengthscale: float | ArrayLike, features: int, rng: Seed, smoothness: float | None = None
) -> Waves:
    """Draw one function: Gaussian given omega, with covariance equal to the mean of cos(omega'(x - z))."""
    each = np.full(dimension, lengthscale) if np.ndim(lengthscale) == 0 else lengthscale
    scale = array("lengthscale", each, (dimension,))
    if not (scale > 0).all():
        raise ValueError(f"`lengthscale` must be positive, got {lengthscale!r}")
    n = count("features", features)
    rng = np.random.default_rng(rng)
    omega = rng.standard_normal((n, dimension)) / scale  # Rahimi & Recht 2007: the RBF's spectral density
    if smoothness is not None:  # a Matern kernel's spectral density is a multivariate t of 2 nu degrees of freedom
        freedom = 2.0 * positive("smoothness", smoothness)
        omega /= np.sqrt(rng.chisquare(freedom, n) / freedom)[:, None]
    phase = rng.uniform(0.0, 2.0 * np.pi, n)
    # r cos(. + phase) with r Rayleigh is a cos + b sin with independent standard normal a and b.
    return Waves(omega, phase, rng.rayleigh(size=n) / np.sqrt(n))


def _maximizer(draw: Waves, bounds: FloatArray, candidates: int = 2**13, starts: int = 16) -> FloatArray:
    """Return the best result of local searches from the best of many spread points, shape (d,)."""
    from scipy.stats import qmc  # slow to import

    unit = qmc.Sobol(len(bounds), scramble=False).random(candidates)
    spread = bounds[:, 0] + unit * (bounds[:, 1] - bounds[:, 0])
    values = np.concatenate([draw(block) for block in np.array_split(spread, 8)])  # in blocks, for memory
    found = [_climb(draw, x, bounds) for x in spread[np.argsort(-values)[:starts]]]
    return max(found, key=lambda x: float(draw(x)))


def _bumps(name: str, bumps: Bumps) -> Function:
    """Return the function of the bumps; its maximum is near the top of the highest bump."""
    bounds = np.array([[0.0, 1.0]] * bumps.centers.shape[1])
    top = _climb(bumps, bumps.centers[int(bumps.heights.argmax())], bounds)
    return Function.box(name, bumps, bounds, top)


def _climb(f: Waves | Bumps, start: FloatArray, bounds: FloatArray) -> FloatArray:
    """Return the local maximizer reached from `start`."""
    from scipy.optimize import minimize  # slow to import

    slope = (lambda x: -f.gradient(x)) if isinstance(f, Waves) else None
    options = {"ftol": 1e-15, "gtol": 1e-10}
    result = minimize(lambda x: -f(x), start, jac=slope, bounds=bounds, method="L-BFGS-B", options=options)
    top: FloatArray = np.clip(result.x, bounds[:, 0], bounds[:, 1])
    return top
