"""Sweeps: parallel equals serial, interrupted ones continue, finished ones are not run again."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.experiments import LEARNERS, Experiment, Store, sweep
from equipoise.lab.experiments.backends import backend
from equipoise.lab.experiments.experiment import Staging
from invoking import interruptible

EXPERIMENTS = [Experiment(name, "linear", "drift", readings=40) for name in ("UCB", "IDS-two", "random")]
PARTS = ("regret", "recommended", "recommended_regret", "gap_bound")


def numbers(curves):
    """Everything but the time it took."""
    return [[getattr(result, part) for part in PARTS] for each in curves for result in each.results]


@pytest.fixture(scope="module")
def serial():
    return numbers(sweep(EXPERIMENTS, 3, jobs=1))


@contextmanager
def counted(monkeypatch, fail_at=None, error=KeyboardInterrupt):
    """Count the runs of each experiment; raise at one of them."""
    runs, original = Counter(), Staging.run

    def run(self, repetition):
        if runs.total() == fail_at:
            raise error
        runs[self.experiment.learner, repetition] += 1
        return original(self, repetition)

    with monkeypatch.context() as patch:
        patch.setattr(Staging, "run", run)
        yield runs


def test_processes_give_what_one_process_gives(serial):
    assert numbers(sweep(EXPERIMENTS, 3, jobs=2)) == serial


def test_threads_give_what_one_process_gives(serial):
    with backend("threading", workers=2) as jobs:
        assert numbers(sweep(EXPERIMENTS, 3, jobs=jobs)) == serial


@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_gives_what_one_process_gives(serial, tmp_path):
    distributed = pytest.importorskip("distributed")
    import joblib

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        with joblib.parallel_config(backend="dask"):
            curves = sweep(EXPERIMENTS, 3, out=tmp_path)
        with backend("dask", address=cluster.scheduler_address) as jobs:
            assert numbers(sweep(EXPERIMENTS, 3, jobs=jobs)) == serial
        workers = client.run(lambda: os.getpid())
    assert numbers(curves) == serial
    assert len(set(workers.values())) == 2
    assert numbers(sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)) == serial


@pytest.mark.filterwarnings("default")
def test_a_ray_cluster_gives_what_one_process_gives(serial):
    pytest.importorskip("ray", reason="ray is not installed")
    with backend("ray", workers=2) as jobs:
        assert numbers(sweep(EXPERIMENTS, 3, jobs=jobs)) == serial


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_sweep_continues_where_it_stopped(serial, tmp_path, monkeypatch, error):
    with counted(monkeypatch, fail_at=4, error=error) as before, pytest.raises(error):
        sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)
    with counted(monkeypatch) as after:
        curves = sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)
    assert before.total() == 4
    assert after.total() == 5
    assert set(before.values()) == set(after.values()) == {1}
    assert not set(before) & set(after)
    assert numbers(curves) == serial


def test_a_finished_sweep_is_not_run_again(serial, tmp_path, monkeypatch):
    sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)
    with counted(monkeypatch) as again:
        assert numbers(sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)) == serial
        sweep(EXPERIMENTS[:1], 2, out=tmp_path, jobs=1)
    assert again.total() == 0


def test_more_repetitions_only_add(tmp_path, monkeypatch):
    sweep(EXPERIMENTS, 2, out=tmp_path, jobs=1)
    with counted(monkeypatch) as more:
        sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)
    assert sorted(more) == [("IDS-two", 2), ("UCB", 2), ("random", 2)]


def test_a_changed_setting_is_run_anew_beside_the_old(tmp_path, monkeypatch):
    sweep(EXPERIMENTS[:1], 2, out=tmp_path, jobs=1)
    with counted(monkeypatch) as runs:
        sweep([Experiment("UCB", "linear", "drift", readings=40, noise=0.5)], 2, out=tmp_path, jobs=1)
    assert runs.total() == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_file_is_run_again(tmp_path, serial):
    sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)
    Store(tmp_path).path(EXPERIMENTS[1], 2).write_text("{")
    assert numbers(sweep(EXPERIMENTS, 3, out=tmp_path, jobs=1)) == serial


def test_a_learner_of_your_own_is_sent_to_the_workers(monkeypatch):
    monkeypatch.setitem(LEARNERS, "mine", lambda problem, rng: problem.learner(eq.UCB(), rng, widening=0.5))
    mine = [Experiment("mine", "linear", readings=20)]
    assert numbers(sweep(mine, 2, jobs=2)) == numbers(sweep(mine, 2, jobs=1))


def test_the_same_experiment_twice_is_run_once(monkeypatch):
    with counted(monkeypatch) as runs:
        first, second = sweep([EXPERIMENTS[0]] * 2, 2, jobs=1)
    assert runs.total() == 2
    np.testing.assert_array_equal(first.regret, second.regret)


def test_an_unknown_backend_is_answered_with_the_choices():
    with pytest.raises(ValueError, match="loky, threading, dask, ray; got 'mpi'"), backend("mpi"):
        pass
    with pytest.raises(ValueError, match="`address`"), backend("loky", address="tcp://10.0.0.5:8786"):
        pass


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
def test_ctrl_c_keeps_what_is_done_and_exits_with_130(tmp_path):
    command = [
        sys.executable,
        "-m",
        "equipoise",
        "bench",
        "--out",
        str(tmp_path),
        "--jobs",
        "2",
        "--function",
        "linear",
    ]
    settings = ["--readings", "100", "--repetitions", "5000"]
    paths = os.pathsep.join([str(Path(eq.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [*command, *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=interruptible,
        env=os.environ | {"PYTHONPATH": paths},
    )
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob("*/repetition-*.json"))) < 40 and time.monotonic() < deadline:  # both workers are up
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, shown = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted; finished runs are kept" in shown
    assert "Traceback" not in shown
    found = [
        Store(tmp_path).load(e, 0) for e in (Experiment(name, "linear", readings=100) for name in ("UCB", "IDS-two"))
    ]
    assert any(found)
    assert not list(tmp_path.glob("*/.*"))
