"""The claims of a study, with their basis; audits and verifications through ask and tell."""

import copy
import math
import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import Difference
from equipoise.study import DeadSensor, WrongUnit

SPACE = eq.Space(q1=eq.Float(0, 1), q2=eq.Float(0, 1))
GRID = eq.Finite(np.linspace(0, 1, 9)[:, None])
KNOWN = {"kernel": eq.RBF(0.3), "regularizer": 0.02}


def f(x):
    return -4 * (x["q1"] - 0.7) ** 2 - 3 * (x["q2"] - 0.3) ** 2


def measure(opt, readings, value=f, noise=0.05, worker=None):
    """Ask and tell, with a drift larger than the signal; the noise depends on the trial alone."""
    for _ in range(readings):
        trial = opt.ask(worker=worker)
        drawn = np.random.default_rng(trial.id).standard_normal()
        opt.tell(trial, value(trial.x) + 0.1 * trial.id + noise * drawn)
    return opt


def tell_again(opt, times, warned, *told, **how):
    """Tell the same of this many trials, about which there will be warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", warned)
        for _ in range(times):
            opt.tell(opt.ask(), *told, **how)


def test_the_start_is_the_best_known_setting_until_something_is_compared():
    start = {"q1": 0.5, "q2": 0.25}
    for limits in ({}, {"drop": 1.0}, {"max_step": {"q1": 0.1}}, {"minimize": True}):
        opt = eq.Optimizer(SPACE, start=start, rng=0, **limits)
        assert opt.recommend().x == start
        trial = opt.ask()
        opt.tell(trial, -3.0)
        assert opt.recommend().x == start
        opt.undo()
        assert opt.recommend().x == start


@pytest.fixture(scope="module")
def forty():
    return measure(eq.Optimizer(SPACE, rng=0), 40)


@pytest.fixture
def opt(forty):
    return copy.deepcopy(forty)


# --- kinds --------------------------------------------------------------------------------------------------------


def test_before_enough_is_known_there_is_a_guess():
    opt = measure(eq.Optimizer(SPACE, rng=0), 1)
    assert math.isinf(opt.recommend().against_start.width) or opt.recommend().against_start.width == 0
    measure(opt, 1)
    best = opt.recommend()
    assert (best.kind, best.gap_bound) == ("guess", math.inf)
    assert str(best.overall) == "A guess: there is no bound yet."
    assert (best.against_start.kind, best.against_start.duels) in {("guess", 0), ("theorem", 0)}
    assert best.against_start.low <= f(best.x) - f(opt.records()[0].x) <= best.against_start.high < math.inf
    best = measure(opt, 27).recommend()
    assert best.kind == best.against_start.kind == "guess"
    assert -f(best.x) <= best.gap_bound < 10
    assert str(best.overall).startswith("By a guess, nothing is better by more than ")
    assert "An estimate needs 1 more reading." in str(best)
    assert best.forecast is None
    assert not opt.done(1e9, audit=False)
    assert measure(opt, 1).recommend().kind == "estimate"
    assert opt.done(1e9, audit=False)


def test_an_estimate_says_so_and_holds_here(opt):
    best = opt.recommend()
    assert (best.kind, best.readings) == ("estimate", 40)
    assert -f(best.x) <= best.gap_bound < 1
    assert best.overall is best.claims[0]
    assert str(best.overall).startswith("By estimate, nothing is better by more than ")
    start = opt.records()[0].x
    assert best.against_start.kind == "estimate"
    assert best.against_start.low <= f(best.x) - f(start) <= best.against_start.high


def test_compare_two_settings(opt):
    a, b = {"q1": 0.7, "q2": 0.3}, {"q1": 0.2, "q2": 0.5}
    found = opt.compare(a, b)
    assert found.kind == "estimate"
    assert found.low < f(a) - f(b) < found.high
    back = opt.compare(b, a)
    assert (back.value, back.low, back.high) == pytest.approx((-found.value, -found.high, -found.low))
    assert opt.compare(a, a) == Difference(0.0, 0.0, 0.0, "theorem")
    with pytest.raises(ValueError, match="q1"):
        opt.compare({"q1": 7, "q2": 0}, b)


def test_compare_has_the_sign_of_the_user_when_minimizing():
    opt = measure(eq.Optimizer(SPACE, minimize=True, rng=0), 40, value=lambda x: -f(x))
    a, b = {"q1": 0.7, "q2": 0.3}, {"q1": 0.2, "q2": 0.5}
    found = opt.compare(a, b)
    assert found.low < -f(a) + f(b) < found.high < 0
    assert opt.recommend().against_start.value > 0  # how much better, whichever way better is


def test_a_theorem_is_called_one_on_listed_points_only():
    confidence = eq.TightConfidence(outcome_noise=0.1, norm_bound=3.0)
    opt = eq.Optimizer(GRID, kernel=eq.RBF(0.3), confidence=confidence, regularizer=0.01, rng=0)
    for _ in range(60):
        trial = opt.ask()
        opt.tell(trial, 100.0 - (float(trial.x[0]) - 0.5) ** 2 + 0.01 * trial.id)
    best = opt.recommend()
    assert best.kind == "theorem"
    assert best.gap_bound == opt.posterior.at(GRID.points).gap_bound(4)
    assert best.against_start.kind == "theorem"
    assert opt.compare([0.5], [0.0]).kind == "theorem"
    assert opt.done(best.gap_bound + 1e-9)  # a theorem needs no audit
    box = eq.Optimizer(eq.Box([(0, 1)]), kernel=eq.RBF(0.3), confidence=confidence, regularizer=0.01, rng=0)
    measure(box, 20, value=lambda x: -((float(x[0]) - 0.5) ** 2))
    assert box.recommend().kind == "estimate"  # what the search has not found is not bounded
    assert box.compare([0.5], [0.0]).kind == "theorem"


@pytest.mark.parametrize(
    "parts",
    [
        KNOWN,
        {"kernel": eq.RBF(0.3), "policy": eq.UCB(), "confidence": eq.TightConfidence()},  # believes the readings
        {"confidence": eq.TightConfidence()},  # learns the kernel
    ],
)
def test_nothing_else_is_called_a_theorem(parts):
    opt = eq.Optimizer(GRID, rng=0, **parts)
    measure(opt, 10, value=lambda x: float(x[0]))
    kind = "estimate" if "kernel" in parts else "guess"
    assert opt.recommend().kind == kind
    assert opt.compare([0.5], [0.0]).kind == kind


# --- sensors and units --------------------------------------------------------------------------------------------


def test_a_dead_sensor_is_noticed_and_never_certified():
    opt = eq.Optimizer(SPACE, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(9):
            opt.tell(opt.ask(), 0.5)
    with pytest.warns(DeadSensor, match=r"the last 10 readings are all 0.5: check the sensor"):
        opt.tell(opt.ask(), 0.5)
    for n in range(11, 61):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            opt.tell(opt.ask(), 0.5)
        assert bool(said) == (n in (20, 40))
        if n in (20, 60):
            assert math.isinf(opt.recommend().gap_bound)
            assert not opt.done(1e9, audit=False)


def test_neither_a_theorem_nor_a_verification_certifies_a_dead_sensor(opt):
    theory = {"kernel": eq.RBF(0.3), "confidence": eq.TightConfidence(outcome_noise=0.1), "regularizer": 0.01}
    proven = eq.Optimizer(GRID, rng=0, **theory)
    tell_again(proven, 20, DeadSensor, 0.5)
    assert math.isinf(proven.recommend().gap_bound)
    assert math.isinf(proven.compare([0.0], [1.0]).high)
    opt.verify(duels=6, runners_up=1)
    tell_again(opt, 12, DeadSensor, 0.5)
    best = opt.recommend()
    assert [claim.bound for claim in best.claims if claim.kind == "verified"] == [math.inf]
    assert best.kind == best.against_start.kind == "estimate"
    assert math.isfinite(best.gap_bound)  # of the forty readings before: an empty claim does not replace it


def test_a_sensor_that_dies_takes_the_bound_with_it(opt):
    tell_again(opt, 39, DeadSensor, 0.25)
    assert math.isfinite(opt.recommend().gap_bound)
    with pytest.warns(DeadSensor):
        opt.tell(opt.ask(), 0.25)  # half of all readings now
    assert math.isinf(opt.recommend().gap_bound)
    opt.tell(opt.ask(), 0.3)
    assert math.isfinite(opt.recommend().gap_bound)


def test_a_setting_that_reads_the_same_each_time_is_no_dead_sensor():
    opt = eq.Optimizer(GRID, rng=0, **KNOWN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(20):
            opt.tell(opt.ask(), 0.25, x=[0.5])
    assert math.isfinite(opt.recommend().gap_bound)


@pytest.mark.parametrize("space", [GRID, eq.Box([(0, 1)])], ids=["finite", "box"])
def test_a_kernel_of_the_wrong_unit_is_contradicted(space):
    opt = eq.Optimizer(space, rng=0, **KNOWN)
    measure(opt, 20, value=lambda x: 1000 * float(x[0]), noise=10.0)
    with pytest.warns(WrongUnit, match=r"times as large as `kernel` and `regularizer` say, so there is no bound: mult"):
        best = opt.recommend()
    assert math.isinf(best.gap_bound)
    right = eq.Optimizer(space, rng=0, kernel=1e6 * eq.RBF(0.3), regularizer=2e4)
    measure(right, 20, value=lambda x: 1000 * float(x[0]), noise=10.0)
    assert math.isfinite(right.recommend().gap_bound)


# --- audits -------------------------------------------------------------------------------------------------------


def test_an_audit_is_served_by_the_next_asks(opt):
    estimate = opt.recommend().gap_bound
    assert not opt.done(2 * estimate)
    assert opt.done(2 * estimate, audit=False)
    plan = opt.audit(duels=6)
    assert (plan.purpose, plan.duels, plan.told, plan.left) == ("audit", 6, 0, 6)
    assert opt.audit(duels=50) == plan  # one that is under way goes on
    before = {str(record.x) for record in opt.records()}
    measure(opt, 6)
    spread = [record.x for record in opt.records()[-6:] if str(record.x) not in before]
    assert len(spread) == 3  # the leader, and a point never measured, three times
    assert (opt.study.plan.told, opt.study.plan.left) == (3, 3)
    assert opt.recommend().kind == "estimate"
    measure(opt, 6)
    assert opt.study.plan is None
    best = opt.recommend()
    assert best.kind == "audited"
    assert -f(best.x) <= best.gap_bound
    assert str(best.overall).startswith("By audit, nothing is better by more than ")
    assert opt.done(best.gap_bound)
    measure(opt, 2)
    assert opt.recommend().kind == "audited"


def test_an_audit_survives_a_crash_in_its_middle(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = measure(eq.Optimizer(SPACE, log=path, rng=0), 40)
    opt.audit(duels=4)
    measure(opt, 3)
    twin = measure(copy.deepcopy(opt), 5)
    again = eq.resume(path)
    assert again.study.plan == opt.study.plan
    measure(again, 5)
    assert repr(again.recommend()) == repr(twin.recommend())
    assert again.recommend().kind == "audited"
    assert sum('"kind":"audit"' in line for line in path.read_text().splitlines()) == 1


@pytest.mark.filterwarnings("ignore::equipoise.DuelGivenUp")
@pytest.mark.parametrize("how", ["undone", "failed", "retracted"])
def test_an_audit_goes_on_where_nothing_measured_is_left(how):
    opt = eq.Optimizer(eq.Space(i=eq.Int(-4, 4)), rng=0)
    trial = opt.ask()
    opt.tell(trial, 1.0)
    opt.audit(2)
    if how == "failed":
        opt.tell(opt.ask(), failed="no beam")
    opt.undo() if how == "undone" else opt.retract(trial)
    opt.tell(trial, failed="no beam")
    for _ in range(4):
        again = opt.ask()
        opt.tell(again, float(again.id))
    assert opt.readings == 4


@pytest.mark.parametrize("space", [eq.Finite([[0.5]]), eq.Space(n=eq.Int(0, 9), constraint="n == 3")])
def test_there_is_nothing_to_audit_in_a_single_setting(space):
    opt = eq.Optimizer(space, rng=0)
    opt.tell(opt.ask(), 1.0)
    with pytest.raises(RuntimeError, match="there is nothing to audit: a single setting may be asked for"):
        opt.audit(2)
    assert opt.study.plan is None


def test_an_audit_goes_on_if_all_but_one_setting_failed():
    opt = eq.Optimizer(eq.Space(n=eq.Int(0, 1)), rng=0)
    opt.tell(opt.ask(), 1.0)
    opt.audit(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.DuelGivenUp)
        for _ in range(12):
            trial = opt.ask()
            opt.tell(trial, **({"value": float(trial.id % 3)} if trial.x["n"] == 0 else {"failed": "no beam"}))
    assert opt.study.plan is None


def test_workers_share_an_audit(opt):
    opt.audit(duels=4)
    trials = [opt.ask(worker=name) for name in "abcd"]
    assert opt.study.plan.left == 0
    other = opt.ask(worker="e")  # nothing is left of the audit: the policy goes on
    for name, trial in zip("abcd", trials, strict=True):
        opt.tell(trial, f(trial.x))
        measure(opt, 1, worker=name)
    assert opt.study.plan is None
    assert opt.recommend().kind == "audited"
    assert other.id in opt.study.open_trials


def test_what_fails_is_replaced_and_what_is_retracted_is_missing(opt):
    opt.audit(duels=2)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(), failed="shutter closed")
    assert (opt.study.plan.left, opt.study.plan.told) == (2, 0)
    measure(opt, 4)
    assert opt.recommend().kind == "audited"
    last = opt.undo()
    assert opt.recommend().kind == "estimate"
    assert opt.study.plan.told == 1
    opt.tell(last, 0.1)
    assert opt.recommend().kind == "audited"


def test_an_audit_where_nothing_can_be_measured_ends(opt):
    opt.audit(duels=3)
    tell_again(opt, 6, eq.DuelGivenUp, failed="beam lost")
    assert opt.study.plan is None
    assert opt.recommend().kind == "estimate"


def test_cancel(opt):
    with pytest.raises(RuntimeError, match="no plan under way"):
        opt.cancel()
    opt.audit()
    with pytest.raises(RuntimeError, match="a plan to audit is under way: 24 of its 24 duels are still to be told"):
        opt.verify()
    opt.cancel()
    assert opt.study.plan is None
    assert opt.verify().purpose == "verify"


def test_plans_need_readings_and_sane_numbers():
    opt = eq.Optimizer(SPACE, rng=0)
    with pytest.raises(RuntimeError, match="nothing to audit yet"):
        opt.audit()
    with pytest.raises(RuntimeError, match="nothing to verify yet"):
        opt.verify()
    with pytest.raises(ValueError, match="`duels` must be at least 2, got 1"):
        opt.audit(1)


@pytest.mark.parametrize(
    "parts",
    [
        {"policy": eq.UCB()},
        {"policy": eq.IDS(), "reduction": eq.OnePoint(), "kernel": eq.RBF(0.3)},
        {"offset": eq.Arbitrary()},
        {"minimize": True},
        KNOWN,
    ],
    ids=str,
)
@pytest.mark.parametrize("space", [GRID, eq.Box([(0, 1)])], ids=["finite", "box"])
def test_every_learner_can_be_audited_and_verified(space, parts):
    opt = measure(eq.Optimizer(space, rng=0, **parts), 30, value=lambda x: float(x[0]))
    opt.audit(4)
    measure(opt, 8, value=lambda x: float(x[0]))
    assert opt.recommend().kind == "audited"
    opt.verify(6, runners_up=1)
    measure(opt, 12, value=lambda x: float(x[0]))
    assert {"verified", "audited"} == {claim.kind for claim in opt.recommend().claims}


# --- verification -------------------------------------------------------------------------------------------------


def test_a_verification_is_of_the_leader_against_start_and_runners_up(opt):
    best, start = opt.recommend(), opt.records()[0].x
    plan = opt.verify(duels=24)
    assert len(plan.points) == 4
    assert opt.space.decode(plan.points[0]) == best.x
    assert opt.space.decode(plan.points[1]) == start
    told = len(opt.records())
    measure(opt, 48)
    fresh = opt.records()[told:]
    assert sum(record.x == best.x for record in fresh) == 24
    assert sum(record.x == start for record in fresh) == 8
    firsts = [a.x == best.x for a, b in zip(fresh[::2], fresh[1::2], strict=True)]
    assert 4 < sum(firsts) < 20  # in random order
    found = opt.recommend()
    assert found.x == best.x
    against = found.against_start
    assert (against.kind, against.duels) == ("verified", 8)
    assert against.low <= f(best.x) - f(start) <= against.high
    assert against == opt.compare(best.x, start) == -opt.compare(start, best.x)
    verified = next(claim for claim in found.claims if claim.kind == "verified")
    assert str(verified).startswith("Verified by fresh duels, none of the start and 2 runners-up is better by")
    assert found.overall.kind == "estimate"
    assert not opt.done(1e9)  # it is about the finalists; all settings need an audit


def test_a_verification_never_makes_the_headline_worse(opt):
    """A narrow estimate of all settings stays first where few fresh duels under much noise show little."""
    before = opt.recommend()
    opt.verify(duels=24)
    measure(opt, 48, noise=1.0)
    best = opt.recommend()
    verified = next(claim for claim in best.claims if claim.kind == "verified")
    assert verified.bound > 1.0 > before.gap_bound
    assert best.claims == (best.overall, verified)
    assert (best.kind, best.gap_bound) == (best.overall.kind, best.overall.bound)
    assert best.against_start.clear
    assert best.against_start.also.kind == "verified"
    assert not best.against_start.also.clear
    assert "verified by 8 fresh duels" in str(best)


def test_a_verification_that_shows_more_comes_first(opt):
    opt.verify(duels=16, runners_up=0)
    measure(opt, 32, noise=0.001)
    best = opt.recommend()
    assert best.kind == best.claims[0].kind == best.against_start.kind == "verified"
    assert best.gap_bound == 0.0  # the start is worse
    assert best.overall is best.claims[1]
    assert best.against_start.also.kind == "estimate"
    assert (-best.against_start).also == -best.against_start.also


def test_verification_goes_on_where_it_ended(opt):
    opt.verify(duels=8, runners_up=0)
    measure(opt, 16)
    first = opt.recommend().against_start
    opt.verify(duels=8, runners_up=0)
    measure(opt, 16)
    second = opt.recommend().against_start
    assert (first.duels, second.duels) == (8, 16)
    assert second.high - second.low < first.high - first.low


def test_verification_against_settings_of_ones_own(opt):
    rival = {"q1": 0.1, "q2": 0.9}
    opt.verify(duels=8, against=[rival])
    measure(opt, 16)
    found = opt.recommend()
    assert opt.compare(found.x, rival).kind == "verified"
    assert found.against_start.kind == "estimate"
    with pytest.raises(ValueError, match="`against` must name a setting"):
        opt.verify(against=[])


def test_a_leader_that_is_beaten_is_not_called_verified():
    truth = lambda x: -((float(x[0]) - 0.2) ** 2)  # noqa: E731
    opt = eq.Optimizer(GRID, rng=0, **KNOWN)
    measure(opt, 20, value=truth)
    opt.verify(duels=8, runners_up=2)
    measure(opt, 16, value=lambda x: 1.5 * float(x[0]))  # the world has changed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WrongUnit)
        best = opt.recommend()
    assert best.kind != "verified"
    assert float(best.x[0]) > 0.4


def test_what_was_measured_elsewhere_verifies_nothing(opt):
    opt.verify(duels=2, runners_up=0)
    for _ in range(4):
        trial = opt.ask()
        opt.tell(trial, f(trial.x), x={"q1": 0.5, "q2": 0.5})
    assert opt.recommend().against_start.kind == "estimate"


# --- the test of the coins ----------------------------------------------------------------------------------------


def test_coins_explain_a_study_of_nothing_but_drift():
    opt = measure(eq.Optimizer(SPACE, rng=1), 60, value=lambda x: 0.0)
    assert opt.study.coin_test() > 0.01


def test_coins_do_not_explain_a_study_that_found_something(opt):
    measure(opt, 60)
    assert opt.study.coin_test() < 0.05
    assert eq.Optimizer(SPACE, rng=0).study.coin_test() == 1.0


# --- a start that is given ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"minimize": True},
        {"policy": eq.UCB()},
        {"policy": eq.IDS(), "kernel": eq.RBF(0.3)},
        {"policy": eq.IDS(), "reduction": eq.OnePoint(), "kernel": eq.RBF(0.3)},
    ],
    ids=str,
)
def test_the_start_is_measured_first_and_claims_are_against_it(parts, tmp_path):
    start = {"q1": 0.25, "q2": 0.875}
    opt = eq.Optimizer(SPACE, start=start, rng=0, log=tmp_path / "study.jsonl", **parts)
    assert opt.recommend().against_start is not None
    measure(opt, 2)
    assert start in [record.x for record in opt.records()]
    assert "start" in (tmp_path / "study.jsonl").read_text().splitlines()[0]
    again = eq.resume(tmp_path / "study.jsonl")
    measure(again, 30)
    assert repr(again.recommend()) == repr(measure(opt, 0).recommend())
    plan = again.verify(2, runners_up=0)
    assert again.space.decode(plan.points[1]) == start
    assert again.recommend().against_start.value >= 0


def test_a_start_on_listed_points_and_one_that_cannot_be():
    opt = eq.Optimizer(GRID, start=[0.25], rng=0, **KNOWN)
    measure(opt, 2, value=lambda x: float(x[0]))
    assert [0.25] in [record.x.tolist() for record in opt.records()]
    with pytest.raises(ValueError, match="q1"):
        eq.Optimizer(SPACE, start={"q1": 7, "q2": 0})


# --- offsets that are explained ------------------------------------------------------------------------------------


def test_what_explains_the_offset_narrows_the_bound():
    def bound(explained):
        opt, rng, warmth = eq.Optimizer(SPACE, rng=0), np.random.default_rng(0), 0.0
        for _ in range(60):
            trial = opt.ask()
            warmth += 0.5 * rng.normal()
            told = {"covariates": {"warmth": warmth}} if explained else {}
            opt.tell(trial, f(trial.x) + 3 * warmth + 0.05 * rng.normal(), **told)
        best = opt.recommend()
        assert -f(best.x) <= best.gap_bound
        return best.gap_bound

    assert bound(explained=True) < 0.2 * bound(explained=False)
