"""Rows of results in a CSV file, written as they come, so that an interrupted command goes on where it was."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, str]
"""A row as it was written: names and texts."""


def stored_rows(path: Path | None) -> list[Row]:
    """Return the rows of a file; none where there is no file yet."""
    if path is None or not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def keep_rows(path: Path | None, fields: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Add rows to a file, with a head if it is new, and return them as they can be read from it.

    Args:
        path: The file; nothing is written where it is `None`.
        fields: The names of the columns.
        rows: What to add.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fields)
            if new:
                writer.writeheader()
            writer.writerows(rows)
    return [{name: str(row[name]) for name in fields} for row in rows]
