"""scikit-learn: a search like theirs, by their own checks; pairs share split and seed; failures end nothing."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn")

import joblib
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes, load_digits, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GroupKFold, KFold, RandomizedSearchCV, ShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import equipoise as eq
from equipoise.integrations.sklearn import DuelSearchCV
from equipoise.integrations.sklearn.distributions import Tuned

LIKE_RANDOMIZED_SEARCH = {
    "check_supervised_y_2d": "DataConversionWarning not caught",
    "check_requires_y_none": "Doesn't fail gracefully",
}
"""What `RandomizedSearchCV` is excused from, in scikit-learn's own words."""


def checked(estimator, param_distributions):
    return DuelSearchCV(
        estimator, param_distributions, cv=2, error_score="raise", n_fits=2, random_state=0, return_train_score=True
    )


@pytest.mark.filterwarnings("ignore")  # as scikit-learn runs them
@parametrize_with_checks(
    [
        checked(Ridge(), {"alpha": [0.1, 1.0]}),
        checked(Pipeline([("pca", PCA()), ("logistic", LogisticRegression())]), {"logistic__C": [0.1, 1.0]}),
    ],
    expected_failed_checks=lambda estimator: LIKE_RANDOMIZED_SEARCH,
)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


# --- a drop-in ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gallery_example_of_randomized_search():
    """`plot_randomized_search.py`: the same lines with another class, and n_fits of n_iter times cv."""
    X, y = load_digits(return_X_y=True, n_class=3)
    clf = SGDClassifier(loss="hinge", penalty="elasticnet", fit_intercept=True)
    given = {"average": [True, False], "l1_ratio": stats.uniform(0, 1), "alpha": stats.loguniform(1e-2, 1e0)}
    other = RandomizedSearchCV(clf, param_distributions=given, n_iter=2, random_state=0).fit(X, y)
    search = DuelSearchCV(clf, param_distributions=given, n_fits=10, random_state=0).fit(X, y)
    columns = {name for name in other.cv_results_ if not name.startswith("split")}
    assert columns <= search.cv_results_.keys()
    assert search.best_params_.keys() == other.best_params_.keys()
    assert search.score(X, y) > 0.9
    top = np.flatnonzero(search.cv_results_["rank_test_score"] == 1)  # what the example reports
    assert search.best_index_ in top
    assert "estimated_test_score" in search.cv_results_


def test_the_gallery_example_of_successive_halving():
    """`plot_successive_halving_iterations.py`, with fewer trees."""
    rng = np.random.RandomState(0)
    X, y = make_classification(n_samples=200, n_features=8, random_state=rng)
    clf = RandomForestClassifier(n_estimators=2, random_state=rng)
    given = {
        "max_depth": [3, None],
        "max_features": stats.randint(1, 6),
        "min_samples_split": stats.randint(2, 11),
        "bootstrap": [True, False],
        "criterion": ["gini", "entropy"],
    }
    search = DuelSearchCV(estimator=clf, param_distributions=given, n_fits=8, random_state=rng).fit(X, y)
    assert search.best_params_.keys() == given.keys()
    assert search.best_params_["max_features"] in range(1, 6)
    assert pickle.loads(pickle.dumps(search)).predict(X).tolist() == search.predict(X).tolist()


