"""How busy `run` keeps an executor, and what many workers cost in regret at the same number of readings.

python benchmarks/cluster.py --workers 16 --seconds 1 --readings 160 --seeds 2
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
        self.regret = 0.0

    def __call__(self, x: dict[str, Any]) -> float:
        """Return a reading."""
        time.sleep(self._seconds)
        value = 5.0 * float(np.exp(-4.0 * ((np.array(list(x.values())) - TOP) ** 2).sum()))
        with self._lock:
            self.regret += 5.0 - value
            self._level += 0.3 * self._rng.standard_normal()
            return value + self._level + 0.1 * self._rng.standard_normal()


def study(workers: int, seconds: float, readings: int, seed: int) -> tuple[float, float]:
    """Return the cumulative regret of a study, and which share of the time its workers were busy."""
    instrument = Instrument(seconds, seed)
    opt = eq.Optimizer(eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), c=eq.Float(0, 1)), rng=seed)
    begun = time.perf_counter()
    with ThreadPoolExecutor(workers) as executor:
        opt.run(instrument, readings=readings, executor=executor)
    return instrument.regret, readings * seconds / (workers * (time.perf_counter() - begun))


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--readings", type=int, default=160)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    many, one = [], []
    for seed in range(given.seeds):
        many.append(study(given.workers, given.seconds, given.readings, seed))
        one.append(study(1, 0.0, given.readings, seed))
        (regret, busy), (alone, _) = many[-1], one[-1]
        print(f"seed {seed}: {given.workers} workers {busy:.0%} busy, regret {regret:.0f}; one worker {alone:.0f}")
    ratio = sum(regret for regret, _ in many) / sum(regret for regret, _ in one)
    print(f"regret of {given.workers} workers over that of one at {given.readings} readings: {ratio:.2f}")


if __name__ == "__main__":
    main()
