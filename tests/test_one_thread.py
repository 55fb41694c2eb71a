"""BLAS is kept to one thread in every thread that asks for it, whichever thread asked first."""

import asyncio
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import equipoise as eq
from equipoise import _linalg
from equipoise._linalg import one_thread, threads

FILES = {library.filepath for library in threads._libraries()}
pytestmark = pytest.mark.skipif(not FILES, reason="this BLAS has no number of threads to set")


def limits():
    """Return the numbers of threads that are in effect in this thread."""
    return [each["num_threads"] for each in threadpool_info() if each["filepath"] in FILES]


def inside():
    with one_thread():
        return limits()


def in_a_thread(act):
    """Do something in its own thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act).result()


@pytest.fixture(autouse=True)
def three_threads():
    """Let BLAS have three threads, whatever the machine and the environment say."""
    with threadpool_limits(3, user_api="blas"):
        yield


def test_the_limit_holds_in_a_thread_after_the_main_one_has_left():
    assert set(inside()) == {1}
    assert set(in_a_thread(inside)) == {1}
    assert set(inside()) == {1}
    assert set(limits()) == {3}


def test_the_limit_holds_in_the_executor_of_an_event_loop():
    async def looked():
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(None, inside) for _ in range(3)]

    assert set(inside()) == {1}
    assert [set(found) for found in asyncio.run(looked())] == 3 * [{1}]
    assert set(limits()) == {3}


@pytest.mark.parametrize("first_leaves_first", [False, True])
def test_the_last_thread_lifts_the_limit(first_leaves_first):
    entered, leave, seen = threading.Event(), threading.Event(), []

    def other():
        with one_thread():
            entered.set()
            leave.wait()
            seen.append(limits())

    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        entered.wait()
        if not first_leaves_first:
            leave.set()
            thread.join()
            seen.append(limits())
    leave.set()
    thread.join()
    assert {each for found in seen for each in found} == {1}
    assert set(limits()) == {3}


def test_it_may_be_entered_inside_itself():
    with one_thread():
        assert set(inside()) == {1}
        assert set(limits()) == {1}
    assert set(limits()) == {3}


def test_an_error_inside_lifts_the_limit():
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert set(limits()) == {3}


def test_an_interrupt_before_the_limit_is_set_leaves_it(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "_libraries", interrupted)
    with pytest.raises(KeyboardInterrupt), one_thread():
        pass
    monkeypatch.undo()
    assert set(inside()) == {1}
    assert set(limits()) == {3}


def test_other_limits_can_be_set_afterwards_from_any_thread():
    def limited():
        with threadpool_limits(2, user_api="blas"):
            return limits()

    inside()
    assert set(in_a_thread(inside)) == {1}
    assert set(in_a_thread(limited)) == {2}
    assert set(limited()) == {2}


@dataclass
class PerThread:
    """A library that keeps a number of threads for each thread, as MKL does."""

    internal_api: str = "mkl"
    numbers: threading.local = field(default_factory=threading.local)

    def get_num_threads(self):
        return getattr(self.numbers, "threads", 3)

    def set_num_threads(self, threads):
        self.numbers.threads = threads


def test_a_library_with_a_limit_for_each_thread_is_limited_in_each(monkeypatch):
    library = PerThread()
    monkeypatch.setattr(threads, "_libraries", lambda: [library])

    def seen():
        with one_thread():
            within = library.get_num_threads()
        return within, library.get_num_threads()

    with one_thread():
        assert in_a_thread(seen) == (1, 3)
        assert library.get_num_threads() == 1
    assert library.get_num_threads() == 3


def test_a_study_in_a_thread_computes_under_the_limit(monkeypatch):
    opt, seen = eq.Optimizer(eq.Box([[0.0, 1.0], [0.0, 1.0]]), rng=0), {}

    def used():
        for k in range(12):
            opt.tell(opt.ask(), float(k % 3))
        opt.tell(opt.ask_pair(), "first")
        opt.recommend()
        opt.compare([0.1, 0.1], [0.2, 0.2])
        opt.ask()

    def recorded(name, real):
        def called(*arguments, **options):
            seen.setdefault(name, set()).update(limits())
            return real(*arguments, **options)

        monkeypatch.setattr(_linalg, name, called)

    used()
    for name in ("cholesky", "safe_cholesky", "solve_lower"):
        recorded(name, getattr(_linalg, name))
    in_a_thread(used)
    assert seen == {"cholesky": {1}, "safe_cholesky": {1}, "solve_lower": {1}}


@pytest.mark.parametrize("threads", [None, "4"])
def test_the_limit_holds_whatever_the_environment_says(threads):
    code = (
        "from threading import Thread; from threadpoolctl import threadpool_info; from equipoise._linalg import *\n"
        "def show():\n    with one_thread(): print([each['num_threads'] for each in threadpool_info()])\n"
        "show(); other = Thread(target=show); other.start(); other.join()"
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {} if threads is None else {"OMP_NUM_THREADS": threads}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert {number for line in found.stdout.split() for number in line.strip("[],")} == {"1"}
