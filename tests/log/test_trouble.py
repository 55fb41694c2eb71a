"""A disk that fails, and several processes at once."""

import copy
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.log import jsonl as lines
from equipoise.log.lock import FileLock
from studies import FINITE, KERNEL, act, finished, state


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


# A disk that will not.


@contextmanager
def small_disk(size):
    """Limit how large a file may get, for as long as it takes: what pytest says may go to a file, too.

    The kernel then writes a part of a line and refuses the rest.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


CALLS = {
    "ask": lambda opt, trial: opt.ask(),
    "new worker": lambda opt, trial: opt.ask(worker="laser-2"),
    "tell": lambda opt, trial: opt.tell(trial, 0.5),
    "fail": lambda opt, trial: opt.tell(trial, failed="no"),
    "expire": lambda opt, trial: opt.study.expire(trial),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_full_disk_changes_nothing(path, call):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    opt.tell(opt.ask(), 0.1)
    trial = opt.ask()
    before, written = state(opt), path.read_bytes()
    for room in (0, 1, 20):
        too_large = pytest.raises(eq.LogError, match=r"study.jsonl could not be written: File too large")
        with small_disk(len(written) + room), too_large:
            call(opt, trial)
        assert state(opt) == before
        assert path.read_bytes() == written
    twin = copy.deepcopy(opt)  # and now somebody has made room
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.DuelGivenUp)
        call(opt, trial)
        call(twin, trial)
    assert state(opt) == state(twin) == state(eq.resume(path))


def test_a_full_disk_leaves_no_half_study(path):
    too_large = pytest.raises(eq.LogError, match=r"study.jsonl could not be created: File too large")
    with small_disk(200), too_large:
        eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    assert [file.name for file in path.parent.iterdir()] == ["study.jsonl.lock"]


@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_failing_disk_changes_nothing(path, monkeypatch, where):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    trial = opt.ask()
    before, written = state(opt), path.read_bytes()

    def broken(*args):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(*((lines, "_write", broken) if where == "write" else (os, "fsync", broken)))
        with pytest.raises(eq.LogError, match=r"study.jsonl could not be written: Input/output error"):
            opt.tell(trial, 0.5)
    assert state(opt) == before
    assert path.read_bytes() == written
    opt.tell(trial, 0.5)
    assert eq.resume(path).readings == 1


def test_a_vanished_directory_changes_nothing(tmp_path):
    path = tmp_path / "night" / "study.jsonl"
    with pytest.raises(eq.LogError, match=r"study.jsonl could not be created: No such file or directory"):
        eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    path.parent.mkdir()
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    trial = opt.ask()
    before = state(opt)
    path.parent.rename(tmp_path / "moved")
    with pytest.raises(eq.LogError, match=r"study.jsonl could not be locked: No such file or directory"):
        opt.tell(trial, 0.5)
    assert state(opt) == before
    (tmp_path / "moved").rename(path.parent)
    opt.tell(trial, 0.5)
    path.unlink()
    with pytest.raises(eq.LogError, match=r"study.jsonl could not be opened: No such file or directory"):
        opt.ask()
    path.write_text("")
    with pytest.raises(eq.LogError, match=r"study.jsonl is shorter than it was: 0 bytes, "):
        opt.ask()


READ_ONLY = """
import os, sys, equipoise as eq
from equipoise import _linalg
_linalg.lapack()  # the user nobody may not read the folder where packages are installed: import them before
opt = eq.Optimizer(eq.Box([(0, 1)]))
opt.recommend(), opt.study
if os.getuid() == 0:
    os.setuid(65534)  # root may write what is read-only
opt = eq.resume(sys.argv[1])
best = opt.recommend()
try:
    opt.ask()
except eq.LogError as error:
    print(opt.readings, opt.study.open_trials, error)
"""


def test_a_read_only_study_can_be_looked_at(tmp_path):
    folder = Path("/tmp") / f"equipoise-{os.getpid()}"
    folder.mkdir()
    try:
        path = folder / "study.jsonl"
        finished(path)
        path.with_name("study.jsonl.lock").chmod(0o444)
        path.chmod(0o444)
        folder.chmod(0o555)
        run = subprocess.run([sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, check=False)
        assert "6 () " in run.stdout, run.stderr
        assert "could not be locked: Permission denied" in run.stdout
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# Several at once.


def test_two_optimizers_on_one_log_take_turns(path):
    alone = eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.IDS(), rng=0)
    ours = eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.IDS(), log=path, rng=0)
    theirs = eq.resume(path)
    for step in range(40):
        for opt in (alone, (ours, theirs)[step % 2]):
            act(opt, 2, seed=step)
    assert ours.recommend() is not None  # it has followed
    assert state(ours) == state(theirs) == state(alone)


def test_a_stuck_process_is_named_and_a_dead_one_is_no_obstacle(path):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    opt._session.turns.journal._lines._lock.timeout = 0.2
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path) + ".lock"], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"locked\n"
    before = state(opt)
    with pytest.raises(eq.LogError, match=rf"locked: locked for more than 0.2 s by process {holder.pid} on"):
        opt.ask()
    assert state(opt) == before
    holder.kill()
    holder.wait()
    holder.stdout.close()
    holder.stdin.close()
    opt.ask()


HOLD = """
import sys
from pathlib import Path
from equipoise.log.lock import FileLock
with FileLock(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_lock_file_that_is_removed_or_inherited_locks_nobody_out(path):
    lock = FileLock(path, timeout=0.2)
    with lock:
        path.unlink()
        with FileLock(path, timeout=0.2):
            pass
    with lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if not _can_lock(path) else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert _can_lock(path)


def _can_lock(path):
    try:
        with FileLock(path, timeout=0.05):
            return True
    except OSError:
        return False


def test_an_interrupt_after_the_writing_is_made_good(path, monkeypatch):
    """Ctrl-C while a line is on its way to the disk: it happened, and the next call knows it."""
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    alone = eq.Optimizer(FINITE, kernel=KERNEL, rng=0)
    real = os.fsync

    def interrupted(handle):
        real(handle)
        raise KeyboardInterrupt

    def twice(call):
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", interrupted)
            with pytest.raises(KeyboardInterrupt):
                call(opt)
        call(alone)

    twice(lambda o: o.ask())
    assert opt.study.open_trials == ()
    opt.recommend()
    assert opt.study.open_trials == (0,)
    twice(lambda o: o.tell(0, 0.5))
    opt.tell(0, 0.5)
    twice(lambda o: o.ask())
    twice(lambda o: o.study.expire(1))
    assert opt.ask().id == alone.ask().id == 1
    opt.tell(1, 0.7)
    alone.tell(1, 0.7)
    assert state(opt) == state(alone) == state(eq.resume(path))


def test_an_interrupt_after_the_change_is_made_good(path, monkeypatch):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    real = opt._session.turns.journal.end

    def interrupted(well):
        real(well=False)
        raise KeyboardInterrupt

    for call in (lambda: opt.ask(), lambda: opt.tell(0, 0.5), lambda: opt.ask(), lambda: opt.study.expire(1)):
        with monkeypatch.context() as patched:
            patched.setattr(opt._session.turns.journal, "end", interrupted)
            with pytest.raises(KeyboardInterrupt):
                call()
    assert opt.ask().id == 1
    assert state(opt) == state(eq.resume(path))
