"""The rules for biases."""

import copy
import pickle
from collections.abc import Collection, Iterator

import numpy as np

from equipoise.lab.environments import Bias, Environment, linear
from equipoise.testing.rule import has, obeys, require, rules_of
from equipoise.testing.shared_rules import pickles

READINGS = 60
"""The readings of a run: more than a calibration averages, or a block has."""


def check_bias(bias: Bias, *, without: Collection[str] = ()) -> None:
    """Check a bias against the rules for biases.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_bias(eq.lab.environments.Drift(slope=-0.3))
    """
    obeys(bias, RULES, without)


def starts_a_process(bias: Bias) -> None:
    """It starts a process that gives an offset, without seeing the point, and records readings."""
    process = bias.start(np.random.default_rng(0))
    has(process, ("offset", "record"))
    process.offset()


def gives_numbers(bias: Bias) -> None:
    """Every offset is a finite float."""
    for offset in _run(bias):
        require(isinstance(offset, float) and np.isfinite(offset), f"an offset {offset!r}")


def is_fixed_before_the_point(bias: Bias) -> None:
    """The offset of a reading depends on earlier readings, not on the present setting."""
    for readings in (0, 1, 7, 30):
        first, second = (_environment(bias, readings) for _ in range(2))
        a, b = first.function.points[:2] if first.function.points is not None else (np.zeros(4), np.ones(4))
        first.measure(a)
        second.measure(b)
        found = [each.history[-1].offset for each in (first, second)]
        require(found[0] == found[1], f"offsets {found} for two points, after {readings} readings")


def depends_on_its_stream_alone(bias: Bias) -> None:
    """The same stream and the same readings give the same offsets, and simultaneous runs are independent."""
    alone = list(_run(bias))
    side_by_side = list(zip(_run(bias), _run(bias, seed=5), strict=True))
    require(alone == [offset for offset, _ in side_by_side], "another run, or an earlier one, changes its offsets")


def goes_on_from_a_copy(bias: Bias) -> None:
    """A run that is copied or pickled halfway continues in the same way."""
    environment = _environment(bias, READINGS // 2)
    twins = [copy.deepcopy(environment), pickle.loads(pickle.dumps(environment))]
    x = environment.function.maximizer
    expected = [environment.measure(x) for _ in range(20)]
    for twin in twins:
        require([twin.measure(x) for _ in range(20)] == expected, "the copy continues in another way")


def is_a_value(bias: Bias) -> None:
    """It is frozen configuration: equal to its copy, and unchanged by a run."""
    before = copy.deepcopy(bias)
    for _ in _run(bias):
        pass
    require(bias == before, "it differs from its copy, or a run has changed it")
    require(hash(bias) == hash(before), "it has another hash than its copy")


RULES = rules_of(__name__, pickles)
"""The rules for a bias."""


def _environment(bias: Bias, readings: int) -> Environment:
    """Return an environment after readings at random points."""
    environment = Environment(linear(rng=0), bias, noise=0.3, rng=0)
    for _ in _measured(environment, 1, readings):
        pass
    return environment


def _run(bias: Bias, seed: int = 0) -> Iterator[float]:
    """Yield the offsets of a run at random points."""
    return _measured(Environment(linear(rng=0), bias, noise=0.3, rng=seed), seed + 1, READINGS)


def _measured(environment: Environment, seed: int, readings: int) -> Iterator[float]:
    points = environment.function.points
    assert points is not None
    for i in np.random.default_rng(seed).integers(len(points), size=readings):
        environment.measure(points[i])
        yield environment.history[-1].offset
