"""The cost of the log: time of a call, time of a replay, bytes of a reading.

    python benchmarks/log.py [FOLDER]

The log is written in FOLDER, by default a temporary one: give a folder on the disk you care about. A call waits for
the disk, so its cost stands beside that of a bare `write` and `fsync`, and beside the same in memory where there is a
disk of memory. On a busy machine a waiting thread wakes up late: the quickest tenth says what a call costs alone.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import equipoise as eq


def grid(n: int = 30) -> eq.Finite:
    axes = np.linspace(-2, 2, n), np.linspace(-1, 1, n)
    return eq.Finite(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2))


def named(d: int) -> eq.Space:
    return eq.Space({f"q{i}": eq.Float(-2, 2) for i in range(d)})


MEMORY = [path for path in ("/dev/shm",) if os.path.isdir(path)]
"""A disk of memory, where there is one: what a call costs there is its own work."""

GIVEN: dict[str, Any] = {"kernel": eq.RBF(0.3), "policy": eq.IDS(), "rng": 0}


@contextmanager
def no_waiting() -> Iterator[None]:
    """Do not wait for the disk, where only what is written matters."""
    real, os.fsync = os.fsync, lambda fd: None
    try:
        yield
    finally:
        os.fsync = real


def advance(opt: eq.Optimizer, readings: int) -> tuple[list[float], list[float]]:
    """Ask and tell; return the seconds each call took."""
    rng, asks, tells = np.random.default_rng(0), [], []
    for _ in range(readings):
        start = time.perf_counter()
        trial = opt.ask()
        asked = time.perf_counter()
        x = np.array([*trial.x.values()]) if isinstance(trial.x, dict) else trial.x
        value = -float(x @ x) + 0.01 * trial.id + 0.1 * rng.normal()
        told = time.perf_counter()
        opt.tell(trial, value)
        asks.append(asked - start)
        tells.append(time.perf_counter() - told)
    return asks, tells


def judge(opt: eq.Optimizer, judgements: int) -> None:
    """Take in judgements of settings drawn at random, on five steps, by a judge who likes the middle."""
    rng = np.random.default_rng(0)
    for first, second in rng.uniform(-2, 2, (judgements, 2, 2)):
        better = float(second @ second - first @ first) + rng.normal()
        side = "first" if better > 0 else "second"
        word = "equal" if abs(better) < 0.4 else side if abs(better) < 1.6 else f"much {side}"
        x, z = ({"q0": float(a), "q1": float(b)} for a, b in (first, second))
        opt.add(x, word, against=z)


def bare(folder: Path, lines: int) -> list[float]:
    """Return the seconds of writing a line and waiting for the disk."""
    seconds = []
    with (folder / "bare").open("ab", buffering=0) as file:
        for _ in range(lines):
            start = time.perf_counter()
            file.write(b"x" * 150 + b"\n")
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - start)
    return seconds


QUANTILES = [0.1, 0.5]


def call_costs(folder: Path, readings: int = 300) -> None:
    print(f"{f'milliseconds a call, in {folder.parent}':34}{'quickest tenth':>16}{'median':>9}{'target':>9}")
    plain = dict(zip(("ask", "tell"), advance(eq.Optimizer(grid(), **GIVEN), readings), strict=True))
    logged = advance(eq.Optimizer(grid(), log=folder / "calls.jsonl", **GIVEN), readings)
    for name, seconds in (plain | {"disk: write and fsync": bare(folder, readings)}).items():
        low, middle = np.quantile(seconds, QUANTILES) * 1e3
        print(f"{name + (' without log' if name in plain else ''):34}{low:16.3f}{middle:9.3f}")
    for (name, without), seconds in zip(plain.items(), logged, strict=True):
        low, middle = (np.quantile(seconds, QUANTILES) - np.quantile(without, QUANTILES)) * 1e3
        print(f"{name + ', more with the log':34}{low:16.3f}{middle:9.3f}{2.0:9.1f}")
    print()


def replay(
    name: str,
    path: Path,
    opt: eq.Optimizer,
    readings: int,
    target: float = math.nan,
    act: Callable[[eq.Optimizer, int], object] = advance,
) -> None:
    start = time.perf_counter()
    with no_waiting():
        act(opt, readings)
    live = time.perf_counter() - start
    start = time.perf_counter()
    taken_up = eq.resume(path)
    taken_up.posterior.mean(taken_up.space.candidates(np.random.default_rng(0))[:1])  # made when it is asked for
    again = time.perf_counter() - start
    size = path.stat().st_size
    print(f"{name:34}{readings:10}{live:9.1f}{again:10.2f}{target:9.0f}{size / readings:16.0f}{size / 1e6:8.2f}")


def studies() -> dict[str, tuple[Callable[[Path], eq.Optimizer], int, float]]:
    wide = named(10)
    return {
        "grid of 900 points": (lambda p: eq.Optimizer(grid(), log=p, **GIVEN), 10_000, 10.0),
        "2 named floats, given kernel": (lambda p: eq.Optimizer(named(2), log=p, **GIVEN), 200, math.nan),
        "10 named floats, given kernel": (lambda p: eq.Optimizer(wide, log=p, **GIVEN), 200, math.nan),
        "2 named floats, all learned": (lambda p: eq.Optimizer(named(2), rng=0, log=p), 100, math.nan),
        "2 named floats, all learned, long": (lambda p: eq.Optimizer(named(2), rng=0, log=p), 500, math.nan),
    }


def main() -> None:
    chosen = sys.argv[1] if len(sys.argv) > 1 else None
    for place in [chosen, *(MEMORY if chosen is None else [])]:
        with tempfile.TemporaryDirectory(dir=place) as name:
            call_costs(Path(name))
    with tempfile.TemporaryDirectory(dir=chosen) as name:
        print(f"{'study':34}{'readings':>10}{'live s':>9}{'replay s':>10}{'target':>9}{'bytes/reading':>16}{'MB':>8}")
        for i, (study, (make, readings, target)) in enumerate(studies().items()):
            path = Path(name) / f"{i}.jsonl"
            replay(study, path, make(path), readings, target)
        path = Path(name) / "judged.jsonl"
        replay("2 named floats, judged", path, eq.Optimizer(named(2), rng=0, log=path), 2000, 5.0, judge)


if __name__ == "__main__":
    main()
