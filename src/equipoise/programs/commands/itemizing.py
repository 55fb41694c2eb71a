"""`equipoise items`: which of two models is better, on items that both have run."""

from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import AS_JSON, command, say
from equipoise.programs.gating import compared, next_items, scores

FILE = click.Path(path_type=Path)
EXAMPLES = """equipoise items old.jsonl new.jsonl                        which is better, on their common items
equipoise items old.jsonl new.jsonl --ask 50               the items that the new one should run next
equipoise items a.csv b.csv --score f1 --cluster passage   graded scores; questions about one text count as one"""


@command("items", EXAMPLES, short_help="Compare two models, item by item.")
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@click.option("--score", help="Key, column or scorer with the score.  [default: found by its name]")
@click.option("--cluster", help="Key or column that says which items belong together: they count as one.")
@click.option("--alpha", type=click.FloatRange(0, 1, True, True), default=0.05, help="Share of wrong verdicts.")
@click.option("--ask", type=click.IntRange(min=1), help="Print the items to run next, at most this number.")
@AS_JSON
def items(
    first: Path, second: Path, score: str | None, cluster: str | None, alpha: float, ask: int | None, as_json: bool
) -> None:
    """Compare the scores in two files, item by item: CSV, JSON Lines, lm-evaluation-harness, inspect, promptfoo.

    The verdict stays valid if you look after every item. If one file has items that the other lacks, --ask prints the
    items to run next, and none after the decision. Run only these items: their order is random.
    """
    a, b = (scores(path, score, cluster) for path in (first, second))
    found = compared(a, b, alpha)
    asked = next_items(a, b, ask) if ask is not None and not found.decided else []
    data: dict[str, Any] = {"standing": found.standing, "difference": found.difference.known}
    data |= {name: getattr(found, name) for name in ("wins", "losses", "seen", "items", "chance")}
    if ask is not None:
        data["ask"] = asked
    say(as_json, data, "\n".join(asked) if asked else str(found))
