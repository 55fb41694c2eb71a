"""Training and simulating under seeds: the example runs, and its benchmark measures what it says."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def load(path):
    """Import a script from its path, under a name that no package has."""
    spec = spec_from_file_location(f"script_{path.stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_luckiest_run_believes_too_much_and_duels_are_worth_more(capsys):
    load(ROOT / "examples" / "train.py").main(["--runs", "30", "--seeds", "4"])
    lines = capsys.readouterr().out.splitlines()
    worth = {line[:12].strip(): float(line.split("seeds ")[-1].split("±")[0]) for line in lines[1:]}
    believed = float(lines[1].split("believed")[-1])
    assert believed > worth["luckiest"] + 5  # the best of thirty half years
    assert worth["duels"] > worth["three seeds"] - 1.0


def test_a_seed_is_a_half_year():
    example = load(ROOT / "examples" / "train.py")
    x = {"point": 40.0, "gap": 40.0}
    assert example.profit(x, 3) == example.profit(x, 3) != example.profit(x, 4)


def test_the_benchmark_reads_by_seeds(monkeypatch):
    pytest.importorskip("sklearn", reason="needs the extra `sklearn`")
    pytest.importorskip("optuna", reason="needs the extra `optuna`")
    training = load(ROOT / "benchmarks" / "training.py")
    monkeypatch.setattr(training, "LOOKS", (6, 18))
    tasks = training.tasks()
    for space, task, default in (tasks[name] for name in ("queue", "store")):
        assert space.encode(default).shape == (space.dimension,)
        assert task(default, 1) == task(default, 1) != task(default, 2)
    space, task, default = tasks["store"]
    calls = []
    for search in training.METHODS.values():
        before = len(calls)
        found = search(space, lambda x, seed: calls.append(seed) or task(x, seed), 0)
        assert set(found) == {6, 18}
        assert len(calls) - before in (18, 24)  # halving begins again for each number of fits
        assert np.mean([task(found[18], seed) for seed in range(20)]) > np.mean([task(default, s) for s in range(20)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_search_of_the_gallery_has_an_equal_with_half_of_the_fits():
    pytest.importorskip("sklearn", reason="needs the extra `sklearn`")
    found = load(ROOT / "examples" / "search.py").randomized(0)
    assert [fits for fits, _, _ in found.values()] == [75, 37]
    (_, _, theirs), (_, believed, ours) = found.values()
    assert ours > theirs - 0.02
    assert abs(believed - ours) < 0.03
