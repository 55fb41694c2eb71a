"""The error of expectation propagation, and of a glance, for counts and shares: against exact integration.

python benchmarks/counts.py [--draws 400] [--seed 0]

Three readings of f plus noise; f there and at a fourth point is drawn with a deviation of 0.5 (log rate or log odds)
about a level that is known. The truth is the mean of f at the fourth point by importance sampling from the posterior of
expectation propagation; printed are root mean squares of the error over draws, in posterior deviations.
"""

import argparse
from dataclasses import replace

import numpy as np
from numpy.random import Generator

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.belief import AnywherePosterior
from equipoise.likelihoods import Binomial, Poisson, ReadAnswers
from equipoise.offsets import Moments, OffsetModel

KERNEL, NOISE = 0.25 * eq.RBF(0.5), 0.01
SAMPLES = 40_000
CASES: tuple[tuple[str, Poisson | Binomial, float, int], ...] = (
    *((f"rate {rate:g}", Poisson(), float(np.log(rate)), 0) for rate in (1, 3, 10, 30, 100, 1000)),
    *((f"half of {n}", Binomial(), 0.0, n) for n in (5, 20, 100, 1000)),
    *((f"5 % of {n}", Binomial(), float(np.log(0.05 / 0.95)), n) for n in (5, 20, 100, 1000)),
)


def lessons(
    points: FloatArray, answers: list[tuple[float, ...]], likelihood: Poisson | Binomial, level: float
) -> list[eq.Comparison]:
    """Return what answers teach, in their order, a level subtracted."""
    found = []
    for t, (x, numbers) in enumerate(zip(points, answers, strict=True), 1):
        said = ReadAnswers.of(likelihood, numbers).less(level)
        (outcome,), (variance,) = said.glance()
        found.append(eq.Comparison(x, None, float(outcome), time=float(t), variance=float(variance), answers=said))
    return found


def posterior(some: list[eq.Comparison], glance: bool = False, offset: OffsetModel | None = None) -> AnywherePosterior:
    """Return what they teach; at a glance as Gaussian readings with their own error."""
    belief = AnywherePosterior(KERNEL, NOISE, offset=offset)
    for each in some:
        belief = belief.condition(replace(each, answers=None) if glance else each)
    return belief


def integrated(
    some: list[eq.Comparison],
    likelihood: Poisson | Binomial,
    at: FloatArray,
    rng: Generator,
    offset: OffsetModel | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Return mean and deviation of f at points by importance sampling, and the share of samples that it is worth."""
    X, sites = np.array([each.first for each in some]), posterior(some, offset=offset).observations
    assert sites is not None
    assert sites.answers is not None
    m, F = Moments(np.array([each.time for each in some]), np.full(len(X), -1.0)), KERNEL(X, X)
    K: FloatArray = F + NOISE * np.eye(len(X)) + (0.0 if offset is None else offset(m, m, F))
    gain = np.linalg.solve(K + np.diag(sites.variances), K).T
    mean, L = gain @ sites.outcomes, np.linalg.cholesky(K - gain @ K)
    z = rng.standard_normal((SAMPLES, len(X)))
    u = mean + z @ L.T
    said = likelihood.log_likelihood(sites.answers.y, u + sites.answers.origin)[0].sum(axis=1)
    log_w = said - 0.5 * np.einsum("si,si->s", u, np.linalg.solve(K, u.T).T) + 0.5 * (z * z).sum(axis=1)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    A = np.linalg.solve(K, KERNEL(X, at)).T
    rest = KERNEL.diagonal(at) - np.einsum("ij,ji->i", A, KERNEL(X, at))
    f = u @ A.T
    center = w @ f
    return center, np.sqrt(w @ (f - center) ** 2 + rest), float(1.0 / (w @ w) / SAMPLES)


def errors(likelihood: Poisson | Binomial, level: float, trials: int, draws: int, seed: int) -> FloatArray:
    """Return root mean squares of the error of mean and deviation, each by propagation and at a glance, shape (4,)."""
    found = []
    for k in range(draws):
        rng = np.random.default_rng([seed, k])
        points = rng.random((4, 1))
        f = np.linalg.cholesky(KERNEL(points, points) + 1e-9 * np.eye(4)) @ rng.standard_normal(4)
        u = level + f[:3] + NOISE**0.5 * rng.standard_normal(3)
        chance = likelihood.expected(u)
        answers: list[tuple[float, ...]] = [
            (float(rng.binomial(trials, p)), float(trials)) if trials else (float(rng.poisson(p)),) for p in chance
        ]
        some = lessons(points[:3], answers, likelihood, level)
        mean, deviation, _ = integrated(some, likelihood, points[3:], rng)
        ep, glance = posterior(some).at(points[3:]), posterior(some, glance=True).at(points[3:])
        found.append(
            [(b.mean[0] - mean[0]) / deviation[0] for b in (ep, glance)]
            + [np.sqrt(b.variance[0]) / deviation[0] - 1 for b in (ep, glance)]
        )
    rms: FloatArray = np.sqrt(np.mean(np.square(found), axis=0))
    return rms


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("               mean: EP, glance; deviation: EP, glance")
    for name, likelihood, level, trials in CASES:
        found = errors(likelihood, level, trials, given.draws, given.seed)
        print(f"{name:14s}", *(f"{each:.4f}" for each in found), flush=True)
