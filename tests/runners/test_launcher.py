"""Programs that are started by a small process: they end with whatever wanted their result."""

import errno
import os
import signal
import subprocess
import sys
import threading

import pytest

from equipoise.runners import Launcher, LauncherError, Order, StoppedError
from equipoise.runners import launcher as launcher_module
from invoking import KILL_LAUNCHER, gone, written


@pytest.fixture
def launcher():
    made = Launcher()
    yield made
    made.stop()


def shell(script, **options):
    return Order(["sh", "-c", script], **options)


def test_output_errors_and_exit_status(launcher):
    ended = launcher.run(shell("echo 3; echo no >&2; exit 7", capture=True, complaints=True))
    assert (ended.out, ended.err, ended.exit, ended.late) == ("3\n", "no\n", 7, False)
    assert ended.wall > 0
    assert launcher.run(shell("kill -9 $$")).exit == -signal.SIGKILL


def test_what_is_sent_is_read_whole_or_not_at_all(launcher):
    text = "x" * 300_000  # a pipe holds 65,536
    assert launcher.run(shell("wc -c", stdin=None, sent=text, capture=True)).out.split() == ["300000"]
    assert launcher.run(shell("exit 5", stdin=None, sent=text)).exit == 5
    assert launcher.run(shell("sleep 600", stdin=None, sent=text, timeout=0.2)).late


def test_only_the_end_of_much_output_is_kept(launcher):
    ended = launcher.run(shell("yes | head -c 1000000; echo end", capture=True, complaints=True))
    assert ended.out.endswith("y\nend\n")
    assert len(ended.out) <= 2**16
    assert ended.err == ""  # no broken pipe is complained of: programs do not ignore SIGPIPE


def test_a_flood_does_not_hold_a_timeout_up(launcher):
    assert launcher.run(shell("yes", capture=True, timeout=0.2)).late


def test_a_program_that_is_late_is_ended_with_all_it_started(launcher, tmp_path):
    stubborn = f"trap '' TERM; sh -c 'trap \"\" TERM; sleep 600' & echo $$ $! > {tmp_path}/pids; wait; sleep 600"
    ended = launcher.run(shell(stubborn, timeout=0.2))
    assert (ended.late, ended.exit) == (True, -signal.SIGKILL)
    for pid in written(tmp_path / "pids"):
        gone(pid)


@pytest.mark.parametrize("timeout", [1e300, float("inf")])
def test_a_timeout_may_be_longer_than_a_system_can_wait(launcher, timeout):
    assert launcher.run(shell("sleep 0.05; echo 3", capture=True, timeout=timeout)).out == "3\n"


def test_a_child_in_the_background_is_not_waited_for(launcher, tmp_path):
    ended = launcher.run(shell(f"sleep 600 & echo $! > {tmp_path}/pid; echo 3", capture=True, complaints=True))
    assert ended.out == "3\n"
    os.kill(*written(tmp_path / "pid"), signal.SIGKILL)


def test_what_cannot_be_started_or_opened_is_named(launcher, tmp_path):
    for order, number, name in [
        (Order(["no-such-program"]), errno.ENOENT, "no-such-program"),
        (Order([str(tmp_path)]), errno.EACCES, str(tmp_path)),
        (Order(["a\0b"]), errno.EINVAL, "a\0b"),
        (Order(["true"], stdout=f"{tmp_path}/nowhere/out"), errno.ENOENT, f"{tmp_path}/nowhere/out"),
    ]:
        with pytest.raises(OSError, match=os.strerror(number).split()[0] + "|null") as error:
            launcher.run(order)
        assert (error.value.errno, error.value.filename) == (number, name)
    assert launcher.run(Order(["true"])).exit == 0


def test_stop_from_another_thread(launcher, tmp_path):
    seen = []

    def measure():
        try:
            launcher.run(shell(f"echo $$ > {tmp_path}/pid; exec sleep 600"))
        except StoppedError as error:
            seen.append(error)

    thread = threading.Thread(target=measure)
    thread.start()
    (pid,) = written(tmp_path / "pid")
    launcher.stop()
    thread.join()
    assert len(seen) == 1
    gone(pid)
    with pytest.raises(StoppedError):
        launcher.run(Order(["true"]))


def test_a_killed_launcher_is_started_again(launcher, tmp_path):
    once = f"test -e {tmp_path}/pid || {{ echo $$ > {tmp_path}/pid; {KILL_LAUNCHER}; exec sleep 600; }}; echo 3"
    with pytest.warns(UserWarning, match="the process that starts programs was killed, and is started again"):
        assert launcher.run(shell(once, capture=True)).out == "3\n"
    gone(*written(tmp_path / "pid"))


@pytest.mark.filterwarnings("ignore:the process that starts programs")
def test_a_launcher_that_is_always_killed_is_given_up(launcher, tmp_path, monkeypatch):
    monkeypatch.setattr(launcher_module, "PATIENCE", 0.1)
    with pytest.raises(LauncherError, match="was killed 3 times in a row"):
        launcher.run(shell(f"echo $$ >> {tmp_path}/pids; {KILL_LAUNCHER}; exec sleep 600"))
    pids = written(tmp_path / "pids")
    assert len(pids) == 3
    for pid in pids:
        gone(pid)


@pytest.mark.parametrize("ending", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(3)", "sys.exit(0)"])
def test_a_program_ends_with_the_process_that_wanted_it(tmp_path, ending):
    script = f"""
import os, signal, sys, threading, time
from equipoise.runners import Launcher, Order
order = Order(["sh", "-c", "sleep 600 & echo $$ $! > {tmp_path}/pids; wait"])
threading.Thread(target=Launcher().run, args=[order], daemon=True).start()
while not os.path.exists("{tmp_path}/pids"):
    time.sleep(0.01)
{ending}
"""
    subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    for pid in written(tmp_path / "pids"):
        gone(pid)
