"""How long the longest `tell` takes in other threads, beside the main one: BLAS must keep to one thread in all of them.

The same study of three knobs is told in the main thread, in a worker thread, in the executor of an event loop and in a
worker thread of the web server (anyio's). Each is repeated, and the shortest of the longest tells counts, as others may
keep the machine busy. It ends with status 1 if one takes more than 1.5 times as long as in the main thread:
    python benchmarks/threads.py --readings 125 --repeats 3
"""

import argparse
import asyncio
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping

import anyio.to_thread
import numpy as np
import scipy.linalg  # noqa: F401  its BLAS must be there to be limited
from threadpoolctl import threadpool_limits

import equipoise as eq

LIMIT = 1.5
"""How much longer a tell may take in another thread."""

TOP = (0.3, -0.2, 0.5)


def longest_tell(readings: int) -> float:
    """Tell a study; return how long the longest tell took, in seconds."""
    opt = eq.Optimizer(eq.Space({f"q{i}": eq.Float(-1, 1) for i in range(3)}), rng=0)
    noise, level, longest = np.random.default_rng(0), 0.0, 0.0
    for _ in range(readings):
        trial = opt.ask()
        level += 0.3 * noise.normal()
        value = _f(trial.x) + level + 0.1 * noise.normal()
        begun = time.perf_counter()
        opt.tell(trial, value)
        longest = max(longest, time.perf_counter() - begun)
    return longest


def _f(x: Mapping[str, float]) -> float:
    return float(5 * np.exp(-4 * sum((x[f"q{i}"] - top) ** 2 for i, top in enumerate(TOP))))


def in_main(act: Callable[[], float]) -> float:
    return act()


def in_a_thread(act: Callable[[], float]) -> float:
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(act()))
    thread.start()
    thread.join()
    return found[0]


def in_an_executor(act: Callable[[], float]) -> float:
    async def run() -> float:
        return await asyncio.get_running_loop().run_in_executor(None, act)

    return asyncio.run(run())


def in_the_server(act: Callable[[], float]) -> float:
    async def run() -> float:
        return await anyio.to_thread.run_sync(act)

    return asyncio.run(run())


PLACES = {
    "main thread": in_main,
    "worker thread": in_a_thread,
    "asyncio executor": in_an_executor,
    "thread of the web server": in_the_server,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readings", type=int, default=125)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    longest = dict.fromkeys(PLACES, float("inf"))
    with threadpool_limits(max(os.cpu_count() or 1, 2), user_api="blas"):  # as users have it, whatever is set here
        for _ in range(options.repeats):
            for name, run in PLACES.items():
                longest[name] = min(longest[name], run(lambda: longest_tell(options.readings)))
    base = longest["main thread"]
    for name, seconds in longest.items():
        print(f"{name}: longest tell {1000 * seconds:.0f} ms, {seconds / base:.2f} of that in the main thread")
    sys.exit(max(longest.values()) > LIMIT * base)


if __name__ == "__main__":
    main()
