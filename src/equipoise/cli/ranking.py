"""`equipoise rank` and `front`: the settings of a study, by one objective or by several."""

import click

from equipoise.cli.common import CONTEXT, Said, context_of, gains_data, study_command
from equipoise.optimizer import Optimizer


@study_command("rank", "equipoise rank study.jsonl", short_help="Rank all settings, from the best to the worst.")
def rank(opt: Optimizer) -> Said:
    """Print the settings of a list, or the measured or judged ones, from the best to the worst.

    Each has an interval of its value above the average, which holds for all settings at once, and the ranks that it
    may have, both with a confidence of 95 % by estimate. If there are limits, each has the probability that they hold.
    """
    ranking = opt.rank()
    rows = [
        {"rank": r.rank, "x": r.x, "value": r.value, "low": r.low, "high": r.high, "ranks": r.ranks}
        | ({} if r.holds is None else {"holds": r.holds})
        for r in ranking
    ]
    return rows, "\n".join(map(str, ranking)) or "There are no readings or judgements to rank yet."


@study_command(
    "front",
    "equipoise front study.jsonl\nequipoise front study.jsonl --tolerance 0",
    short_help="Print the best compromises between objectives.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of the range of each objective by which a setting must be beaten to be left out.",
)
@CONTEXT
def front(opt: Optimizer, tolerance: float, context: tuple[str, ...]) -> Said:
    """Print the best compromises between several objectives, best in the first objective first.

    Each was measured, holds all limits with 95 %, and no other measured setting is better in every objective with 95 %.
    Its gain in each objective is over the start, with a 95 % interval.
    """
    points = opt.front(tolerance=tolerance, context=context_of(opt, context))
    rows = [{"x": p.x, "objectives": gains_data(p), "dominated": p.dominated, "holds": p.holds} for p in points]
    return rows, "\n".join(map(str, points)) or "No setting is known to be on the front yet."
