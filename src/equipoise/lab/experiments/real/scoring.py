"""Runs on real data, stored row by row in a file, and their tables."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.lab.experiments.real.lineup import COMPETITORS, missing, takes_part
from equipoise.lab.experiments.real.recorded import recorded_worlds
from equipoise.lab.experiments.reports import markdown
from equipoise.lab.experiments.results import Row, continued
from equipoise.lab.experiments.statistics import short, two_standard_errors

FIELDS = ("competitor", "world", "seed", "regret", "cumulative", "bound", "cpu_ms")
LOST = 0.2
"""The share of the arms' range below the best arm at which a recommendation counts as lost."""


def score(competitor: str, world: str, seed: int) -> dict[str, Any]:
    """Return the row of one run; the regret and the claimed bound are in percent of the arms' range.

    Example:
        >>> row = score("randomized blocks", "barley, 2 a batch", seed=0)
        >>> row["world"], 0 <= row["regret"] <= 100
        ('barley, 2 a batch', True)
    """
    nature = recorded_worlds()[world](np.random.default_rng([seed, 1]))
    learner = COMPETITORS[competitor](nature, seed)
    table, paid = nature.table, 0.0
    begin = time.process_time()
    for _ in range(nature.readings):
        trial = learner.ask()
        arm = table.arm(trial.x)
        paid += float(table.values.max() - table.values[arm])
        learner.tell(trial, nature.read(arm))
    best = learner.recommend()
    cpu, bound = time.process_time() - begin, best.gap_bound
    regret = float(table.values.max() - table.values[table.arm(best.x)])
    percent = 100 / table.range
    figures = {"regret": regret * percent, "cumulative": paid * percent / nature.readings, "bound": bound * percent}
    return {"competitor": competitor, "world": world, "seed": seed} | figures | {"cpu_ms": 1000 * cpu / nature.readings}


def scores(
    competitors: Sequence[str],
    worlds: Sequence[str],
    seeds: Sequence[int],
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Row]:
    """Run the jobs that are missing in the file, and return the rows of all jobs.

    Args:
        competitors: Names in `COMPETITORS`; those with a missing package are left out.
        worlds: Names of `recorded_worlds()`.
        seeds: The seeds, with one run each.
        out: A CSV file that stores rows as they come.
        progress: Called with 1 after each run.
    """
    wanted = planned(competitors, worlds, seeds)
    return continued(out, FIELDS, {(*job[:2], str(job[2])): (1, partial(_rows, job)) for job in wanted}, progress)


def _rows(job: tuple[str, str, int]) -> list[dict[str, Any]]:
    return [score(*job)]


def planned(competitors: Sequence[str], worlds: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, str, int]]:
    """Yield the runs: all competitors and worlds for the first seed, then for the next."""
    some = {world: recorded_worlds()[world](np.random.default_rng(0)) for world in worlds}
    for seed in seeds:
        for world in worlds:
            for name in competitors:
                if missing(name) is None and takes_part(name, some[world]):
                    yield name, world, seed


def score_table(rows: Sequence[Row]) -> str:
    """Return a table in Markdown: a row for each competitor, a column for each world."""
    cells: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row["competitor"], row["world"]].append(row)
    names = [name for name in COMPETITORS if any(key[0] == name for key in cells)]
    worlds = [world for world in recorded_worlds() if any(key[1] == world for key in cells)]
    body = [[name, *(_cell(cells[name, world]) for world in worlds), _all(rows, name)] for name in names]
    return markdown(["", *worlds, "claims held"], body)


def _cell(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    regret = _column(rows, "regret")
    lost = np.count_nonzero(regret > 100 * LOST)
    return f"{short(regret.mean())} ± {short(float(two_standard_errors(regret)))} ({100 * lost / len(rows):.0f})"


def _all(rows: Sequence[Row], name: str) -> str:
    own = [row for row in rows if row["competitor"] == name and math.isfinite(float(row["bound"]))]
    held = np.count_nonzero(_column(own, "regret") <= _column(own, "bound"))
    return f"{held} of {len(own)}" if own else ""


def _column(rows: Sequence[Row], name: str) -> FloatArray:
    return np.array([float(row[name]) for row in rows])