def test_lists_and_distributions_are_a_space():
    tuned = Tuned(
        {
            "C": stats.expon(scale=100),
            "gamma": np.logspace(-2, 2, 5),
            "depth": stats.randint(1, 4),
            "weight": ["balanced", None],
            "leaf": stats.poisson(3),
            "tol": eq.Float(1e-5, 1e-3, log=True),
            "kernel": ["rbf"],
        }
    )
    low = {"C": 0.0, "gamma": 0, "depth": 0, "weight": 1, "leaf": 0, "tol": 1e-5}
    assert tuned.values(low) == {
        **{"C": 0.0, "gamma": 0.01, "depth": 1, "weight": None, "leaf": 0, "tol": 1e-5, "kernel": "rbf"}
    }
    high = tuned.space.parameters["C"].high
    assert tuned.values(low | {"C": high})["C"] == pytest.approx(100 * np.log(1000))
    assert isinstance(tuned.space.parameters["weight"], eq.Choice)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([{"alpha": [1, 2]}], TypeError, "must be a single dict"),
        ({"alpha": [1.0]}, ValueError, "must leave something to choose"),
        ({"alpha": 1.0}, TypeError, r"`param_distributions\['alpha'\]` must be a list"),
        ({"alpha": []}, TypeError, "a list that is not empty"),
    ],
)
def test_what_is_no_space_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        Tuned(given)
    with pytest.raises(error):
        DuelSearchCV(Ridge(), given).fit(*DATA)


# --- pairs --------------------------------------------------------------------------------------------------------

DATA = (np.arange(60.0).reshape(30, 2), np.arange(30.0))
SEEN = []


class Recording(RegressorMixin, BaseEstimator):
    """Notes what it is fitted with; its score depends on the setting, the split and the seed."""

    def __init__(self, a=0.0, random_state=None, fails=0.0):
        self.a, self.random_state, self.fails = a, random_state, fails

    def fit(self, X, y, scale=1.0):
        SEEN.append((self.a, self.random_state, tuple(y)))
        if self.a < self.fails:
            raise RuntimeError("too small")
        self.fitted_ = True
        return self

    def score(self, X, y):
        return float(-((self.a - 0.7) ** 2) + np.sin(y.sum()) + (self.random_state or 0) % 7)


@pytest.fixture
def seen():
    SEEN.clear()
    return SEEN


def search(n_fits=20, cv=None, **parts):
    given = {"a": stats.uniform(0, 1)}
    cv = ShuffleSplit(3, random_state=np.random.RandomState(0)) if cv is None else cv
    return DuelSearchCV(Recording(**parts.pop("recording", {})), given, n_fits=n_fits, cv=cv, random_state=0, **parts)


def test_both_settings_of_a_pair_have_the_same_split_and_the_same_seed(seen):
    found = search(refit=False).fit(*DATA)
    assert len(seen) == 20
    on_split = {}
    for a, seed, split in seen:
        on_split.setdefault(split, []).append((a, seed))
    assert all(len({seed for _, seed in fits}) == 1 for fits in on_split.values())
    assert seen[0][1:] == seen[1][1:]
    assert len({(a, split) for a, _, split in seen}) == 20  # nothing is fitted twice
    assert len({seed for _, seed, _ in seen}) == len(on_split) == found.n_splits_ > 1
    assert abs(found.best_params_["a"] - 0.7) < 0.1  # the split moves the score by ten times as much
    assert found.study_.recommend().seeds == len(on_split)


def test_a_seed_that_is_given_stays_and_fixed_folds_come_again(seen):
    found = search(12, KFold(3), refit=False, recording={"random_state": 5}).fit(*DATA)
    assert {seed for _, seed, _ in seen} == {5}
    assert found.n_splits_ == len({fold for _, _, fold in seen}) <= 3
    assert len({(a, fold) for a, _, fold in seen}) == 12  # nothing is fitted twice
    assert found.cv_results_["n_fits"].sum() == 12


def test_fixed_folds_are_few_seeds_although_the_estimator_has_a_seed(seen):
    """Many estimators ignore theirs, and then another seed on the same fold repeats the score: five folds were 26."""
    found = search(14, KFold(3), refit=False).fit(*DATA)
    assert len({(seed, fold) for _, seed, fold in seen}) == found.n_splits_ <= 3
    assert found.study_.recommend().kind == "guess"
    many = DuelSearchCV(Recording(), {"a": [0.1, 0.4, 0.7, 0.9]}, n_fits=40, cv=5, refit=False, random_state=0)
    assert many.fit(*DATA).cv_results_["n_fits"].tolist() == [5] * 4  # all there is
    assert many.best_params_ == {"a": 0.7}


