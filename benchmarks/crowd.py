"""The regret of many workers and of one at the same number of readings, on a virtual clock.

    python benchmarks/crowd.py                                     # 16 workers, six functions, eight seeds: an hour
    python benchmarks/crowd.py --problems hill camel2 --seeds 2    # a few minutes

`opt.run(executor=)` drives a simulated executor. A reading takes 0.9 to 1.1 s. The offset is a random walk in time, 0.3
a second in the unit of `wide.py`, which all workers share. `pairs` are measured by one worker each (the default);
`apart` by two at once (`blocks=False`). Regret is in units of what a point drawn at random costs: 16 workers that
measure two settings each before anything is known pay about 32.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import heapq
import warnings
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from typing import Any
from unittest import mock

import numpy as np
from wide import PROBLEMS

import equipoise as eq
from equipoise.lab import environments as env
from equipoise.runners import on_executor

STEP = 0.3
PROBLEMS_HERE = ("hill", "camel2", "hartmann3", "gp3-rbf", "gp4-matern", "hartmann6")
MODES: dict[str, dict[str, Any]] = {"pairs": {}, "apart": {"blocks": False}}


def hill(x: Any) -> Any:
    """Return the value of a hill of three knobs."""
    return 5.0 * np.exp(-4.0 * ((np.asarray(x) - np.array([0.3, 0.7, 0.5])) ** 2).sum(axis=-1))


def problem(name: str, seed: int) -> tuple[env.Function, float, float]:
    """Return a function, the noise of its readings and the unit of their offset."""
    if name == "hill":
        return env.Function.box(name, hill, [[0, 1]] * 3, [0.3, 0.7, 0.5]), 0.1, 1.0
    if name == "hartmann3":
        return env.hartmann3(), 0.05**0.5, 1.0
    known = PROBLEMS[name]
    found = known.make(seed).function
    assert isinstance(found, env.Function)
    return found, known.noise, known.unit


class Clock(Executor):
    """Workers on a virtual clock; it stands for the executor, for `wait` and for `time` of the driver.

    Args:
        function: What is measured.
        noise: Standard deviation of the noise.
        step: Of the offset, in a second.
        workers: How many.
        seed: Of the durations, the walk and the noise.
    """

    def __init__(self, function: env.Function, noise: float, step: float, workers: int, seed: int) -> None:
        self.function, self.noise, self.step, self.rng = function, noise, step, np.random.default_rng([seed, 7])
        self.now, self.free = 0.0, workers
        self.queue, self.ends = list[tuple[Future[Any], list[Any]]](), list[tuple[Any, ...]]()
        self.walked, self.level, self.count, self.regrets = 0.0, 0.0, 0, list[float]()

    def monotonic(self) -> float:
        """Return the virtual time."""
        return self.now

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Queue a task."""
        future: Future[Any] = Future()
        self.queue.append((future, [point for (point,) in args[1]]))
        self._start()
        return future

    def _start(self) -> None:
        while self.free and self.queue:
            self.free -= 1
            self._next(self.now, *self.queue.pop(0), [])

    def _next(self, begun: float, future: Future[Any], left: list[Any], read: list[Any]) -> None:
        self.count += 1
        heapq.heappush(self.ends, (begun + self.rng.uniform(0.9, 1.1), self.count, future, left, read))

    def _advance(self) -> None:
        """Let the next reading end."""
        self.now, _, future, (point, *left), read = heapq.heappop(self.ends)
        self.level += self.step * max(self.now - self.walked, 0.0) ** 0.5 * float(self.rng.standard_normal())
        self.walked = self.now
        x = np.asarray(list(point.values()) if isinstance(point, dict) else point)
        self.regrets.append(float(self.function.regret(x)))
        value = float(self.function(x)) + self.level + self.noise * float(self.rng.standard_normal())
        read = [*read, on_executor.Measured(value)]
        if left:
            self._next(self.now, future, left, read)
            return
        self.free += 1
        future.set_result(("worker", read, None))
        self._start()

    def wait(self, tasks: Iterable[Future[Any]], timeout: float | None = None, first: str = "") -> Any:
        """Let time pass until a task has ended, or all have within the timeout."""
        tasks, until = list(tasks), self.now + (np.inf if timeout is None else timeout)
        while self.ends and self.ends[0][0] <= until:
            if first and any(task.done() for task in tasks):
                break
            self._advance()
        else:
            self.now = max(self.now, until) if np.isfinite(until) else self.now
        return [task for task in tasks if task.done()], [task for task in tasks if not task.done()]


def study(name: str, workers: int, mode: str, step: float, readings: int, seed: int) -> np.ndarray:
    """Return the cumulative regret by readings, in units of a point drawn at random."""
    function, noise, unit = problem(name, seed)
    bounds = np.asarray(function.bounds)
    random = function.regret(np.random.default_rng(0).uniform(bounds[:, 0], bounds[:, 1], (4000, len(bounds)))).mean()
    clock = Clock(function, noise, step * unit, workers, seed)
    opt = eq.Optimizer(eq.Box(bounds), rng=seed)
    with mock.patch.object(on_executor, "wait", clock.wait), mock.patch.object(on_executor, "time", clock):
        opt.run(lambda x: x, readings=readings, executor=clock, workers=workers, **MODES[mode])
    return np.asarray(np.cumsum(clock.regrets)[:readings] / random)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS_HERE)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--readings", type=int, nargs="+", default=[160, 400])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=list(MODES))
    parser.add_argument("--step", type=float, default=STEP)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    marks, seeds = np.array(given.readings) - 1, range(given.first, given.first + given.seeds)
    print("| function | readings | one worker |", " | ".join(f"{mode} | over one" for mode in given.modes), "|")
    for name in given.problems:
        runs = [("pairs", 1), *((mode, given.workers) for mode in given.modes)]
        found = np.array(
            [[study(name, n, mode, given.step, max(given.readings), s)[marks] for s in seeds] for mode, n in runs]
        )
        mean, error = found.mean(axis=1), found.std(axis=1, ddof=1) / len(seeds) ** 0.5
        for k, readings in enumerate(given.readings):
            more = " | ".join(
                f"{mean[i, k]:.1f} ± {error[i, k]:.1f} | {mean[i, k] / mean[0, k]:.2f}" for i in range(1, len(runs))
            )
            print(f"| {name} | {readings} | {mean[0, k]:.1f} ± {error[0, k]:.1f} | {more} |", flush=True)


if __name__ == "__main__":
    main()
