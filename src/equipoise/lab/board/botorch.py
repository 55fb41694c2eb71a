"""BoTorch on the board: an ordinary Gaussian process that ignores offsets.

symbol    meaning                                          shape
X, Y      settings measured, encoded; their readings       (n, d), (n, 1)
"""

import math
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.lab.board.entrants import MOST_RANDOM, Memory, quiet
from equipoise.lab.board.instruments import Point
from equipoise.spaces import Space

BETA = 4.0
"""The coefficient of UCB: two standard deviations, as in the default of our own UCB."""


class BoTorch:
    """BoTorch's `SingleTaskGP` with its defaults: a random start, then the maximum of an acquisition function.

    If some parameters are not continuous, it takes the best of the space's candidates. It recommends the measured
    setting with the largest posterior mean, and claims no bound.

    Args:
        space: The space of settings.
        readings: Not used.
        seed: The seed of the start, the candidates and torch.
        acquisition: "UCB" or "qLogNEI".
    """

    def __init__(self, space: Space, readings: int, seed: int, acquisition: str = "UCB") -> None:
        import torch

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self._memory = Memory(space, np.random.default_rng(seed))
        self.tell = self._memory.tell
        self._start = min(2 * len(space.parameters) + 2, MOST_RANDOM)
        self._acquisition = acquisition

    def ask(self) -> Point:
        """Return the setting to read next."""
        if len(self._memory.y) < self._start:
            return self._memory.anywhere()
        return self._memory.space.decode(self._top(self._model()))

    def best(self) -> tuple[Point, float]:
        """Return the measured setting with the largest posterior mean."""
        import torch

        model = self._model()  # a fit needs gradients
        with torch.no_grad(), quiet():
            mean = model.posterior(tensor(self._memory.X)).mean
        return self._memory.space.decode(self._memory.X[int(mean.argmax())]), math.nan

    def _model(self) -> Any:
        return fitted(self._memory.X, self._memory.y)

    def _top(self, model: Any) -> FloatArray:
        """Return the maximum of the acquisition function, encoded, shape (d,)."""
        from botorch.optim import optimize_acqf, optimize_acqf_discrete

        space, function = self._memory.space, self._function(model)
        if space.free.all() and space.constraint is None:
            bounds = tensor([np.zeros(space.dimension), np.ones(space.dimension)])
            with quiet():
                found, _ = optimize_acqf(function, bounds, q=1, num_restarts=4, raw_samples=256)
        else:
            choices = np.concatenate((space.candidates(self._memory.rng), self._near()))
            found, _ = optimize_acqf_discrete(function, q=1, choices=tensor(choices))
        top: FloatArray = found.detach().numpy()[0]
        return top

    def _function(self, model: Any) -> Any:
        from botorch.acquisition import UpperConfidenceBound, qLogNoisyExpectedImprovement

        if self._acquisition == "UCB":
            return UpperConfidenceBound(model, beta=BETA)
        return qLogNoisyExpectedImprovement(model, tensor(self._memory.X), prune_baseline=True)

    def _near(self) -> FloatArray:
        """Return settings near the best reading, shape (m, d)."""
        best = self._memory.X[int(np.argmax(self._memory.y))]
        space = self._memory.space
        return space.near(best[None], np.full(space.dimension, 0.1), 128, self._memory.rng)


def tensor(values: Any) -> Any:
    """Return values as a tensor of doubles."""
    import torch

    return torch.tensor(np.array(values), dtype=torch.double)


def fitted(X: Any, y: Any) -> Any:
    """Return a `SingleTaskGP` with its defaults, fitted to the readings."""
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    model = SingleTaskGP(tensor(X), tensor(y)[:, None], outcome_transform=Standardize(m=1))
    with quiet():
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model
