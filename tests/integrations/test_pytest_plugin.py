"""The pytest plugin, in child processes: functions in a test, and benchmarks of two revisions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise

PLUGIN = "equipoise.integrations.pytest_plugin"
BENCHMARKS = """
import pytest


def test_fast(benchmark):
    assert benchmark(sum, range({n})) == sum(range({n}))


def test_pedantic(benchmark):
    benchmark.extra_info["n"] = 3
    assert benchmark.pedantic(sum, ([1, 2],), rounds=3, warmup_rounds=1, setup=lambda: (([1, 2],), {{}})) == 3


@pytest.mark.benchmark
def test_marked():
    sum(range(5000))


def test_no_benchmark():
    raise RuntimeError
"""


def child(folder, *arguments, alone="1"):
    """Run pytest in a folder, with the plugin and this library, and nothing of this run's configuration."""
    path = os.pathsep.join([str(Path(equipoise.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", *arguments]
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": alone}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_two_functions_are_compared_in_a_test(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "def test_it(compare):\n"
        "    verdict = compare(lambda: sum(range(20_000)), lambda: sum(range(20)), rng=0)\n"
        "    assert verdict.leader == 'new'\n"
    )
    run = child(tmp_path, "-W", "error", "--strict-markers")
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_benchmark_is_timed_once(tmp_path):
    (tmp_path / "test_it.py").write_text(BENCHMARKS.format(n=2000))
    run = child(tmp_path, "--compare-once", "-W", "error", "--strict-markers")
    assert run.returncode == 0, run.stdout + run.stderr
    seconds = json.loads(run.stdout.splitlines()[-1])
    assert list(seconds) == [f"test_it.py::test_{name}" for name in ("fast", "pedantic", "marked")]
    assert all(each > 0 for each in seconds.values())


@pytest.mark.skipif(sys.platform == "win32", reason="programs are measured on POSIX systems")
def test_benchmarks_are_compared_with_another_revision(tmp_path):
    """One is made a thousand times slower, in a module that both revisions have."""
    (tmp_path / "work.py").write_text("N = 200\n")
    (tmp_path / "test_it.py").write_text(
        "import work\n\n\ndef test_work(benchmark):\n    benchmark(lambda: sum(range(work.N)))\n"
    )
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "fast")
    (tmp_path / "work.py").write_text("N = 200_000\n")
    more = "\n\ndef test_added(benchmark):\n    benchmark(int)\n\n\ndef test_other():\n    raise RuntimeError\n"
    (tmp_path / "test_it.py").write_text((tmp_path / "test_it.py").read_text() + more)
    run = child(tmp_path, "--compare-base", "main", "--compare-time", "5m", "-rs")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "slower: takes" in run.stdout or "slower: +" in run.stdout
    assert "it is not in both revisions" in run.stdout
    assert "1 failed, 1 skipped" in run.stdout
    trees = subprocess.run(["git", "worktree", "list"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(trees.stdout.splitlines()) == 1


def test_it_loads_nothing_of_ours_until_it_is_used():
    """It is loaded in every run of pytest where this library is installed."""
    code = f"import sys, {PLUGIN}; print(sorted(name for name in sys.modules if name.startswith('equipoise')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(["equipoise", "equipoise.integrations", PLUGIN])


def test_several_processes_are_refused(tmp_path):
    pytest.importorskip("xdist")
    run = child(tmp_path, "--compare-base", "main", "-n", "2", alone="")
    assert run.returncode == 4
    assert "leave -n away" in run.stderr
