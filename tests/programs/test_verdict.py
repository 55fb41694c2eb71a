"""From intervals to words: the better arm, open comparisons, further rounds, and the sentences."""

import math

import numpy as np
import pytest

from equipoise.answer.sequential import Interval
from equipoise.programs import FAILED, PASSED, UNDECIDED, Contest, Question, verdict_of
from equipoise.programs.forecasting import forecast
from equipoise.programs.phrases import amount, short, told
from equipoise.programs.verdict import judge

OPEN, FASTER, SLOWER = Interval(0, -0.1, 0.1), Interval(-0.2, -0.3, -0.1), Interval(0.2, 0.1, 0.3)
SAME = Interval(0.001, -0.004, 0.005)


def judged(question, **known):
    """The verdict of intervals given as ab=..., for the arms a, b, c."""
    return judge(question, {tuple(pair): (interval, 20) for pair, interval in known.items()})


def test_standings_by_margin():
    question = Question(("a", "b"), margin=0.01)
    for interval, standing in ((OPEN, "open"), (FASTER, "better"), (SLOWER, "worse"), (SAME, "same")):
        assert judged(question, ab=interval).findings[0].standing == standing
    assert judged(Question(("a", "b")), ab=SAME).findings[0].standing == "open"  # no margin, never the same
    assert judged(Question(("a", "b"), higher=True), ab=FASTER).findings[0].standing == "worse"


@pytest.mark.parametrize(
    ("interval", "gate"),
    [
        (Interval(0.1, 0.05, 0.2), FAILED),
        (Interval(0.01, 0.005, 0.015), PASSED),  # worse, but by less than 2 %
        (Interval(0.02, 0.01, 0.03), UNDECIDED),
        (Interval(-0.1, -0.2, -0.05), PASSED),
        (Interval(0.0), UNDECIDED),
    ],
)
def test_the_gate_is_about_the_limit(interval, gate):
    verdict = judged(Question(("a", "b"), fail_above=0.02), ab=interval)
    assert verdict.gate == gate
    assert verdict.decided == (gate != UNDECIDED)


def test_the_gate_of_a_reading_that_should_be_high():
    question = Question(("a", "b"), higher=True, scale="difference", fail_above=0.5, kind="reading")
    assert judged(question, ab=Interval(-1, -1.5, -0.6)).gate == FAILED
    assert judged(question, ab=Interval(1, 0.5, 1.5)).gate == PASSED


def test_one_arm_that_fails_is_enough_and_open_ones_are_still_measured():
    question = Question(("a", "b", "c"), fail_above=0.02)
    verdict = judged(question, ab=SLOWER, ac=OPEN, bc=OPEN)
    assert (verdict.gate, verdict.decided, verdict.live) == (FAILED, False, ("a", "c"))
    assert judged(question, ab=OPEN, ac=FASTER, bc=OPEN).gate == UNDECIDED


def test_losers_are_dropped_and_what_is_open_goes_on():
    question = Question(("a", "b", "c"), margin=0.01)
    verdict = judged(question, ab=SLOWER, ac=OPEN, bc=OPEN)
    assert (verdict.beaten, verdict.live, verdict.decided) == ({"b"}, ("a", "c"), False)
    verdict = judged(question, ab=SLOWER, ac=FASTER, bc=OPEN)
    assert (verdict.leader, verdict.live, verdict.decided) == ("c", (), True)
    verdict = judged(question, ab=SAME, ac=SLOWER, bc=OPEN)
    assert verdict.decided  # a and b are the same, c loses to one of them


def test_the_null_is_measured_as_long_as_anything_is_and_never_competes():
    question = Question(("a", "b", "z"), null="z")
    assert question.pairs == [("a", "b"), ("a", "z")]
    verdict = judge(question, {("a", "b"): (OPEN, 9), ("a", "z"): (SLOWER, 9)})
    assert verdict.live == ("a", "b", "z")
    assert verdict.floor.interval == SLOWER
    assert "It differs from itself" in told(verdict)
    assert judge(question, {("a", "b"): (FASTER, 9), ("a", "z"): (OPEN, 9)}).live == ()


