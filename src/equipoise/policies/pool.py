"""The points that a policy chooses from: all points of a finite set; elsewhere those that a search finds."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Posterior
from equipoise.policies.search import Score, measured, search
from equipoise.spaces import Domain


def candidates(space: Domain, posterior: Posterior, scores: Sequence[Score] | None, rng: Generator) -> FloatArray:
    """Return the points to choose from, shape (m, d): all points of the space, or those found by climbing the scores.

    The policy maximizes the scores besides the posterior mean; `None` if it needs no search.
    """
    if posterior.points is not None:
        part = space.points is not None and len(space.points) < len(posterior.points)
        return space.points if part and space.points is not None else posterior.points
    everywhere = space.candidates(rng)
    if everywhere is space.points:
        return everywhere
    if scores is not None:
        return search(space, posterior, scores, everywhere, rng)
    known = measured(space, posterior)
    return np.concatenate((known, everywhere)) if len(known) else everywhere
