"""The measurable settings of a study with failed trials or limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.spaces import Restricted

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.answer.recommendation import Standing
    from equipoise.spaces import Domain


def reliable_settings(space: Domain, standing: Standing) -> FloatArray:
    """Return the settings that were read and do not fail more often than not, shape (k, d)."""
    feasibility = standing.feasibility
    if feasibility is None or not len(feasibility.reliable):
        return np.empty((0, space.dimension))
    here = space.snap(feasibility.reliable)
    return here[(space if standing.attainable is None else standing.attainable).valid(here)]


def measurable(space: Domain, standing: Standing) -> Domain:
    """Return the measurable part of the space; all of it if no trial failed or no setting is known to be reliable."""
    if standing.attainable is not None:
        return standing.attainable
    feasibility = standing.feasibility
    if feasibility is None or feasibility.certain or not len(feasibility.reliable):
        return space
    return Restricted(space, feasibility.allows)


def claimable(space: Domain, standing: Standing) -> Domain:
    """Return the part of the space that claims cover: the measurable part, or the settings that may hold the limits."""
    return measurable(space, standing) if standing.doubtful is None else standing.doubtful.part
