"""`make portable` really uses other kernels, and without a warning."""

import json
import sys

import pytest

import portability
import pythons

SAME = {"Zen": {"Zen", "Haswell"}, "Prescott": {"Prescott", "Katmai", "Core2"}}
"""What OpenBLAS calls the kernels of a core, if not by its name: many builds have one for several."""


@pytest.mark.parametrize("name", portability.environments())
def test_every_environment_computes_as_it_says(name):
    kernels, features = json.loads(portability.seen(portability.environments()[name]))
    if name in portability.NEEDED:
        assert set(kernels) <= SAME.get(name, {name}) | {""}  # nameless if it is another BLAS
    else:
        assert not set(portability.DISABLED.split()) & set(features)


def test_what_is_run_exists():
    root = pythons.ROOT
    assert [name for name in (*portability.NUMERICAL, *pythons.SENSITIVE) if not (root / name).exists()] == []


def test_this_python_is_among_those_that_are_looked_for():
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in pythons.VERSIONS
