"""The pytest plugin, in child processes: functions in a test, and benchmarks of two revisions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise
from equipoise.integrations import pytest_plugin

PLUGIN = "equipoise.integrations.pytest_plugin"
BENCHMARKS = """
import pytest


def test_fast(benchmark):
    assert benchmark(sum, range({n})) == sum(range({n}))


def test_pedantic(benchmark):
    benchmark.extra_info["n"] = 3
    made = []
    given = {{"setup": lambda: (([1, 2],), {{}}), "teardown": made.append}}
    assert benchmark.pedantic(sum, ([1, 2],), rounds=3, warmup_rounds=1, **given) == 3
    assert made == [[1, 2]] * 4
    assert not benchmark.enabled


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


def test_batches_that_are_interrupted_do_not_count(monkeypatch):
    took = iter([0.0015, *[0.003, 0.03, 0.024] * 100])  # of one call, then of two: two batches of three are interrupted
    monkeypatch.setattr(pytest_plugin, "_timed", lambda call, calls: next(took))
    told = []
    assert pytest_plugin.Stopwatch(told.append)(lambda x: x, 7) == 7
    assert told == [0.0015]


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
    (tmp_path / "test_new.py").write_text("def test_new(benchmark):\n    benchmark(int)\n")
    files = [str(tmp_path / "test_it.py"), "test_new.py"]
    run = child(tmp_path, "--compare-base", "main", "--compare-time", "5m", "-rs", *files)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "slower: takes" in run.stdout or "slower: +" in run.stdout
    assert run.stdout.count("it is skipped, or not in main, or fails there") == 2
    assert "1 failed, 2 skipped" in run.stdout
    trees = subprocess.run(["git", "worktree", "list"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(trees.stdout.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="programs are measured on POSIX systems")
def test_a_benchmark_that_fails_in_one_revision_does_not_keep_others_from_it(tmp_path):
    (tmp_path / "work.py").write_text("OLD = True\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\nimport work\n\n\n"
        "def test_fine(benchmark):\n    benchmark(int)\n\n\n"
        "def test_in_the_old_one(benchmark):\n    benchmark(int)\n    assert work.OLD\n\n\n"
        "def test_in_the_new_one(benchmark):\n    benchmark(int)\n    assert not work.OLD\n\n\n"
        "@pytest.mark.skip\ndef test_skipped(benchmark):\n    benchmark(int)\n\n\n"
        "@pytest.mark.xfail\ndef test_expected_to_fail(benchmark):\n    assert not benchmark(int)\n    assert False\n"
    )
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "old")
    (tmp_path / "work.py").write_text("OLD = False\n")
    run = child(tmp_path, "--compare-base", "main", "--compare-time", "1s", "-rsf", "--compare-fail-above", "900%")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "test_it.py::test_in_the_old_one - it fails here" in run.stdout
    assert "1 failed, 4 skipped" in run.stdout
    assert "it is skipped, or not in main, or fails there" in run.stdout
    assert "not decided within --compare-time after" in run.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="programs are measured on POSIX systems")
def test_a_revision_that_cannot_be_measured_is_named_with_the_reason(tmp_path):
    (tmp_path / "test_it.py").write_text("def\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "broken")
    (tmp_path / "test_it.py").write_text("def test_it(benchmark):\n    benchmark(int)\n")
    (tmp_path / "test_new.py").write_text("def test_new(benchmark):\n    benchmark(int)\n")
    run = child(tmp_path, "--compare-base", "main", "--compare-time", "1s")
    assert run.returncode == 4
    assert "ERROR: main failed" in run.stderr
    assert "test_it.py failed: " in run.stderr
    assert "SyntaxError" in run.stderr
    run = child(tmp_path, "--compare-base", "main", "test_new.py")
    assert run.returncode == 4
    assert "ERROR: main has none of test_new.py" in run.stderr


def test_a_comparison_without_a_benchmark_is_refused(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    run = child(tmp_path, "--compare-base", "main")
    assert run.returncode == 4
    assert "no test has the fixture or the marker `benchmark`" in run.stderr


def test_another_plugin_may_have_a_fixture_of_this_name(tmp_path):
    """pytest-benchmark ends the run if what a test got is not its fixture."""
    (tmp_path / "test_it.py").write_text(BENCHMARKS.format(n=200))
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n\n"
        "@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    yield\n"
        "    assert 'benchmark' not in item.funcargs\n"
    )
    run = child(tmp_path, "--compare-once")
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(json.loads(run.stdout.splitlines()[-1])) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nope"], "git knows no revision 'nope'"),
        (["HEAD", "--compare-time", "long"], "--compare-time must be a time such as 60s"),
        (["HEAD", "--compare-fail-above", "5"], "--fail-above must be a percentage such as 2%, got '5'"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, said):
    (tmp_path / "test_it.py").write_text("def test_it(benchmark):\n    benchmark(int)\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "-m", "none", "--allow-empty")
    run = child(tmp_path, "--compare-base", *options)
    assert run.returncode == 4
    assert f"ERROR: {said}" in run.stderr


def test_it_loads_nothing_of_ours_until_it_is_used():
    """It is loaded in every run of pytest where this library is installed."""
    code = f"import sys, {PLUGIN}; print(sorted(name for name in sys.modules if name.startswith('equipoise')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(["equipoise", "equipoise.integrations", PLUGIN])


def test_several_processes_are_refused(tmp_path):
    pytest.importorskip("xdist")
    run = child(tmp_path, "--compare-base", "main", "-n", "2", alone="")
    assert run.returncode == 4
    assert "remove -n" in run.stderr