def test_a_tuned_seed_is_left_alone(seen):
    given = {"random_state": [1, 2, 3], "a": stats.uniform(0, 1)}
    DuelSearchCV(Recording(), given, n_fits=4, cv=2, refit=False, random_state=0).fit(*DATA)
    assert {seed for _, seed, _ in seen} <= {1, 2, 3}


def test_the_search_ends_if_all_there_is_was_fitted(seen):
    found = DuelSearchCV(Recording(random_state=0), {"a": [0.1, 0.7]}, n_fits=100, cv=2, refit=False, random_state=0)
    assert found.fit(*DATA).best_params_ == {"a": 0.7}
    assert len(seen) <= 4


def test_the_table_has_what_was_fitted(seen):
    found = search(12, refit=False).fit(*DATA)
    table = found.cv_results_
    splits = np.array([table[f"split{k}_test_score"] for k in range(found.n_splits_)])
    assert np.isfinite(splits).sum() == 12
    assert table["mean_test_score"].tolist() == pytest.approx(np.nanmean(splits, axis=0).tolist())
    assert sorted(table["param_a"]) == sorted(params["a"] for params in table["params"])
    assert np.isfinite(table["estimated_test_score"]).all()
    best = table["rank_test_score"].argmin()
    assert table["estimated_test_score"][best] == pytest.approx(table["estimated_test_score"].max(), abs=0.1)


def test_a_split_with_many_fits_counts_once(seen):
    """What a setting is believed to score is about the mean over splits, which have levels of their own here."""
    found = search(24, refit=False).fit(*DATA)
    table, n = found.cv_results_, found.n_splits_
    scores = np.array([table[f"split{k}_test_score"] for k in range(n)])
    assert len({int(np.isfinite(split).sum()) for split in scores}) > 1  # some have more fits than others
    levels = [np.nanmedian(split - table["estimated_test_score"]) for split in scores]
    assert np.mean(levels) == pytest.approx(0.0, abs=1e-9)
    assert np.ptp(levels) > 1


def test_several_fits_at_once_are_as_many_as_were_wanted(seen):
    with joblib.parallel_config("threading"):  # processes take seconds to begin
        for jobs in (2, 4):
            found = search(15, refit=False, n_jobs=jobs, pre_dispatch="all").fit(*DATA)
            assert found.cv_results_["n_fits"].sum() == 15
            assert abs(found.best_params_["a"] - 0.7) < 0.2


# --- scorers, groups, failures --------------------------------------------------------------------------------------


def test_of_several_scores_that_of_refit_is_optimized():
    X, y = load_diabetes(return_X_y=True)
    scoring = {"r2": "r2", "error": "neg_mean_absolute_error"}
    given = {"alpha": stats.loguniform(1e-3, 1e3)}
    found = DuelSearchCV(Ridge(), given, n_fits=8, scoring=scoring, refit="error", random_state=0).fit(X, y)
    assert found.multimetric_
    assert found.best_index_ == found.cv_results_["rank_test_error"].argmin()
    assert found.best_score_ == found.cv_results_["mean_test_error"][found.best_index_] < 0
    assert {"estimated_test_error", "mean_test_r2", "rank_test_r2"} <= found.cv_results_.keys()
    chosen = DuelSearchCV(Ridge(), given, n_fits=4, refit=lambda table: 1, random_state=0).fit(X, y)
    assert chosen.best_params_ == chosen.cv_results_["params"][1]


