"""Judgements on a grid of 100 settings: the benchmark of MaxMinLCB (Pasztor, Kassraie and Krause, NeurIPS 2024).

Seven functions of two coordinates on 10 x 10 points, utility scaled to [-3, 3], answers "first" or "second" by a
logistic link, RBF kernel of lengthscale 1.0, lambda 0.25 (a prior variance of 4), beta 1. In which unit the paper has
the coordinates we do not know: here each has standard deviation one. All rules see the same posterior (a Laplace
approximation of the logistic link, known to all, linearized anew every 20 answers), so only the choice of the pair
differs. Many seeds run as one array program.

    python benchmarks/judge_grid.py --answers 2000 --seeds 20

prints, for each function and rule, the cumulative regret, the sum over answers of (P(best beats first) + P(best beats
second) - 1) / 2, and the final regret, by how much the recommended setting is worse than the best in utility.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = Any
"""Numbers, of the shape that the text says."""

RELINEARIZE = 20
PRIOR_VARIANCE = 1.0 / 0.25


def ackley(x: Array, y: Array) -> Array:
    r = np.sqrt((x**2 + y**2) / 2)
    waves = (np.cos(2 * np.pi * x) + np.cos(2 * np.pi * y)) / 2
    return 20 * np.exp(-0.2 * r) + np.exp(waves)


def branin(x: Array, y: Array) -> Array:
    bend = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return -(bend**2) - 10 * (1 - 1 / (8 * np.pi)) * np.cos(x)


def eggholder(x: Array, y: Array) -> Array:
    z = y + 47
    return z * np.sin(np.sqrt(np.abs(x / 2 + z))) + x * np.sin(np.sqrt(np.abs(x - z)))


def hoelder(x: Array, y: Array) -> Array:
    return np.abs(np.sin(x) * np.cos(y) * np.exp(np.abs(1 - np.hypot(x, y) / np.pi)))


def matyas(x: Array, y: Array) -> Array:
    return -0.26 * (x**2 + y**2) + 0.48 * x * y


def michalewicz(x: Array, y: Array) -> Array:
    return np.sin(x) * np.sin(x**2 / np.pi) ** 20 + np.sin(y) * np.sin(2 * y**2 / np.pi) ** 20


def rosenbrock(x: Array, y: Array) -> Array:
    return -((1 - x) ** 2) - 100 * (y - x**2) ** 2


FUNCTIONS: dict[str, tuple[Callable[[Array, Array], Array], tuple[float, float], tuple[float, float]]] = {
    "ackley": (ackley, (-5, 5), (-5, 5)),
    "branin": (branin, (-5, 10), (0, 15)),
    "eggholder": (eggholder, (-512, 512), (-512, 512)),
    "hoelder": (hoelder, (-10, 10), (-10, 10)),
    "matyas": (matyas, (-10, 10), (-10, 10)),
    "michalewicz": (michalewicz, (0, math.pi), (0, math.pi)),
    "rosenbrock": (rosenbrock, (-2, 2), (-1, 3)),
}


def utility(name: str) -> Array:
    """The function on the grid, scaled to [-3, 3], shape (100,)."""
    function, xs, ys = FUNCTIONS[name]
    x, y = np.meshgrid(np.linspace(*xs, 10), np.linspace(*ys, 10), indexing="ij")
    f = function(x.ravel(), y.ravel())
    return 6 * (f - f.min()) / np.ptp(f) - 3


def kernel() -> Array:
    line = np.arange(10) - 4.5
    points = np.array(np.meshgrid(line, line, indexing="ij")).reshape(2, -1).T / line.std()
    return PRIOR_VARIANCE * np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(axis=-1))


class Learners:
    """The posterior of many learners at once, on one grid.

    C = Q Q', f = Q w. Between two linearizations a new answer is a rank-one update at the present mean.
    """

    def __init__(self, seeds: int) -> None:
        values, vectors = np.linalg.eigh(kernel())
        keep = values > 1e-7 * values.max()
        self.Q: Array = vectors[:, keep] * np.sqrt(values[keep])
        self.m, self.seeds = len(vectors), seeds
        self.wins = np.zeros((seeds, self.m, self.m))  # [s, i, j]: how often i was preferred to j
        self.w = np.zeros((seeds, self.Q.shape[1]))
        self.cov = np.repeat((self.Q @ self.Q.T)[None], seeds, axis=0)
        self.answers = 0

    @property
    def mean(self) -> Array:
        """Posterior mean, shape (seeds, m)."""
        return self._mean if self.answers else np.zeros((self.seeds, self.m))

    def learn(self, winner: NDArray[np.intp], loser: NDArray[np.intp]) -> None:
        """Learn one more answer of each learner's judge."""
        s = np.arange(self.seeds)
        self.wins[s, winner, loser] += 1
        mean = self.mean
        c = self.cov[s, :, winner] - self.cov[s, :, loser]
        d, psi = mean[s, winner] - mean[s, loser], np.maximum(c[s, winner] - c[s, loser], 1e-12)
        for _ in range(2):  # the mode along the direction of the answer, given the mean before
            p = 1 / (1 + np.exp(-d))
            gradient = (1 - p) - (d - (mean[s, winner] - mean[s, loser])) / psi
            d = d + gradient / (p * (1 - p) + 1 / psi)
        p = 1 / (1 + np.exp(-d))
        noise = 1 / np.maximum(p * (1 - p), 1e-6)
        self._mean = mean + c * ((d - (mean[s, winner] - mean[s, loser])) / psi)[:, None]
        row = c / np.sqrt(noise + psi)[:, None]
        self.cov -= row[:, :, None] * row[:, None, :]
        self.answers += 1
        if self.answers % RELINEARIZE == 0:
            self.linearize()

    def linearize(self) -> None:
        """Newton's steps to the mode, and the covariance there."""
        eye = np.eye(self.Q.shape[1])
        for _ in range(6):
            f = self.w @ self.Q.T
            p = 1 / (1 + np.exp(f[:, None, :] - f[:, :, None]))  # P(i preferred to j)
            n = self.wins + self.wins.swapaxes(1, 2)
            pull = (self.wins - n * p).sum(axis=2)
            W = n * p * (1 - p)
            A = W.sum(axis=2)[:, :, None] * np.eye(self.m) - W
            B = eye + self.Q.T @ A @ self.Q
            step = np.linalg.solve(B, (pull @ self.Q - self.w)[..., None])[..., 0]
            self.w = self.w + step * np.minimum(1.0, 3.0 / np.abs(step @ self.Q.T).max(axis=1, keepdims=True))
        self._mean = self.w @ self.Q.T
        half = self.Q @ np.linalg.inv(np.linalg.cholesky(B)).swapaxes(1, 2)
        self.cov = half @ half.swapaxes(1, 2)

    def psi(self) -> Array:
        """Variances of all differences, shape (seeds, m, m)."""
        v = np.einsum("sii->si", self.cov)
        return np.maximum(v[:, :, None] + v[:, None, :] - 2 * self.cov, 0.0)

    def against(self, j: NDArray[np.intp]) -> Array:
        """The standard deviation of f - f_j, shape (seeds, m)."""
        s = np.arange(self.seeds)
        v = np.einsum("sii->si", self.cov)
        return np.sqrt(np.maximum(v + v[s, j][:, None] - 2 * self.cov[s, :, j], 0.0))


