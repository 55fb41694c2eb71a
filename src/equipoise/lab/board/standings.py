"""Tables of the board: regret, failures and claims of each learner, by kind of task and by task."""

import math
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.lab.board.catalog import LISTED
from equipoise.lab.board.runs import Score
from equipoise.lab.board.tasks import KINDS, tasks
from equipoise.lab.experiments import markdown, short, two_standard_errors

LOST = 0.2
"""The threshold for a lost run: a recommendation with more than a fifth of the average regret of a random setting."""

MEASURE = "default"
"""The learner whose regret is the reference, on the same tasks and seeds."""


LEGEND = (
    "Regret is in units of what a random setting loses on average: a random search pays one unit a reading. All "
    "learners met the same functions, noise and offsets. Regret / default's: geometric mean over tasks, in the runs "
    "that both had. Final: regret of the recommendation. Lost: it is above a fifth of a unit; near the best: it is at "
    "most a twentieth. By task: cumulative regret, mean ± two standard errors over seeds."
)


@dataclass(frozen=True)
class Performance:
    """The results of a learner on the tasks of one kind.

    Attributes:
        learner: Its name.
        tasks: The number of its tasks.
        runs: The number of its runs.
        ratio: Its cumulative regret over that of the default, geometric mean over tasks; nan without common runs.
        final: The median regret of the final recommendation.
        lost: The share of lost runs.
        near: The share of runs whose recommendation is near the best.
        claims: The number of runs with a bound.
        held: The share of these bounds that are true; nan without claims.
        milliseconds: The median processor time per reading.
    """

    learner: str
    tasks: int
    runs: int
    ratio: float
    final: float
    lost: float
    near: float
    claims: int
    held: float
    milliseconds: float


def standings(scores: Sequence[Score], kind: str) -> list[Performance]:
    """Return the performance of learners on a kind of task, in ascending order of regret.

    Example:
        >>> from equipoise.lab.board.runs import stored
        >>> table = standings(stored(), "tables")
        >>> "default" in [each.learner for each in table], all(0 <= each.lost <= 1 for each in table)
        (True, True)
    """
    of_kind = [score for score in scores if tasks()[score.task].kind == kind]
    by_learner: dict[str, list[Score]] = defaultdict(list)
    for score in of_kind:
        by_learner[score.learner].append(score)
    measure = {(score.task, score.seed): score.cumulative for score in by_learner[MEASURE]}
    found = [_standing(learner, own, measure) for learner, own in by_learner.items() if own]
    return sorted(found, key=lambda each: (math.isnan(each.ratio), each.ratio, each.learner))


def _standing(learner: str, own: Sequence[Score], measure: Mapping[tuple[str, int], float]) -> Performance:
    claims = [score for score in own if score.bound is not None]
    held = [score.bound is not None and score.final <= score.bound for score in claims]
    final = np.array([score.final for score in own])
    return Performance(
        learner,
        len({score.task for score in own}),
        len(own),
        ratio(own, measure),
        float(np.median(final)),
        float(np.mean(final > LOST)),
        float(np.mean(final <= [score.near for score in own])),
        len(claims),
        float(np.mean(held)) if held else math.nan,
        float(np.median([score.milliseconds for score in own])),
    )


def ratio(own: Sequence[Score], measure: Mapping[tuple[str, int], float]) -> float:
    """Return the mean regret relative to another learner's in the same runs, as a geometric mean over tasks.

    Example:
        >>> score = Score("cake, 2 a batch", "random", 0, 60, (30.0,), 0.0, None, 0.05, 0.1, "", "")
        >>> ratio([score], {("cake, 2 a batch", 0): 15.0}), ratio([score], {})
        (2.0, nan)
    """
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for score in own:
        if (other := measure.get((score.task, score.seed))) is not None:
            pairs[score.task].append((score.cumulative, other))
    sums = [np.sum(each, axis=0) for each in pairs.values()]
    return float(np.exp(np.mean([math.log(a / b) for a, b in sums]))) if sums else math.nan


def standings_table(table: Sequence[Performance]) -> str:
    """Return the standings of a kind in Markdown."""
    columns = [
        "learner",
        "tasks",
        "runs",
        "regret / default's",
        "final, median",
        "lost",
        "near the best",
        "claims held",
    ]
    return markdown([*columns, "ms a reading"], [_row(each) for each in table])


def _row(each: Performance) -> list[str]:
    held = f"{100 * each.held:.0f} % of {each.claims}" if each.claims else ""
    shares = [f"{100 * share:.0f} %" for share in (each.lost, each.near)]
    counts = [str(each.tasks), str(each.runs)]
    ratio = "" if math.isnan(each.ratio) else f"{each.ratio:.2f}"
    return [each.learner, *counts, ratio, short(each.final), *shares, held, short(each.milliseconds)]


def regret_table(scores: Sequence[Score], kind: str) -> str:
    """Return the cumulative regret, mean and two standard errors, by task and learner, in Markdown."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for score in scores:
        if tasks()[score.task].kind == kind:
            cells[score.task, score.learner].append(score.cumulative)
    names = [name for name in tasks() if any(task == name for task, _ in cells)]
    learners = in_order({learner for _, learner in cells})
    return markdown(["", *learners], [[name, *(_cell(cells[name, each]) for each in learners)] for name in names])


def _cell(values: Sequence[float]) -> str:
    if not values:
        return ""
    error = float(two_standard_errors(np.array(values)))
    return short(float(np.mean(values))) + ("" if math.isnan(error) else f" ± {short(error)}")


def in_order(learners: set[str]) -> list[str]:
    """Return learners in the order of the catalog, followed by those not in it."""
    return [*(name for name in LISTED if name in learners), *sorted(learners - set(LISTED))]


def report(scores: Sequence[Score]) -> str:
    """Return all tables in Markdown."""
    if not scores:
        return "No runs."
    parts = ["\n".join(textwrap.wrap(LEGEND, 110)), ""]
    for kind in KINDS:
        if table := standings(scores, kind):
            parts += [f"## {kind.capitalize()}\n", standings_table(table), "", regret_table(scores, kind), ""]
    return "\n".join(parts).rstrip("\n")
