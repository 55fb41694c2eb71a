"""The search for candidates in a study with several objectives."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import hypervolume
from equipoise.lab.environments import PlantReadings, RandomWalk, zdt1
from equipoise.study.outputs.steering import climbed

TOP = np.array([0.2, 0.9, 0.4, 0.7, 0.1, 0.6])


def nearness(points):
    return -np.linalg.norm(points - TOP, axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_candidates_are_found_near_the_top_of_a_score(seed):
    space, rng = eq.Box([(0, 1)] * 6), np.random.default_rng(seed)
    points = space.candidates(rng)
    found = climbed(space, points, nearness, rng)
    assert np.array_equal(found[: len(points)], points)
    assert nearness(found).max() > 0.5 * nearness(points).max(), "half as far from the top"


def test_what_is_searched_stays_in_the_space():
    space, rng = eq.Box([(0, 1)] * 6, constraint="x[0] + x[1] <= 1"), np.random.default_rng(0)
    found = climbed(space, space.candidates(rng), nearness, rng)
    assert space.valid(found).all()


def test_a_front_reaches_the_true_one_though_its_ends_lie_at_bounds():
    """On ZDT1 three of four knobs are at their bounds all over the front: random candidates are never there."""
    plant = zdt1()
    readings = PlantReadings(plant, RandomWalk(0.03), noise=0.01, rng=1)
    opt = eq.Optimizer(eq.Box(plant.bounds), objective=plant.objective, start=plant.start, rng=1)
    for _ in range(60):
        trial = opt.ask()
        opt.tell(trial, readings.measure(trial.x))
    found = plant.values(np.array([point.x for point in opt.front(tolerance=1.0)]))
    whole = 5 + 2 / 3 + 0.6  # the area above 1 - sqrt(f1) for f1 in [0, 1], and up to 1.1, below 6
    assert hypervolume(found, np.array([-1.1, -6.0])) > 0.94 * whole
