"""A pruner for studies whose trials report their pieces themselves."""

from optuna.pruners import BasePruner
from optuna.study import Study
from optuna.trial import FrozenTrial

from equipoise import _validation as check
from equipoise.integrations.optuna.racing.race import differences, race, worse


class RacePruner(BasePruner):
    """Prunes a trial that is shown to be worse than the best one on the same pieces, in place of `WilcoxonPruner`.

    Report the reading of each piece (a fold, a seed, an instance of a problem) as an intermediate value, the number of
    the piece as its step, and measure every trial on the same pieces. In the first complete trial the first half of the
    pieces is set aside for the race.

    Args:
        alpha: How often a trial that is as good as the incumbent is pruned, at most, over all its pieces.

    Example:
        >>> import math, optuna
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> def objective(trial):
        ...     x = trial.suggest_float("x", 0, 1)
        ...     for piece in range(20):
        ...         trial.report((x - 0.7) ** 2 + math.sin(37.0 * piece), piece)  # the piece matters more than x
        ...         if trial.should_prune():
        ...             raise optuna.TrialPruned
        ...     return sum(trial.study.trials[trial.number].intermediate_values.values()) / 20
        >>> study = optuna.create_study(pruner=RacePruner(), sampler=optuna.samplers.RandomSampler(seed=0))
        >>> study.optimize(objective, n_trials=10)
        >>> [len(trial.intermediate_values) for trial in study.trials]
        [20, 20, 6, 6, 6, 6, 6, 6, 6, 6]
    """

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = check.probability("alpha", alpha)

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether the reports of a trial show that it is worse than the incumbent."""
        pieces, incumbent = race(study, trial.number)
        if incumbent is None:
            return False
        return worse(differences(study, trial.intermediate_values, incumbent, pieces), self.alpha)
