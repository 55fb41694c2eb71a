"""Judging: the judges, and the content that shows the settings of a pair.

module    purpose
sitting   how pairs are judged here
contents  the content that shows a setting: a file, or a program's output
sides     a setting of a question as the screen shows it
"""

from equipoise.web.judging.contents import Content
from equipoise.web.judging.sides import Side, dials
from equipoise.web.judging.sitting import Sitting

__all__ = ["Content", "Side", "Sitting", "dials"]
