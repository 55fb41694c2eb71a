"""Two unchanged searches of scikit-learn's gallery, beside `DuelSearchCV` with half as many fits.

- `plot_randomized_search.py`: a linear classifier of digits, `RandomizedSearchCV`;
- `plot_successive_halving_iterations.py`: a random forest, `HalvingRandomSearchCV`.

The lines of the gallery are kept; ours differs in the class, in `n_fits`, and in folds that are drawn anew. The setting
that each search finds is then fitted on 20 fresh splits; the score is its mean accuracy there.

    python examples/search.py              # about a minute on one core
    python examples/search.py --seeds 1    # a quick look
"""

import argparse
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.stats as stats
from scipy.stats import randint
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)

from equipoise.integrations.sklearn import DuelSearchCV

FRESH = StratifiedShuffleSplit(20, test_size=0.2, random_state=10_000)
Found = tuple[int, float, float]
"""The number of fits, the best score of the search, and the mean score on fresh splits."""


def found(search: Any, X: Any, y: Any) -> Found:
    """Run a search, and fit its recommendation on fresh splits."""
    search.fit(X, y)
    scores = [scores for name, scores in search.cv_results_.items() if re.fullmatch("split[0-9]+_test_score", name)]
    fits = int(np.isfinite(scores).sum())
    worth = cross_val_score(clone(search.estimator).set_params(**search.best_params_), X, y, cv=FRESH).mean()
    believed = search.cv_results_.get("estimated_test_score", search.cv_results_["mean_test_score"])
    return fits, float(believed[search.best_index_]), float(worth)


def randomized(seed: int) -> dict[str, Found]:
    """Run the example of randomized search."""
    X, y = load_digits(return_X_y=True, n_class=3)
    clf = SGDClassifier(loss="hinge", penalty="elasticnet", fit_intercept=True)
    param_dist = {"average": [True, False], "l1_ratio": stats.uniform(0, 1), "alpha": stats.loguniform(1e-2, 1e0)}
    n_iter_search = 15
    random_search = RandomizedSearchCV(clf, param_distributions=param_dist, n_iter=n_iter_search, random_state=seed)
    theirs = found(random_search, X, y)
    folds = StratifiedKFold(5, shuffle=True)
    duels = DuelSearchCV(clf, param_distributions=param_dist, n_fits=theirs[0] // 2, cv=folds, random_state=seed)
    return {"RandomizedSearchCV": theirs, "DuelSearchCV": found(duels, X, y)}


def halving(seed: int) -> dict[str, Found]:
    """Run the example of successive halving."""
    rng = np.random.RandomState(seed)
    X, y = make_classification(n_samples=400, n_features=12, random_state=rng)
    clf = RandomForestClassifier(n_estimators=20, random_state=rng)
    param_dist = {
        "max_depth": [3, None],
        "max_features": randint(1, 6),
        "min_samples_split": randint(2, 11),
        "bootstrap": [True, False],
        "criterion": ["gini", "entropy"],
    }
    rsh = HalvingRandomSearchCV(estimator=clf, param_distributions=param_dist, factor=2, random_state=rng)
    theirs = found(rsh, X, y)
    folds = StratifiedKFold(5, shuffle=True)
    free = RandomForestClassifier(n_estimators=20)  # its seed is a part of the split then
    duels = DuelSearchCV(
        estimator=free, param_distributions=param_dist, n_fits=theirs[0] // 2, cv=folds, random_state=seed
    )
    return {"HalvingRandomSearchCV": theirs, "DuelSearchCV": found(duels, X, y)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the score that each search believes in, and the true one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how often each search is made")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)  # the gallery's classifier has them too
    for example in (randomized, halving):
        print(f"{example.__name__}: mean accuracy of {given.seeds} searches")
        each = []
        for seed in range(given.seeds):
            np.random.seed(seed)  # noqa: NPY002  # scikit-learn draws from it whatever has no seed
            each.append(example(seed))
        for name in each[0]:
            rows = np.array([runs[name] for runs in each])
            fits, believed, worth = rows.mean(axis=0)
            error = rows[:, 2].std() / given.seeds**0.5
            print(f"  {name:22} {fits:4.0f} fits   believed {believed:.3f}   on fresh splits {worth:.4f} ± {error:.4f}")


if __name__ == "__main__":
    main()
