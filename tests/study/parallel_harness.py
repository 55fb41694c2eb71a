"""Ten workers on one study: run by `test_parallel.py`, in this process and, as its own program, in many.

    python parallel_harness.py LOG READINGS SEED

Every worker has its own offset, which drifts; readings take time, and one in twenty fails. As a program, each
worker is a forked process, and some are killed and replaced.
"""

import itertools
import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import equipoise as eq

WORKERS = 10
NOISE = 1.0


class World:
    """Twenty-five points, a random function, and an instrument for each worker."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.points = rng.uniform(0, 1, (25, 2))
        self.kernel = eq.RBF(0.3)
        factor = np.linalg.cholesky(self.kernel(self.points, self.points) + 1e-9 * np.eye(25))
        self.values = factor @ rng.standard_normal(25)
        self.offsets = 2.0 * rng.standard_normal(WORKERS)
        self.seed = seed

    def study(self, **log):
        options = {"regularizer": 2 * NOISE**2, "confidence": eq.CredibleConfidence(3.0), "policy": eq.IDS()}
        return eq.Optimizer(eq.Finite(self.points), kernel=self.kernel, rng=self.seed, **options, **log)

    def value(self, x):
        return float(self.values[int((self.points == x).all(axis=1).argmax())])

    def read(self, x, worker, t, rng):
        """A reading of a worker at time t."""
        return self.value(x) + float(self.offsets[worker]) + 0.05 * t + NOISE * rng.gauss(0, 1)

    def regret(self, opt):
        """Mean regret of the readings told."""
        told = [record for record in opt.records() if record.value is not None]
        return float(self.values.max()) - sum(self.value(record.x) for record in told) / len(told)


def work(world, opt, worker, readings, rng, acknowledge):
    """Ask and tell as one worker until the study has enough readings."""
    name = f"laser-{worker}"
    for record in opt.records():  # what a killed predecessor had in its hands
        if record.worker == name and record.value is None and record.failed is None:
            opt.study.expire(record.trial)
    while opt.readings < readings:
        trial = opt.ask(worker=name)
        time.sleep(rng.expovariate(1 / 0.001))
        if rng.random() < 0.05:
            opt.tell(trial, failed="beam lost")
        else:
            opt.tell(trial, world.read(trial.x, worker, trial.id, rng))
            acknowledge(trial.id)


def process(path, seed, worker, readings, pipe):
    """Be a worker in its own process."""
    child = os.fork()
    if child:
        return child
    try:
        warnings.simplefilter("ignore")
        rng = random.Random(os.getpid())
        work(World(seed), eq.resume(path), worker, readings, rng, lambda i: os.write(pipe, b"%d\n" % i))
        os._exit(0)
    finally:
        os._exit(1)


def main(path, readings, seed):
    """Let ten processes work on one log, kill three of them, and print the result."""
    signal.alarm(600)  # where all workers die by themselves, there is nobody to wait for
    world, rng = World(seed), random.Random(seed)
    world.study(log=path)
    out, into = os.pipe()
    pipe, acknowledged = os.fdopen(out), []
    herd = {process(path, seed, w, readings, into): w for w in range(WORKERS)}
    for _ in range(3):
        acknowledged += itertools.islice(pipe, rng.randint(1, readings // 8))
        victim = rng.choice(list(herd))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        worker = herd.pop(victim)
        herd[process(path, seed, worker, readings, into)] = worker
    statuses = [os.waitpid(child, 0)[1] for child in herd]
    os.close(into)
    acknowledged = [int(line) for line in (*acknowledged, *pipe)]
    print(json.dumps({"statuses": statuses, "acknowledged": acknowledged, "regret": world.regret(eq.resume(path))}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
