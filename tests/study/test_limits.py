"""Limits of what is proposed: a drop below the start, a step from the last set point."""

import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import Feasibility
from equipoise.spaces.restricted import Restricted
from equipoise.study import DropExceeded, Estranged
from equipoise.study.limits import Limits

SPACE = eq.Space(a=eq.Float(0, 10), b=eq.Float(-1, 1))
START = {"a": 3.0, "b": -0.4}


def f(x):
    return -0.1 * (x["a"] - 7.0) ** 2 - 2.0 * (x["b"] - 0.3) ** 2


def run(opt, n, drift=0.2):
    rng, asked = np.random.default_rng(0), []
    for t in range(n):
        trial = opt.ask()
        asked.append(trial.x)
        opt.tell(trial, f(trial.x) + drift * t + 0.02 * rng.normal())
    return asked


def test_nothing_is_asked_for_that_drops_below_the_start_and_still_it_climbs():
    opt = eq.Optimizer(SPACE, start=START, drop=0.5, rng=0)
    asked = run(opt, 60)
    assert any(x == pytest.approx(START) for x in asked[:2])
    assert min(map(f, asked)) > f(START) - 0.5
    assert f(opt.recommend().x) > -0.1
    free = run(eq.Optimizer(SPACE, start=START, rng=0), 60)
    assert min(map(f, free)) < f(START) - 0.5, "the limit would have been kept by chance"


def test_the_limit_is_logged_and_kept_after_a_resume(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, start=START, drop=0.5, max_step={"a": 1.0}, log=path, rng=1)
    run(opt, 7)
    again = eq.resume(path)
    assert again.study.propose().points.tobytes() == opt.study.propose().points.tobytes()
    limits = again._session.state.setup.caution
    assert limits.drop == 0.5
    assert limits.max_step.tolist() == [0.1, np.inf]


def test_no_parameter_moves_by_more_than_a_step():
    opt = eq.Optimizer(SPACE, start=START, max_step={"a": 1.0, "b": 0.5}, rng=2)
    asked = run(opt, 50)
    a, b = (np.array([x[name] for x in asked]) for name in "ab")
    assert np.abs(np.diff(a)).max() <= 1.0 + 1e-9
    assert np.abs(np.diff(b)).max() <= 0.5 + 1e-9
    assert f(opt.recommend().x) > -0.3


def test_steps_of_a_box_and_of_a_finite_set():
    box = eq.Optimizer(eq.Box([(0, 10), (-1, 1)]), start=[5.0, 0.0], max_step=0.5, rng=3)
    points = np.array([box.ask().x for _ in range(8)])
    assert np.abs(np.diff(points, axis=0)).max() <= 0.5 + 1e-9
    line = eq.Finite(np.arange(20.0)[:, None])
    walk = eq.Optimizer(line, start=[10.0], max_step=[4.0], rng=4)
    asked = []
    for _ in range(12):
        trial = walk.ask()
        asked.append(float(trial.x[0]))
        walk.tell(trial, asked[-1])
    assert np.abs(np.diff(asked)).max() <= 4.0


def listed(n):
    """Measure 40 times among n listed points; return where, and what is recommended."""
    opt = eq.Optimizer(eq.Finite(np.linspace(0, 1, n)[:, None]), start=[0.5], drop=0.3, rng=5)
    asked = []
    for _ in range(40):
        trial = opt.ask()
        asked.append(float(trial.x[0]))
        opt.tell(trial, -4.0 * (asked[-1] - 0.75) ** 2)
    return asked, float(opt.recommend().x[0])


def test_a_safe_set_of_listed_points_is_kept():
    asked, best = listed(201)
    assert min(-4.0 * (x - 0.75) ** 2 for x in asked) > -0.25 - 0.3
    assert abs(best - 0.75) < 0.1


