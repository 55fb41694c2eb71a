"""Sessions: a claim from one session is about it alone; over several, the differences between them count."""

import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from equipoise.log.jsonl import LogError, TornLine
from equipoise.programs import Question, over
from equipoise.programs.comparison_log import ComparisonLog, Execution, MeasuredSession
from equipoise.programs.phrases import told
from equipoise.programs.sessions import across, disagreeing

QUESTION = Question(("old", "new"), margin=0.01)


def session(ratio, rounds=12, spread=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return [{"old": 1.0, "new": ratio * math.exp(rng.normal(0, spread))} for _ in range(rounds)]


def test_across_is_a_t_interval_at_the_alpha_that_is_left():
    e = [3.0, 3.4, 2.9, 3.1]
    low, high = stats.t.interval(1 - 0.05 / 12, 3, np.mean(e), stats.sem(e))
    found = across(e, 0.05)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert sum(1 / (k * (k - 1)) for k in range(2, 10**5)) < 1  # what all numbers of sessions spend of alpha
    assert math.isinf(across([3.0]).high)


def test_one_session_claims_nothing_of_others():
    verdict = over(QUESTION, [session(0.9)])
    assert verdict.sessions == ()
    assert "in this session" in told(verdict)


def test_sessions_that_agree():
    verdict = over(QUESTION, [session(0.9, 12, 0.01, seed) for seed in range(4)])
    assert verdict.findings[0].standing == "better"
    lines = told(verdict).splitlines()
    assert re.match(r"new is faster than old by (9|10)\.\d % \[", lines[0])
    assert "over 4 sessions, after 48 rounds" in lines[0]
    assert re.fullmatch(r"  Session 1: new -\S+ % \[-\S+, -\S+\] of old, 12 rounds", lines[1])
    assert len(lines) == 5


def test_two_sessions_that_disagree_decide_nothing_though_each_does():
    verdict = over(QUESTION, [session(0.9, spread=0.01), session(1.1, spread=0.01, seed=1)])
    assert [each.findings[0].standing for each in verdict.sessions] == ["better", "worse"]
    assert verdict.findings[0].standing == "open"
    assert disagreeing(verdict, "old", "new")
    assert told(verdict).splitlines()[-1].startswith("Sessions disagree about new and old")
    same = over(QUESTION, [session(0.9, spread=0.01), session(0.9, spread=0.01, seed=1)])
    assert not disagreeing(same, "old", "new")
    assert "disagree" not in told(same)


def test_the_effect_of_a_session_does_not_pass_for_one_of_the_arm():
    """Sessions with effects of 3 % and no difference: each is sure of its own; over them at most 5 % are wrong."""
    rng, wrong, alone = np.random.default_rng(0), 0, 0
    for _ in range(40):
        days = [session(math.exp(rng.normal(0, 0.03)), 10, 0.005, int(rng.integers(10**6))) for _ in range(4)]
        found = [over(QUESTION, days[:k]).findings[0] for k in (2, 3, 4)]
        wrong += any(each.standing in ("better", "worse") for each in found)
        alone += over(QUESTION, days[:1]).findings[0].standing in ("better", "worse")
    assert alone > 20
    assert wrong <= 6  # more than 6 of 40 at 5 % have a probability below 0.01


def test_sessions_are_not_forecast_in_rounds():
    assert over(QUESTION, [session(0.99, spread=0.05), session(1.02, spread=0.05, seed=1)]).more is None


def test_a_pair_that_a_session_has_not_measured_is_left_out():
    question = Question(("a", "b", "c"))
    verdict = over(question, [[{"a": 1.0, "b": 2.0}] * 9, [{"a": 1.0, "b": 2.0, "c": 3.0}] * 9])
    assert verdict.between("a", "b").rounds == 18
    assert math.isinf(verdict.between("a", "c").interval.high)
    assert math.isnan(over(question, [[{"a": 1.0, "b": 2.0}] * 9] * 2).between("a", "c").interval.value)


# The file.


def run(arm, wall):
    return Execution(arm, wall, 0.5, 0.1, 1e6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


def test_what_is_added_is_there_again(path):
    arms = {"old": "./old", "new": "./new"}
    for day in (1, 2):
        results = ComparisonLog(path, arms)
        results.begin()
        results.add([run("new", 0.5 * day), run("old", 1.0)])
    found = ComparisonLog(path)
    assert found.arms == arms
    assert [each.values("wall") for each in found.sessions] == [[{"new": 0.5, "old": 1.0}], [{"new": 1.0, "old": 1.0}]]
    assert found.sessions[0].rounds[0] == (run("new", 0.5), run("old", 1.0))  # in the order of measuring


def test_two_at_once_have_a_session_each(path):
    one, two = (ComparisonLog(path, {"a": "a", "b": "b"}) for _ in range(2))
    one.begin()
    two.begin()
    two.add([run("a", 2.0)])
    one.add([run("a", 1.0)])
    assert [each.values("wall") for each in one.sessions] == [[{"a": 1.0}], [{"a": 2.0}]]


def test_other_arms_are_refused(path):
    ComparisonLog(path, {"a": "./a", "b": "./b"})
    with pytest.raises(LogError, match="compares a, b: it cannot take a, c"):
        ComparisonLog(path, {"a": "./a", "c": "./c"})
    ComparisonLog(path, {"b": "/elsewhere/b", "a": "./a"})  # another path, another order: the same names


def test_other_files_are_refused(path):
    path.write_text(json.dumps({"equipoise": 2}) + "\n")
    with pytest.raises(LogError, match="damaged"):
        ComparisonLog(path)
    path.write_text("")
    with pytest.raises(LogError, match="must be a log of `equipoise compare`"):
        ComparisonLog(path)


def test_a_torn_line_never_happened(path):
    results = ComparisonLog(path, {"a": "a", "b": "b"})
    results.begin()
    results.add([run("a", 1.0), run("b", 1.0)])
    with path.open("ab") as file:
        file.write(b'{"round":1,"ru')
    results = ComparisonLog(path)
    assert len(results.sessions[0].rounds) == 1
    with pytest.warns(TornLine):
        results.begin()
    results.add([run("a", 2.0)])
    assert len(ComparisonLog(path).sessions) == 2


def test_the_first_call_is_begin(path):
    with pytest.raises(RuntimeError, match="`begin` must be called before a round is added"):
        ComparisonLog(path, {"a": "a", "b": "b"}).add([run("a", 1.0)])


def test_a_metric_that_was_not_taken():
    with pytest.raises(ValueError, match="`metric` must be one that was measured, got 'reading'"):
        MeasuredSession("now", "here", ((run("a", 1.0),),)).values("reading")
