"""gest-api: suggest and ingest by id; whatever a runner does with a batch, no duel is torn or mixed up."""

import math
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("gest_api", reason="needs the extra `gest`")

from gest_api import Generator
from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable

import equipoise as eq
from equipoise.integrations.gest import DuelGenerator, NotCompared
from equipoise.integrations.vocs import VocsProblem

given_up = pytest.mark.filterwarnings("ignore::equipoise.study.DuelGivenUp")


def vocs(goal="MAXIMIZE", **fields):
    return VOCS(**{"variables": {"x": [0, 1], "y": [-1, 1]}, "objectives": {"f": goal}} | fields)


def f(point):
    return -4 * (point["x"] - 0.7) ** 2 - (point["y"] - 0.2) ** 2


class Runner:
    """Measures in the order of suggestion, with a drift, and reports as told to."""

    def __init__(self, generator, sign=1, drift=0.1):
        self.generator, self.sign, self.drift, self.readings = generator, sign, drift, 0

    def measure(self, point):
        self.readings += 1
        return point | {"f": self.sign * f(point) + self.drift * self.readings}

    def run(self, sizes, order=None):
        for size in sizes:
            rows = [self.measure(point) for point in self.generator.suggest(size)]
            self.generator.ingest(rows if order is None else [rows[i] for i in order.permutation(len(rows))])
        return self


def test_it_is_a_generator_of_the_standard():
    generator = DuelGenerator(vocs(constants={"mode": "fast"}), rng=0)
    assert isinstance(generator, Generator)
    assert DuelGenerator.returns_id
    points = generator.suggest(3)
    assert [list(point) for point in points] == [["x", "y", "mode", "_id"]] * 3
    assert [point["_id"] for point in points] == [0, 1, 2]
    assert len(generator.suggest(None)) == len(generator.suggest()) == 1
    assert generator.suggest(0) == []
    with pytest.raises(ValueError, match="`num_points` must be at least 0"):
        generator.suggest(-1)
    generator.finalize()


@pytest.mark.parametrize(("goal", "sign"), [("MAXIMIZE", 1), ("MINIMIZE", -1)])
def test_finds_the_best_point_under_a_drift_larger_than_the_signal(goal, sign):
    generator = DuelGenerator(vocs(goal, constants={"mode": 3}), rng=0)
    Runner(generator, sign).run([2] * 30)
    (best,) = generator.get_best_points()
    assert f(best) > -0.05
    assert best["mode"] == 3
    assert generator.recommend().readings == 60
    assert math.isfinite(generator.recommend().gap_bound)


@pytest.mark.parametrize("sizes", [[1] * 24, [3] * 8, [5, 1, 1, 4, 2, 7, 3, 1], [24]])
def test_batches_of_any_size_come_in_whole_duels(sizes):
    """The halves of a duel have successive ids, and a half that is open comes first in the next batch."""
    generator = DuelGenerator(vocs(), rng=1)
    Runner(generator).run(sizes)
    records = generator.optimizer.records()
    assert [record.trial for record in records] == list(range(24))
    assert [record.duel for record in records] == [i // 2 for i in range(24)]
    assert generator.optimizer.study.open_trials == ()


def test_the_order_of_the_rows_does_not_matter():
    shuffled, plain = DuelGenerator(vocs(), rng=2), DuelGenerator(vocs(), rng=2)
    Runner(shuffled).run([5, 3, 6, 5], np.random.default_rng(0))
    Runner(plain).run([5, 3, 6, 5])
    assert shuffled.suggest(4) == plain.suggest(4)


@given_up
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "no number", "missing"])
@pytest.mark.parametrize("half", [0, 1])
def test_a_failed_row_is_dropped_with_its_duel(value, half):
    generator = DuelGenerator(vocs(), rng=3)
    runner = Runner(generator).run([4, 4])
    before = generator.optimizer.posterior
    rows = [runner.measure(point) for point in generator.suggest(2)]
    rows[half]["f"] = value
    if value == "missing":
        del rows[half]["f"]
    with pytest.warns(eq.DuelGivenUp, match="failed"):
        generator.ingest(rows)
    known = generator.optimizer.records()
    assert [record.void for record in known] == [False] * 8 + [True] * 2
    assert generator.optimizer.posterior.comparisons <= before.comparisons + 1
    runner.run([3, 3])
    assert generator.recommend().readings == 15


@given_up
def test_a_failed_half_takes_the_waiting_one_with_it():
    generator = DuelGenerator(vocs(), rng=3)
    (first,) = generator.suggest(1)
    generator.ingest([first | {"f": math.nan}])
    points = generator.suggest(2)
    assert [point["_id"] for point in points] == [2, 3]  # not the other half of what is given up