def test_where_no_listed_point_is_safe_but_the_start_that_is_recommended():
    """The next point may be worse by more than the drop: the study learns and claims nothing."""
    asked, best = listed(41)
    assert {*asked, best} == {0.5}


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"drop": 0.5}, "`drop` must come with a `start`"),
        ({"drop": -1, "start": START}, "`drop` must be positive, got -1"),
        ({"start": {"a": 70, "b": 0}}, r"`start\['a'\]` must lie within"),
        ({"max_step": {"a": 1.0}}, "`max_step` must come with a `start`"),
        ({"max_step": 0.5, "start": START}, "`max_step` must be a dict of steps by name, got 0.5"),
        (
            {"max_step": {"c": 0.5}, "start": START},
            "`max_step` must name a Float or an Int .*, got 'c'",
        ),
        ({"max_step": {"a": 0}, "start": START}, r"`max_step\['a'\]` must be positive, got 0"),
    ],
)
def test_limits_are_checked(limits, says):
    with pytest.raises((TypeError, ValueError), match=says):
        eq.Optimizer(SPACE, **limits)


def test_an_audit_would_break_the_limit():
    opt = eq.Optimizer(SPACE, start=START, drop=0.5, rng=6)
    opt.tell(opt.ask(), 1.0)
    with pytest.raises(RuntimeError, match="`drop`, `max_step` and `safe` forbid"):
        opt.audit()
    slow = eq.Optimizer(SPACE, start=START, max_step={"a": 1.0}, rng=6)
    run(slow, 8)
    with pytest.raises(RuntimeError, match="back and forth between settings, which `max_step` forbids"):
        slow.verify()


def test_a_verification_keeps_the_limit():
    opt = eq.Optimizer(SPACE, start=START, drop=0.5, rng=7)
    opt.add({"a": 0.0, "b": 1.0}, 90.0, block="2025")  # an old reading of a place that is far too low
    run(opt, 30)
    opt.verify(6)
    assert min(map(f, run(opt, 12))) > f(START) - 0.5


CUBE = eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), c=eq.Float(0, 1))


def hill(x):
    return 5 * np.exp(-12 * (x["a"] - 0.7) ** 2 - 9 * (x["b"] - 0.3) ** 2 - 6 * (x["c"] - 0.6) ** 2)


@pytest.mark.parametrize("seed", [2, 3])
def test_readings_of_a_machine_that_was_rebuilt_make_nothing_safe(seed):
    start = {"a": 0.6, "b": 0.4, "c": 0.5}
    rng = np.random.default_rng(seed)
    opt = eq.Optimizer(CUBE, start=start, drop=0.5, rng=seed)
    for _ in range(40):
        x = dict(zip("abc", rng.random(3), strict=True))
        old = hill(x | {"a": 1 - x["a"]})  # the knob turned the other way
        opt.add(x, old + 200 + 0.1 * rng.normal(), block="2025")
    level, lost = 0.0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Estranged)
        for _ in range(14):
            trial = opt.ask()
            lost.append(hill(start) - hill(trial.x))
            level += 0.5 * rng.normal()
            opt.tell(trial, hill(trial.x) + level + 0.1 * rng.normal())
    assert max(lost) < 0.5


def cliff(x):
    return 3 * np.exp(-6 * (x["a"] - 0.7) ** 2 - 4 * (x["b"] - 0.5) ** 2) - 4.0 * (x["a"] > 0.55)


def test_beyond_a_cliff_it_warns_and_takes_fewer_settings_for_safe():
    """No model of smooth functions knows a cliff. The first reading beyond it shows that the model was too sure."""
    space, start = eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1)), {"a": 0.3, "b": 0.5}
    rng, below, warned = np.random.default_rng(0), 0, []
    opt = eq.Optimizer(space, start=start, drop=0.5, rng=0)
    for _ in range(40):
        trial = opt.ask()
        below += cliff(start) - cliff(trial.x) > 0.5
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always", DropExceeded)
            opt.tell(trial, cliff(trial.x) + 0.05 * rng.normal())
        warned += [note.message for note in notes]
    assert 1 <= below <= 4
    assert warned
    assert "to be worse than the start by more than `drop`, 0.5" in str(warned[0])


