"""Results on disk: whole or not there, legible, never mixed."""

import json
import os

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.experiments import Experiment, Result, Store
from equipoise.lab.experiments.results import Curves, grid, write
from equipoise.lab.fleet import Trace

EXPERIMENT = Experiment("random", "linear", readings=1000)


def trace(n=1000):
    regrets = np.random.default_rng(0).random(n)
    return Trace(regrets, eq.Recommendation(np.array([0.25, -1.0]), 0.5, n), 0.125, 1.5)


@pytest.mark.parametrize("readings", [1, 3, 200, 201, 999, 10_000])
def test_the_grid_is_short_increasing_and_ends_at_the_end(readings):
    at = grid(readings)
    assert len(at) == min(readings, 200)
    assert at[-1] == readings
    assert at[0] >= 1
    assert (np.diff(at) > 0).all()


def test_what_is_kept_of_a_trace():
    result = Result.of(trace(), repetition=3)
    np.testing.assert_allclose(result.regret, trace().cumulative[np.array(result.at) - 1], rtol=1e-7)
    assert (result.recommended, result.recommended_regret, result.gap_bound) == ([0.25, -1.0], 0.125, 0.5)
    assert result.cpu_seconds == 1.5


def test_a_result_is_compact_legible_and_comes_back(tmp_path):
    store, result = Store(tmp_path), Result.of(trace(), 3)
    store.save(EXPERIMENT, result)
    path = store.path(EXPERIMENT, 3)
    assert path.stat().st_size < 8000
    assert json.loads(path.read_text())["repetition"] == 3
    assert len(path.read_text().splitlines()) == 9
    assert store.load(EXPERIMENT, 3) == result
    assert store.load(EXPERIMENT, 4) is None


def test_the_manifest_says_all(tmp_path):
    store = Store(tmp_path)
    store.save(EXPERIMENT, Result.of(trace(), 0))
    manifest = json.loads((store.directory(EXPERIMENT) / "manifest.json").read_text())
    assert manifest == EXPERIMENT.description
    assert {"version", "seed", "readings", "learner", "noise", "parts"} <= set(manifest)


def test_other_settings_have_another_folder(tmp_path):
    store = Store(tmp_path)
    store.save(EXPERIMENT, Result.of(trace(), 0))
    assert store.load(Experiment("random", "linear", readings=1000, seed=1), 0) is None
    assert EXPERIMENT.label in store.directory(EXPERIMENT).name
    assert EXPERIMENT.key in store.directory(EXPERIMENT).name


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"repetition": 0}'])
def test_what_cannot_be_read_counts_as_missing(tmp_path, damage):
    store = Store(tmp_path)
    write(store.path(EXPERIMENT, 0), damage)
    assert store.load(EXPERIMENT, 0) is None


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path / "a" / "file.json", "text")
    assert list((tmp_path / "a").iterdir()) == []


def test_writing_replaces(tmp_path):
    for text in ("first", "second"):
        write(tmp_path / "file", text)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["second"]


def test_curves_put_repetitions_together():
    results = tuple(Result(i, [5, 10], [1.0 + i, 2.0 + i], [0.0], 0.1 * i, 1.0, 0.5) for i in range(3))
    curves = Curves(EXPERIMENT, results)
    np.testing.assert_array_equal(curves.regret, [[1, 2], [2, 3], [3, 4]])
    np.testing.assert_array_equal(curves.final, [2, 3, 4])
    np.testing.assert_allclose(curves.column("recommended_regret"), [0.0, 0.1, 0.2])
    assert curves.at == [5, 10]


def test_others_may_read_what_is_written(tmp_path):
    before = os.umask(0o022)
    try:
        write(tmp_path / "table.md", "text\n")
    finally:
        os.umask(before)
    assert (tmp_path / "table.md").stat().st_mode & 0o777 == 0o644
