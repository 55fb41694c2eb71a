"""Sobol' points: SciPy's to the last bit, without SciPy's statistics."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc

from equipoise.spaces.candidates import spread
from equipoise.spaces.sobol import MAX_DIMENSION, scrambled

ASK = """
import sys
import numpy as np
import equipoise as eq

opt = eq.Optimizer({space}, rng=0)
for value in np.sin(np.arange(30.0)):
    opt.tell(opt.ask(), value)
opt.recommend()
print("scipy.stats" in sys.modules)
"""


def must_be_scipys(dimension, log2, seed):
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    points = scrambled(dimension, log2, ours)
    expected = qmc.Sobol(dimension, scramble=True, rng=theirs).random_base2(log2)
    assert (points.dtype, points.shape) == (expected.dtype, expected.shape)
    assert points.tobytes() == expected.tobytes()
    assert ours.bit_generator.state == theirs.bit_generator.state
    assert ours.spawn(1)[0].integers(2**60) == theirs.spawn(1)[0].integers(2**60)


@pytest.mark.parametrize("log2", range(12))
@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 21, MAX_DIMENSION])
def test_points_are_those_of_scipy(dimension, log2):
    must_be_scipys(dimension, log2, seed=dimension + log2)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, MAX_DIMENSION), st.integers(0, 11), st.integers(0, 2**64))
def test_points_are_those_of_scipy_with_any_seed(dimension, log2, seed):
    must_be_scipys(dimension, log2, seed)


def test_points_stay_those_of_scipy_where_the_sequence_is_long():
    must_be_scipys(2, 17, seed=0)


@pytest.mark.parametrize("bits", [np.random.PCG64DXSM, np.random.Philox, np.random.MT19937])
def test_points_are_those_of_scipy_with_any_generator(bits):
    points = scrambled(3, 6, np.random.Generator(bits(0)))
    assert np.array_equal(points, qmc.Sobol(3, rng=np.random.Generator(bits(0))).random_base2(6))


def test_beyond_the_table_scipy_makes_the_points():
    must_be_scipys(MAX_DIMENSION + 1, 5, seed=0)


def test_one_generator_gives_new_points_at_every_call():
    rng = np.random.default_rng(0)
    assert not np.array_equal(scrambled(2, 3, rng), scrambled(2, 3, rng))


@pytest.mark.parametrize("dimension", [1, 2, 7, MAX_DIMENSION + 1])
def test_candidates_are_what_they_were(dimension):
    """As made from SciPy's points with seed 0 and a random shift."""
    shift = np.random.default_rng(5).integers(2**53, size=dimension, dtype=np.uint64)
    sequence = (qmc.Sobol(dimension, rng=0).random_base2(8) * 2.0**53).astype(np.uint64)
    candidates = spread(dimension, 8, np.random.default_rng(5), keep=lambda u: u)
    assert np.array_equal(candidates, (sequence ^ shift) * 2.0**-53)


@pytest.mark.parametrize(
    "space",
    [
        "eq.Box([(-2, 2), (-1, 1)])",
        "eq.Space({'q': eq.Float(-2, 2), 'n': eq.Int(1, 8), 'mode': eq.Choice(['a', 'b'])})",
    ],
)
def test_a_study_does_not_import_the_statistics_of_scipy(space):
    done = subprocess.run([sys.executable, "-c", ASK.format(space=space)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
