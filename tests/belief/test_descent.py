"""Minimization inside a box: compared with SciPy's L-BFGS-B, which it replaces."""

import numpy as np
import pytest
from scipy.optimize import minimize

from equipoise.belief.descent import descend

LIMITS = {"steps": 200, "ftol": 1e-12, "gtol": 1e-9}


def bowl(rng, k):
    """A quadratic of condition up to 10^4 whose lowest point may lie outside of the box."""
    Q, _ = np.linalg.qr(rng.normal(size=(k, k)))
    A = Q @ np.diag(np.geomspace(1, 10.0 ** rng.uniform(0, 4), k)) @ Q.T
    center = rng.uniform(-0.5, 1.5, k)
    return lambda x: (0.5 * float((x - center) @ A @ (x - center)), A @ (x - center))


def rosenbrock(x):
    a, b = x[1] - x[0] ** 2, 1 - x[0]
    return float(100 * a * a + b * b), np.array([-400 * a * x[0] - 2 * b, 200 * a])


@pytest.mark.parametrize("k", [1, 2, 6, 12])
def test_it_finds_the_lowest_point_of_a_box(k):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        loss, start = bowl(rng, k), rng.uniform(size=k)
        x, value = descend(loss, start, (0.0, 1.0), **LIMITS)
        theirs = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * k, options={"ftol": 1e-15})
        assert ((x >= 0) & (x <= 1)).all()
        assert value == loss(x)[0] <= theirs.fun + 1e-7 * (1 + abs(theirs.fun))


def test_it_follows_a_bent_valley():
    x, value = descend(rosenbrock, np.array([-1.2, 1.0]), (-2.0, 2.0), **LIMITS)
    np.testing.assert_allclose(x, 1.0, atol=1e-5)
    assert value < 1e-10
    x, _ = descend(rosenbrock, np.array([-1.2, 1.0]), (np.array([-2.0, -2.0]), np.array([0.5, 2.0])), **LIMITS)
    np.testing.assert_allclose(x, [0.5, 0.25], atol=1e-5)  # along the bound


def test_it_takes_about_as_many_evaluations_as_scipy():
    ours, theirs = [], []
    for seed in range(20):
        rng, calls = np.random.default_rng(seed), []
        bare = bowl(rng, 4)

        def loss(x, bare=bare, calls=calls):
            calls.append(1)
            return bare(x)

        start = rng.uniform(size=4)
        descend(loss, start, (0.0, 1.0), steps=25, ftol=1e-4, gtol=1e-5)
        ours.append(len(calls))
        minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * 4, options={"ftol": 1e-4})
        theirs.append(len(calls) - ours[-1])
    assert sum(ours) < 1.5 * sum(theirs)


def test_it_never_ends_above_its_start_and_never_leaves_the_box():
    start = np.array([0.3, 0.6])
    for loss in (
        lambda x: (float(np.sin(40 * x).sum()), -40 * np.cos(40 * x)),  # a gradient that lies
        lambda x: (0.0, np.zeros(2)),
        lambda x: (float(x @ x) if (x == start).all() else np.inf, 2 * x),  # nothing but the start can be computed
        lambda x: (1e300 * float(x @ x), 2e300 * x),
    ):
        x, value = descend(loss, start, (0.0, 1.0), steps=30, ftol=1e-9, gtol=1e-9)
        assert ((x >= 0) & (x <= 1)).all()
        assert value <= loss(start)[0]


def test_a_start_outside_is_moved_to_the_bounds():
    x, value = descend(lambda x: (float(-x.sum()), -np.ones(2)), np.array([-3.0, 0.5]), (0.0, 1.0), **LIMITS)
    assert (x.tolist(), value) == ([1.0, 1.0], -2.0)
