"""A study as records and tables: a record of each question, notes and settings, and rows to be written and read."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.tables.record import PLACES as PLACES
    from equipoise.study.tables.record import Note as Note
    from equipoise.study.tables.record import Record as Record
    from equipoise.study.tables.record import Setting as Setting
    from equipoise.study.tables.record import last_set as last_set
    from equipoise.study.tables.record import next_note as next_note
    from equipoise.study.tables.record import notes_of as notes_of
    from equipoise.study.tables.record import records as records
    from equipoise.study.tables.record import settings_of as settings_of
    from equipoise.study.tables.record import unit_of as unit_of
    from equipoise.study.tables.table import RowError as RowError
    from equipoise.study.tables.table import Table as Table
    from equipoise.study.tables.table import as_csv as as_csv
    from equipoise.study.tables.table import cell as cell
    from equipoise.study.tables.table import columns as columns
    from equipoise.study.tables.table import plain as plain
    from equipoise.study.tables.table import timed as timed
else:
    __getattr__ = lazily(__name__)
