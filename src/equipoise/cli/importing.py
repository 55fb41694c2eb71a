"""`equipoise import`: readings of earlier campaigns, or judgements, from a spreadsheet into a study."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from equipoise.answer.wording import counted
from equipoise.cli.common import AS_JSON, REFUSED, STUDY, command, opened, say
from equipoise.cli.duplicates import repeated
from equipoise.optimizer import Optimizer
from equipoise.study.ballots import SIDES, Ballots
from equipoise.study.sheets import Sheet

Rows = list[tuple[int, dict[str, Any]]]
"""The lines of a table: the number of each, and its cells by column."""

MOST_LISTED = 20
"""How many rows that are refused are listed one by one."""


@command(
    "import",
    """equipoise import study.jsonl old.csv --block 2025
equipoise import study.jsonl old.csv --value yield --covariate humidity --dry-run
equipoise import study.jsonl votes.csv --judgements""",
    short_help="Take in earlier readings or judgements, from CSV.",
)
@STUDY
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--value", default="value", show_default=True, help="The column of the readings.")
@click.option("--block", help="To which block the rows belong that do not say it in a column called block.")
@click.option("--covariate", "covariates", multiple=True, help="A column of what was measured beside; repeatable.")
@click.option(
    "--judgements", is_flag=True, help="The rows are judgements: first.NAME, second.NAME, answer, judge, steps."
)
@click.option("--again", is_flag=True, help="Take in also rows that the study has already: they count once more.")
@click.option("--new", "only_new", is_flag=True, help="Take in only rows that the study does not have yet.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken in.")
@AS_JSON
def import_(
    study: Path,
    table: Path,
    block: str | None,
    judgements: bool,
    again: bool,
    only_new: bool,
    dry_run: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Take in the readings of TABLE, a CSV file with a column for each parameter, a row a reading.

    Each block but the present one is an earlier campaign: its readings teach what the settings do, its offset has
    nothing to do with that of now. Should they contradict the readings of now, they are forgotten, and you are told.
    Columns called time, error and block are used; others, but for --covariate, are not.

    With --judgements a row is what was said of two settings: `export --judgements` writes such tables. Without a column
    steps, the shortest scale that has all words of the table is taken. Rows without an answer are passed over.

    If the study has some of the rows already, the table is refused: see --new, for one that has grown, and --again.

    Rows that are no readings are listed with the reason and left out; the exit code is 1 where there were any.
    """
    if again and only_new:
        raise click.UsageError("give either --again or --new")
    opt, (columns, lines) = opened(study), _read(table)
    read, add, sides = _reader(opt, columns, lines, block, judgements, how)
    refused: list[dict[str, Any]] = []
    good: list[dict[str, Any]] = []
    for line, cells in lines:
        try:
            told = read(cells)
            for side in sides if told is not None else ():
                opt.space.encode(told[side])
        except (TypeError, ValueError) as error:
            refused.append({"line": line, "why": str(error)})
        else:
            good += [] if told is None else [told]
    if not again:
        good = _unknown(table, opt, good, judgements, only_new)
    for told in tqdm(good, unit="row", disable=None) if not dry_run else ():
        add(**told)
    data = {"taken": len(good), "refused": refused, "dry_run": dry_run}
    say(as_json, data, _report(table, _taken(len(good), judgements), len(good), refused, dry_run))
    if refused:
        raise click.exceptions.Exit(REFUSED)


def _unknown(
    table: Path, opt: Optimizer, rows: list[dict[str, Any]], judgements: bool, only_new: bool
) -> list[dict[str, Any]]:
    """Return the rows that the study does not have; refuse the table if it has some, unless only new ones count."""
    known = repeated(opt, rows, judgements)
    if any(known) and not only_new:
        many = f"{sum(known)} of the {len(rows)} rows" if len(rows) > 1 else "the row"
        advice = "--new takes in the others, --again all of them once more"
        raise click.ClickException(f"the study has {many} of {table} already, and nothing was taken in: {advice}")
    return [row for row, has in zip(rows, known, strict=True) if not has]


def _reader(
    opt: Optimizer, columns: list[str], lines: Rows, block: str | None, judgements: bool, how: dict[str, Any]
) -> tuple[Callable[[dict[str, Any]], Any], Callable[..., int], tuple[str, ...]]:
    """Return what reads a row, what takes it in, and which of its parts are settings; refuse a table of others."""
    if judgements:
        ballots = Ballots.of(opt.space, [cells for _, cells in lines])
        ballots.must_have(columns)
        return ballots.judgement, opt.add_judgement, SIDES
    sheet = Sheet(opt.space, how["value"], covariates=how["covariates"], otherwise=block)
    sheet.must_have(columns)
    return sheet.reading, opt.add, ("x",)


def _read(table: Path) -> tuple[list[str], Rows]:
    """Return the columns of a table, and its lines that are not empty."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        start = file.read(4096)
        file.seek(0)
        header = start.splitlines()[0] if start else ""
        delimiter = max(",;\t", key=header.count)
        reader = csv.DictReader(file, delimiter=delimiter, skipinitialspace=True)
        columns = [name.strip() for name in reader.fieldnames or ()]
        lines = []
        for cells in reader:
            named = {str(name).strip(): cell for name, cell in cells.items() if name is not None}
            if any(cell is not None and cell.strip() for cell in named.values()):
                lines.append((reader.line_num, named))
    return columns, lines


def _taken(rows: int, judgements: bool) -> str:
    """Return how many rows were taken in, in words."""
    return f"{rows} judgement{'' if rows == 1 else 's'}" if judgements else counted(rows)


def _report(table: Path, counted: str, taken: int, refused: list[dict[str, Any]], dry_run: bool) -> str:
    lines = [f"{counted} of {table} {'would be' if dry_run else 'were' if taken != 1 else 'was'} taken in."]
    lines += [f"  line {each['line']} is left out: {each['why']}" for each in refused[:MOST_LISTED]]
    more = len(refused) - MOST_LISTED
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)
