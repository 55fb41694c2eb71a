"""`equipoise rank`: the settings of a study from the best to the worst."""

from equipoise.cli.common import Said, study_command
from equipoise.optimizer import Optimizer


@study_command("rank", "equipoise rank study.jsonl", short_help="All settings, from the best to the worst.")
def rank(opt: Optimizer) -> Said:
    """Print the settings of a list, or those that were measured or judged, from the best to the worst.

    Each has an interval of its value above the average, which holds for all settings at once, and the ranks that it
    may have, both with a confidence of 95 % by estimate.
    """
    ranking = opt.rank()
    rows = [
        {"rank": r.rank, "x": r.x, "value": r.value, "low": r.low, "high": r.high, "ranks": r.ranks} for r in ranking
    ]
    return rows, "\n".join(map(str, ranking)) or "Nothing was told yet: there is nothing to rank."
