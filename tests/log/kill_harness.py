"""Kill a study at random instants, again and again: run by `test_crash.py` as its own program.

    python kill_harness.py LOG KILLS SEED

Each life is a forked process that takes the study up, hands back what its predecessor died with, then asks and tells
until it is killed by SIGKILL: a random instant after a random number of tells, so that lives get something done on a
machine of any speed. What `tell` has returned for goes through a pipe, which survives the process.
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

SPACE = eq.Finite(np.random.default_rng(0).uniform(-1, 1, (20, 2)))


def study(**log):
    return eq.Optimizer(SPACE, kernel=eq.RBF(0.5), policy=eq.IDS(), rng=7, **log)


def reading(trial):
    return float(np.sin(3 * trial.x[0]) - trial.x[1] ** 2 + trial.id / 50)


def live(path, pipe):
    """Ask and tell until killed; acknowledge each tell."""
    warnings.simplefilter("ignore", eq.log.TornLine)
    opt = eq.resume(path) if path.exists() else study(log=path)
    os.write(pipe, b"ready\n")
    for i in opt.study.open_trials:
        opt.study.expire(i)
    while True:
        trial = opt.ask()
        opt.tell(trial, reading(trial))
        os.write(pipe, b"%d\n" % trial.id)


def life(path, lines, patience):
    """Run one life and end it some seconds after it has written some lines; return what it acknowledged."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            live(path, into)
        finally:
            os._exit(3)
    os.close(into)
    with os.fdopen(out) as pipe:
        said = list(itertools.islice(pipe, lines))  # ends early where the child does
        time.sleep(patience)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"died by itself, with status {os.waitstatus_to_exitcode(status)}"
        return [int(line) for line in (*said, *pipe) if line != "ready\n"]


def seen(opt):
    """All that can be seen of a study, and what it does next."""
    at = opt.posterior.at(SPACE.points)
    return {
        "posterior": (at.mean.tolist(), at.variance.tolist()),
        "records": repr(opt.records()),
        "best": repr(opt.recommend()),
        "next": [(trial.id, trial.x.tolist()) for trial in (opt.ask() for _ in range(5))],
    }


def undisturbed(readings):
    """The same study, without a log and without a death."""
    opt = study()
    while opt.readings < readings:
        trial = opt.ask()
        opt.tell(trial, reading(trial))
    return opt


def main(path, kills, seed):
    """Print what was lost, what was doubled, and what differs from an undisturbed run."""
    rng, told = random.Random(seed), []
    for n in range(kills):
        lines = rng.randint(1, 6) if n % 4 else 0  # none: killed from birth on, while it reads the log
        told += life(path, lines, rng.uniform(0.0, 0.02 if lines else 0.06))
    warnings.simplefilter("ignore", eq.log.TornLine)
    opt = eq.resume(path)
    in_log = [event["tell"] for event in map(json.loads, path.read_text().splitlines()) if "tell" in event]
    for i in opt.study.open_trials:
        opt.study.expire(i)
    result = {"readings": opt.readings, "acknowledged": len(told), "lost": sorted(set(told) - set(in_log))}
    result["doubled"] = len(in_log) - len(set(in_log)) + len(told) - len(set(told))
    ours, theirs = seen(opt), seen(undisturbed(opt.readings))
    result["different"] = [name for name in ours if ours[name] != theirs[name]]
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
