"""The blueprint of a fleet: the common parts of its learners, and the two steps of a round, propose and learn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Array, Confidence, FinitePosterior, FixedConfidence, namespace
from equipoise.kernels import Kernel, Linear
from equipoise.lab.fleet.array_math import placed
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.choices import Choose, chooser
from equipoise.lab.fleet.covariances import Covariances, Directions, FeatureCovariances, PointCovariances
from equipoise.lab.fleet.reducing import SIZES, Duels, Measure, measure
from equipoise.lab.fleet.semiparametric import learned_by_semits
from equipoise.lab.fleet.throwing import Throws
from equipoise.optimizer import Optimizer
from equipoise.policies import Challenger, Policy, SemiTSPosterior
from equipoise.reductions import Reduction


@dataclass(frozen=True, eq=False)
class Blueprint:
    """Policy, reduction and prior of many independent learners on finite sets of points.

    Args:
        points: The points: one list for all learners, shape (m, d), or one each, shape (L, m, d).
        kernel: The prior covariance of f; `Linear()` stores d x d numbers per learner, any other kernel m x m.
        policy: The policy that proposes points; `Challenger()` by default.
        reduction: The way to measure a proposal; by default the one that suits the policy.
        confidence: The rule for the confidence coefficient; a fixed 1 by default.
        regularizer: lambda, the assumed noise variance of an outcome.
        semiparametric: If true, learn from centered readings as SemiTS does; see `SemiTSPosterior`.

    Example:
        >>> import equipoise as eq
        >>> blueprint = Blueprint([[0.0], [0.5], [1.0]], eq.RBF(0.5), eq.IDS())
        >>> beliefs = blueprint.prior(count=1000)
        >>> beliefs.mean.shape
        (1000, 3)
    """

    points: FloatArray
    kernel: Kernel
    policy: Policy = field(default_factory=Challenger)
    reduction: Reduction | None = None
    confidence: Confidence = field(default_factory=FixedConfidence)
    regularizer: float = 1.0
    semiparametric: bool = False

    def __post_init__(self) -> None:
        shape: tuple[int | None, ...] = (None,) * (3 if np.ndim(self.points) == 3 else 2)
        object.__setattr__(self, "points", check.frozen(check.array("points", self.points, shape)))
        object.__setattr__(self, "reduction", self.reduction or self.policy.reduction)
        check.positive("regularizer", self.regularizer)
        self._choose, self._measure  # noqa: B018  refuse now what has no vectorized form
        if SIZES[type(self.reduction)] != self.policy.proposal_size:
            raise ValueError(f"`reduction` must fit `policy` in a fleet, got {self.reduction!r} and {self.policy!r}")

    @classmethod
    def of(cls, optimizers: Sequence[Optimizer]) -> "Blueprint":
        """Return the blueprint of optimizers that differ at most in their points, before their first reading.

        Example:
            >>> import equipoise as eq
            >>> optimizer = eq.Optimizer(eq.Finite([[0.0], [1.0]]), kernel=eq.RBF(0.5), policy=eq.IDS())
            >>> Blueprint.of([optimizer, optimizer]).policy
            IDS(floor=0.0)
        """
        first, prior = optimizers[0], optimizers[0].posterior
        if not isinstance(prior, (FinitePosterior, SemiTSPosterior)) or first.study.setup.minimize or first.readings:
            raise ValueError("`optimizers` must maximize over finite sets with a kernel given, before any reading")
        points = [_points(optimizer, prior) for optimizer in optimizers]
        same = all(np.array_equal(each, points[0]) for each in points[1:])
        return cls(
            points[0] if same else np.array(points),
            prior.kernel,
            first.study.setup.policy,
            first.study.setup.reduction,
            prior.confidence,
            prior.regularizer,
            isinstance(prior, SemiTSPosterior),
        )

    @property
    def linear(self) -> bool:
        """True if f is linear, so that a learner is stored as d x d numbers."""
        return isinstance(self.kernel, Linear)

    def prior(self, count: int, like: Array | None = None) -> Beliefs:
        """Return the beliefs of `count` learners before any data, in arrays such as `like`; NumPy by default."""
        X = self.points if like is None else namespace(like).asarray(self.points, dtype=like.dtype, **placed(like))
        if X.ndim == 3 and X.shape[0] != count:
            raise ValueError(f"`count` must be the number of lists of points, {X.shape[0]}, got {count}")
        xp, m = namespace(X), X.shape[-2]
        variance = self._array(X, np.broadcast_to(self.kernel.diagonal(self.points), (count, m)))
        zeros = xp.zeros((count,), dtype=X.dtype, **placed(X))
        counts = xp.zeros((count,), dtype=xp.int64, **placed(X))
        mean, d = xp.zeros((count, m), dtype=X.dtype, **placed(X)), X.shape[-1]
        return Beliefs(mean, variance, self._covariances(X, count), zeros, counts, self.regularizer, self.confidence, d)

    def propose(self, beliefs: Beliefs, throws: Throws, last: Directions | None = None) -> Duels:
        """Return the points that each learner should measure next; the last choice may save time only."""
        chosen = self._choose(self.policy, beliefs, throws, last)
        return self._measure(chosen, throws, beliefs.mean[:, 0])

    def learn(self, beliefs: Beliefs, duels: Duels, readings: Array, overwrite: bool = False) -> Beliefs:
        """Return the beliefs after one duel of each learner; `overwrite` reuses the memory of the old ones."""
        outcome = duels.outcome(readings)
        if self.semiparametric and duels.directions.mixture is not None:
            return learned_by_semits(beliefs, duels.directions, outcome)
        return beliefs.condition(duels.directions, outcome, overwrite)

    @cached_property
    def _choose(self) -> Choose:
        return chooser(self.policy)

    @cached_property
    def _measure(self) -> Measure:
        return measure(self._reduction)

    @property
    def _reduction(self) -> Reduction:
        assert self.reduction is not None
        return self.reduction

    def _covariances(self, X: Array, count: int) -> Covariances:
        xp = namespace(X)
        if self.linear:
            eye = xp.eye(X.shape[-1], dtype=X.dtype, **placed(X))
            return FeatureCovariances(X, xp.broadcast_to(eye, (count, *eye.shape)) + 0.0)
        K = self.kernel(self.points, self.points)
        base = self._array(X, 0.5 * (K + K.swapaxes(-1, -2)))
        base = base if base.ndim == 3 else base[None, ...]
        return PointCovariances(base, xp.zeros((count, 0, X.shape[-2]), dtype=X.dtype, **placed(X)))

    @staticmethod
    def _array(like: Array, values: FloatArray) -> Array:
        return namespace(like).asarray(values, dtype=like.dtype, copy=True, **placed(like))


def _points(optimizer: Optimizer, prior: FinitePosterior | SemiTSPosterior) -> FloatArray:
    posterior = optimizer.posterior
    if type(posterior) is not type(prior) or repr(posterior) != repr(prior):
        raise ValueError(f"`optimizers` must have one prior except for their points, got {prior!r} and {posterior!r}")
    points = posterior.points
    assert points is not None
    return points
