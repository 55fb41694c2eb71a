"""Contests: random orders, readings that come late or never, arms that are dropped; and functions that are compared."""

import itertools
import math
import time
from collections import Counter

import numpy as np
import pytest

import equipoise as eq
from equipoise.programs import Contest, Question, verdict_of


def finish(contest, readings, rounds):
    for _ in range(rounds):
        for turn in contest.ask_round():
            contest.tell(turn, readings[turn.arm])


def test_every_round_is_a_random_order_of_all_arms():
    contest = Contest(["a", "b", "c"], rng=0)
    orders = Counter("".join(turn.arm for turn in contest.ask_round()) for _ in range(1200))
    assert set(orders) == set(map("".join, itertools.permutations("abc")))
    assert max(abs(n - 200) for n in orders.values()) < 60  # 4.6 deviations


def test_the_same_seed_gives_the_same_orders():
    orders = [[turn.arm for _ in range(9) for turn in Contest(["a", "b"], rng=5).ask_round()] for _ in range(2)]
    assert orders[0] == orders[1]


def test_ask_hands_out_one_turn_at_a_time():
    contest = Contest(["a", "b"], rng=0)
    turns = [contest.ask() for _ in range(5)]
    assert [turn.round for turn in turns] == [0, 0, 1, 1, 2]
    assert [turn.id for turn in turns] == [0, 1, 2, 3, 4]
    assert len(contest.ask_round()) == 1  # what is left of the third round


def test_readings_may_come_late_and_in_any_order():
    rng = np.random.default_rng(0)
    contest, turns = Contest(["a", "b"], rng=1), []
    for _ in range(30):
        turns += contest.ask_round()
    values = {turn: math.exp(rng.normal(0.1 * (turn.arm == "b"), 0.1)) for turn in turns}
    for i in rng.permutation(len(turns)):
        contest.tell(turns[i], values[turns[i]])
    d = [
        math.log(values[b] / values[a])
        for a, b in (sorted(turns[i : i + 2], key=lambda t: t.arm) for i in range(0, 60, 2))
    ]
    found = contest.verdict().findings[0]
    assert found.rounds == 30
    assert found.interval.value == pytest.approx(Question(("a", "b")).interval(d, 0.05).value)


def test_a_reading_that_never_comes_takes_its_pair_with_it():
    contest = Contest(["a", "b"], rng=0)
    first, second = contest.ask_round()
    contest.tell(first, 1.0)
    contest.tell(second, failed="no answer")
    assert contest.verdict().findings[0].rounds == 0
    assert contest.verdict().rounds == ({first.arm: 1.0},)


def test_losers_are_asked_for_no_more():
    contest = Contest(["a", "b", "c"], margin=0.01, rng=0)
    rng = np.random.default_rng(0)
    asked = Counter()
    while not contest.look().decided and contest.begun < 400:
        for turn in contest.ask_round():
            asked[turn.arm] += 1
            contest.tell(turn, math.exp(rng.normal({"a": 0.0, "b": 0.03, "c": 1.0}[turn.arm], 0.05)))
    assert contest.verdict().leader == "a"
    assert asked["c"] < 15 < asked["a"] == asked["b"]


def test_it_goes_on_after_the_verdict():
    contest = Contest(["a", "b", "z"], null="z", rng=0)
    finish(contest, {"a": 1.0, "b": 2.0, "z": 1.0}, 20)
    verdict = contest.verdict()
    assert verdict.decided
    assert verdict.findings[0].rounds == verdict.floor.rounds == 20


def test_the_verdict_is_that_of_its_rounds():
    contest = Contest(["a", "b"], rng=0)
    finish(contest, {"a": 1.0, "b": 1.5}, 9)
    verdict = contest.verdict()
    assert verdict_of(contest.question, verdict.rounds) == verdict


def test_looks_become_rarer_and_verdicts_do_not():
    contest, looks = Contest(["a", "b"], scale="difference", rng=0), set()
    for i in range(300):
        finish(contest, {"a": 0.0, "b": (-1.0) ** i}, 1)
        looks.add(id(contest.look()))
        assert contest.verdict().findings[0].rounds == i + 1
    assert len(looks) < 200


