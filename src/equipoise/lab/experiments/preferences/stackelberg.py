"""MaxMinLCB as in PKK24: with their estimate of f, their variance, and their rule.

    symbol   meaning                                                              shape
    L, m     number of learners, of settings
    k        kernel at all settings                                               (m, m)
    S        sum of (e_i - e_j)(e_i - e_j)' over all pairs compared               (L, m, m)
    g        sum of (e_i - e_j)(answer - probability) over them                   (L, m)
    c        weight of the regularization
    rho2     lambda / sigmoid'(2 norm)

PKK24's code minimizes the negative log likelihood plus c |alpha|^2 over f = sum of alpha_t (k(., i_t) - k(., j_t)).
At the minimum alpha is K (answers - probabilities) / 2c, hence `f = k S k g / 2c`, whose size is that of the grid,
not the number of answers. The variance is that of a regression with noise rho2, `(k^-1 + S / rho2)^-1`. The rule
uses the lower bound `sigmoid(f_i - f_j) - beta variance`, and 1/2 for a setting against itself, over all settings.
"""

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.experiments.preferences.listeners import Indices
from equipoise.lab.experiments.preferences.utilities import Utility

LAMBDA, BETA = 0.25, 1.0
"""The constants of PKK24."""

TIE = 1e-4
"""The difference below which bounds count as equal; a random one of them is chosen."""

STEPS, TOLERANCE, FARTHEST = 30, 1e-3, 3.0
"""The most steps of Newton's method, the size of f's last step, and that of its longest."""


def sigmoid(z: FloatArray) -> FloatArray:
    """Return the probability that a setting is preferred if it is better by z.

    Example:
        >>> sigmoid(np.array([0.0, 3.0])).round(3)
        array([0.5  , 0.953])
    """
    result: FloatArray = 1.0 / (1.0 + np.exp(-z))
    return result


class Stackelberg:
    """Learners that play MaxMinLCB as published.

    Args:
        utility: The utility, whose kernel they know.
        count: The number of learners, L.
        rng: The source of randomness.

    Example:
        >>> from equipoise.lab.experiments.preferences import UTILITIES
        >>> learners = Stackelberg(UTILITIES["ackley"], 2, np.random.default_rng(0))
        >>> learners.learn(np.array([44, 44]), np.array([0, 1]))
        >>> learners.settle()
        >>> learners.mean.argmax(axis=1)
        array([44, 44])
    """

    def __init__(self, utility: Utility, count: int, rng: Generator) -> None:
        self._k, self._c, self._rng, self._rows = utility.covariance, utility.penalty, rng, np.arange(count)
        p = float(sigmoid(np.array(2.0 * utility.norm)))
        self._rho2 = LAMBDA / (p * (1.0 - p))
        m = len(self._k)
        self._wins = np.zeros((count, m, m))
        self.mean: FloatArray = np.zeros((count, m))
        self.covariance: FloatArray = np.repeat(self._k[None], count, axis=0)
        self._answers, self._next = 0, 1

    def choose(self) -> tuple[Indices, Indices]:
        """Return the leader and follower of each learner, shapes (L,); they may be equal."""
        v = np.diagonal(self.covariance, axis1=1, axis2=2)
        psi = np.maximum(v[:, :, None] + v[:, None, :] - 2.0 * self.covariance, 0.0)
        bounds = sigmoid(self.mean[:, :, None] - self.mean[:, None, :]) - BETA * psi
        own = np.arange(bounds.shape[1])
        bounds[:, own, own] = 0.5
        bounds += TIE * self._rng.random(bounds.shape)
        leader = bounds.min(axis=2).argmax(axis=1)
        return leader, bounds[self._rows, leader].argmin(axis=1)

    def learn(self, winner: Indices, loser: Indices) -> None:
        """Learn one answer per learner; estimate f again after each of the first hundred, then after every 2 % more."""
        rows = self._rows
        self._wins[rows, winner, loser] += winner != loser
        c = self.covariance[rows, :, winner] - self.covariance[rows, :, loser]
        step = c / np.sqrt(self._rho2 + np.maximum(c[rows, winner] - c[rows, loser], 0.0))[:, None]
        self.covariance -= step[:, :, None] * step[:, None, :]
        self._answers += 1
        if self._answers >= self._next:
            self.settle()

    def settle(self) -> None:
        """Estimate f: the root of f - k S k g(f) / 2c by Newton's method."""
        self._next = max(self._answers + 1, int(1.02 * self._answers))
        eye, n = np.eye(len(self._k)), self._wins + self._wins.swapaxes(1, 2)
        P = self._k @ (n.sum(axis=2)[:, :, None] * eye - n) @ self._k / (2.0 * self._c)
        for _ in range(STEPS):
            p = sigmoid(self.mean[:, :, None] - self.mean[:, None, :])
            g, W = (self._wins - n * p).sum(axis=2), n * p * (1.0 - p)
            A = W.sum(axis=2)[:, :, None] * eye - W  # minus the derivative of g
            step = np.linalg.solve(eye + P @ A, P @ g[..., None] - self.mean[..., None])[..., 0]
            size = np.abs(step).max(axis=1, keepdims=True)
            self.mean = self.mean + step * np.minimum(1.0, FARTHEST / np.maximum(size, TOLERANCE))
            if float(size.max()) <= TOLERANCE:
                return
