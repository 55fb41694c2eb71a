"""Simulated studies: their signs, from which bounds are calibrated, and their true regret.

A study is one of the default on a function of a family, under an offset, with a noise of 2 to 50 % of the range. Some
are audited on their way. Rows of a study are kept in a file of JSON lines, all of them at once: what is there is not
simulated again.
"""

import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator

from calibrating.function_families import FAMILIES, RANGE
from equipoise.answer import Recommendation
from equipoise.lab.environments import (
    Bias,
    BlockOffsets,
    Calibration,
    Drift,
    Environment,
    Jumps,
    NoBias,
    PeriodicDrift,
    RandomWalk,
)
from equipoise.lab.experiments import in_parallel
from equipoise.optimizer import Optimizer
from equipoise.spaces import Box

OFFSETS: dict[str, Bias] = {
    "none": NoBias(),
    "drift": Drift(),
    "walk": RandomWalk(0.3),
    "periodic": PeriodicDrift(),
    "jumps": Jumps(rate=0.05, scale=2.0),
    "calibration": Calibration(),
    "pairs": BlockOffsets(2, 10.0),
    "blocks": BlockOffsets(6, 5.0),
}
"""The offsets, in units of functions with a range of five."""

LOOKS = (10, 20, 40, 60, 100, 200)
"""Numbers of readings at which a study is looked at; also when an audit has ended."""

SHORT = 100
"""Half of the studies on families that are chosen on end after this many readings."""

AUDITS = ((0, 0), (0, 0), (0, 0), (60, 24), (100, 24), (60, 8), (100, 48))
"""After how many readings an audit begins, and how many duels it has; a study has one of them by chance."""

NOISE = (0.02, 0.5)
"""Least and largest noise, as shares of the range; uniform by its logarithm."""

Row = dict[str, Any]
Job = tuple[str, str, int]
"""Family, offset and seed."""


@dataclass(frozen=True, eq=False)
class Course:
    """What a study will be.

    Attributes:
        opt: The study.
        nature: What it measures.
        readings: How many it will have.
        audit: After how many readings an audit begins, and its duels.
    """

    opt: Optimizer
    nature: Environment
    readings: int
    audit: tuple[int, int]

    @classmethod
    def of(cls, family: str, offset: str, rng: Generator, seed: int) -> "Course":
        """Return the study of a seed."""
        function = FAMILIES[family].make(f"{family} {offset}", seed)
        noise = RANGE * math.exp(rng.uniform(*np.log(NOISE)))
        nature = Environment(function, OFFSETS[offset], noise, rng=rng.spawn(1)[0])
        opt = Optimizer(Box([[0.0, 1.0]] * function.dimension), rng=rng.spawn(1)[0])
        audit = AUDITS[int(rng.integers(len(AUDITS)))]
        short = FAMILIES[family].chosen and rng.random() < 0.5
        return cls(opt, nature, SHORT if short else max(LOOKS), audit)

    def looks(self) -> Iterator[tuple[int, bool, Recommendation]]:
        """Measure; yield each number of readings, whether an audit is complete, and what is recommended then."""
        begin, duels = self.audit
        for n in range(1, self.readings + 1):
            trial = self.opt.ask()
            under = self.opt.study.plan is not None
            self.opt.tell(trial, self.nature.measure(trial.x))
            ended = under and self.opt.study.plan is None
            if n in LOOKS or ended:
                yield n, 0 < begin < n and self.opt.study.plan is None, self.opt.recommend()
            if n == begin:
                self.opt.audit(duels)


def study(family: str, offset: str, seed: int) -> list[Row]:
    """Return the rows of a study: what was recommended at each look, by which signs, and its true regret.

    Example:
        >>> row = study("bowl", "walk", 1)[0]
        >>> row["readings"], row["regret"] >= 0
        (10, True)
    """
    course = Course.of(family, offset, np.random.default_rng([seed, crc32(f"{family} {offset}".encode())]), seed)
    d, noise = course.nature.function.dimension, course.nature.noise / RANGE
    same = {"family": family, "offset": offset, "seed": seed, "knobs": d, "noise": _short(noise)}
    rows = []
    for n, audited, best in course.looks():
        found: Row = {"readings": n, "audited": course.audit[1] if audited else 0, "kind": best.kind}
        found |= {"regret": _short(course.nature.regret(best.x)), "bound": _short(best.overall.bound)}
        rows.append(same | found | {"signs": {name: _short(value) for name, value in best.signs.items()}})
    return rows


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def jobs(families: Sequence[str], seeds: range) -> list[Job]:
    """Return the studies of some families under all offsets, seed by seed."""
    return [(family, offset, seed) for seed in seeds for offset in OFFSETS for family in families]


def collect(path: Path, wanted: Sequence[Job], processes: int, advance: Callable[[int], object]) -> None:
    """Simulate the studies that a file does not have yet, and add their rows.

    Args:
        path: A file of JSON lines.
        wanted: The studies.
        processes: How many run at once.
        advance: Called with 1 after each.
    """
    done = {(row["family"], row["offset"], row["seed"]) for row in stored(path)}
    left = [job for job in wanted if job not in done]
    advance(len(wanted) - len(left))
    with path.open("a", encoding="utf-8") as file, closing(in_parallel(_quietly, left, processes)) as found:
        for rows in found:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
            file.flush()
            advance(1)


def _quietly(job: Job) -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return study(*job)


def stored(path: Path) -> list[Row]:
    """Return the rows of a file; none if it does not exist."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