def test_claims_of_many_pairs_share_alpha():
    assert Question(("a", "b")).alpha_each == 0.05
    assert Question(("a", "b", "c", "d")).alpha_each == pytest.approx(0.05 / 6)


def test_a_pair_can_be_seen_from_both_sides():
    verdict = judged(Question(("a", "b")), ab=FASTER)
    seen = verdict.between("b", "a")
    assert (seen.standing, seen.interval) == ("worse", Interval(0.2, 0.1, 0.3))
    assert verdict.between("a", "b").ratio.value == pytest.approx(math.exp(-0.2))
    with pytest.raises(ValueError, match="must be two of the arms that compete, got 'a' and 'x'"):
        verdict.between("a", "x")


def test_the_forecast_comes_true():
    """80 % of the ranges forecast after 15 rounds hold, as far as 60 comparisons say: two thirds at least."""
    rng, held = np.random.default_rng(0), []
    for _ in range(60):
        contest = Contest(["a", "b"], scale="difference", rng=0)
        said = None
        while not (verdict := contest.verdict()).decided:
            if contest.begun == 15:
                said = verdict.more
            for turn in contest.ask_round():
                contest.tell(turn, rng.normal(0.5 if turn.arm == "b" else 0.0, 0.7))
        if said is not None:
            held.append(15 + said.low <= contest.begun <= 15 + said.high)
    assert len(held) > 30
    assert np.mean(held) > 2 / 3


def test_a_forecast_is_a_range_in_words():
    question = Question(("a", "b"), margin=0.01)
    few, some = (forecast(Interval(0.02, -0.02, 0.06), n, question) for n in (9, 40))
    assert few is None
    assert 1 <= some.low < some.middle < some.high < math.inf
    assert str(some) == "19 to 880 more rounds"
    assert (some.low, round(some.high, -1)) == (19, 880)
    near = forecast(Interval(0.02, -0.02, 0.06), 40, Question(("a", "b"), fail_above=0.0201))
    assert near.middle > 5 * some.middle
    assert str(forecast(Interval(0.0, -0.5, 0.5), 4000, Question(("a", "b")))).startswith("at least ")
    assert forecast(Interval(0.0, 0.0, 0.0), 40, Question(("a", "b"))) is None  # equal each time: more say no more


# Words.


def test_two_arms_are_told_from_the_first():
    rounds = [{"old": 0.4, "new": 0.4 * 0.969}] * 9
    text = "new is faster than old by 3.1 % [3.1, 3.1] (12.4 ms [12.4 ms, 12.4 ms] of 400 ms) in this session, after 9"
    assert told(verdict_of(Question(("old", "new"), margin=0.01), rounds)) == f"{text} rounds."
    slower = [{"old": 0.4, "new": 0.42}] * 9
    assert told(verdict_of(Question(("old", "new")), slower)).startswith("new is slower than old by 5.0 % [5.0, 5.0]")
    thrice = [{"old": 0.4, "new": 1.2}] * 9
    assert told(verdict_of(Question(("old", "new")), thrice)).startswith(
        "new takes 3.00 times [3.00, 3.00] what old takes"
    )


def test_the_same_and_the_open_are_told_with_signs():
    same = verdict_of(Question(("old", "new"), margin=0.01), [{"old": 1.0, "new": 1.0}] * 9)
    assert told(same) == "new is the same as old within 1 %: 0.0 % [0.0, 0.0] in this session, after 9 rounds."
    few = verdict_of(Question(("old", "new")), [{"old": 1.0, "new": 1.1}] * 3)
    assert told(few) == "Not decided yet: new differs from old by +10.0 % [?, ?] in this session, after 3 rounds."
    none = verdict_of(Question(("old", "new")), [])
    assert told(none) == "No round has measured both old and new."