def test_groups_go_to_the_splitter(seen):
    groups = np.repeat(np.arange(6), 5)
    search(6, GroupKFold(3), refit=False).fit(*DATA, groups=groups)
    kept = [{int(value) // 5 for value in y} for _, _, y in seen]
    assert all(len(groups) == 4 for groups in kept)


def test_a_fit_that_fails_is_learned_from(seen):
    with pytest.warns((FitFailedWarning, UserWarning)):
        found = search(30, refit=False, recording={"fails": 0.3}).fit(*DATA)
    assert found.best_params_["a"] > 0.3
    assert found.cv_results_["n_fits"].sum() == 30
    assert np.isnan(found.cv_results_["mean_test_score"]).any()
    early, late = seen[:10], seen[-10:]
    assert sum(a < 0.3 for a, *_ in late) <= sum(a < 0.3 for a, *_ in early)


def test_a_fit_that_fails_has_the_score_that_was_given_for_it(seen):
    with pytest.warns((FitFailedWarning, UserWarning)):
        found = search(20, refit=False, recording={"fails": 0.3}, error_score=-50.0).fit(*DATA)
    table = found.cv_results_
    failed = np.array(table["param_a"].tolist()) < 0.3
    assert failed.any()
    assert (table["mean_test_score"][failed] == -50).all()
    assert found.best_params_["a"] > 0.3
    assert found.study_.readings == 20


def test_a_single_split_is_one_seed(seen):
    fold = [(np.arange(20), np.arange(20, 30))]
    found = search(15, fold, refit=False, recording={"random_state": 5}).fit(*DATA)
    assert found.n_splits_ == 1
    assert len({a for a, _, _ in seen}) == len(seen) == 15  # the same setting is not fitted twice
    assert abs(found.best_params_["a"] - 0.7) < 0.05


class Perfect(Recording):
    """Its score is 1 for most settings."""

    def score(self, X, y):
        return min(1.0, self.a + 0.7 + 0.05 * np.sin(y.sum()))


def test_scores_that_are_all_perfect_are_no_dead_sensor():
    found = DuelSearchCV(Perfect(), {"a": stats.uniform(0, 1)}, n_fits=40, cv=ShuffleSplit(5), random_state=0)
    assert found.fit(*DATA).best_params_["a"] > 0.3


@pytest.mark.filterwarnings("ignore")
def test_an_estimator_that_always_fails_ends_the_search(seen):
    with pytest.raises(ValueError, match="fits failed"):
        search(100, recording={"fails": 2.0}).fit(*DATA)
    assert len(seen) <= 12
    with pytest.raises(ValueError, match="All the 4 fits failed"):
        search(4, recording={"fails": 2.0}).fit(*DATA)
    with pytest.raises(RuntimeError, match="too small"):
        search(100, recording={"fails": 2.0}, error_score="raise").fit(*DATA)
    with pytest.raises(ValueError, match="`n_fits` must be at least 2"):
        search(1).fit(*DATA)


class Collapsing(RegressorMixin, BaseEstimator):
    """Its score is a parabola of x, and a hundred times worse below 0.3."""

    def __init__(self, x=0.5):
        self.x = x

    def fit(self, X, y):
        self.level_ = float(X.mean())
        return self

    def score(self, X, y):
        return self.level_ - (self.x - 0.7) ** 2 - 1e3 * max(0.3 - self.x, 0.0)


def test_what_collapses_is_estimated_in_the_unit_of_the_scores():
    X = np.random.default_rng(0).normal(size=(60, 2))
    folds = ShuffleSplit(5, test_size=0.3, random_state=np.random.RandomState(2))  # new ones each time
    search = DuelSearchCV(Collapsing(), {"x": eq.Float(0, 1)}, n_fits=40, cv=folds, random_state=0, refit=False)
    search.fit(X, X[:, 0])
    assert search.study_.study.belief.learned.compression is not None
    assert abs(search.best_params_["x"] - 0.7) < 0.05
    estimated, x = search.cv_results_["estimated_test_score"], search.cv_results_["param_x"].astype(float)
    assert estimated[x > 0.3] == pytest.approx(-((x[x > 0.3] - 0.7) ** 2), abs=0.3)
    assert estimated[x < 0.2].max() < -10
