"""Running `equipoise` in this process, and a study to run it on."""

import json
import signal
import subprocess
import sys
import time

from click.testing import CliRunner

from equipoise.cli.main import main


def invoke(*arguments, code=0):
    """Run a command; it must exit with `code`. Returns the result, whose `data` is what `--json` printed."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)  # refusals, never a traceback
    result.data = json.loads(result.stdout) if "--json" in arguments and result.stdout else None
    return result


def interruptible():
    """Let a child be ended by Ctrl-C or a hangup: if these tests run in the background, or under nohup, it is not."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(*arguments, **options):
    """Start `equipoise` as its own process, which can be interrupted also if these tests cannot."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": interruptible} | options
    return subprocess.Popen([sys.executable, "-m", "equipoise", *map(str, arguments)], text=True, **options)


def until(condition, timeout=120):
    """Wait for a condition; return what it gives."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


KILL_LAUNCHER = "until grep -q '^State:.S' /proc/$PPID/status; do :; done; kill -9 $PPID"
"""For a script: kill the process that started it, once that has done what it does at the start and waits."""


def running(pid):
    """Whether a process runs; a zombie has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between opening and reading
        return False


def gone(pid):
    """Wait until a process has ended."""
    until(lambda: not running(pid))


def written(path):
    """Return the numbers in a file, once there is a whole line of them."""
    return until(lambda: path.exists() and path.read_text().endswith("\n") and list(map(int, path.read_text().split())))


def new_study(folder):
    """A study of two numbers, maximized."""
    path = folder / "study.jsonl"
    invoke("new", path, "--float", "q1", -2, 2, "--float", "q2", -1, 1, "--seed", 0)
    return path
