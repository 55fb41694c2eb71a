import numpy as np
import pytest

from equipoise.lab.environments import gp_draw, peak, styblinski_tang, two_bumps


@pytest.mark.parametrize("seed", range(8))
def test_the_narrow_bump_is_the_higher_and_they_are_apart(seed):
    function = two_bumps(rng=seed)
    narrow, broad = function.evaluate.centers
    assert np.linalg.norm(narrow - broad) >= 0.5
    assert function(narrow) > 3 * function(broad)
    assert np.linalg.norm(function.maximizer - narrow) < 0.05


@pytest.mark.parametrize("seed", range(8))
def test_a_peak_has_its_width_at_half_its_height(seed):
    function = peak(dimension=3, height=5.0, rng=seed)
    (center,), (sigma,) = function.evaluate.centers, function.evaluate.widths
    full = sigma * np.sqrt(8 * np.log(2))
    assert ((full >= 0.22) & (full <= 0.33)).all()
    for j in range(3):
        x = center.copy()
        x[j] += full[j] / 2
        assert function(x) == pytest.approx(2.5)


def test_bumps_of_one_seed_are_the_same():
    x = np.random.default_rng(0).random((20, 2))
    assert (two_bumps(rng=3)(x) == two_bumps(rng=3)(x)).all()
    assert (two_bumps(rng=3)(x) != two_bumps(rng=4)(x)).any()


def test_what_is_not_a_width_is_refused():
    with pytest.raises(ValueError, match="sigma"):
        two_bumps(sigma=0.0)
    with pytest.raises(ValueError, match="height"):
        peak(height=-1.0)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_styblinski_tang_is_a_sum_over_coordinates(dimension):
    x = np.random.default_rng(0).uniform(-5, 5, (10, dimension))
    expected = sum(styblinski_tang(1)(x[:, j : j + 1]) for j in range(dimension))
    assert styblinski_tang(dimension)(x) == pytest.approx(expected)


@pytest.mark.parametrize("smoothness", [1.5, 2.5])
def test_a_matern_draw_has_the_covariance_of_its_kernel(smoothness):
    from equipoise.kernels import Matern32, Matern52

    points = np.array([[0.0], [0.1], [0.3], [0.8]])
    draws = [gp_draw(points=points, lengthscale=0.3, smoothness=smoothness, rng=seed)(points) for seed in range(3000)]
    kernel = Matern32(0.3) if smoothness == 1.5 else Matern52(0.3)
    assert np.cov(np.array(draws).T) == pytest.approx(kernel(points, points), abs=0.08)


def test_a_smoothness_must_be_positive():
    with pytest.raises(ValueError, match="smoothness"):
        gp_draw(points=[[0.0]], smoothness=0.0)
