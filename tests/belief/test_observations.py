"""Observations: columns that belong to points become columns that belong to data."""

import numpy as np

from equipoise.belief.observations import Observations
from equipoise.offsets import Moments


def of(weights, starts):
    n = len(starts)
    none = np.zeros(n)
    return Observations(
        np.zeros((len(weights), 1)), np.array(weights), np.array(starts), Moments(none, none), none, none
    )


def test_differences_are_combined_to_the_same_bits_as_anything_else():
    columns = np.random.default_rng(0).normal(size=(3, 6))
    for weights, starts in (
        ([1.0, -1.0] * 3, [0, 2, 4]),
        ([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], [0, 1, 4]),  # as many data as pairs, of other sizes
        ([1.0, -1.0, 0.5, -0.5, 1.0, -1.0], [0, 2, 4]),
    ):
        direct = np.add.reduceat(columns * np.array(weights), starts, axis=-1)
        assert of(weights, starts).combine(columns).tobytes() == direct.tobytes()
