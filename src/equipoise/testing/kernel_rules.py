"""The rules for kernels."""

import copy
from collections.abc import Collection

import numpy as np

from equipoise._typing import FloatArray
from equipoise.kernels import Kernel
from equipoise.optimizer import Optimizer
from equipoise.spaces import Box
from equipoise.testing.rehearsal import must_resume, rehearse
from equipoise.testing.rule import agree, obeys, require, rules_of
from equipoise.testing.shared_rules import is_described, pickles

STEP = 1e-5
"""The step of a central difference."""

DIMENSIONS = range(1, 21)
"""The dimensions to try, in search of one that a kernel accepts."""


def check_kernel(kernel: Kernel, *, without: Collection[str] = ()) -> None:
    """Check a kernel against the rules for kernels, in two dimensions or else in the lowest one that it accepts.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_kernel(2.0 * eq.RBF([0.2, 0.5, 0.9]) + eq.Linear())
    """
    obeys(kernel, RULES, without)


def is_a_value(kernel: Kernel) -> None:
    """It is frozen, and equal to its copy: beliefs check that their kernel is still the same."""
    require(isinstance(kernel, Kernel), "it does not derive from Kernel")
    require(kernel == copy.deepcopy(kernel), "it is not equal to its copy")
    require(hash(kernel) == hash(copy.deepcopy(kernel)), "it has another hash than its copy")
    for name, value in vars(kernel).copy().items():
        try:
            setattr(kernel, name, value)
        except AttributeError:
            continue
        raise AssertionError(f"`{name}` can be changed")


def covariance_is_one(kernel: Kernel) -> None:
    """Its matrix is symmetric, finite and positive semidefinite, also if points are close, equal or far apart."""
    X = _points(kernel)
    K = kernel(X, X)
    agree(K, K.T, "the matrix transposed", 1e-12)
    least = float(np.linalg.eigvalsh(0.5 * (K + K.T)).min())
    require(least >= -1e-12 * len(K) * max(1.0, float(np.abs(K).max())), f"an eigenvalue of {least}")


def diagonal_agrees(kernel: Kernel) -> None:
    """Its diagonal equals that of its matrix."""
    X = _points(kernel)
    agree(kernel.diagonal(X), np.diagonal(kernel(X, X)), "the diagonal", 1e-12)


def blocks_agree(kernel: Kernel) -> None:
    """Rectangles of its matrix are blocks of the whole, leading axes broadcast, and its arguments do not change."""
    X = _points(kernel)
    X.flags.writeable = False
    K = kernel(X, X)
    agree(kernel(X[:3], X[3:]), K[:3, 3:], "a block", 1e-12)
    agree(kernel(np.stack((X[:3], X[3:6])), X), np.stack((K[:3], K[3:6])), "a stack of blocks", 1e-12)
    require(kernel(X[:0], X).shape == (0, len(X)), f"shape {kernel(X[:0], X).shape} for no points")


def gradient_matches(kernel: Kernel) -> None:
    """Its gradient in the first point equals central differences, and is finite if both points are equal."""
    X = _points(kernel)
    d = X.shape[1]
    near, far = X[:6], np.random.default_rng(1).uniform(1.1, 1.9, (5, d))  # none equal: a kernel may have a cusp there
    found = kernel.gradient(near, far)
    require(found.shape == (6, 5, d), f"shape {found.shape} instead of {(6, 5, d)}")
    for j, step in enumerate(STEP * np.eye(d)):
        expected = (kernel(near + step, far) - kernel(near - step, far)) / (2 * STEP)
        agree(found[:, :, j], expected, f"the derivative in coordinate {j}", 1e-6)
    require(np.isfinite(kernel.gradient(X, X)).all(), "the gradient is not finite where points are equal")


def with_gradient_agrees(kernel: Kernel) -> None:
    """Matrix and gradient computed together equal those computed separately."""
    X = _points(kernel)
    K, dK = kernel.with_gradient(X, X[:4])
    agree(K, kernel(X, X[:4]), "the matrix", 1e-12)
    agree(dK, kernel.gradient(X, X[:4]), "the gradient", 1e-12)


def combines(kernel: Kernel) -> None:
    """It can be added, multiplied and scaled."""
    X = _points(kernel)
    K = kernel(X, X)
    agree((2.0 * kernel + kernel * kernel)(X, X), 2.0 * K + K * K, "2 k + k k", 1e-12)


def works_in_a_study(kernel: Kernel) -> None:
    """An optimizer can ask, tell and recommend with it, and climb its gradients."""
    rehearse(Optimizer(_box(kernel), kernel=kernel, rng=0))


def is_resumed(kernel: Kernel) -> None:
    """A logged study with it resumes to the same belief and the same next proposal."""
    must_resume(_box(kernel), kernel=kernel)


RULES = rules_of(__name__, is_described, pickles)
"""The rules for a kernel."""


def _dimension(kernel: Kernel) -> int:
    """Return two, or the lowest dimension that the kernel accepts."""
    d: int
    for d in (2, *DIMENSIONS):
        try:
            kernel(np.zeros((1, d)), np.zeros((1, d)))
        except ValueError:
            continue
        return d
    raise AssertionError(f"it takes points of no dimension up to {DIMENSIONS[-1]}")


def _points(kernel: Kernel) -> FloatArray:
    """Return points of the unit cube; the last ones are equal, close to others, and far away."""
    d = _dimension(kernel)
    X = np.random.default_rng(0).uniform(0, 1, (14, d))
    return np.concatenate((X, X[:2], X[2:3] + 1e-9, np.full((1, d), 30.0)))


def _box(kernel: Kernel) -> Box:
    return Box([(0, 1)] * _dimension(kernel), candidates=16)
