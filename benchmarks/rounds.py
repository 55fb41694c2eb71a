"""The cost of a round: ask and tell of IDS with two-point duels, beside the NumPy arithmetic alone.

    python benchmarks/rounds.py

Times are CPU time, medians over repeats taken in turn, so that ratios hold on a noisy machine. The bare round is
Algorithm 1 as one would write it by hand: leader, widths, ratio, one draw, and the rank-one update in place.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import time
from collections.abc import Callable

import numpy as np

import equipoise as eq
from equipoise._typing import FloatArray

Round = Callable[[float], None]


def bare_round(points: FloatArray, kernel: eq.kernels.Kernel, beta: float = 1.0) -> Round:
    """Return a function that plays one round of IDS on arrays alone, told the outcome beforehand."""
    C, mu, rng = kernel(points, points), np.zeros(len(points)), np.random.default_rng(0)

    def play(outcome: float) -> None:
        i = int(mu.argmax())
        psi = np.maximum(C.diagonal() + C[i, i] - 2 * C[i], 0.0)
        psi[i] = 0.0
        g = mu[i] - mu
        delta = float((np.sqrt(beta * psi) - g).max())
        mixed = g > delta
        numerator = np.where(mixed, 4 * delta * g, (delta + g) ** 2)
        ratio = np.full_like(numerator, np.inf)
        np.divide(numerator, np.log1p(psi), out=ratio, where=psi > 0)
        z = int(ratio.argmin())
        if mixed[z] and rng.random() >= delta / g[z]:
            return
        c = C[i] - C[z]
        s = 1.0 + c[i] - c[z]
        mu[:] += c * ((outcome - mu[i] + mu[z]) / s)
        C[:] -= np.multiply.outer(c, c / s)

    return play


def library_round(points: FloatArray, kernel: eq.kernels.Kernel) -> Round:
    """Return a function that plays the same round through ask and tell, two readings each."""
    opt = eq.Optimizer(eq.Finite(points), kernel=kernel, confidence=eq.FixedConfidence(1.0), rng=0)

    def play(outcome: float) -> None:
        opt.tell(opt.ask(), outcome)
        opt.tell(opt.ask(), 0.0)

    return play


def microseconds(play: Round, rounds: int) -> float:
    outcomes = np.random.default_rng(1).normal(size=rounds).tolist()
    start = time.process_time()
    for outcome in outcomes:
        play(outcome)
    return (time.process_time() - start) / rounds * 1e6


def compare(points: FloatArray, kernel: eq.kernels.Kernel, rounds: int, repeats: int = 9) -> tuple[float, float]:
    """Return the median cost of the bare round and of the library's, measured in turn."""
    pairs = [
        (microseconds(bare_round(points, kernel), rounds), microseconds(library_round(points, kernel), rounds))
        for _ in range(repeats)
    ]
    return statistics.median(bare for bare, _ in pairs), statistics.median(ours for _, ours in pairs)


def growth(points: FloatArray, kernel: eq.kernels.Kernel, repeats: int = 5) -> tuple[float, float]:
    """Return the cost of a round around duel 100 and around duel 5,000."""
    early, late = [], []
    for _ in range(repeats):
        play = library_round(points, kernel)
        microseconds(play, 50)
        early.append(microseconds(play, 200))
        microseconds(play, 4750)
        late.append(microseconds(play, 200))
    return statistics.median(early), statistics.median(late)


def problems() -> dict[str, tuple[FloatArray, eq.kernels.Kernel, int]]:
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(20, 4))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    axes = np.linspace(-2, 2, 30), np.linspace(-1, 1, 30)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    return {
        "20 actions in R^4, linear": (sphere, eq.Linear(), 1000),
        "30 x 30 grid, RBF": (grid, eq.RBF(0.2), 100),
    }


def main() -> None:
    print(f"{'problem':28}{'bare us':>10}{'ask+tell us':>13}{'ratio':>8}{'target':>8}")
    for (name, (points, kernel, rounds)), target in zip(problems().items(), (5.0, 1.5), strict=True):
        bare, ours = compare(points, kernel, rounds)
        print(f"{name:28}{bare:10.0f}{ours:13.0f}{ours / bare:8.2f}{target:8.1f}")
    print(f"\n{'problem':28}{'duel 100':>10}{'duel 5,000':>13}{'ratio':>8}{'target':>8}")
    for name, (points, kernel, _) in problems().items():
        early, late = growth(points, kernel)
        print(f"{name:28}{early:10.0f}{late:13.0f}{late / early:8.2f}{1.2:8.1f}")


if __name__ == "__main__":
    main()
