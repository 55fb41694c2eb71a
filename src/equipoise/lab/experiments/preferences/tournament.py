"""The benchmark of MaxMinLCB: rules that choose pairs against simulated judges, stored row by row, and its table.

A judge prefers i to j with probability `sigmoid(f_i - f_j)`. The regret of a pair is `(P(best beats first) + P(best
beats second) - 1) / 2`, and the sum is reported. The final regret is the gap between the best setting and the
recommended one, that of largest mean, in units of f. A pair may be one setting twice, as in the published
benchmark: it has no regret if it is the best setting, and it teaches nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.lab.experiments.preferences.listeners import Indices, Listeners
from equipoise.lab.experiments.preferences.stackelberg import Stackelberg, sigmoid
from equipoise.lab.experiments.preferences.utilities import UTILITIES, Utility
from equipoise.lab.experiments.reports import markdown
from equipoise.lab.experiments.results import Row, continued
from equipoise.lab.experiments.statistics import short
from equipoise.policies import EUBO, Challenger, DoubleThompson, MaxMinLCB, Policy

FIELDS = ("rule", "utility", "answers", "lot", "seed", "cumulative", "final")

LOT = 10
"""The number of seeds that run as one array program."""

Job = tuple[str, str, int, range]
"""A rule, a utility, a number of answers, and the seeds of a lot."""


class Players(Protocol):
    """A set of learners that follow one rule."""

    @property
    def mean(self) -> FloatArray:
        """The mean of each learner's belief about the settings, shape (L, m)."""
        ...

    def choose(self) -> tuple[Indices, Indices]:
        """Return the two settings that each learner wants compared."""
        ...

    def learn(self, winner: Indices, loser: Indices) -> None:
        """Learn one answer per learner."""
        ...

    def settle(self) -> None:
        """Complete the fit to all answers."""
        ...


Maker = Callable[[Utility, int, Generator], Players]


def _with(policy: Policy) -> Maker:
    return lambda utility, count, rng: Listeners(utility, policy, count, rng)


RULES: dict[str, Maker] = {
    "MaxMinLCB as published": Stackelberg,
    "MaxMinLCB": _with(MaxMinLCB()),
    "double Thompson": _with(DoubleThompson()),
    "EUBO": _with(EUBO()),
    "Challenger": _with(Challenger(scale=1.5)),
}
"""The rules. The first has a separate estimate; the others share one belief. The last is the default."""


def play(rule: str, utility: str, answers: int, seeds: range) -> list[dict[str, Any]]:
    """Return the rows of a lot.

    Example:
        >>> rows = play("Challenger", "ackley", 3, range(2))
        >>> [row["seed"] for row in rows], rows[0]["cumulative"] > 0
        ([0, 1], True)
    """
    like, L = UTILITIES[utility], len(seeds)
    rngs = [np.random.default_rng([seeds.start, L, stream]) for stream in (1, 2)]
    players, judges, f = RULES[rule](like, L, rngs[0]), rngs[1], like.values
    paid = np.zeros(L)
    for _ in range(answers):
        first, second = players.choose()
        paid += (sigmoid(f.max() - f[first]) + sigmoid(f.max() - f[second]) - 1.0) / 2
        preferred = judges.random(L) < sigmoid(f[first] - f[second])
        players.learn(np.where(preferred, first, second), np.where(preferred, second, first))
    players.settle()
    final = f.max() - f[players.mean.argmax(axis=1)]
    same = {"rule": rule, "utility": utility, "answers": answers, "lot": _lot(seeds)}
    return [same | {"seed": s, "cumulative": float(paid[k]), "final": float(final[k])} for k, s in enumerate(seeds)]


def lots(rules: Sequence[str], utilities: Sequence[str], answers: int, seeds: range) -> Iterator[Job]:
    """Yield the jobs: all rules and utilities for the first lot of seeds, then for the next."""
    for start in range(seeds.start, seeds.stop, LOT):
        for utility in utilities:
            for rule in rules:
                yield rule, utility, answers, range(start, min(start + LOT, seeds.stop))


def tournament(
    jobs: Sequence[Job], out: Path | None = None, progress: Callable[[int], object] | None = None
) -> list[Row]:
    """Run the jobs, as from `lots`, that are missing in the CSV file `out`, and return the rows of all jobs.

    Rows are stored as they come; `progress` is called with 1 after each job.
    """
    return continued(out, FIELDS, {_named(job): (len(job[-1]), partial(play, *job)) for job in jobs}, progress)


def _lot(seeds: range) -> str:
    return f"{seeds.start}-{seeds.stop - 1}"


def _named(job: Job) -> tuple[str, ...]:
    rule, utility, answers, seeds = job
    return rule, utility, str(answers), _lot(seeds)


def preference_table(rows: Sequence[Row]) -> str:
    """Return a table in Markdown: cumulative regret (standard error) / final regret, a row for each utility."""
    rules = [name for name in RULES if any(row["rule"] == name for row in rows)]
    utilities = [name for name in UTILITIES if any(row["utility"] == name for row in rows)]
    body = [[name, *(_cell(_of(rows, rule, name)) for rule in rules)] for name in utilities]
    sums = [np.sum([_of(rows, rule, name).mean(axis=1) for name in utilities], axis=0) for rule in rules]
    return markdown(["", *rules], [*body, ["sum", *(f"{short(a)} / {b:.2f}" for a, b in sums)]])


def _of(rows: Sequence[Row], rule: str, utility: str) -> FloatArray:
    """Return cumulative and final regrets, shape (2, seeds)."""
    own = [row for row in rows if (row["rule"], row["utility"]) == (rule, utility)]
    return np.array([[float(row[name]) for row in own] for name in ("cumulative", "final")])


def _cell(values: FloatArray) -> str:
    (mean, final), n = values.mean(axis=1), values.shape[1]
    error = f" ({short(float(values[0].std(ddof=1)) / n**0.5)})" if n > 1 else ""
    return f"{short(float(mean))}{error} / {final:.2f}"
