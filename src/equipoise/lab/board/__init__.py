"""The board: a public comparison of optimizers on tasks whose readings drift.

A task is a function or a table, with an offset and noise; a learner is three functions, `ask`, `tell` and `best`.

Example:
    >>> from equipoise.lab.board import play
    >>> play(("oats, 2 a batch", "random", 0)).readings
    48
"""

from equipoise.lab.board.board_page import fragment, page
from equipoise.lab.board.catalog import ABSENT, LISTED, Listed, listed
from equipoise.lab.board.entrants import Entrant, Seated
from equipoise.lab.board.instruments import Instrument
from equipoise.lab.board.runs import Broken, Score, contest, merged, play, skipped, stored
from equipoise.lab.board.standings import Performance, report, standings
from equipoise.lab.board.tasks import KINDS, SMALL, BoardTask, tasks
from equipoise.lab.board.weather import WEATHER, Throttle

__all__ = [
    "ABSENT",
    "KINDS",
    "LISTED",
    "SMALL",
    "WEATHER",
    "BoardTask",
    "Broken",
    "Entrant",
    "Instrument",
    "Listed",
    "Performance",
    "Score",
    "Seated",
    "Throttle",
    "contest",
    "fragment",
    "listed",
    "merged",
    "page",
    "play",
    "report",
    "skipped",
    "standings",
    "stored",
    "tasks",
]
