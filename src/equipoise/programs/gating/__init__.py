"""A gate for loops of experiments: champion and candidate on the same seeds, until an idea is kept or given up.

whitening  the effect of one candidate, from readings of many versions on many seeds
stream     the next look, and the decision on an idea
night      the decisions of a run, in words and as data
trying     the gate itself: it measures, and keeps a log
items      two models on the same items
item_files scores from files
"""

from equipoise.programs.gating.item_files import scores
from equipoise.programs.gating.items import Items, ItemScore, compared, next_items
from equipoise.programs.gating.night import Night, Trialed
from equipoise.programs.gating.stream import Assessment, Look, Rules, Stream
from equipoise.programs.gating.trying import CandidateError, Gate

__all__ = [
    "Assessment",
    "CandidateError",
    "Gate",
    "ItemScore",
    "Items",
    "Look",
    "Night",
    "Rules",
    "Stream",
    "Trialed",
    "compared",
    "next_items",
    "scores",
]
