"""Rules that choose pairs to be judged, on the benchmark of MaxMinLCB.

Example:
    >>> from equipoise.lab.experiments.preferences import play
    >>> [row["seed"] for row in play("double Thompson", "branin", 2, range(2))]
    [0, 1]
"""

from equipoise.lab.experiments.preferences.listeners import Listeners
from equipoise.lab.experiments.preferences.stackelberg import Stackelberg
from equipoise.lab.experiments.preferences.tournament import RULES, lots, play, preference_table, tournament
from equipoise.lab.experiments.preferences.utilities import UTILITIES, Utility

__all__ = [
    "RULES",
    "UTILITIES",
    "Listeners",
    "Stackelberg",
    "Utility",
    "lots",
    "play",
    "preference_table",
    "tournament",
]
