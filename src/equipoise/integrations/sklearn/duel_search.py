"""`DuelSearchCV`: a search over the parameters of an estimator that compares two settings on the same split."""

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection._search import BaseSearchCV  # the base class of all searches is not public
from sklearn.utils import check_random_state

from equipoise import _validation as check
from equipoise.integrations.sklearn.cv_results import Fits
from equipoise.integrations.sklearn.cv_splits import Splits
from equipoise.integrations.sklearn.distributions import Tuned
from equipoise.integrations.sklearn.fit_loop import Evaluate, FitLoop
from equipoise.offsets import Steady
from equipoise.optimizer import Optimizer
from equipoise.study import DeadSensor, DuelGivenUp

SEED = "random_state"


class DuelSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the best parameters by comparing two settings on the same split, fit by fit.

    Other searches fit every setting on all splits and trust the best mean, which is mostly the luckiest one. This one
    fits two settings on one split, and the effect of the split on both cancels. The study chooses an old split, on
    which one fit may be enough, or a new one; a splitter that shuffles has any number of them. If a `random_state` of
    the estimator is `None`, it is part of the split: both settings get the same seed, and another split another one.

    Args:
        estimator: The estimator to fit.
        param_distributions: By name: a list of values, in which three numbers or more have an order; a distribution of
            SciPy; or a `Float`, an `Int` or a `Choice`.
        n_fits: The number of fits, not counting that of `refit`.
        scoring: As in `RandomizedSearchCV`. With several scores, the search optimizes the one that `refit` names, else
            the first.
        n_jobs: How many fits run at once, by joblib.
        refit: As in `RandomizedSearchCV`.
        cv: As in `RandomizedSearchCV`. One that shuffles, such as `KFold(5, shuffle=True)` without a seed, is better:
            the best setting on five fixed folds is partly the luckiest on these.
        verbose: As in `RandomizedSearchCV`.
        pre_dispatch: As in `RandomizedSearchCV`.
        random_state: Seed of the search.
        error_score: As in `RandomizedSearchCV`. A fit that fails teaches where fits fail.
        return_train_score: As in `RandomizedSearchCV`.

    Attributes:
        best_params_: The study's recommendation, or the best known fitted setting if the recommendation was never
            fitted. The setting of the best score is the luckiest one.
        cv_results_: A row for each setting. Scores of splits on which it was not fitted are NaN. `estimated_test_score`
            is the estimated mean score over all splits, while `mean_test_score` depends on the splits of the setting.
        study_: The `Optimizer`; `study_.recommend()` bounds the remaining gain.

    Example:
        >>> from scipy.stats import loguniform
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from sklearn.model_selection import KFold
        >>> X, y = load_diabetes(return_X_y=True)
        >>> folds = KFold(5, shuffle=True)
        >>> search = DuelSearchCV(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n_fits=30, cv=folds, random_state=0)
        >>> search.fit(X, y).best_params_["alpha"] < 1
        True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict],
        "n_fits": [Integral],
        "random_state": ["random_state"],
    }

    n_splits_: int

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any],
        *,
        n_fits: int = 60,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self.param_distributions, self.n_fits, self.random_state = param_distributions, n_fits, random_state
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _run_search(self, evaluate_candidates: Evaluate) -> None:
        """Propose settings and fit them; scikit-learn calls it, and takes the results that it has returned last."""
        most = check.count("n_fits", self.n_fits, at_least=2)
        tuned, rng = Tuned(self.param_distributions), check_random_state(self.random_state)
        splits = Splits(self._checked_cv_orig, self.n_splits_)
        seeds = _free_seeds(self.estimator, self.param_distributions)
        many, one = not splits.fixed or (bool(seeds) and splits.per_round == 1), splits.per_round == 1
        numbers = True if many else None if one else list(range(splits.per_round))
        self.study_ = Optimizer(tuned.space, seeds=numbers, offset=Steady(), rng=int(rng.randint(2**31 - 1)))
        self.study_.study.notify = _notify
        fits = Fits(np.nan if isinstance(self.error_score, str) else float(self.error_score))
        loop = FitLoop(self.study_, tuned, splits, seeds, int(rng.randint(2**31 - 1)), self.refit, fits)
        self.n_splits_ = 1  # of each call of `evaluate_candidates`
        results = loop.run(evaluate_candidates, most, effective_n_jobs(self.n_jobs))
        self.n_splits_ = len(loop.fits.splits)
        table = loop.table()
        results.clear()
        results.update(table)


def _free_seeds(estimator: Any, tuned: Mapping[str, Any]) -> list[str]:
    """Return the names of the seeds of an estimator that are `None`, and that no tuned parameter changes."""
    seeds = [name for name, value in estimator.get_params().items() if value is None and SEED in name.split("__")[-1:]]
    return [seed for seed in seeds if not any(seed == name or seed.startswith(f"{name}__") for name in tuned)]


def _notify(notice: Warning) -> None:
    """Pass on the warnings of the study, except those about failed fits (scikit-learn warns) and equal scores."""
    if not isinstance(notice, (DuelGivenUp, DeadSensor)):
        warnings.warn(notice, stacklevel=2)
