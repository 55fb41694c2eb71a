"""Signs that more may be gained than the belief expects, from which a bound is calibrated (METHOD 11).

    symbol   meaning                                                        shape
    z        rivals of the leader                                           (m, d)
    q        the pivot: 95 % quantile of max_z f(z) - f(leader), as drawn   ()

All except the pivot are free of units: the same readings in volts or microvolts have the same signs.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer.regret import DRAWS, LEVEL, Held, quantile, tops
from equipoise.answer.second_opinions import holes, rescaled
from equipoise.belief import Posterior, StudyBelief

BOLD_LENGTHSCALES = 0.5
"""The lengthscales of a bolder model of the same data, in units of the learned ones."""

NEAR = 0.1
"""The largest distance of a reading that is near the leader, in units of the extent of each coordinate."""

LEAST = 1e-9
"""The least pivot, in standard deviations of f: rounding may leave nothing."""


@dataclass(frozen=True, eq=False)
class Explored:
    """The state of a study around its leader.

    Attributes:
        belief: The belief.
        leader: The recommended point, shape (d,).
        rivals: The most promising points of a search, shape (m, d).
        spread: Points from all over the space, shape (k, d).
        read: The points of the readings, in their order, shape (n, d).
        held: The rivals and the spread points that hold measured limits in each draw.
    """

    belief: StudyBelief
    leader: FloatArray
    rivals: FloatArray
    spread: FloatArray
    read: FloatArray
    held: Held


def signs(explored: Explored, rng: Generator) -> dict[str, float]:
    """Return the signs of a study by name."""
    belief, n, learned = explored.belief, len(explored.read), explored.belief.learned
    assert learned is not None
    form, prior = learned.form, learned.hyperparameters.variance**0.5 * learned.hyperparameters.step
    normals = rng.standard_normal((DRAWS, len(explored.rivals) + len(explored.spread)))  # the same for both opinions
    opinions = belief.posterior, rescaled(belief, BOLD_LENGTHSCALES, 1.0)
    q, bold = (max(_quantile(each, explored, normals), LEAST * prior) for each in opinions)
    best, *means = belief.posterior.mean(np.concatenate((explored.leader[None], explored.read)))
    near = (np.abs(explored.read - explored.leader) <= NEAR * form.extent).all(axis=1)
    return {
        "pivot": math.log(q),
        "bold": math.log(bold / q),
        "readings": math.log(n),
        "knobs": math.log(form.parameters),
        "gained": math.log1p(max(best - max(means[: max(n // 2, 1)]), 0.0) / q),
        "near": float(near.mean()),
        "noise": 0.5 * math.log(learned.hyperparameters.noise / learned.hyperparameters.variance),
        "unsure": math.log(q / prior),
        "holes": float(holes(belief, explored.spread)[1].mean()),
    }


def _quantile(posterior: Posterior, explored: Explored, normals: FloatArray) -> float:
    rivals = np.concatenate((explored.rivals, explored.spread))
    return quantile(tops(posterior, explored.leader, rivals, normals, explored.held), LEVEL)
