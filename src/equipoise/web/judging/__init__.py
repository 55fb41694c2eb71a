"""Judging: who sits where, and what shows the settings of a pair.

module    what it does
sitting   how pairs are judged here
contents  what shows a setting: a file, or what a program says of it
sides     a setting of a question as the screen shows it
"""

from equipoise.web.judging.contents import Content
from equipoise.web.judging.sides import Side, dials
from equipoise.web.judging.sitting import Sitting

__all__ = ["Content", "Side", "Sitting", "dials"]
