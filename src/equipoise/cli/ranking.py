"""`equipoise rank`: the settings of a study from the best to the worst."""

from pathlib import Path

from equipoise.cli.common import AS_JSON, STUDY, command, opened, say


@command("rank", "equipoise rank study.jsonl", short_help="All settings, from the best to the worst.")
@STUDY
@AS_JSON
def rank(study: Path, as_json: bool) -> None:
    """Print the settings of a list, or those that were measured or judged, from the best to the worst.

    Each has an interval of its value above the average, which holds for all settings at once, and the ranks that it
    may have, both with a confidence of 95 % by estimate.
    """
    ranking = opened(study).rank()
    rows = [
        {"rank": r.rank, "x": r.x, "value": r.value, "low": r.low, "high": r.high, "ranks": r.ranks} for r in ranking
    ]
    say(as_json, rows, "\n".join(map(str, ranking)) or "Nothing was told yet: there is nothing to rank.")
