"""Running `equipoise` in this process, and a study to run it on."""

import json
import signal

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
    """Let a child be ended by Ctrl-C: where these tests run in the background, or under nohup, that is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def new_study(folder):
    """A study of two numbers, maximized."""
    path = folder / "study.jsonl"
    invoke("new", path, "--float", "q1", -2, 2, "--float", "q2", -1, 1, "--seed", 0)
    return path
