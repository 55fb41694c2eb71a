"""The runner: every reading pays its own regret, the loop costs next to nothing, and no worker outlives it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.environments import Drift, Environment, camelback, linear
from equipoise.lab.experiments import run
from equipoise.lab.experiments.runner import BLOCK
from invoking import interruptible


def learner(function, rng=0, **parts):
    return eq.Optimizer(eq.Finite(function.points), kernel=eq.Linear(), policy=eq.IDS(), rng=rng, **parts)


def test_every_reading_is_charged_against_the_best_of_the_domain():
    function = linear(rng=3)
    environment = Environment(function, Drift(), noise=1.0, rng=4)
    trace = run(learner(function), environment, readings=BLOCK + 45)
    values = np.array([reading.value for reading in environment.history])
    np.testing.assert_allclose(trace.regrets, function(function.points).max() - values, atol=1e-12)
    assert trace.regrets.shape == (BLOCK + 45,)
    assert trace.regrets.min() >= -1e-12
    np.testing.assert_allclose(trace.cumulative, np.cumsum(trace.regrets))


def test_two_point_duels_pay_for_both_points():
    function = linear(rng=0)
    environment = Environment(function, noise=1.0, rng=0)
    trace = run(learner(function), environment, readings=2)
    first, second = environment.history
    assert not np.array_equal(first.x, second.x)
    np.testing.assert_allclose(trace.regrets, [function.maximum - first.value, function.maximum - second.value])


def test_the_recommendation_comes_with_its_true_regret():
    function = linear(rng=0)
    optimizer = learner(function)
    trace = run(optimizer, Environment(function, noise=0.1, rng=0), readings=100)
    best = optimizer.recommend()
    np.testing.assert_array_equal(trace.recommendation.x, best.x)
    assert trace.recommendation.readings == 100
    assert trace.recommended_regret == pytest.approx(function.maximum - float(function(best.x)))


def test_a_box_is_judged_by_its_own_maximum():
    function = camelback()
    optimizer = eq.Optimizer(eq.Box(function.bounds), kernel=eq.RBF(0.2), policy=eq.IDS(), rng=0)
    environment = Environment(function, noise=0.1, rng=0)
    trace = run(optimizer, environment, readings=6)
    expected = [function.maximum - reading.value for reading in environment.history]
    np.testing.assert_allclose(trace.regrets, expected)


def test_it_goes_on_where_it_stopped():
    function = linear(rng=0)
    whole = run(learner(function), Environment(function, noise=1.0, rng=1), readings=40)
    optimizer, environment = learner(function), Environment(function, noise=1.0, rng=1)
    parts = [run(optimizer, environment, readings=n).regrets for n in (15, 25)]
    np.testing.assert_array_equal(np.concatenate(parts), whole.regrets)


def test_progress_adds_up():
    function, seen = linear(rng=0), []
    run(learner(function), Environment(function, rng=0), readings=2 * BLOCK + 10, progress=seen.append)
    assert seen == [BLOCK, BLOCK, 10]


@pytest.mark.parametrize("readings", [0, -3, 2.5, True])
def test_the_number_of_readings_is_checked(readings):
    function = linear(rng=0)
    with pytest.raises((TypeError, ValueError), match="readings"):
        run(learner(function), Environment(function), readings)


def test_the_loop_adds_less_than_five_microseconds_a_reading():
    function = linear(rng=0)
    trial = SimpleNamespace(x=function.points[0])
    best = eq.Recommendation(function.points[0], 0.0, 0)
    optimizer = SimpleNamespace(ask=lambda: trial, tell=lambda *_: None, recommend=lambda: best)
    environment = SimpleNamespace(measure=lambda x: 0.0, function=function, regret=lambda x: 0.0)
    start = time.thread_time()
    run(optimizer, environment, readings=256)  # look-up tables are made here
    assert time.thread_time() - start < 1
    cost = min(run(optimizer, environment, readings=20_000).cpu_seconds / 20_000 for _ in range(5))
    assert cost < 5e-6


def benchmarking(folder):
    """A sweep with two workers that would take hours, as its own process in its own group."""
    paths = os.pathsep.join([str(Path(eq.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    settings = ["--readings", "300", "--repetitions", "5000", "--out", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "equipoise", "bench", "--jobs", "2", "--function", "linear", *settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=interruptible,
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
    )


def wait_until(happened):
    deadline = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_workers_do_not_outlive_the_process_that_started_them(tmp_path, number):
    process = benchmarking(tmp_path)
    try:
        wait_until(lambda: any(tmp_path.glob("*/repetition-*.json")))  # a worker is up
        os.kill(process.pid, number)
        _, shown = process.communicate(timeout=120)  # until anyone who could write to its standard error has ended
    finally:
        kill_all(process)
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert (b"Interrupted; finished runs are kept" in shown) == (number == signal.SIGTERM)
    assert b"Traceback" not in shown


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
def test_workers_that_are_starting_say_nothing_of_ctrl_c(tmp_path):
    process = benchmarking(tmp_path)
    try:
        while b"0%" not in (said := os.read(process.stderr.fileno(), 2**16)):  # the bar, then the workers start
            assert said
        time.sleep(0.3)  # which takes longer: they import NumPy, and more
        os.killpg(process.pid, signal.SIGINT)
        _, shown = process.communicate(timeout=120)
    finally:
        kill_all(process)
    assert process.returncode == 130
    assert b"Interrupted; finished runs are kept" in shown
    assert b"Traceback" not in shown


def kill_all(process):
    """End whatever is left of a group of processes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
