"""The picture of a front."""

import matplotlib
import pytest

import equipoise as eq

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def study(objective, *others):
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), objective=objective, start={"q1": 0.3}, rng=0)
    for _ in range(14):
        trial = opt.ask()
        opt.tell(trial, {"flux": trial.x["q1"], **dict.fromkeys(others, trial.x["q1"] ** 2)})
    return opt


def test_a_front_is_drawn_along_the_two_objectives_that_are_named():
    opt = study("flux, -size, loss", "size", "loss")
    assert eq.plots.front(opt).get_ylabel() == "size, against the start"
    ax = eq.plots.front(opt, "loss", "flux")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("loss, against the start", "flux, against the start")


def test_a_study_with_one_objective_has_no_front_to_draw():
    with pytest.raises(RuntimeError, match=r"a front needs several objectives, .* this study has one"):
        eq.plots.front(study("flux"))


@pytest.mark.parametrize("along", [("flux",), ("flux", "power"), ("flux", "size", "flux")])
def test_two_objectives_must_be_named(along):
    with pytest.raises(ValueError, match="`along` must name two of the objectives flux, size, got flux"):
        eq.plots.front(study("flux, -size", "size"), *along)
