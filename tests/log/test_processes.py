"""Forks, callbacks and signal handlers: no call waits forever for a lock; and telling twice."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import equipoise as eq
from equipoise.log.lock import FileLock
from studies import FINITE, KERNEL, state


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


# Forks.


@pytest.mark.parametrize("logged", [False, True])
def test_a_child_forked_while_another_thread_asks_can_ask(path, logged):
    """The other thread stops inside its turn, the fork happens there: the child must not wait for it."""
    inside, go_on = threading.Event(), threading.Event()

    def allowed(x):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            go_on.wait(120)
        return True

    space = eq.Box([(-2, 2), (-1, 1)], 8, constraint=allowed)
    opt = eq.Optimizer(space, kernel=KERNEL, rng=0, **({"log": path} if logged else {}))
    thread = threading.Thread(target=opt.ask)
    thread.start()
    assert inside.wait(120)
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # ends the child should it hang
        journal = opt._session.turns.journal
        if journal is not None:
            journal._lines._lock.timeout = 0.1
        try:
            opt.ask()
            os._exit(0)
        except eq.LogError:  # the parent holds the file, and says so at once
            os._exit(3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (3 if logged else 0)
    go_on.set()
    thread.join(120)
    assert opt.study.open_trials == (0,)
    opt.ask()


def test_a_child_does_not_hold_the_lock_of_its_parent(path):
    lock = FileLock(path, timeout=0.2)
    lock.acquire()
    child = os.fork()
    if child == 0:
        time.sleep(120)
        os._exit(0)
    lock.file.close()  # as an interrupted parent would: without giving the lock up
    try:
        second = FileLock(path, timeout=60.0)
        second.acquire()
        assert second.file is not None
        second.release()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# A call from inside a call.


@pytest.mark.parametrize("call", ["ask", "recommend"])
def test_a_callback_that_uses_its_own_study_is_refused_at_once(path, call):
    def allowed(x):
        getattr(opt, call)()
        return True

    opt = eq.Optimizer(eq.Box([(-2, 2)], 8, constraint=allowed), kernel=KERNEL, log=path, rng=0)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="must not be used from inside its own call"):
        opt.ask()
    assert time.monotonic() - start < 30  # who waits for a lock does so for 60 s
    assert opt.study.open_trials == ()


def test_a_signal_handler_that_uses_the_study_is_refused_at_once(path):
    refused = []

    def handler(number, frame):
        try:
            opt.ask()
        except RuntimeError as error:
            refused.append(str(error))

    def allowed(x):
        if not refused:
            os.kill(os.getpid(), signal.SIGUSR1)
        return True

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        opt = eq.Optimizer(eq.Box([(-2, 2)], 8, constraint=allowed), kernel=KERNEL, log=path, rng=0)
        assert opt.ask().id == 0
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(refused) == 1
    assert opt.study.open_trials == (0,)


# Told twice.


@pytest.mark.parametrize("changed", [{"time": 4.0}, {"error": 0.2}, {"x": np.array([0.5, 0.5])}, {"value": 0.6}])
def test_telling_twice_with_anything_else_is_refused(changed):
    opt = eq.Optimizer(eq.Box([(-2, 2), (-1, 1)]), kernel=KERNEL, rng=0)
    told = {"value": 0.5, "x": np.array([0.5, 0.25]), "time": 3.0, "error": 0.1}
    trial = opt.ask()
    opt.tell(trial, **told)
    before = state(opt)
    opt.tell(trial, **told)
    opt.tell(trial, 0.5, error=0.1)
    with pytest.raises(ValueError, match=r"of trial 0 must stay .*, as told before, got"):
        opt.tell(trial, **(told | changed))
    assert state(opt) == before
    opt.correct(trial, **(told | changed))


def test_telling_twice_where_it_should_have_been_is_no_news():
    opt = eq.Optimizer(FINITE, kernel=KERNEL, rng=0)
    trial = opt.ask()
    opt.tell(trial, 0.5)
    opt.tell(trial, 0.5, x=trial.x)
    other = next(point for point in FINITE.points if not np.array_equal(point, trial.x))
    with pytest.raises(ValueError, match="`x` of trial 0 must stay"):
        opt.tell(trial, 0.5, x=other)
