"""Programs started by a small process: they end with the process that needs their result."""

import errno
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

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


def test_a_program_is_started_in_a_folder_and_we_stay_where_we_are(launcher, tmp_path):
    (tmp_path / "say").write_text("#!/bin/sh\npwd\n")
    (tmp_path / "say").chmod(0o755)
    here = launcher.run(shell("pwd", capture=True)).out
    assert launcher.run(Order(["./say"], capture=True, folder=str(tmp_path))).out == f"{tmp_path.resolve()}\n"
    assert launcher.run(shell("pwd", capture=True)).out == here
    with pytest.raises(FileNotFoundError) as error:
        launcher.run(Order(["true"], folder=str(tmp_path / "nowhere")))
    assert error.value.filename == str(tmp_path / "nowhere")
    assert launcher.run(shell("pwd", capture=True)).out == here


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores are chosen on Linux")
def test_a_program_gets_the_cores_it_is_given(launcher):
    cores = sorted(os.sched_getaffinity(0))
    order = Order([sys.executable, "-S", "-c", "import os; print(*sorted(os.sched_getaffinity(0)))"], capture=True)
    for given in (cores[:1], cores[-1:], cores):
        assert launcher.run(replace(order, cores=given)).out.split() == [str(core) for core in given]
    assert launcher.run(order).out.split() == [str(core) for core in cores]


@pytest.mark.skipif(sys.platform != "linux", reason="events are counted on Linux")
def test_events_are_those_of_the_program(launcher):
    """Page faults, which every kernel counts; a kernel that lets nobody count says so."""
    faults = (1, 2)
    touch = "x = bytearray(4096 * {}); x[::4096] = x[::4096]"
    try:
        few, many = (
            launcher.run(Order([sys.executable, "-S", "-c", touch.format(pages)], events=[faults])).counts[0]
            for pages in (1, 5000)
        )
    except PermissionError as error:
        pytest.skip(f"{error.filename}: {error.strerror}")
    assert 4500 < many - few < 6000
    with pytest.raises(OSError, match="perf_event_open"):
        launcher.run(Order(["true"], events=[(10**6, 0)]))
    assert launcher.run(Order(["true"])).counts == []
