"""Importances against the known indices of functions, and readings against predictions."""

import matplotlib
import numpy as np
import pytest

import equipoise as eq
from equipoise.plots.importance import shares
from equipoise.plots.series import agreement

matplotlib.use("Agg")


class Believed:
    """Looks like a posterior that is sure of a function."""

    def __init__(self, f):
        self.mean = f


class Known:
    """Looks like a study that is sure of a function."""

    def __init__(self, space, f):
        self.space, self.posterior = space, Believed(f)


class Best:
    def __init__(self, x):
        self.x = x


def test_the_shares_of_a_sum_are_those_of_its_terms():
    space = eq.Box([(0, 1)] * 3)
    found = shares(Known(space, lambda x: 3 * x[:, 0] + 4 * x[:, 2]), Best(np.full(3, 0.5)))
    assert [each.knob.name for each in found] == ["x[2]", "x[0]", "x[1]"]
    np.testing.assert_allclose([each.total for each in found], [16 / 25, 9 / 25, 0], atol=0.05)
    np.testing.assert_allclose([each.alone for each in found], [16 / 25, 9 / 25, 0], atol=0.1)


def test_a_product_has_no_share_of_one_alone():
    space = eq.Space(a=eq.Float(-1, 1), mode=eq.Choice(["up", "down"]), t=eq.Context(0, 40))
    sign = space.encode({"a": 0.0, "mode": "up", "t": 3.0}) > 0.7
    column = int(np.flatnonzero(sign)[0])
    f = lambda x: (x[:, 0] - 0.5) * np.where(x[:, column] > 0.5, 1.0, -1.0)  # noqa: E731
    found = {each.knob.name: each for each in shares(Known(space, f), Best({"a": 0.0, "mode": "up", "t": 3.0}))}
    assert set(found) == {"a", "mode"}  # a context is not turned
    for each in found.values():
        assert each.total == pytest.approx(1.0, abs=0.1)
        assert each.alone == pytest.approx(0.0, abs=0.15)
    assert str(found["a"]).startswith("a: ")


def studied(minimize=False):
    opt = eq.Optimizer(eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1)), minimize=minimize, rng=0)
    opt.study.set("unit", "mW")
    rng = np.random.default_rng(0)
    for day in range(24):
        trial = opt.ask()
        f = -4 * (trial.x["a"] - 0.5) ** 2
        opt.tell(trial, (-f if minimize else f) + 0.1 * day + 0.01 * rng.normal())
    return opt


@pytest.mark.parametrize("minimize", [False, True])
def test_a_study_knows_which_knob_matters_and_predicts_its_readings(minimize):
    opt = studied(minimize)
    ax = eq.plots.importances(opt)
    assert ax.get_yticklabels()[0].get_text() == "a"
    assert ax.get_xlabel().endswith("/ %")
    found = agreement(opt)
    assert len(found.read) == 12
    assert np.corrcoef(found.predicted, found.read)[0, 1] > 0.9
    ax = eq.plots.predicted(opt)
    assert ax.get_xlabel() == "f(first) - f(second), estimated / mW"
    assert ax.get_ylabel() == "first reading - second / mW"


def test_before_anything_is_known_no_knob_matters():
    opt = eq.Optimizer(eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1)), rng=0)
    assert [each.total for each in shares(opt, opt.recommend())] == [0.0, 0.0]
    assert eq.plots.predicted(opt).get_title() == "Predicted and read"
    with pytest.raises(ValueError, match="`opt` must have parameters that can be turned"):
        eq.plots.importances(eq.Optimizer(eq.Finite(["a", "b"]), rng=0))