def test_unknown_ids_are_refused_before_anything_is_learned():
    generator = DuelGenerator(vocs(), rng=4)
    rows = [point | {"f": 1.0} for point in generator.suggest(2)]
    for wrong in (2, -1, 0.5, "0"):
        with pytest.raises(ValueError, match="`_id` must be that of a suggested point"):
            generator.ingest([rows[0], rows[1] | {"_id": wrong}])
    assert generator.optimizer.readings == 0
    generator.ingest([{key: np.float64(value) for key, value in rows[0].items()}])
    generator.ingest(rows)  # the first is known
    assert generator.optimizer.readings == 2
    with pytest.raises(ValueError, match=r"must stay 1.0, as told before, got 2.0"):
        generator.ingest([rows[0] | {"f": 2.0}])


@pytest.mark.parametrize("row", [{}, {"_id": None}, {"_id": math.nan}])
def test_what_was_measured_elsewhere_is_said_to_teach_nothing(row):
    generator = DuelGenerator(vocs(), rng=5)
    with pytest.warns(NotCompared, match="without `_id` belongs to no duel"):
        generator.ingest([{"x": 0.5, "y": 0.5, "f": 1.0} | row])
    assert generator.optimizer.readings == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"objectives": {}}, "must have an objective, got none"),
        ({"objectives": {"f": "EXPLORE"}}, "to minimize or to maximize, got ExploreObjective"),
        (
            {"variables": {"x": [0, 1], "t": "CONTEXTUAL"}},
            "must give 't' a domain of two finite numbers, got",
        ),
        ({"variables": {"x": ContinuousVariable(domain=[0, 1], dtype=(float, (3,)))}}, "of single numbers, got 'x'"),
    ],
)
def test_problems_it_cannot_solve_are_refused(fields, message):
    with pytest.raises(ValueError, match=r"`vocs` must") as refusal:
        DuelGenerator(vocs(**fields))
    assert message in str(refusal.value)


def test_discrete_variables_are_searched_in_order_or_as_choices():
    mixed = vocs(variables={"x": [0, 1], "n": {8, 1, 2.5}, "lens": {"out", "in"}, "only": {7}})
    problem = VocsProblem(mixed)
    assert problem.space.parameters == {"x": eq.Float(0, 1), "n": eq.Int(0, 2), "lens": eq.Choice([0, 1])}
    generator = DuelGenerator(mixed, rng=0)
    for k in range(25):
        points = generator.suggest(2)
        assert all({p["n"]} <= {1, 2.5, 8} and p["lens"] in ("in", "out") and p["only"] == 7 for p in points)
        generator.ingest([p | {"f": (p["lens"] == "in") - abs(p["n"] - 2.5) - p["x"] + k} for p in points])
    (best,) = generator.get_best_points()
    assert best == {"x": pytest.approx(0, abs=0.05), "n": 2.5, "lens": "in", "only": 7}
    assert {"n = 2.5", "lens = in", "only = 7"} <= set(str(generator.recommend()).split("\n")[0].split(", "))


def test_values_that_are_a_set_have_the_same_order_in_every_process():
    script = (
        "from gest_api.vocs import VOCS; from equipoise.integrations.gest import DuelGenerator; "
        "v = VOCS(variables={'x': [0, 1], 'c': set('abcdefgh')}, objectives={'f': 'MINIMIZE'}); "
        "print(DuelGenerator(v, rng=0).suggest(6))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in "12"
    ]
    assert runs[0].stdout == runs[1].stdout


def test_a_log_that_exists_is_taken_up_and_what_was_never_read_is_suggested_again(tmp_path):
    log = tmp_path / "study.jsonl"
    generator = DuelGenerator(vocs(), log=log, rng=6)
    Runner(generator).run([4, 3])
    lost = generator.suggest(4)  # the other half of a duel, a duel, and half of one: the process dies
    again = DuelGenerator(vocs(), log=log)
    assert again.optimizer.readings == 7
    assert again.suggest(5)[:4] == lost
    with pytest.raises(ValueError, match="got another one"):
        DuelGenerator(vocs("MINIMIZE"), log=log)
    with pytest.raises(ValueError, match="`space` must be the one the log describes"):
        DuelGenerator(vocs(variables={"x": [0, 2]}), log=log)


def test_parts_of_the_optimizer_may_be_given():
    generator = DuelGenerator(vocs(), reduction=eq.OnePoint(eq.BestForecaster()), rng=7)
    Runner(generator, drift=0.01).run([1] * 20)
    assert {record.duel for record in generator.optimizer.records()} == set(range(20))


