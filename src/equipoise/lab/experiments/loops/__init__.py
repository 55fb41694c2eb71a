"""Loops of experiments, simulated: what greedy keeps, what the gate keeps, and what is true.

Example:
    >>> import numpy as np
    >>> found = greedy(IdeaWorld(), 100, loops=400, seed=0)
    >>> bool(found.believed.mean() - found.gain.mean() > 2.0)  # a record believes in luck
    True
"""

from equipoise.lab.experiments.loops.items_read import ItemRun, items_read, models
from equipoise.lab.experiments.loops.simulated import IdeaWorld, Loops, gated, greedy

__all__ = ["IdeaWorld", "ItemRun", "Loops", "gated", "greedy", "items_read", "models"]
