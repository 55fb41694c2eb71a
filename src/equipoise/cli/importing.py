"""`equipoise import`: readings of earlier campaigns, from a spreadsheet into a study."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from equipoise.cli.common import AS_JSON, REFUSED, STUDY, command, counted, opened, say
from equipoise.study.sheets import Sheet

MOST_LISTED = 20
"""How many rows that are refused are listed one by one."""


@command(
    "import",
    """equipoise import study.jsonl old.csv --block 2025
equipoise import study.jsonl old.csv --value yield --covariate humidity --dry-run""",
    short_help="Take in earlier readings, from CSV.",
)
@STUDY
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--value", default="value", show_default=True, help="The column of the readings.")
@click.option("--block", help="To which block the rows belong that do not say it in a column called block.")
@click.option("--covariate", "covariates", multiple=True, help="A column of what was measured beside; repeatable.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken in.")
@AS_JSON
def import_(study: Path, table: Path, block: str | None, dry_run: bool, as_json: bool, **how: Any) -> None:
    """Take in the readings of TABLE, a CSV file with a column for each parameter, a row a reading.

    Each block but the present one is an earlier campaign: its readings teach what the settings do, its offset has
    nothing to do with that of now. Should they contradict the readings of now, they are forgotten, and you are told.
    Columns called time, error and block are used; others, but for --covariate, are not.

    Rows that are no readings are listed with the reason and left out; the exit code is 1 where there were any.
    """
    opt = opened(study)
    sheet = Sheet(opt.space, how["value"], covariates=how["covariates"], otherwise=block)
    refused, good = [], []
    for line, cells in _rows(table, sheet):
        try:
            told = sheet.reading(cells)
            opt.space.encode(told["x"])
        except (TypeError, ValueError) as error:
            refused.append({"line": line, "why": str(error)})
        else:
            good.append(told)
    for told in tqdm(good, unit="reading", disable=None) if not dry_run else ():
        opt.add(**told)
    data = {"taken": len(good), "refused": refused, "dry_run": dry_run}
    say(as_json, data, _report(table, len(good), refused, dry_run))
    if refused:
        raise click.exceptions.Exit(REFUSED)


def _rows(table: Path, sheet: Sheet) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each line that is not empty, and its cells by column."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        start = file.read(4096)
        file.seek(0)
        header = start.splitlines()[0] if start else ""
        delimiter = max(",;\t", key=header.count)
        reader = csv.DictReader(file, delimiter=delimiter, skipinitialspace=True)
        sheet.must_have([name.strip() for name in reader.fieldnames or ()])
        for cells in reader:
            named = {str(name).strip(): cell for name, cell in cells.items() if name is not None}
            if any(cell is not None and cell.strip() for cell in named.values()):
                yield reader.line_num, named


def _report(table: Path, taken: int, refused: list[dict[str, Any]], dry_run: bool) -> str:
    lines = [f"{counted(taken)} of {table} {'would be' if dry_run else 'were' if taken != 1 else 'was'} taken in."]
    lines += [f"  line {each['line']} is left out: {each['why']}" for each in refused[:MOST_LISTED]]
    more = len(refused) - MOST_LISTED
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)