def test_a_contextual_variable_is_observed_and_the_best_point_follows_it(tmp_path):
    variables = {"x": [0, 1], "t": ContextualVariable(domain=[0, 40])}
    vocs = VOCS(variables=variables, objectives={"f": "MAXIMIZE"})
    log = tmp_path / "beam.jsonl"
    generator = DuelGenerator(vocs, log=log, rng=0)
    assert generator.context == {"t": 20.0}  # nothing is known of it
    for k in range(25):
        points = generator.suggest(2)
        assert all(set(point) == {"x", "_id"} for point in points)
        t = 20 + 15 * math.sin(k / 3)
        rows = [p | {"t": t, "f": -4 * (p["x"] - t / 40) ** 2 + 0.1 * p["_id"]} for p in points]
        generator.ingest(rows[::-1])
        assert generator.context["t"] == pytest.approx(t)
    (best,) = generator.get_best_points()
    assert best["t"] == pytest.approx(t)
    assert best["x"] == pytest.approx(t / 40, abs=0.1)
    assert DuelGenerator(vocs, log=log).get_best_points() == [best]


def test_a_context_that_a_row_does_not_say_is_the_one_it_was_suggested_at():
    vocs = VOCS(variables={"x": [0, 1], "t": ContextualVariable(domain=[0, 40])}, objectives={"f": "MAXIMIZE"})
    generator = DuelGenerator(vocs, rng=0)
    first, second = generator.suggest(2)
    generator.ingest([first | {"f": 0.1, "t": 30.0}, second | {"f": 0.2, "t": math.nan}])
    assert [record.x["t"] for record in generator.optimizer.records()] == [30.0, 20.0]
    with pytest.raises(ValueError, match=r"`x\['t'\]` must lie within \[0.0, 40.0\], got 50.0"):
        generator.ingest([generator.suggest()[0] | {"f": 0.1, "t": 50.0}])


def test_a_generator_has_blocks(tmp_path):
    vocs = VOCS(variables={"x": [0, 1]}, objectives={"f": "MAXIMIZE"})
    generator = DuelGenerator(vocs, log=tmp_path / "study.jsonl", rng=0, block="monday")
    generator.ingest([p | {"f": p["x"]} for p in generator.suggest(2)])
    again = DuelGenerator(vocs, log=tmp_path / "study.jsonl", block="tuesday")
    again.ingest([p | {"f": p["x"]} for p in again.suggest(2)])
    again.ingest([p | {"f": p["x"], "block": "wednesday"} for p in again.suggest(2)])
    blocks = [record.block for record in again.optimizer.records()]
    assert blocks == ["monday"] * 2 + ["tuesday"] * 2 + ["wednesday"] * 2


def test_objectives_and_constraints_are_those_of_the_study(tmp_path):
    vocs = VOCS(
        variables={"x": [0, 1]},
        objectives={"f": "MAXIMIZE", "g": "MINIMIZE"},
        constraints={"c": ["LESS_THAN", 0.75], "d": ["BOUNDS", -1, 1], "e": ["GREATER_THAN", -2.5]},
        observables={"o"},
    )
    log = tmp_path / "study.jsonl"
    generator = DuelGenerator(vocs, log=log, rng=0)
    setup = generator.optimizer.study.setup
    assert setup.objective == "f, -g"
    assert setup.limits == ("c <= 0.75", "d >= -1", "d <= 1", "e >= -2.5")
    for _ in range(30):
        rows = []
        for point in generator.suggest(2):
            x = point["x"]
            d = None if point["_id"] == 5 else x - 1
            rows.append(point | {"f": x, "g": x * x, "c": x, "d": d, "e": x, "o": 7.0})
        generator.ingest(rows)
    best = [point["x"] for point in generator.get_best_points()]
    assert len(best) > 3
    assert max(best) <= 0.75
    assert generator.optimizer.records()[5].values.keys() == {"f", "g", "c", "e"}
    again = DuelGenerator(vocs, log=log)
    assert again.get_best_points() == generator.get_best_points()
    with pytest.raises(ValueError, match="got another one"):
        DuelGenerator(vocs.model_copy(update={"constraints": {}}), log=log)


def test_limits_against_the_start_are_of_observables_too(tmp_path):
    vocs, log = VOCS(variables={"x": [0, 1]}, objectives={"f": "MAXIMIZE"}, observables={"loss"}), tmp_path / "s.jsonl"
    generator = DuelGenerator(vocs, log=log, rng=0, start={"x": 0.2}, limits=["loss <= start + 0.3"])
    for _ in range(20):
        points = generator.suggest(2)
        generator.ingest([p | {"f": p["x"] + 0.1 * p["_id"], "loss": p["x"] - 0.1 * p["_id"]} for p in points])
    assert 0.45 < generator.get_best_points()[0]["x"] <= 0.5
    assert generator.recommend().usability.limits[0].limit == "loss <= start + 0.3"
    assert DuelGenerator(vocs, log=log, limits=["loss <= start + 0.3"]).optimizer.readings == 40
    with pytest.raises(ValueError, match="got another one"):
        DuelGenerator(vocs, log=log)
    with pytest.raises(ValueError, match="`limits` must name numbers that `vocs` measures, got lost"):
        DuelGenerator(vocs, limits=["lost <= 3"])
