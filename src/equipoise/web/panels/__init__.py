"""The panels of the screen: each shows one part of the view of a study.

Your own panel is one file with a `PagePanel`, and one line in `PANELS`.
"""

from equipoise.web.known import PagePanel
from equipoise.web.panels.drawings import CERTIFICATE, ESTIMATE, FRONT, READINGS
from equipoise.web.panels.lists import BEST, NOTES, TRIALS
from equipoise.web.panels.lists import described as described
from equipoise.web.panels.pictures import gathered as gathered
from equipoise.web.panels.progress import PROGRESS
from equipoise.web.panels.progress import seconds_each as seconds_each

PANELS: list[PagePanel] = [
    BEST,
    PROGRESS,
    READINGS,
    CERTIFICATE,
    FRONT,
    ESTIMATE,
    TRIALS,
    NOTES,
]
"""The panels of the screen besides the form, in the order of the keyboard focus."""
