"""Xopt: steps of any size, dump and resume in the middle of a duel, and a name to be found by."""

import math

import pytest

pytest.importorskip("xopt", reason="needs the extra `xopt`")
pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.filterwarnings("ignore:.*pandas.*")]

from gest_api.vocs import ContextualVariable  # noqa: E402
from xopt import VOCS, Evaluator, Xopt  # noqa: E402
from xopt.errors import VOCSError  # noqa: E402
from xopt.generators import get_generator  # noqa: E402

import equipoise as eq  # noqa: E402
from equipoise.integrations.xopt import NotCompared, XoptDuelGenerator  # noqa: E402

READINGS = [0]


def f(point):
    return -4 * (point["x"] - 0.7) ** 2 - (point["y"] - 0.2) ** 2


def measure(point):
    """Drifts by far more than f varies."""
    assert "_id" not in point  # a control system would take it for a knob
    READINGS[0] += 1
    return {"f": f(point) + 0.2 * READINGS[0]}


def vocs(**fields):
    return VOCS(**{"variables": {"x": [0, 1], "y": [-1, 1]}, "objectives": {"f": "MAXIMIZE"}} | fields)


def make(function=measure, **fields):
    generator = XoptDuelGenerator(vocs=vocs(**fields), seed=0)
    return Xopt(generator=generator, evaluator=Evaluator(function=function))


def test_it_is_registered_on_import():
    assert get_generator("duel") is XoptDuelGenerator


@pytest.mark.parametrize(("size", "steps"), [(1, 60), (3, 20), (4, 15)])
def test_finds_the_best_point_in_steps_of_any_size(size, steps):
    X = make()
    for _ in range(steps):
        X.evaluate_data(X.generator.generate(size))
    (best,) = X.generator.get_best_points()
    assert f(best) > -0.05
    assert X.generator.recommend().readings == len(X.data) == 60
    assert math.isfinite(X.generator.recommend().gap_bound)
    lucky = X.data.iloc[int(X.data["f"].argmax())]
    assert lucky.name >= 50  # the drift decides who is best of all readings


@pytest.mark.parametrize("steps", [1, 7, 8])
def test_a_study_is_dumped_and_resumed_in_the_middle_of_a_duel(tmp_path, steps):
    READINGS[0] = 0
    X = make()
    for _ in range(steps):
        X.step()
    X.dump(str(tmp_path / "study.yaml"))
    again = Xopt.from_file(str(tmp_path / "study.yaml"))
    assert again.generator.seed == X.generator.seed
    assert len(again.data) == steps
    ours, theirs = X.generator.generate(3), again.generator.generate(3)
    assert ours == theirs
    again.generator.add_data(again.evaluator.evaluate_data(theirs))
    assert again.generator.recommend().readings == steps + 3


def test_what_was_generated_and_never_measured_is_generated_again():
    X = make()
    X.step()
    lost = X.generator.generate(4)
    again = Xopt.from_yaml(X.yaml())
    assert again.generator.generate(5)[:4] == lost


def test_a_study_without_data_begins_anew_within_other_ranges():
    X = make()
    X.step()
    config = X.dict()
    assert config["generator"]["events"]
    X.generator.set_data(X.data.iloc[0:0])
    X.generator.vocs.variables = {"x": [5, 6], "y": [0, 1]}
    (point,) = X.generator.generate(1)
    assert 5 <= point["x"] <= 6


@pytest.mark.filterwarnings("ignore::equipoise.study.DuelGivenUp")
def test_a_failed_row_is_dropped_with_its_duel():
    READINGS[0] = 0
    X = make(function=broken)
    X.strict = False
    for _ in range(20):
        X.step()
    records = X.generator.study.optimizer.records()
    assert [r.failed is not None for r in records].count(True) == 2
    assert sum(r.void for r in records) >= 2
    assert len(X.generator.study.optimizer.study.open_trials) == 0


def broken(point):
    result = measure(point)
    if READINGS[0] in (6, 11):
        raise ValueError("no beam")
    return result