def test_a_limit_that_was_passed_makes_it_more_cautious():
    space = eq.Box([(0, 1)])
    limits = Limits(np.array([0.5]), 0.5)
    prior = eq.belief.AnywherePosterior(eq.RBF(0.1), regularizer=0.01)
    outcomes = ((0.5, 0.0), (0.6, 0.3), (0.7, 0.2), (0.1, -2.0))
    belief = eq.belief.infer([eq.Comparison([x], [0.5], y) for x, y in outcomes], prior)
    grid, fine = np.linspace(0, 1, 201)[:, None], Feasibility(np.ones(1))
    kept = [
        limits.within(space, belief, fine, None, np.array(tried).reshape(-1, 1)).valid(grid)
        for tried in ([0.6, 0.7], [0.6, 0.7, 0.1])
    ]
    assert 0 < kept[1].sum() < kept[0].sum()
    assert not (kept[1] & ~kept[0]).any()


def test_what_is_not_kept_is_drawn_towards_an_anchor():
    corner = np.array([[0.05, 0.05]])
    small = Restricted(eq.Box([(0, 1), (0, 1)]), lambda points: (points < 0.1).all(axis=1), corner)
    found = small.candidates(np.random.default_rng(0))
    assert (found < 0.1).all()
    assert len(found) > 400
    nothing = Restricted(eq.Box([(0, 1), (0, 1)]), lambda points: np.zeros(len(points), dtype=bool), corner)
    np.testing.assert_array_equal(nothing.candidates(np.random.default_rng(0)), corner)


def test_claims_are_about_what_the_limits_let_it_reach():
    opt = eq.Optimizer(SPACE, start=START, max_step={"a": 0.2, "b": 0.1}, rng=1)
    asked = run(opt, 44)
    best = opt.recommend()
    points = np.array([(x["a"], x["b"]) for x in (START, *asked)])
    near = np.abs(points - (best.x["a"], best.x["b"])) <= (0.2 + 1e-9, 0.1 + 1e-9)
    assert near.all(axis=1).any(), "it is further than a step from all that was measured"
    assert best.overall.scope == "the settings known to be within the limits"
    assert "none of the settings known to be within the limits is better by more than" in str(best)
    free = eq.Optimizer(SPACE, start=START, rng=1)
    run(free, 44)
    assert free.recommend().overall.scope == "all settings"


def test_what_drop_forbids_is_not_recommended():
    """A valley that nothing may cross: what lies beyond it is neither recommended nor claimed anything about."""
    space, start = eq.Box([(0, 1)]), [0.2]

    def valley(x):
        return 2.0 * np.exp(-30 * (x - 0.25) ** 2) + 6.0 * np.exp(-60 * (x - 0.9) ** 2)

    rng, opt = np.random.default_rng(3), eq.Optimizer(space, start=start, drop=0.5, rng=3)
    for x in (0.05, 0.5, 0.85, 0.9, 0.95):
        opt.add([x], valley(x) + 40, block="2025")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Estranged)
        for _ in range(30):
            trial = opt.ask()
            opt.tell(trial, valley(trial.x[0]) + 0.05 * rng.normal())
    best = opt.recommend()
    assert best.x[0] < 0.5
    assert abs(best.x[0] - 0.25) < 0.1


@pytest.mark.parametrize("drop", [1e-300, 1e20, 1e200])
@pytest.mark.parametrize("likelihood", [None, eq.likelihoods.Poisson()], ids=["numbers", "counts"])
def test_a_drop_of_any_size_is_taken(drop, likelihood):
    space = eq.Space(q1=eq.Float(0, 1))
    opt = eq.Optimizer(space, start={"q1": 0.5}, drop=drop, likelihood=likelihood, rng=0)
    for i in range(14):
        trial = opt.ask()
        opt.tell(trial, round(40 + 20 * trial.x["q1"]) if likelihood else trial.x["q1"] + 0.1 * i)
        assert drop > 1 or trial.x == {"q1": 0.5}
    assert len({record.x["q1"] for record in opt.records()}) > 2 or drop < 1
