"""Plants: what is their best setting within the limits?"""

from equipoise.lab.environments import gp_plant, townsend


def test_the_best_feasible_value_is_found_with_six_knobs_and_two_limits():
    plant = gp_plant(6, 2, rng=100)
    assert plant.best >= 2.265  # 2.0858 by small steps from the best of 8,192 random settings


def test_the_best_feasible_value_of_townsend_is_the_published_one():
    assert abs(townsend().best - 2.0239884) < 1e-5  # Townsend (2014): at (2.0052938, 1.1944509)
