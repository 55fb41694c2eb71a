"""The cost of a shell command: processor time of a fresh process, and the share of its imports.

    python benchmarks/start.py [--readings 100] [--repeat 5] [--slowest 0]

A study in two dimensions is made by the default optimizer under a drift, then each command runs on a copy of it; at an
even number of readings `ask` has to choose a new pair. The processor time, user and system, is the kernel's. The share
of imports is that of the wall-clock time of one more run, by `python -X importtime`; it includes what a command imports
on its way. Bytecode is kept in its own folder, which a first run fills: an installed package has it too, and
compiling our sources at every start costs about 0.1 s more. `--slowest 8` lists, for each command, the packages that
cost most by themselves. A process that imports NumPy and does nothing stands beside them: what no command can go below,
and the unit of a column of ratios, since the speed of a machine changes with its load. So do processes that only import
the library, with and without the optimizer. Last comes the first `ask()` of a process that has imported the optimizer.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median

import numpy as np

import equipoise as eq

COMMAND = [sys.executable, "-m", "equipoise"]

IMPORTS = ("import numpy", "import equipoise", "from equipoise import Optimizer")

FIRST_ASK = """
import sys, time
from equipoise import Box, Optimizer, resume
start = time.process_time()
opt = resume(sys.argv[1]) if len(sys.argv) > 1 else Optimizer(Box([(-2, 2), (-1, 1)]), rng=0)
opt.ask()
print(time.process_time() - start)
"""
"""A program that prints the seconds of processor time from a study, new or resumed, to its first proposal."""


def studies(path: Path, waiting: Path, readings: int) -> str:
    """Make a study with this many readings, and one more with an open trial; return the number of that trial."""
    space = eq.Space({"q1": eq.Float(-2, 2), "q2": eq.Float(-1, 1)})
    opt, rng = eq.Optimizer(space, rng=0, log=path), np.random.default_rng(0)
    for t in range(readings):
        trial = opt.ask()
        opt.tell(trial, -(trial.x["q1"] ** 2) - trial.x["q2"] ** 2 + 0.01 * t + 0.1 * rng.normal())
    shutil.copy(path, waiting)
    return str(eq.resume(waiting).ask().id)


@contextmanager
def compiled() -> Iterator[None]:
    """Keep the bytecode of all processes that are started here, whatever the environment says."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=folder)
        yield


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Lend a copy of a study: some commands change it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copy(path, copy)
        yield copy


def processor_seconds(command: list[str]) -> float:
    """Return what a fresh process costs, user and system."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def imports(command: list[str]) -> tuple[float, dict[str, float]]:
    """Return the share of imports in the time of a process, and the seconds of each package by itself."""
    start = time.perf_counter()
    python, *rest = command
    done = subprocess.run([python, "-X", "importtime", *rest], check=True, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    packages: dict[str, float] = defaultdict(float)
    for microseconds, module in re.findall(r"import time: +(\d+) \| +\d+ \| +(\S+)", done.stderr):
        packages[".".join(module.split(".")[:2])] += float(microseconds) * 1e-6
    return sum(packages.values()) / elapsed, packages


def measure(name: str, path: Path, rest: list[str], repeat: int, slowest: int, unit: float) -> None:
    """Print a row of the table; the first run, which may have to compile, is not counted."""
    seconds = []
    for _ in range(repeat + 1):
        with copied(path) as copy:
            seconds.append(processor_seconds([*COMMAND, name, str(copy), *rest]))
    del seconds[0]
    with copied(path) as copy:
        share, packages = imports([*COMMAND, name, str(copy), *rest])
    print(f"{row(f'equipoise {name}', seconds, unit)} {share:.0%} |", flush=True)
    for package, cost in sorted(packages.items(), key=lambda item: -item[1])[:slowest]:
        print(f"    {1e3 * cost:6.0f} ms  {package}")


def row(command: str, seconds: list[float], unit: float) -> str:
    """Return the first cells of a row: the least time is also given in units of that of NumPy alone."""
    return f"| `{command}` | {median(seconds):.2f} | {min(seconds):.3f} | {min(seconds) / unit:.1f} |"


def bare(code: str, repeat: int) -> list[float]:
    """Return what a process costs that runs one line."""
    return [processor_seconds([sys.executable, "-c", code]) for _ in range(repeat + 1)][1:]


def first_ask(path: Path | None, repeat: int) -> float:
    """Return the processor time of a first proposal after the import, in the median."""
    seconds = []
    for _ in range(repeat):
        with nullcontext() if path is None else copied(path) as copy:
            command = [sys.executable, "-c", FIRST_ASK, *([] if copy is None else [str(copy)])]
            seconds.append(float(subprocess.run(command, check=True, capture_output=True).stdout))
    return median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--slowest", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, compiled():
        path, waiting = Path(folder) / "study.jsonl", Path(folder) / "waiting.jsonl"
        trial = studies(path, waiting, given.readings)
        print(
            f"| {given.readings} readings | CPU s, median of {given.repeat} | least | by NumPy's | share of imports |"
        )
        print("|---|---|---|---|---|")
        unit = min(bare(IMPORTS[0], given.repeat))
        measure("ask", path, [], given.repeat, given.slowest, unit)
        measure("tell", waiting, [trial, "0.5"], given.repeat, given.slowest, unit)
        measure("best", path, [], given.repeat, given.slowest, unit)
        measure("status", path, [], given.repeat, given.slowest, unit)
        measure("export", path, [], given.repeat, given.slowest, unit)
        for code in IMPORTS:
            print(row(f"python -c '{code}'", bare(code, given.repeat), unit), "|")
        print(f"| first `ask()` after the import, new study | {first_ask(None, given.repeat):.2f} | | | |")
        print(f"| first `ask()` after the import, resumed | {first_ask(path, given.repeat):.2f} | | | |")


if __name__ == "__main__":
    main()
