"""`equipoise import`: earlier readings, or judgements, from a spreadsheet into a study."""

import csv
import io
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from equipoise.answer import counted
from equipoise.cli.common import AS_JSON, REFUSED, STUDY, command, opened, say, text_of
from equipoise.cli.duplicates import repeated
from equipoise.optimizer import Optimizer
from equipoise.study import Addition, Table, plain

Rows = list[tuple[int, dict[str, Any]]]
"""The lines of a table: the number of each, and its cells by column."""

MOST_LISTED = 20
"""Maximum number of refused rows that are listed one by one."""


@command(
    "import",
    """equipoise import study.jsonl old.csv --block 2025
equipoise import study.jsonl old.csv --value yield --covariate humidity --dry-run
equipoise import study.jsonl votes.csv --judgements""",
    short_help="Add earlier readings or judgements from a CSV file.",
)
@STUDY
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--value", default="value", show_default=True, help="The column of the readings.")
@click.option("--block", help="The block of rows that have none in a column called block.")
@click.option("--covariate", "covariates", multiple=True, help="A column with another measured quantity; repeatable.")
@click.option(
    "--judgements", is_flag=True, help="The rows are judgements: first.NAME, second.NAME, answer, judge, steps."
)
@click.option("--again", is_flag=True, help="Also add rows that the study already has; they count again.")
@click.option("--new", "only_new", is_flag=True, help="Add only rows that the study does not have.")
@click.option("--dry-run", is_flag=True, help="Only show what would be added.")
@AS_JSON
def import_(
    study: Path,
    table: Path,
    again: bool,
    only_new: bool,
    dry_run: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Add the readings of TABLE, a CSV file with one column per parameter and one row per reading.

    Each block except the present one is an earlier campaign: its readings teach the effect of the settings, and its
    offset is independent of the present one. If they contradict the present readings, the study ignores them and tells
    you. The command uses the columns time, error and block, and seed if the study has seeds; it uses other columns only
    if --covariate names them. If the study has an objective and limits by name, each of these has a column; an empty
    cell is a missing number.

    With --judgements each row is the judgement of two settings; `export --judgements` writes such tables. Without a
    column steps, the scale is the shortest one with all words of the table. Rows without an answer are skipped.

    If the study already has some of the rows, the command refuses the table: use --new for a table that has grown, or
    --again.

    The command skips rows without a valid reading and lists them with the reason; the exit code is then 1.
    """
    if again and only_new:
        raise click.UsageError("give either --again or --new")
    opt, (columns, lines) = opened(study), _lines(table)
    how |= {"outputs": opt.study.setup.columns, "seeds": opt.study.setup.seeds is not None}
    good, refused = _read(opt, Table.of(opt.space, columns, [cells for _, cells in lines], **how), lines)
    if not again:
        good = _unknown(table, opt, good, only_new)
    for row in tqdm(good, unit="row", disable=None) if not dry_run else ():
        opt.add(**row)
    data = {"taken": len(good), "refused": refused, "dry_run": dry_run}
    say(as_json, data, _report(table, _taken(len(good), how["judgements"]), len(good), refused, dry_run))
    if refused:
        raise click.exceptions.Exit(REFUSED)


def _read(opt: Optimizer, table: Table, lines: Rows) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the arguments from the rows, and the omitted rows with the reason."""
    good, refused = [], []
    for line, cells in lines:
        try:
            row = table.read(cells)
            if row is not None:
                Addition.of(row).events(opt.study.setup)  # refuses what the study cannot take
                good.append(row)
        except (TypeError, ValueError) as error:
            refused.append({"line": line, "why": str(error)})
    return good, refused


def _unknown(table: Path, opt: Optimizer, rows: list[dict[str, Any]], only_new: bool) -> list[dict[str, Any]]:
    """Return the rows that the study lacks; refuse the table if the study has some rows, except with --new."""
    known = repeated(opt, rows)
    if any(known) and not only_new:
        many = f"{sum(known)} of the {len(rows)} rows" if len(rows) > 1 else "the row"
        advice = "--new adds the others, --again adds all of them again"
        raise click.ClickException(f"the study has {many} of {table} already, so nothing was added:  {advice}")
    return [row for row, has in zip(rows, known, strict=True) if not has]


def _lines(table: Path) -> tuple[list[str], Rows]:
    """Return the columns of a table, and its nonempty lines."""
    text = text_of(table)
    header = text.splitlines()[0] if text else ""
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    columns = [plain(name.strip()) for name in reader.fieldnames or ()]
    lines = []
    for cells in reader:
        named = {plain(str(name).strip()): plain(cell or "") for name, cell in cells.items() if name is not None}
        if any(map(str.strip, named.values())):
            lines.append((reader.line_num, named))
    return columns, lines


def _taken(rows: int, judgements: bool) -> str:
    """Return the number of imported rows, in words."""
    return f"{rows} judgement{'' if rows == 1 else 's'}" if judgements else counted(rows)


def _report(table: Path, counted: str, taken: int, refused: list[dict[str, Any]], dry_run: bool) -> str:
    lines = [f"{counted} of {table} {'would be' if dry_run else 'were' if taken != 1 else 'was'} added."]
    lines += [f"  line {each['line']} is skipped: {each['why']}" for each in refused[:MOST_LISTED]]
    more = len(refused) - MOST_LISTED
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)
