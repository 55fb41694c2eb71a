"""Random: uniform, whatever was learned."""

import numpy as np

import equipoise as eq
from equipoise.policies.random import Random


def informed():
    posterior = eq.belief.FinitePosterior(np.linspace(0, 1, 5)[:, None], eq.RBF(0.3), 0.01)
    return posterior.condition(eq.Comparison([0.0], [1.0], 3.0))


def test_is_uniform():
    posterior, rng, draws = informed(), np.random.default_rng(0), 5000
    picks = np.array([Random()(posterior.at(posterior.points), rng).points[0, 0] for _ in range(draws)])
    seen = np.array([(picks == x).sum() for x in posterior.points[:, 0]])
    chi2 = np.sum((seen - draws / 5) ** 2) / (draws / 5)
    assert chi2 < 23.5  # 4 degrees of freedom: fails by chance with probability 1e-4


def test_same_stream_same_choice():
    posterior = informed()
    first, second = (Random()(posterior.at(posterior.points), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first.points, second.points)
    np.testing.assert_array_equal(first.weights, [1.0])


def test_in_the_loop():
    opt = eq.Optimizer(eq.Finite([[0.0], [0.5], [1.0]]), policy=Random(), rng=0)
    for _ in range(30):
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0]))
    assert opt.recommend().x == [1.0]
    assert isinstance(opt.study.setup.reduction, eq.Direct)