def test_what_cannot_be_told():
    contest = Contest(["a", "b"], rng=0)
    turn = contest.ask()
    with pytest.raises(ValueError, match="`value` must be positive on the scale `ratio`, got 0: use `difference`"):
        contest.tell(turn, 0.0)
    with pytest.raises(ValueError, match="`value` must be finite, got nan"):
        contest.tell(turn, math.nan)
    with pytest.raises(ValueError, match="`value` or `failed` must be given, and not both, got None and None"):
        contest.tell(turn)
    contest.tell(turn, 1.0)  # nothing has happened before
    with pytest.raises(ValueError, match="`turn` must be one that was asked for here and is not told yet"):
        contest.tell(turn, 1.0)
    with pytest.raises(TypeError, match="`arms` must be names where options are given"):
        Contest(Question(("a", "b")), margin=0.1)


# Functions.


def test_values_under_drift():
    drift = itertools.count()
    verdict = eq.compare({"old": lambda: next(drift) + 30.0, "new": lambda: next(drift) + 0.0}, rng=0)
    assert verdict.leader == "new"
    assert -30 in verdict.findings[0].interval
    assert str(verdict).startswith("new is lower than old by ")


def test_higher_is_better_where_asked():
    arms = {"old": lambda: 1.0, "new": lambda: 2.0}
    assert eq.compare(arms, rng=0).leader == "old"
    assert eq.compare(arms, higher=True, rng=0).leader == "new"


def test_times():
    verdict = eq.compare({"short": lambda: time.sleep(0.002), "long": lambda: time.sleep(0.03)}, metric="time", rng=0)
    assert verdict.leader == "short"
    assert "long takes" in str(verdict)
    assert verdict.question.margin == 0.01


def test_a_function_and_itself_are_the_same():
    noise = np.random.default_rng(0)
    verdict = eq.compare({"a": lambda: noise.normal(), "b": lambda: noise.normal()}, margin=1.0, rng=0)
    assert verdict.findings[0].standing == "same"


def test_the_budget_ends_it():
    noise = np.random.default_rng(0)
    arms = {"a": lambda: noise.normal(), "b": lambda: noise.normal()}
    assert len(eq.compare(arms, max_rounds=5, rng=0).rounds) == 5
    start = time.monotonic()
    assert not eq.compare(arms, seconds=0.2, rng=0).decided
    assert time.monotonic() - start < 60


def test_warmup_and_null():
    called = Counter()

    def counting(name, value):
        def function():
            called[name] += 1
            return value

        return function

    verdict = eq.compare({"a": counting("a", 1.0), "b": counting("b", 2.0)}, warmup=3, null=True, rng=0)
    rounds = len(verdict.rounds)
    assert called == {"a": 2 * (rounds + 3), "b": rounds + 3}
    assert verdict.floor.second == "a (again)"
    assert 0 in verdict.floor.interval


@pytest.mark.parametrize(
    ("arms", "options", "message"),
    [
        ([1, 2], {}, r"`arms` must be functions by name, got \[1, 2\]"),
        ({"a": 1.0, "b": 2.0}, {}, "`arms` must be functions by name"),
        ({"a": abs}, {}, "`arms` must be two or more different names"),
        ({"a": lambda: 1.0, "b": lambda: "x"}, {}, "`the value of an arm` must be a real number, got 'x'"),
        ({"a": lambda: 1.0, "b": lambda: 1.0}, {"metric": "speed"}, "`metric` must be value or time, got 'speed'"),
        ({"a": lambda: 1.0, "b": lambda: 1.0}, {"seconds": 0}, "`seconds` must be positive, got 0"),
        ({"a": lambda: 1.0, "b": lambda: 1.0}, {"max_rounds": 0}, "`max_rounds` must be at least 1, got 0"),
    ],
)
def test_doors_of_compare(arms, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        eq.compare(arms, **options)
