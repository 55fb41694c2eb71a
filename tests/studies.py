"""What the tests of logged studies share: one that does a bit of everything, and all that can be seen of it."""

import copy
import json
import warnings

import numpy as np

import equipoise as eq
from equipoise.log import jsonl as lines
from suites import SPACES

FINITE, BOX = SPACES[:2]
KERNEL = eq.RBF(0.4)


def value_at(trial):
    """A reading that depends on the point and drifts; the same for the same trial."""
    x = list(trial.x.values()) if isinstance(trial.x, dict) else trial.x.tolist()
    return sum(np.sin(v) for v in x if isinstance(v, (int, float))) + trial.id / 8


def act(opt, steps, seed=0):
    """Ask, tell, fail and expire at random, from three workers, with all that can be told of a reading."""
    rng, mine = np.random.default_rng(seed), {}
    for _ in range(steps):
        mine = {i: trial for i, trial in mine.items() if i in opt.study.open_trials}
        what = rng.choice(["ask", "tell", "fail", "expire"], p=[0.45, 0.45, 0.05, 0.05])
        if what == "ask" or not mine:
            trial = opt.ask(worker=[None, "laser-1", "laser-2"][rng.integers(3)])
            mine[trial.id] = trial
            continue
        trial = mine[int(rng.choice(list(mine)))]
        with warnings.catch_warnings():
            for expected in (eq.DuelGivenUp, eq.study.GapUnknown):
                warnings.simplefilter("ignore", expected)
            if what == "tell":
                moved = trial.x if rng.random() < 0.2 else None
                time = float(trial.id) if rng.random() < 0.5 else None
                opt.tell(trial, value_at(trial), x=moved, time=time, error=float(rng.choice([0.0, 0.3])))
            elif what == "fail":
                opt.tell(trial, failed="beam lost: Tür offen\n")
            else:
                opt.study.expire(trial)


def state(opt):
    """Everything that can be seen of an optimizer, to the last bit, and what it does next."""
    points = opt.space.candidates(np.random.default_rng(0))
    at, best, twin = opt.posterior.at(points), opt.recommend(), copy.deepcopy(opt)
    asked = [(trial.id, repr(trial.x)) for worker in (None, "laser-1", "new") for trial in (twin.ask(worker=worker),)]
    records = [repr(record) for record in opt.records()]
    seen = at.mean.tobytes(), at.variance.tobytes(), opt.study.belief.comparisons, opt.study.open_trials
    return seen, records, repr(best), asked


def events(path):
    """The lines of a log."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def finished(path):
    """Make a short study, and return the lines of its log."""
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    for _ in range(6):
        trial = opt.ask()
        opt.tell(trial, value_at(trial))
    return path.read_bytes().splitlines(keepends=True)


def rewrite(path, contents):
    """Write a log whose checksums are right, whatever it says."""
    place, data = lines.Place(), b""
    for content in contents:
        line, place = lines.sealed({k: v for k, v in content.items() if k != "crc"}, place)
        data += line
    path.write_bytes(data)
