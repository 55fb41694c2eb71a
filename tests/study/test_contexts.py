"""Studies with contexts: asked at one, learned over all, recommended for each."""

import copy
import json
import pickle

import numpy as np
import pytest

import equipoise as eq

SPACE = eq.Space(q=eq.Float(0, 1), temp=eq.Context(0, 40))


def f(x):
    """The best q moves with the context: from 0.2 to 0.8."""
    return -4 * (x["q"] - 0.2 - 0.6 * x["temp"] / 40) ** 2


def study(readings, contexts, space=SPACE, **parts):
    """Readings that drift by far more than f varies, at contexts in turn."""
    opt, noise = eq.Optimizer(space, **{"rng": 0} | parts), np.random.default_rng(1)
    for t in range(readings):
        trial = opt.ask(context=contexts(t))
        opt.tell(trial, f(trial.x) + 0.2 * t + 0.02 * noise.standard_normal())
    return opt


def wandering(t):
    """Never the same."""
    return {"temp": 20 + 18 * np.sin(0.35 * t)}


@pytest.fixture(scope="module")
def wandered(tmp_path_factory):
    path = tmp_path_factory.mktemp("contexts") / "study.jsonl"
    return study(50, wandering, log=path), path


def test_the_best_setting_is_found_for_each_context_at_once(wandered):
    opt, _ = wandered
    for temp in (4, 12, 20, 28, 36):
        best = opt.recommend(context={"temp": temp})
        assert best.x["temp"] == temp
        assert f(best.x) > -0.02
        assert -f(best.x) <= best.gap_bound < 0.5


def test_what_is_asked_is_at_the_context_also_the_second_half_of_a_pair_where_it_has_changed(wandered):
    opt, path = wandered
    for record in opt.records():
        assert record.x["temp"] == pytest.approx(wandering(record.trial)["temp"], abs=1e-9)
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    moved = [line for line in lines if "hand" in line]
    assert len(moved) == 25
    assert all("point" in line for line in moved)