def test_what_was_measured_elsewhere_is_said_to_teach_nothing():
    X = make()
    with pytest.warns(NotCompared, match="not suggested"):
        X.random_evaluate(1)
    assert X.generator.study.optimizer.readings == 0


def test_constants_and_discrete_variables():
    X = make(function=steps_of_y, variables={"x": [0, 1], "y": {-1, 0.2, 1}}, constants={"mode": 3})
    for _ in range(40):
        X.step()
    (best,) = X.generator.get_best_points()
    assert best["y"] == 0.2
    assert best["mode"] == 3


def steps_of_y(point):
    return measure({"x": point["x"], "y": point["y"]})


def several(point):
    READINGS[0] += 1
    drift = 0.2 * READINGS[0]
    return {"f": f(point) + drift, "loss": point["x"] - drift, "size": point["y"], "spare": 7.0}


def test_constraints_several_objectives_and_limits_against_the_start_are_kept():
    """The limit on `loss`, which drifts by 0.2 a reading, is about what it is above the start."""
    fields = vocs(constraints={"size": ["LESS_THAN", 0.0]}, observables=["loss", "spare"])
    generator = XoptDuelGenerator(vocs=fields, seed=0, start={"x": 0.2, "y": -0.5}, limits=["loss <= start + 0.3"])
    X = Xopt(generator=generator, evaluator=Evaluator(function=several))
    for _ in range(41):
        X.step()
    best = X.generator.get_best_points()[0]
    assert 0.4 < best["x"] <= 0.5
    assert -0.15 < best["y"] <= 0
    assert [each.limit for each in X.generator.recommend().usability.limits] == ["size <= 0", "loss <= start + 0.3"]
    again = Xopt.from_yaml(X.yaml())
    assert again.generator.get_best_points() == [best]
    fields = vocs(objectives={"f": "MAXIMIZE", "size": "MINIMIZE"})
    X = Xopt(generator=XoptDuelGenerator(vocs=fields, seed=0), evaluator=Evaluator(function=several))
    for _ in range(40):
        X.step()
    assert len(X.generator.get_best_points()) > 2


def test_problems_it_cannot_solve_are_refused():
    with pytest.raises(VOCSError, match="no objectives"):
        XoptDuelGenerator(vocs=vocs(objectives={}))
    generator = XoptDuelGenerator(vocs=vocs(observables=["loss"]), start={"x": 0, "y": 0}, limits=["los <= start"])
    with pytest.raises(ValueError, match="`limits` must name numbers that `vocs` measures, got los"):
        generator.generate(1)


def test_the_order_inside_a_duel_is_random():
    generator = XoptDuelGenerator(vocs=vocs(), seed=1)
    signs = []
    for _ in range(20):
        generator.generate(2)
        signs.append(generator.study.journal.events[-2]["signs"][0])
    assert {1.0, -1.0} == set(signs)
    assert isinstance(generator.study.optimizer.study.setup.offset, eq.Tracked)


def observed(point):
    """The best x is where a thermometer beside it says; nobody sets that."""
    assert "t" not in point
    READINGS[0] += 1
    t = 20 + 15 * math.sin(READINGS[0] / 6)
    return {"f": -4 * (point["x"] - t / 40) ** 2 - (point["y"] - 0.2) ** 2 + 0.2 * READINGS[0], "t": t}


def test_a_contextual_variable_is_observed_and_the_best_point_follows_it():
    READINGS[0] = 0
    X = make(observed, variables={"x": [0, 1], "y": [-1, 1], "t": ContextualVariable(domain=[0, 40])})
    for _ in range(70):
        X.step()
    now = X.data["t"].iloc[-1]
    (best,) = X.generator.get_best_points()
    assert best["t"] == pytest.approx(now)
    assert 4 * (best["x"] - now / 40) ** 2 + (best["y"] - 0.2) ** 2 < 0.05
    assert Xopt.from_yaml(X.yaml()).generator.get_best_points() == [best]
