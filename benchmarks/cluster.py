"""How busy `run` keeps the workers of an executor; `crowd.py` measures their cost in regret.

python benchmarks/cluster.py --workers 16 --seconds 1 --readings 400 --seeds 2
"""

import threading
import time
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import equipoise as eq

TOP = np.array([0.3, 0.7, 0.5])


class Instrument:
    """A hill of three knobs whose reading walks; each reading takes a while.

    Args:
        seconds: How long.
        seed: Of the walk and the noise.
    """

    def __init__(self, seconds: float, seed: int) -> None:
        self._seconds, self._rng, self._level, self._lock = seconds, np.random.default_rng(seed), 0.0, threading.Lock()

    def __call__(self, x: dict[str, Any]) -> float:
        """Return a reading."""
        time.sleep(self._seconds)
        value = 5.0 * float(np.exp(-4.0 * ((np.array(list(x.values())) - TOP) ** 2).sum()))
        with self._lock:
            self._level += 0.1 * self._rng.standard_normal()
            return value + self._level + 0.1 * self._rng.standard_normal()


def busy(workers: int, seconds: float, readings: int, seed: int, blocks: bool | None) -> tuple[float, float]:
    """Return which share of the time the workers were busy, and the processor time of the driver, in seconds."""
    opt = eq.Optimizer(eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), c=eq.Float(0, 1)), rng=seed)
    begun, worked = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(workers) as executor:
        opt.run(Instrument(seconds, seed), readings=readings, executor=executor, blocks=blocks)
    return opt.readings * seconds / (workers * (time.perf_counter() - begun)), time.process_time() - worked


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--readings", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    for seed in range(given.seeds):
        for mode, blocks in {"pairs": None, "apart": False}.items():
            share, worked = busy(given.workers, given.seconds, given.readings, seed, blocks)
            said = f"{given.workers} workers {share:.0%} busy, driver {worked:.1f} s of processor time"
            print(f"seed {seed}, {mode}: {said}")


if __name__ == "__main__":
    main()
