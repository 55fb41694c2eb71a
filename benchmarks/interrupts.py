"""Real signals at random instants: no file is refused, nothing differs, no lock is left.

    python benchmarks/interrupts.py [INTERRUPTS] [SEED]

A study asks, tells, fails, expires, corrects and retracts while a timer of the operating system interrupts it, as
Ctrl-C does. After every interrupt the memory is compared with what `resume` makes of the file: to the last bit.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import equipoise as eq
from equipoise.log.lock import FileLock

SPACE = eq.Finite(np.random.default_rng(0).uniform(-1, 1, (6, 2)))
INTERRUPTS_A_STUDY = 25
LONGEST = 0.004
"""Seconds until the signal comes, at most; a call takes about 0.5 ms."""

AGAIN = 2.0
"""Seconds until it comes again: long after any call has ended."""


class Alarm:
    """Interrupts the running code after a while."""

    def __init__(self) -> None:
        self.armed = False
        signal.signal(signal.SIGALRM, self.ring)

    def ring(self, number: int, frame: object) -> None:
        """Interrupt the running code, unless the alarm was stopped."""
        if self.armed:
            raise KeyboardInterrupt

    def start(self, seconds: float) -> None:
        """Interrupt the running code, and again later if Python swallowed the interrupt, as in a callback."""
        self.armed = True
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)

    def stop(self) -> None:
        """Interrupt nothing any more."""
        self.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def work(opt: eq.Optimizer, rng: random.Random) -> None:
    """Use a study without end."""
    while True:
        what, open_trials = rng.random(), opt.study.open_trials
        if what < 0.4 or not open_trials:
            opt.ask(worker=rng.choice([None, "a", "b"]))
        elif what < 0.8:
            opt.tell(rng.choice(open_trials), rng.gauss(0, 1), time=rng.random())
        elif what < 0.86:
            opt.tell(rng.choice(open_trials), failed="beam lost")
        elif what < 0.92:
            opt.study.expire(rng.choice(open_trials))
        elif opt.readings:
            told = [record.trial for record in opt.records() if record.value is not None]
            if what < 0.96:
                opt.correct(rng.choice(told), rng.gauss(0, 1))
            else:
                opt.retract(rng.choice(told))


def seen(opt: eq.Optimizer) -> tuple[Any, ...]:
    best = opt.recommend()
    at = opt.posterior.at(SPACE.points)
    return at.mean.tobytes(), at.variance.tobytes(), repr(opt.records()), opt.study.open_trials, repr(best)


def is_free(path: Path) -> bool:
    for lock in (FileLock(Path(f"{path}.lock"), 0.0), FileLock(path, 0.0, own=False)):
        try:
            lock.acquire()
        except OSError:
            return False
        finally:
            lock.release()
    return True


def verdict(opt: eq.Optimizer, path: Path) -> str:
    """Say what is wrong after an interrupt."""
    if not is_free(path):
        return "lock held"
    try:
        ours, theirs = seen(opt), seen(eq.resume(path))
    except Exception as error:  # any is a failure here
        return f"refused: {type(error).__name__} {error}"
    return "well" if ours == theirs else "different"


def study(path: Path, alarm: Alarm, rng: random.Random) -> Counter[str]:
    found: Counter[str] = Counter()
    opt = eq.Optimizer(SPACE, kernel=eq.RBF(0.5), policy=eq.IDS(), rng=rng.randrange(2**32), log=path)
    for _ in range(INTERRUPTS_A_STUDY):
        try:
            alarm.start(rng.uniform(1e-6, LONGEST))
            work(opt, rng)
        except KeyboardInterrupt:
            alarm.stop()
            found[verdict(opt, path)] += 1
    return found


def main() -> None:
    interrupts, seed = (int(word) for word in [*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]])
    warnings.simplefilter("ignore", eq.DuelGivenUp)
    warnings.simplefilter("error", eq.log.TornLine)
    rng, alarm, found, start = random.Random(seed), Alarm(), Counter[str](), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for n in range(interrupts // INTERRUPTS_A_STUDY):
            found += study(Path(folder) / f"{n}.jsonl", alarm, rng)
    print(f"{sum(found.values())} interrupts in {time.perf_counter() - start:.0f} s: {dict(found)}")
    sys.exit(set(found) != {"well"})


if __name__ == "__main__":
    main()
