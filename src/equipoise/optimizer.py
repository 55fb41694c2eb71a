"""The ask/tell shell around policy, reduction and posterior: the only mutable object, and it does no mathematics."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise._typing import FloatArray, Seed
from equipoise.baselines import Baseline
from equipoise.confidence import Confidence
from equipoise.duel import Duel, Proposal, Trial
from equipoise.kernels import RBF, Kernel
from equipoise.ledger import Ledger, OpenDuel
from equipoise.policies import IDS, Policy
from equipoise.policies.ids import gap_bound
from equipoise.policies.policy import fair_argmax
from equipoise.posterior import CovariancePosterior, DualPosterior, Posterior
from equipoise.reductions import Reduction
from equipoise.space import Domain
from equipoise.streams import PROPOSE, RECOMMEND, Streams


@dataclass(frozen=True)
class Recommendation:
    """The best setting as far as is known.

    Attributes:
        x: The point of largest posterior mean.
        gap_bound: No other point is better by more than this, with the probability the confidence coefficient
            promises (with `FixedConfidence`: an estimate, not a guarantee).
        readings: How many readings were told.
    """

    x: Any
    gap_bound: float
    readings: int


class Optimizer:
    """Optimizes what you measure, by comparing: ask, measure, tell, repeat.

    Every part is an object and can be replaced. `ask` and `tell` may be called from several threads; several trials
    may be open at once and told in any order.

    Args:
        space: Where points lie: `Finite` or `Box`.
        kernel: Prior covariance of f on encoded points. By default an RBF whose lengthscale is a fifth of the
            extent of the space in each dimension.
        policy: Chooses what to propose; `IDS()` by default.
        reduction: How a proposal is measured; by default the one the policy is meant for.
        confidence: Confidence coefficient; a fixed 1 by default.
        regularizer: Variance given to the noise of an outcome, in units of the kernel's variance.
        posterior: The belief before any data, where kernel, confidence and regularizer do not say it all.
        minimize: Look for the smallest value instead of the largest.
        rng: Seed or generator; the same one and the same answers give the same run.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> x = np.linspace(0, 1, 21)[:, None]
        >>> opt = eq.Optimizer(eq.Finite(x), kernel=eq.RBF(0.3), regularizer=0.1, rng=0)
        >>> for day in range(60):  # the reading drifts by more than the signal: it does not matter
        ...     trial = opt.ask()
        ...     opt.tell(trial, -4 * (trial.x[0] - 0.7) ** 2 + 0.1 * day)
        >>> best = opt.recommend()
        >>> best.x, best.readings
        (array([0.7]), 60)
    """

    def __init__(
        self,
        space: Domain,
        *,
        kernel: Kernel | None = None,
        policy: Policy | None = None,
        reduction: Reduction | None = None,
        confidence: Confidence | None = None,
        regularizer: float = 1.0,
        posterior: Posterior | None = None,
        minimize: bool = False,
        rng: Seed = None,
    ) -> None:
        if not hasattr(space, "candidates"):
            raise TypeError(f"`space` must be a space such as Finite(points) or Box(bounds), got {space!r}")
        self.space = space
        self.policy: Policy = IDS() if policy is None else policy
        self.reduction = self.policy.reduction if reduction is None else reduction
        self.minimize = bool(minimize)
        _check_fit(self.policy, self.reduction)
        if posterior is None:
            posterior = _prior(space, kernel, regularizer, confidence)
        elif kernel is not None or confidence is not None:
            raise ValueError("`posterior` already has a kernel and a confidence: give either it or those")
        self._posterior = posterior
        self._baseline: Baseline | None = self.reduction.baseline
        self._streams = Streams(rng)
        self._ledger = Ledger()
        self._lock = threading.RLock()

    @property
    def posterior(self) -> Posterior:
        """The belief, given all completed duels; immutable."""
        return self._posterior

    @property
    def readings(self) -> int:
        """How many readings were told."""
        return len(self._ledger.told)

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and not yet told."""
        with self._lock:
            return self._ledger.open_trials

    def ask(self) -> Trial:
        """Return what to measure next."""
        with self._lock:
            if not self._ledger.waiting:
                duel = self._duel(self._streams.at(self._ledger.duels, PROPOSE))
                self._ledger.enter(duel, [self.space.decode(point) for point in duel.points])
            return self._ledger.waiting.popleft()

    def tell(self, trial: Trial | int, value: Any = None, *, failed: str | None = None) -> None:
        """Report the reading of a trial, or that there is none.

        Args:
            trial: The trial, or its id.
            value: The reading.
            failed: Instead of a value: why there is none. The duel is given up, with a `DuelGivenUp` warning.
        """
        if (value is None) == (failed is None):
            raise ValueError(f"exactly one of `value` and `failed` must be given, got {value!r} and {failed!r}")
        i = trial.id if isinstance(trial, Trial) else check.count("trial", trial, at_least=0)
        reading = 0.0 if failed is not None else check.number("value", value)
        with self._lock:
            if failed is not None:
                self._ledger.fail(i, str(failed))
            elif (complete := self._ledger.tell(i, reading)) is not None:
                self._learn(complete)

    def recommend(self) -> Recommendation:
        """Return the best setting as far as is known, with a bound on what is left to gain."""
        with self._lock:
            rng = self._streams.at(self.readings, RECOMMEND)
            belief = self._posterior.at(self._candidates(self._posterior, rng))
            leader = fair_argmax(belief.mean, rng)
            delta = gap_bound(belief.mean[leader] - belief.mean, belief.width(belief.psi(leader)))
            return Recommendation(self.space.decode(belief.points[leader]), float(delta[0]), self.readings)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def _duel(self, rng: Generator) -> Duel:
        """Propose the next duel; duels still open already shrink the variance, so that the next one differs."""
        posterior = self._posterior
        for duel in self._ledger.open_duels:
            posterior = posterior.anticipate(duel)
        proposal = self.policy(posterior, self._candidates(posterior, rng), rng)
        return self.reduction(proposal, rng, self._predict(proposal))

    def _learn(self, entry: OpenDuel) -> None:
        sign = -1.0 if self.minimize else 1.0
        readings = [sign * reading for reading in entry.in_order()]
        if self._baseline is not None:
            predicted = self._posterior.at(entry.duel.points).mean
            for reading, mean in zip(readings, predicted.tolist(), strict=True):
                self._baseline = self._baseline.update(reading, mean)
        self._posterior = self._posterior.condition(entry.duel.comparison(readings))

    def _predict(self, proposal: Proposal) -> float:
        """Return the baseline for a pair: a number fixed before the coin."""
        if self._baseline is None:
            return 0.0
        return self._baseline.predict(float(self._posterior.at(proposal.points).mean.mean()))

    def _candidates(self, posterior: Posterior, rng: Generator) -> FloatArray:
        candidates = self.space.candidates(rng)
        if self.space.points is not None or not len(posterior.support):
            return candidates
        return np.concatenate((posterior.support, candidates))


def _prior(space: Domain, kernel: Kernel | None, regularizer: float, confidence: Confidence | None) -> Posterior:
    if kernel is None:
        extent = np.ones(space.dimension) if space.points is None else np.ptp(space.points, axis=0)
        kernel = RBF(tuple(0.2 * np.where(extent > 0, extent, 1.0)))
    if space.points is None:
        return DualPosterior(kernel, regularizer, confidence)
    return CovariancePosterior(space.points, kernel, regularizer, confidence)


def _check_fit(policy: Policy, reduction: Reduction) -> None:
    offered, needed = policy.proposal_size, reduction.proposal_size
    if needed is not None and offered != needed:
        raise ValueError(
            f"`reduction` must fit `policy`: {reduction!r} needs proposals of {needed} points, "
            f"{policy!r} makes proposals of {'varying size' if offered is None else offered}"
        )
