"""Test functions by name: the standard ones of global optimization, negated so that each is maximized.

Domains and constants: Surjanovic & Bingham, Virtual Library of Simulation Experiments, sfu.ca/~ssurjano (SB).
Maximizers without a closed form are constants from a local search, accurate to about 1e-9.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise._validation import count
from equipoise.lab.environments.beamline import beam_line
from equipoise.lab.environments.function import Function
from equipoise.lab.environments.random_functions import additive, gp_draw, linear, peak, two_bumps


def camelback() -> Function:
    """Return the six-hump camelback function, cut at -2.5, on [-2, 2] x [-1, 1].

    Examples:
        >>> round(camelback().maximum, 4), round(camelback().on_grid(30).maximum, 4)
        (1.0316, 1.0286)
    """
    return Function.box("camelback", _camelback, [[-2.0, 2.0], [-1.0, 1.0]], [-0.08984201310031324, 0.7126564030207366])


def branin() -> Function:
    """Return the negated Branin function, which has three equal optima.

    Examples:
        >>> round(branin().maximum, 6)
        -0.397887
    """
    return Function.box("branin", _branin, [[-5.0, 10.0], [0.0, 15.0]], [np.pi, 2.275])


def hartmann3() -> Function:
    """Return the negated three-dimensional Hartmann function on the unit cube.

    Examples:
        >>> round(hartmann3().maximum, 5)
        3.86278
    """
    return Function.box(
        "hartmann3", partial(_hartmann, A=_HARTMANN3_A, P=_HARTMANN3_P), [[0.0, 1.0]] * 3, _HARTMANN3_MAXIMIZER
    )


def hartmann6() -> Function:
    """Return the negated six-dimensional Hartmann function on the unit cube.

    Examples:
        >>> round(hartmann6().maximum, 5)
        3.32237
    """
    return Function.box(
        "hartmann6", partial(_hartmann, A=_HARTMANN6_A, P=_HARTMANN6_P), [[0.0, 1.0]] * 6, _HARTMANN6_MAXIMIZER
    )


def ackley(dimension: int = 2) -> Function:
    """Return the negated Ackley function: a needle at 0 amid ripples.

    Examples:
        >>> ackley(3).maximum
        0.0
    """
    d = count("dimension", dimension)
    return Function.box("ackley", _ackley, [[-32.768, 32.768]] * d, np.zeros(d))


def rosenbrock(dimension: int = 2) -> Function:
    """Return the negated Rosenbrock function in two or more dimensions: a long bent ridge with its top at (1, ..., 1).

    Examples:
        >>> float(rosenbrock()([0.0, 0.0]))
        -1.0
    """
    d = count("dimension", dimension, at_least=2)
    return Function.box("rosenbrock", _rosenbrock, [[-5.0, 10.0]] * d, np.ones(d))


def levy(dimension: int = 2) -> Function:
    """Return the negated Levy function: many local optima, the best at (1, ..., 1).

    Examples:
        >>> levy().maximum
        0.0
    """
    d = count("dimension", dimension)
    return Function.box("levy", _levy, [[-10.0, 10.0]] * d, np.ones(d))


def styblinski_tang(dimension: int = 2) -> Function:
    """Return the negated Styblinski-Tang function: a local maximum in every orthant, the best at (-2.9, ..., -2.9).

    Examples:
        >>> round(styblinski_tang(1).maximum, 5)
        39.16617
    """
    d = count("dimension", dimension)
    return Function.box("styblinski-tang", _styblinski_tang, [[-5.0, 5.0]] * d, np.full(d, -2.903534027771177))


def _camelback(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    p, q = a * a, b * b
    # KK21 section 5.2: -min(x1^2 (4 - 2.1 x1^2 + x1^4/3) + x1 x2 + x2^2 (4 x2^2 - 4), 2.5).
    result: FloatArray = -np.minimum(p * (4.0 - 2.1 * p + p * p / 3.0) + a * b + q * (4.0 * q - 4.0), 2.5)
    return result


def _branin(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    valley = b - 5.1 / (4 * np.pi**2) * a * a + 5 / np.pi * a - 6
    result: FloatArray = -(valley * valley + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)  # SB, Branin
    return result


def _hartmann(x: FloatArray, A: FloatArray, P: FloatArray) -> FloatArray:
    distances = (A * (x[..., None, :] - P) ** 2).sum(-1)
    # SB, Hartmann: sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2)
    result: FloatArray = np.exp(-distances) @ _HARTMANN_WEIGHTS
    return result


def _ackley(x: FloatArray) -> FloatArray:
    radius = np.sqrt((x * x).mean(-1))
    ripple = np.cos(2 * np.pi * x).mean(-1)
    # SB, Ackley: 20 exp(-radius/5) + exp(ripple) - 20 - e, by expm1 so that the optimum is exactly 0.
    result: FloatArray = 20 * np.expm1(-0.2 * radius) + np.e * np.expm1(ripple - 1)
    return result


def _rosenbrock(x: FloatArray) -> FloatArray:
    head, tail = x[..., :-1], x[..., 1:]
    result: FloatArray = -(100 * (tail - head * head) ** 2 + (1 - head) ** 2).sum(-1)  # SB, Rosenbrock
    return result


def _levy(x: FloatArray) -> FloatArray:
    # SB, Levy, with u = w - 1 = (x - 1)/4: the squared sines do not change and the optimum is exactly 0.
    u = (x - 1) / 4
    first, last = u[..., 0], u[..., -1]
    middle = (u[..., :-1] ** 2 * (1 + 10 * np.sin(np.pi * u[..., :-1] + 1) ** 2)).sum(-1)
    result: FloatArray = -(np.sin(np.pi * first) ** 2 + middle + last**2 * (1 + np.sin(2 * np.pi * last) ** 2))
    return result


def _styblinski_tang(x: FloatArray) -> FloatArray:
    q = x * x
    result: FloatArray = -0.5 * (q * q - 16 * q + 5 * x).sum(-1)  # SB, Styblinski-Tang
    return result


_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN3_A = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
_HARTMANN3_P = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
_HARTMANN3_MAXIMIZER = np.array([0.1145888766550465, 0.5556488946169302, 0.8525469846866718])
_HARTMANN6_A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
_HARTMANN6_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
_HARTMANN6_MAXIMIZER = np.ravel(
    [
        [0.20168951100671922, 0.15001069182346613, 0.47687397422187694],
        [0.27533243049405204, 0.3116516166001157, 0.6573005340656152],
    ]
)

FUNCTIONS: dict[str, Callable[[Generator], Function]] = {
    "linear": lambda rng: linear(rng=rng),
    "camelback": lambda rng: camelback(),
    "camelback-grid": lambda rng: camelback().on_grid(30),
    "branin": lambda rng: branin(),
    "hartmann3": lambda rng: hartmann3(),
    "hartmann6": lambda rng: hartmann6(),
    "ackley": lambda rng: ackley(),
    "rosenbrock": lambda rng: rosenbrock(),
    "levy": lambda rng: levy(),
    "styblinski-tang": lambda rng: styblinski_tang(),
    "peak": lambda rng: peak(rng=rng),
    "two-bumps": lambda rng: two_bumps(rng=rng),
    "gp": lambda rng: gp_draw(bounds=[[0.0, 1.0]] * 2, rng=rng),
    "additive": lambda rng: additive(rng=rng),
    "beamline": lambda rng: beam_line(),
}
"""Every function by its name on the command line; the generator is for random functions."""