def test_the_number_of_rounds_that_decide_is_told():
    rng = np.random.default_rng(0)
    rounds = [{"old": 1.0, "new": math.exp(rng.normal(0.02, 0.05))} for _ in range(20)]
    verdict = verdict_of(Question(("old", "new"), margin=0.01), rounds)
    assert told(verdict).startswith(f"Not decided yet, {verdict.more}: new differs from old by ")


def test_three_arms_are_told_from_the_best():
    rounds = [{"a": 1.0, "b": 0.5, "c": 0.5}] * 12
    lines = told(verdict_of(Question(("a", "b", "c"), margin=0.01), rounds)).splitlines()
    assert lines[0] == "b and c are the best of 3, the same within 1 %."
    assert lines[1].startswith("  a takes 2.00 times")
    assert lines[2].startswith("  c is the same as b within 1 %")
    lines = told(verdict_of(Question(("a", "b", "c")), rounds)).splitlines()
    assert lines[0].startswith("Not decided yet, b leads")
    rounds = [{"a": 1.0, "b": 0.5, "c": 0.6}] * 12
    assert told(verdict_of(Question(("a", "b", "c")), rounds)).startswith("b is the best of 3.\n")


def test_the_gate_in_words():
    question = Question(("old", "new"), fail_above=0.02)
    for ratio, words in (
        (1.1, "new is slower than old by more than 2 %"),
        (1.01, "new is not slower than old by more"),
    ):
        assert told(verdict_of(question, [{"old": 1.0, "new": ratio}] * 9)).startswith(words)
    few = told(verdict_of(question, [{"old": 1.0, "new": 1.1}] * 3))
    assert few.startswith("Not decided yet whether new is slower than old by more than 2 %: +10.0 % [?, ?]")


def test_readings_have_their_own_words():
    question = Question(("a", "b"), scale="difference", kind="reading", higher=True, margin=0.5)
    assert told(verdict_of(question, [{"a": 3.0, "b": 5.0}] * 9)).startswith("b is higher than a by 2 [2, 2] in this")
    assert told(verdict_of(question, [{"a": -3.0, "b": -3.0}] * 9)).startswith(
        "b is the same as a within 0.5: 0 [0, 0]"
    )


def test_differences_of_times_have_units():
    question = Question(("a", "b"), scale="difference", margin=0.001)
    said = told(verdict_of(question, [{"a": 0.02, "b": 0.031}] * 9))
    assert said.startswith("b is slower than a by 11 ms [11 ms, 11 ms] in this session")
    assert told(verdict_of(question, [{"a": 0.02, "b": 0.02}] * 9)).startswith("b is the same as a within 1 ms: 0 ns [")
    opened = verdict_of(question, [{"a": 0.02, "b": 0.031}] * 3)
    assert short(opened.findings[0], question) == "+11 ms [?, ?]"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.5, "time", "500 ms"),
        (90, "time", "1.5 min"),
        (2e-5, "time", "20 µs"),
        (0, "time", "0 ns"),
        (1.2e9, "memory", "1.2 GB"),
        (np.inf, "time", "?"),
    ],
)
def test_amounts_have_units(value, kind, text):
    assert amount(value, kind) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arms": ("a",)}, r"`arms` must be two or more different names, got \('a',\)"),
        ({"arms": ("a", "a")}, "`arms` must be two or more different names"),
        ({"arms": "ab"}, "`arms` must be names, got 'ab'"),
        ({"margin": -1}, "`margin` must not be negative, got -1"),
        ({"fail_above": -1}, "`fail_above` must not be negative, got -1"),
        ({"alpha": 1}, "`alpha` must lie strictly between 0 and 1, got 1"),
        ({"scale": "log"}, "`scale` must be one of ratio, difference, got 'log'"),
        ({"center": "mode"}, "`center` must be one of typical, median, mean, got 'mode'"),
        ({"kind": "mass"}, "`kind` must be one of time, memory, reading, got 'mass'"),
        ({"null": "a"}, "`null` must be one of the arms, and not the first, got 'a'"),
    ],
)
def test_doors_of_a_question(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Question(**{"arms": ("a", "b"), **options})
