"""Worlds in step read what environments read one by one."""

import numpy as np
import pytest

from equipoise.lab.environments import BIASES, Environment, NoBias, camelback, linear
from equipoise.lab.fleet import Worlds


@pytest.mark.parametrize("bias", BIASES)
def test_readings_are_those_of_the_environments(bias):
    functions = [linear(rng=i) for i in range(3)]
    worlds = Worlds(functions, BIASES[bias](), 0.5, [7, 8, 9])
    alone = [Environment(f, BIASES[bias](), 0.5, 7 + i) for i, f in enumerate(functions)]
    rng = np.random.default_rng(0)
    for _ in range(300):  # more than a block of noise
        index = rng.integers(4, size=3)
        expected = [
            environment.measure(environment.function.points[j]) for environment, j in zip(alone, index, strict=True)
        ]
        assert worlds.measure(index).tolist() == expected
    regrets = [environment.regret(environment.function.points[j]) for environment, j in zip(alone, index, strict=True)]
    assert worlds.regret(index).tolist() == regrets


def test_worlds_of_several_biases_stand_side_by_side():
    names = ["drift", "drift", "calibration", "none", "drift"]
    biases, functions = [BIASES[name]() for name in names], [linear(rng=i) for i in range(5)]
    worlds = Worlds(functions, biases, 0.5, range(5))
    alone = [Environment(f, bias, 0.5, i) for i, (f, bias) in enumerate(zip(functions, biases, strict=True))]
    rng = np.random.default_rng(0)
    for _ in range(50):
        index = rng.integers(20, size=5)
        expected = [
            environment.measure(environment.function.points[j]) for environment, j in zip(alone, index, strict=True)
        ]
        assert worlds.measure(index).tolist() == expected


def test_a_box_is_refused():
    with pytest.raises(ValueError, match="finite domains"):
        Worlds([camelback()], NoBias(), 0.1, [0])
