"""Readings far below the best one: their compression, and differences after it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.likelihoods import Compression, compressions

READINGS = np.array([0.5, 0.0, -0.1, -1.0, -30.0, -4e5])
SOME = Compression(2.0)


def test_near_the_best_it_is_the_reading_and_far_below_its_logarithm():
    u = SOME(READINGS)
    assert u[:2].tolist() == [0.5, 0.0]
    assert (np.diff(u) < 0).all()
    assert u[2] == pytest.approx(-0.1, rel=0.05)
    assert u[-1] == pytest.approx(-2.0 * np.log(2e5), rel=1e-4)


def test_it_can_be_undone():
    assert SOME.undone(SOME(READINGS)) == pytest.approx(READINGS, rel=1e-9)


def test_the_slope_is_that_of_the_readings():
    y, h = READINGS[2:5], 1e-5
    slope = (SOME(y + h) - SOME(y - h)) / (2 * h)
    assert SOME.log_slope(y) == pytest.approx(float(np.log(slope).sum()), rel=1e-5)


@given(st.floats(-50, 0), st.floats(-50, 0))
def test_a_difference_of_compressed_readings_is_that_of_the_readings(a, b):
    """If the better setting is where it is believed to be."""
    u, v = SOME(np.array([a, b]))
    assert SOME.difference(float(u - v), np.array([-u, -v])) == pytest.approx(a - b, abs=1e-6)


def test_what_is_not_known_stays_so():
    assert SOME.difference(-np.inf, np.array([0.0, 1.0])) == -np.inf


def test_only_skewed_readings_may_be_compressed():
    rng = np.random.default_rng(0)
    assert not compressions(-np.linspace(0, 1, 30))
    assert not compressions(np.zeros(5))
    assert compressions(-np.exp(rng.normal(size=30) * 3))


@pytest.mark.parametrize("scale", [np.nan, 0.0, -1.0])
def test_what_cannot_be_is_refused(scale):
    with pytest.raises(ValueError, match="`scale` must"):
        Compression(scale)