def test_a_resumed_study_and_a_copy_give_the_same_answer_and_go_on_alike(wandered):
    opt, path = wandered
    for again in (eq.resume(path), copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        for context in (None, {"temp": 33}):
            assert repr(again.recommend(context=context)) == repr(opt.recommend(context=context))
        assert (again.study.propose(context={"temp": 7}).points == opt.study.propose(context={"temp": 7}).points).all()
        assert again.records() == opt.records()


def test_without_a_context_the_one_asked_for_last_is_answered_and_named(wandered):
    opt, _ = wandered
    assert opt.recommend().x["temp"] == opt.records()[-1].x["temp"]
    new = eq.Optimizer(SPACE, rng=0)
    with pytest.raises(ValueError, match="`context` must say temp, such as"):
        new.recommend()
    assert "0 readings" in new._repr_html_()
    assert "<th>temp</th>" in opt._repr_html_()


def test_history_and_difference_are_at_a_context_too(wandered):
    opt, _ = wandered
    past = opt.study.history([20, 50], context={"temp": 30})
    assert [best.x["temp"] for best in past] == [30, 30]
    assert repr(past[-1]) == repr(opt.recommend(context={"temp": 30}))
    good, bad = {"q": 0.65}, {"q": 0.1}
    found = opt.compare(good, bad, context={"temp": 30})
    assert found.low < f(good | {"temp": 30}) - f(bad | {"temp": 30}) < found.high
    assert found == opt.compare(good | {"temp": 30}, bad | {"temp": 30})
    with pytest.raises(ValueError, match=r"must have the names \['q', 'temp'\]"):
        opt.compare(good, bad)


def test_the_first_half_must_be_given_a_context_and_the_second_need_not():
    opt = eq.Optimizer(SPACE, rng=0)
    with pytest.raises(ValueError, match=r"`context` must say temp, such as context=.'temp': 20.0., got None"):
        opt.ask()
    first = opt.ask(context={"temp": 21})
    opt.tell(first, 0.5)
    assert opt.ask().x["temp"] == first.x["temp"] == 21
    with pytest.raises(ValueError, match="`context` must be None"):
        eq.Optimizer(eq.Box([(0, 1)])).ask(context={"temp": 21})


def test_several_trials_are_asked_for_at_one_context():
    trials = eq.Optimizer(SPACE, rng=0).ask(n=6, context={"temp": 8})
    assert {trial.x["temp"] for trial in trials} == {8}
    assert len({trial.x["q"] for trial in trials}) == 6


def test_a_start_design_goes_on_with_new_settings_where_the_context_changes():
    opt = study(8, wandering, design=8)
    q = [record.x["q"] for record in opt.records()]
    assert np.diff(np.sort(q)).min() > 0.04


def test_a_start_is_met_at_the_context_and_claims_are_made_against_it_there():
    opt = study(30, lambda t: {"temp": 30}, start={"q": 0.1, "temp": 20})
    first = {record.x["q"]: record.x["temp"] for record in opt.records()[:2]}
    assert first[0.1] == 30
    gain = opt.recommend().against_start
    assert gain.low < -f({"q": 0.1, "temp": 30}) < gain.high


def test_a_reading_handed_out_at_another_context_is_told_taken_back_and_corrected_there():
    opt = eq.Optimizer(SPACE, rng=0)
    opt.tell(opt.ask(context={"temp": 10}), 0.0)
    second = opt.ask(context={"temp": 12})
    opt.study.expire(second)
    again = opt.ask()
    assert again == second
    opt.tell(again, 1.0)
    opt.correct(again, 1.5)
    opt.retract(again)
    opt.tell(again, 2.0)
    assert [record.x["temp"] for record in opt.records()] == pytest.approx([10, 12])


def test_a_half_that_the_constraint_forbids_at_the_context_waits_and_another_pair_is_begun():
    space = eq.Space(q=eq.Float(0, 1), temp=eq.Context(0, 40), constraint="40 * q <= temp")
    opt = eq.Optimizer(space, rng=0)
    opt.tell(opt.ask(context={"temp": 40}), 0.0)
    cold = [opt.ask(context={"temp": 1}) for _ in range(4)]
    assert all(40 * trial.x["q"] <= 1 for trial in cold)
    assert opt.ask(context={"temp": 40}).id == 1


@pytest.mark.parametrize("purpose", ["audit", "verify"])
def test_a_plan_is_for_its_context_alone(purpose):
    opt = study(30, lambda t: {"temp": 10 + 20 * (t // 2 % 2)})
    plan = getattr(opt, purpose)(4, context={"temp": 30})
    opt.tell(opt.ask(context={"temp": 11}), 0.0)  # serves it not
    opt.tell(opt.ask(), 0.0)
    assert opt.study.plan == plan
    with pytest.raises(RuntimeError, match="is under way"):
        getattr(opt, purpose)(4, context={"temp": 10})
    while opt.study.plan is not None:
        trial = opt.ask()
        assert trial.x["temp"] == 30
        opt.tell(trial, f(trial.x))
    kinds = {"audit": "audited", "verify": "verified"}
    assert kinds[purpose] in {claim.kind for claim in opt.recommend(context={"temp": 30}).claims}
    assert {claim.kind for claim in opt.recommend(context={"temp": 10}).claims} == {"estimate"}


def test_an_audit_at_a_context_is_resumed(tmp_path):
    opt = study(10, wandering, log=tmp_path / "study.jsonl")
    opt.audit(4, context={"temp": 30})
    again = eq.resume(tmp_path / "study.jsonl")
    assert again.study.plan == opt.study.plan
    assert (again.study.propose().points == opt.study.propose().points).all()


def test_run_takes_a_context_or_a_function_that_returns_the_present_one():
    opt, now = eq.Optimizer(SPACE, rng=0), iter(range(40))
    opt.run(f, 4, context={"temp": 20})
    opt.run(f, 8, context=lambda: {"temp": next(now)})
    assert [record.x["temp"] for record in opt.records()] == pytest.approx([20] * 4 + [0, 1, 2, 3])


@pytest.mark.parametrize("kernel", [eq.RBF(0.5), None])
def test_listed_settings_and_contexts_are_compared_within_a_context(kernel):
    space = eq.Space(n=eq.Int(0, 5), sample=eq.Context(["dry", "wet"]))
    best = {"dry": 1, "wet": 4}
    opt = eq.Optimizer(space, kernel=kernel, rng=0)
    for t in range(60):
        trial = opt.ask(context={"sample": ["dry", "wet"][t // 2 % 2]})
        opt.tell(trial, -abs(trial.x["n"] - best[trial.x["sample"]]) + 0.3 * t)
    for sample, n in best.items():
        assert opt.recommend(context={"sample": sample}).x == {"n": n, "sample": sample}


def test_failures_at_one_context_leave_a_reliable_setting_at_each():
    opt = eq.Optimizer(SPACE, rng=0)
    for t in range(40):
        trial = opt.ask(context={"temp": 10 + 20 * (t // 2 % 2)})
        if trial.x["q"] > 0.8:
            with pytest.warns(eq.DuelGivenUp):
                opt.tell(trial, failed="beam lost")
        else:
            opt.tell(trial, f(trial.x))
    for temp in (10, 30):
        best = opt.recommend(context={"temp": temp})
        assert best.x["temp"] == temp
        assert best.x["q"] <= 0.8


def test_limits_hold_at_each_context():
    start = {"q": 0.35, "temp": 10}
    opt = study(24, lambda t: {"temp": 10 + 20 * (t // 6 % 2)}, start=start, max_step={"q": 0.1}, drop=0.5)
    q = [record.x["q"] for record in opt.records()]
    assert np.abs(np.diff(q)).max() <= 0.1 + 1e-9
    assert {record.x["temp"] for record in opt.records()} == {10, 30}
    with pytest.raises(ValueError, match="`max_step` must name a Float or an Int"):
        eq.Optimizer(SPACE, start=start, max_step={"temp": 1})


def test_earlier_readings_say_their_context():
    opt = eq.Optimizer(SPACE, rng=0)
    for k in range(40):
        x = {"q": (k * 0.37) % 1, "temp": (k * 11.3) % 40}
        opt.add(x, f(x), block="2025")
    best = opt.recommend(context={"temp": 30})
    assert f(best.x) > -0.1
    with pytest.raises(ValueError, match=r"must have the names \['q', 'temp'\]"):
        opt.add({"q": 0.5}, 0.1)