Rule = Callable[[Learners, Generator], tuple[NDArray[np.intp], NDArray[np.intp]]]


def maxmin_lcb(
    L: Learners, rng: Generator, boldness: float = 0.0, scale: float = 1.0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """As published: among the arms that nothing beats surely, the best worst case against its worst case; beta 1.

    With boldness each duel widens the interval by a factor of its own, as `Challenger` does.
    """
    mean, s = L.mean, np.arange(L.seeds)
    widening = scale * np.sqrt(1 + boldness * rng.exponential(size=L.seeds))
    width = widening[:, None, None] * np.sqrt(L.psi())
    lower = mean[:, :, None] - mean[:, None, :] - width
    alive: Array = (lower.swapaxes(1, 2) <= 0).all(axis=2)
    lower = np.where(alive[:, None, :], lower, np.inf) + 1e-9 * rng.random(lower.shape)
    first = np.where(alive, lower.min(axis=2), -np.inf).argmax(axis=1)
    return first, lower[s, first].argmin(axis=1)


def draws(L: Learners, rng: Generator, n: int) -> Array:
    """Functions from the posterior, shape (seeds, n, m)."""
    F = np.linalg.cholesky(L.cov + 1e-6 * PRIOR_VARIANCE * np.eye(L.m))
    return L.mean[:, None, :] + rng.standard_normal((L.seeds, n, L.m)) @ F.swapaxes(1, 2)


def double_thompson(L: Learners, rng: Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The tops of two draws."""
    tops = draws(L, rng, 2).argmax(axis=2)
    return tops[:, 0], tops[:, 1]


def leader_thompson(L: Learners, rng: Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The leader against the top of a draw."""
    return L.mean.argmax(axis=1), draws(L, rng, 1)[:, 0].argmax(axis=1)


def challenger(scale: float, boldness: float = 0.25) -> Rule:
    """The leader against what may beat it by most, at so many standard deviations."""

    def rule(L: Learners, rng: Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        mean = L.mean + 1e-9 * rng.random(L.mean.shape)
        leader = mean.argmax(axis=1)
        widening = scale * np.sqrt(1 + boldness * rng.exponential(size=L.seeds))
        return leader, (mean + widening[:, None] * L.against(leader)).argmax(axis=1)

    return rule


def eubo(L: Learners, rng: Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pair whose better one is expected to be best."""
    from scipy.special import ndtr

    mean, sd = L.mean, np.sqrt(L.psi()) + 1e-12
    z = (mean[:, :, None] - mean[:, None, :]) / sd
    value = mean[:, None, :] + sd * (z * ndtr(z) + np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))
    value += 1e-9 * rng.random(value.shape)
    best = value.reshape(L.seeds, -1).argmax(axis=1)
    return np.divmod(best, L.m)


def leader_eubo(L: Learners, rng: Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The leader against what is expected to beat it by most."""
    from scipy.special import ndtr

    mean = L.mean + 1e-9 * rng.random(L.mean.shape)
    leader = mean.argmax(axis=1)
    sd = L.against(leader) + 1e-12
    z = (mean - mean.max(axis=1, keepdims=True)) / sd
    value = sd * (z * ndtr(z) + np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))
    value[np.arange(L.seeds), leader] = 0.0
    return leader, value.argmax(axis=1)


def random(L: Learners, rng: Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Any two."""
    return rng.integers(L.m, size=L.seeds), rng.integers(L.m, size=L.seeds)


RULES: dict[str, Rule] = {
    "MaxMinLCB": maxmin_lcb,
    "MaxMinLCB, bold": lambda L, rng: maxmin_lcb(L, rng, 0.25),
    "double Thompson": double_thompson,
    "leader, one draw": leader_thompson,
    "Challenger 1 sd": challenger(1.0),
    "Challenger 1.5 sd": challenger(1.5),
    "Challenger 2 sd": challenger(2.0),
    "EUBO": eubo,
    "leader EUBO": leader_eubo,
    "random": random,
}


def run(name: str, rule: Rule, seeds: int, answers: int, first_seed: int) -> dict[str, list[float]]:
    """Regrets of many seeds."""
    f, L, rng = utility(name), Learners(seeds), np.random.default_rng(first_seed)
    best, cumulative = f.max(), np.zeros(seeds)
    for _ in range(answers):
        first, second = rule(L, rng)
        beaten = 1 / (1 + np.exp(-(best - f[first]))) + 1 / (1 + np.exp(-(best - f[second])))
        cumulative += beaten / 2 - 0.5
        wins = rng.random(seeds) < 1 / (1 + np.exp(f[second] - f[first]))
        L.learn(np.where(wins, first, second), np.where(wins, second, first))
    L.linearize()
    final = best - f[L.mean.argmax(axis=1)]
    return {"cumulative": cumulative.tolist(), "final": final.tolist()}


def cell(values: list[float]) -> str:
    return f"{np.mean(values):7.2f} ({np.std(values) / math.sqrt(len(values)):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rules", nargs="*", default=list(RULES))
    parser.add_argument("--functions", nargs="*", default=list(FUNCTIONS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name in options.functions:
        for rule in options.rules:
            begun = time.process_time()
            result = run(name, RULES[rule], options.seeds, options.answers, options.first_seed)
            found.setdefault(name, {})[rule] = result
            took = time.process_time() - begun
            said = f"cumulative {cell(result['cumulative'])}  final {cell(result['final'])}"
            print(f"{name:12} {rule:26} {said}  {took:.0f} s", flush=True)
            if options.out is not None:
                options.out.write_text(json.dumps(found))
    print("\nsum over functions of the means")
    for rule in options.rules:
        total = {key: sum(float(np.mean(found[name][rule][key])) for name in found) for key in ("cumulative", "final")}
        print(f"{rule:26} cumulative {total['cumulative']:8.2f}  final {total['final']:.3f}")


if __name__ == "__main__":
    main()
