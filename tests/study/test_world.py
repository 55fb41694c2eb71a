"""Prior knowledge: blocks, covariates, feedback, earlier campaigns."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import equipoise as eq
from equipoise.offsets import LAST_READING
from equipoise.study import Estranged

SPACE = eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1))


def f(x, at=(0.7, 0.3)):
    return -4.0 * ((x["a"] - at[0]) ** 2 + (x["b"] - at[1]) ** 2)


def run(opt, n, measure):
    for _ in range(n):
        trial = opt.ask()
        opt.tell(trial, **measure(trial.x, opt.readings))
    return opt


def modeled(opt):
    return opt.study.belief.learned


def law(opt):
    return {each.name for each in modeled(opt).form.law.hyperparameters}


def test_a_level_for_each_block_is_learned_at_once():
    rng = np.random.default_rng(0)
    levels = {name: 50.0 * rng.normal() for name in "abcde"}
    opt = eq.Optimizer(SPACE, rng=0)
    for name, level in levels.items():
        opt.begin_block(name)
        run(opt, 8, lambda x, t, level=level: {"value": f(x) + level + 0.02 * rng.normal()})
    assert opt.study.block == "e"
    assert {"block", "effect"} <= law(opt)
    assert f(opt.recommend().x) > -0.05
    _, offsets = opt.study.belief.offsets(SPACE.encode(opt.recommend().x))
    expected = np.repeat([levels[name] for name in "abcde"], 8)
    assert np.abs(offsets - offsets.mean() - expected + expected.mean()).max() < 0.5


def test_many_readings_of_one_day_make_nothing_as_sure_as_several_days():
    def bound(days):
        rng = np.random.default_rng(1)
        opt = eq.Optimizer(SPACE, rng=1)
        for t in range(60):
            opt.begin_block(f"day {t // 2 * days // 30}")
            trial = opt.ask()
            opt.tell(trial, f(trial.x) + 0.02 * rng.normal())
        a, b = SPACE.encode({"a": 0.7, "b": 0.3}), SPACE.encode({"a": 0.2, "b": 0.8})
        return float(modeled(opt).exact.difference(a[None], b)[1][0])

    assert bound(1) > 2 * bound(10)


def test_the_present_block_is_an_event_and_told_readings_name_it(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, log=path, block="monday", rng=0)
    opt.tell(opt.ask(), 1.0)
    opt.tell(opt.ask(worker="w1"), 1.5)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(), 2.0, block="tuesday", covariates={"humidity": 0.4, "mood": None})
    again = eq.Optimizer.open(path, SPACE, block="wednesday")
    again.begin_block("wednesday")  # no news
    again.tell(again.ask(), 3.0)
    text = path.read_text()
    assert text.count('"begin":"monday"') == text.count('"begin":"wednesday"') == 1
    assert '"block":"monday, w1"' in text
    assert '"covariates":{"humidity":0.4}' in text
    assert [r.block for r in again.records()] == ["monday", "monday, w1", "tuesday", "wednesday"]
    assert again.records()[2].covariates == {"humidity": 0.4}
    assert LAST_READING not in text
    resumed = eq.resume(path)
    assert resumed.study.block == "wednesday"
    assert resumed.study.propose().points.tobytes() == again.study.propose().points.tobytes()


def test_halves_in_different_blocks_are_no_comparison():
    opt = eq.Optimizer(SPACE, rng=0, block="a")
    opt.tell(opt.ask(), 1.0)
    with pytest.warns(eq.DuelGivenUp, match="in different blocks"):
        opt.tell(opt.ask(), 100.0, block="b")


def test_a_covariate_larger_than_the_signal_is_learned():
    rng = np.random.default_rng(2)

    def measure(x, t):
        temperature = 293.0 + rng.normal()
        told = {} if t % 7 == 3 else {"temperature": temperature}
        return {"value": f(x) + 5.0 * (temperature - 293.0) + 0.02 * rng.normal(), "covariates": told}

    opt = run(eq.Optimizer(SPACE, rng=2), 50, measure)
    assert "temperature" in law(opt)
    assert f(opt.recommend().x) > -0.1


def test_an_instrument_that_answers_to_its_last_reading_is_found_out():
    rng, last = np.random.default_rng(3), 0.0
    opt = eq.Optimizer(SPACE, rng=3)
    for _ in range(50):
        trial = opt.ask()
        last = f(trial.x) - last + 0.05 * rng.normal()  # the printed negative repeat: an alternating random walk
        opt.tell(trial, last)
    assert LAST_READING in law(opt)
    assert f(opt.recommend().x) > -0.1


def test_an_ordinary_drift_is_not_taken_for_an_answer():
    rng = np.random.default_rng(4)
    opt = run(eq.Optimizer(SPACE, rng=4), 60, lambda x, t: {"value": f(x) + 0.05 * t + 0.05 * rng.normal()})
    assert LAST_READING not in law(opt)


def earlier(opt, n, of=f, level=30.0):
    rng = np.random.default_rng(5)
    for x in rng.random((n, 2)):
        opt.add({"a": x[0], "b": x[1]}, of({"a": x[0], "b": x[1]}) + level + 0.02 * rng.normal(), block="2025")


def test_an_earlier_campaign_teaches_f_and_not_the_offset():
    opt = eq.Optimizer(SPACE, rng=6)
    earlier(opt, 40)
    assert (opt.readings, len(opt.records())) == (0, 40)
    assert f(opt.recommend().x) > -0.05
    trial = opt.ask()
    assert opt.tell(trial, f(trial.x) - 200.0) is None
    run(opt, 5, lambda x, t: {"value": f(x) - 200.0})
    assert (opt.readings, opt.recommend().readings) == (6, 6)
    assert not opt.study.belief.learned.strangers
    assert f(opt.recommend().x) > -0.05


def test_the_level_of_now_is_another_one_whatever_its_size():
    """After a fit to earlier readings alone, those of now were once counted from 0, which no digits were left for."""
    found = []
    for level in (0.0, 2.0**24):
        opt = eq.Optimizer(SPACE, rng=6)
        earlier(opt, 12)
        run(opt, 12, lambda x, t, level=level: {"value": round(f(x) * 2**20) / 2**20 + level})
        found.append(opt.recommend())
    assert [each.x for each in found[:1]] == [each.x for each in found[1:]]
    assert found[0].gap_bound == found[1].gap_bound


def test_a_campaign_of_another_function_is_noticed_and_forgotten():
    opt = eq.Optimizer(SPACE, rng=7)
    earlier(opt, 40, of=lambda x: 2.0 * np.sin(9.0 * x["a"]) * np.cos(7.0 * x["b"]))
    rng = np.random.default_rng(7)
    with pytest.warns(Estranged, match="'2025' contradict"):
        run(opt, 40, lambda x, t: {"value": f(x) + 0.02 * rng.normal()})
    assert set(opt.study.belief.learned.strangers) == {"2025"}
    assert f(opt.recommend().x) > -0.05
    assert {r.aside for r in opt.records() if r.block == "2025"} == {"it contradicts the readings of now"}


def test_added_readings_are_logged_corrected_and_taken_back(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, log=path, rng=8)
    first = opt.add({"a": 0.5, "b": 0.5}, 1.0)
    second = opt.add({"a": 0.2, "b": 0.5}, 900.0, block="old", error=0.1)
    opt.tell(opt.ask(), 1.0)
    opt.correct(second, 9.0)
    opt.retract(first)
    opt.tell(opt.ask(), 1.1)
    assert opt.undo() == 3
    known = [(r.trial, r.value, r.block) for r in opt.records() if r.value is not None]
    assert known == [(1, 9.0, "old"), (2, 1.0, None)]
    assert opt.readings == 1
    again = eq.resume(path)
    assert [r.value for r in again.records()] == [r.value for r in opt.records()]
    assert again.study.propose().points.tobytes() == opt.study.propose().points.tobytes()
    assert pickle.loads(pickle.dumps(opt)).readings == 1


def test_added_readings_need_a_law_that_learns_from_readings():
    opt = eq.Optimizer(eq.Finite([[0.0], [1.0]]), kernel=eq.RBF(0.5), rng=0)
    with pytest.raises(ValueError, match=r"`offset` must let .*, got Arbitrary\(\), which learns from duels alone"):
        opt.add([0.0], 1.0)
    with pytest.raises(ValueError, match="must have the names"):
        eq.Optimizer(SPACE).add({"a": 0.5}, 1.0)


def test_absurd_earlier_readings_are_set_aside():
    opt = eq.Optimizer(SPACE, rng=9)
    earlier(opt, 10)
    with pytest.warns(UserWarning, match="is impossible"):
        opt.add({"a": 0.5, "b": 0.5}, 9.9e37, block="2025")
    assert f(opt.recommend().x) > -1.0


def test_a_study_begun_by_history_begins_with_its_design_and_start():
    opt = eq.Optimizer(SPACE, start={"a": 0.5, "b": 0.5}, rng=10)
    earlier(opt, 12)
    first, second = opt.ask(n=2)
    assert {"a": 0.5, "b": 0.5} in (first.x, second.x)


def test_nothing_told_leaves_everything_as_it_was():
    def trace(**told):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opt = eq.Optimizer(SPACE, rng=11)
            return run(opt, 30, lambda x, t: {"value": f(x) + 0.3 * t, **told}).recommend().x

    assert trace() == trace(covariates={}) == trace(covariates={"t": None})


@pytest.mark.parametrize("worker", ["a\u202e", "w" * 500, " ", "line\nbreak"])
def test_a_worker_of_any_name_leaves_a_log_that_can_be_read(tmp_path, worker):
    opt = eq.Optimizer(eq.Space(q=eq.Int(0, 3)), kernel=eq.RBF(0.5), log=tmp_path / "study.jsonl", rng=0)
    for value in (0.5, 0.7):
        opt.tell(opt.ask(worker=worker), value)
    assert eq.resume(opt.study.log).readings == 2


@dataclass(frozen=True)
class Still(eq.offsets.Law):
    """A law of somebody else: the log can only note it."""

    guard: float | None = 3.0


def test_blocks_beside_a_law_of_your_own_are_resumed(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, offset=Still(), log=path, block="monday", rng=12)
    run(opt, 9, lambda x, t: {"value": f(x)})
    again = eq.resume(path, offset=Still())
    assert again.study.propose().points.tobytes() == opt.study.propose().points.tobytes()
