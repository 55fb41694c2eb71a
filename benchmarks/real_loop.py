"""A real loop of 60 ideas on scikit-learn's digits: the ideas that greedy and the gate keep, checked on 50 fresh seeds.

    python benchmarks/real_loop.py --seeds 5

A reading is the accuracy on 400 digits of a classifier that was trained on 150 others; the seed says which, and what
the classifier draws. The champion at first is a plain nearest neighbor; an idea changes some of its settings.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PowerTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import equipoise as eq

X, LABELS = load_digits(return_X_y=True)
TRAINED, TESTED, FRESH = 150, 400, 50
START: dict[str, Any] = {"model": "knn", "k": 9, "before": "standard", "blur": 0.0, "power": 1.0, "C": 1.0, "leaf": 3}

Settings = dict[str, Any]
Kept = list[tuple[Settings, Settings]]

MODELS: dict[str, Callable[[Settings, int], Any]] = {
    "knn": lambda c, seed: KNeighborsClassifier(c["k"], weights=c.get("weights", "uniform"), p=c.get("p", 2)),
    "svc": lambda c, seed: SVC(C=c["C"], kernel=c.get("kernel", "rbf"), gamma=c.get("gamma", "scale")),
    "logistic": lambda c, seed: LogisticRegression(C=c["C"], max_iter=60),
    "ridge": lambda c, seed: RidgeClassifier(alpha=1 / c["C"]),
    "lda": lambda c, seed: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "bayes": lambda c, seed: GaussianNB(var_smoothing=c.get("smooth", 1e-2)),
    "centroid": lambda c, seed: NearestCentroid(),
    "tree": lambda c, seed: DecisionTreeClassifier(min_samples_leaf=c["leaf"], random_state=seed),
    "forest": lambda c, seed: RandomForestClassifier(20, min_samples_leaf=c["leaf"], random_state=seed),
    "extra": lambda c, seed: ExtraTreesClassifier(20, min_samples_leaf=c["leaf"], random_state=seed),
}
BEFORE: dict[str, Callable[[], list[Any]]] = {
    "none": lambda: [],
    "standard": lambda: [StandardScaler()],
    "range": lambda: [MinMaxScaler()],
    "length": lambda: [Normalizer()],
    "power": lambda: [PowerTransformer()],
}
IDEAS: list[Settings] = [
    *({"k": k} for k in (11, 7, 15, 5, 10, 3, 8, 1, 6, 4)),
    *({"before": name} for name in ("range", "length", "none", "power", "standard")),
    *({"pca": n} for n in (10, 20, 30, 40, 15, 50)),
    *({"weights": w} for w in ("distance", "uniform")),
    *({"p": p} for p in (1, 3)),
    *({"blur": b} for b in (0.1, 0.2, 0.4, 0.05, 0.3)),
    *({"power": p} for p in (0.5, 0.8, 1.5, 2.0, 0.7)),
    *({"model": m} for m in ("tree", "bayes", "centroid", "ridge", "logistic", "lda", "forest", "extra", "svc")),
    *({"C": c} for c in (0.3, 3.0, 0.1, 10.0, 30.0)),
    *({"gamma": g} for g in ("auto", 0.02, 0.005)),
    *({"kernel": k} for k in ("linear", "poly", "sigmoid")),
    *({"leaf": n} for n in (1, 5)),
    *({"pca": None, "blur": b} for b in (0.0, 0.15, 0.25)),
]


def accuracy(settings: Settings, seed: int) -> float:
    """Return the accuracy of one training."""
    rows = np.random.default_rng(seed).permutation(len(X))[: TRAINED + TESTED]
    images = (X[rows] / 16.0) ** settings["power"]
    images = images.reshape(-1, 8, 8)
    near = sum(np.roll(images, step, axis) for axis in (1, 2) for step in (-1, 1))
    images = (images + settings["blur"] * near).reshape(len(rows), -1)
    steps = BEFORE[settings["before"]]() + ([PCA(settings["pca"], random_state=seed)] if settings.get("pca") else [])
    model = make_pipeline(*steps, MODELS[settings["model"]](settings, seed))
    model.fit(images[:TRAINED], LABELS[rows[:TRAINED]])
    return float(model.score(images[TRAINED:], LABELS[rows[TRAINED:]]))


def measured(settings: Settings, order: int) -> Callable[[int], float]:
    """Return the function that measures settings, on seeds that no other order has."""
    return lambda seed: accuracy(settings, 1000 * order + seed)


def truth(settings: Settings) -> tuple[float, float]:
    """Return the mean and its standard error over fresh seeds."""
    values = [accuracy(settings, 10**6 + seed) for seed in range(FRESH)]
    return float(np.mean(values)), float(np.std(values) / np.sqrt(FRESH))


def greedy(ideas: Sequence[Settings], first: int) -> tuple[Settings, float, Kept]:
    """Keep what beats the record, each on its own seed; return champion, what is believed, what was kept."""
    champion, kept = dict(START), Kept()
    record = accuracy(champion, first)
    for number, idea in enumerate(ideas, 1):
        tried = {**champion, **idea}
        value = accuracy(tried, first + number)
        if value > record:
            kept.append((dict(champion), tried))
            champion, record = tried, value
    return champion, record, kept


def gated(ideas: Sequence[Settings], rng: int) -> tuple[Settings, float, Kept, int]:
    """Let the gate decide; return champion, what is believed, what was kept, and the readings it took."""
    champion, kept = dict(START), Kept()
    gate = eq.Gate(measured(champion, rng), rng=rng)
    for number, idea in enumerate(ideas):
        tried = {**champion, **idea}
        if tried == champion:
            continue
        found = gate.test(measured(tried, rng), f"{number} {idea}")
        if found.decision == "keep":
            kept.append((dict(champion), tried))
            champion = tried
    night = gate.status()
    return champion, night.gain.value, kept, night.readings


def worse(kept: Kept) -> int:
    """Return how many of the ideas that were kept are no better on fresh seeds, the same for both."""
    return sum(truth(after)[0] <= truth(before)[0] for before, after in kept)


def main() -> None:
    """Run both on the same ideas in several orders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ideas", type=int, default=len(IDEAS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start, error = truth(START)
    print(f"{len(IDEAS)} ideas; the start has {start:.4f} +- {error:.4f}", flush=True)
    print("order,rule,readings,kept,of them no better,believed,true,se")
    for order in range(1, options.seeds + 1):
        mixed = np.random.default_rng(order).permutation(len(IDEAS))[: options.ideas]
        ideas = [IDEAS[i] for i in mixed]
        champion, record, kept = greedy(ideas, 1000 * (order + 100))
        mean, error = truth(champion)
        row = f"{len(ideas) + 1},{len(kept)},{worse(kept)},{record:.4f},{mean:.4f},{error:.4f}"
        print(f"{order},greedy,{row}", flush=True)
        champion, gain, kept, readings = gated(ideas, order)
        mean, error = truth(champion)
        row = f"{readings},{len(kept)},{worse(kept)},{start + gain:.4f},{mean:.4f},{error:.4f}"
        print(f"{order},gate,{row}", flush=True)


if __name__ == "__main__":
    main()
