"""The ask/tell shell: one contract over every policy, reduction and space, and what it does with what it is told."""

import copy
import math
import pickle
import re
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import equipoise as eq
from equipoise.answer import knows_enough
from equipoise.study.defaults import default_policy
from suites import COMBINATIONS, SPACES

FINITE, BOX = SPACES[:2]
KERNEL = eq.RBF(0.4)
over_combinations = pytest.mark.parametrize(("policy", "reduction", "space"), COMBINATIONS, ids=repr)
over_spaces = pytest.mark.parametrize("space", SPACES, ids=repr)

# Learning is slow: each policy does it with the reduction it is meant for, and all others with a given kernel.
CASES = [(*c, {"kernel": KERNEL}) for c in COMBINATIONS] + [(*c, {}) for c in COMBINATIONS if c[1] == c[0].reduction]


def f(x):
    """Values that are multiples of 2^-10: sums and differences with such offsets are exact."""
    return round(1024 * (math.sin(3 * x[0]) - x[1] ** 2)) / 1024


def drifting(trial):
    return f(trial.x) + trial.id / 8


def make(space=FINITE, **options):
    """An optimizer in the paper's setting, unless told otherwise."""
    return eq.Optimizer(space, **{"kernel": KERNEL, "policy": eq.IDS(), "rng": 0} | options)


def advance(opt, readings, measure=drifting):
    """Ask and tell in turn; return what was asked for."""
    asked = []
    for _ in range(readings):
        trial = opt.ask()
        asked.append((trial.id, trial.x.tolist()))
        opt.tell(trial, measure(trial))
    return asked


def belief(opt):
    """Mean and variance at fixed points, to the last bit."""
    points = opt.space.candidates(np.random.default_rng(0))
    at = opt.posterior.at(points)
    return at.mean.tobytes(), at.variance.tobytes(), opt.study.belief.comparisons


def state(opt):
    """Everything that can be seen of an optimizer, and what a copy of it does next."""
    best, twin = opt.recommend(), copy.deepcopy(opt)
    seen = belief(opt), opt.study.open_trials, opt.readings, best.x.tolist(), best.gap_bound, best.readings
    return seen, [(trial.id, trial.x.tolist()) for trial in (twin.ask() for _ in range(3))]


@pytest.mark.parametrize(("policy", "reduction", "space", "setting"), CASES, ids=repr)
def test_contract(policy, reduction, space, setting):
    def new(**options):
        return eq.Optimizer(space, policy=policy, reduction=reduction, rng=5, **setting, **options)

    # What is learned is fitted after 6 readings, and again after 8.
    readings = 5 if setting else 9  # odd: a two-point duel stays open
    opt = new()
    asked = advance(opt, readings)
    assert [i for i, _ in asked] == list(range(readings))
    for _, x in asked:
        point = space.encode(x)
        assert space.points is None or (space.points == point).all(axis=1).any()
    assert opt.readings == readings
    assert opt.study.open_trials == ()
    best = opt.recommend()
    space.encode(best.x)
    assert best.gap_bound >= 0
    assert (best.kind != "guess") == knows_enough(opt.study.belief)
    assert best.readings == readings
    assert opt.recommend().x.tolist() == best.x.tolist()

    # The same seed and the same answers give the same run; copies go on where it stood, in the middle of a duel too.
    again = new()
    assert advance(again, 3) == asked[:3]
    again.recommend()
    assert advance(again, readings - 3) == asked[3:]
    twins = [again, copy.deepcopy(opt), copy.copy(opt), pickle.loads(pickle.dumps(opt))]
    rest = advance(opt, 2)  # the end of a duel and the beginning of the next
    assert all(advance(twin, 2) == rest for twin in twins)
    stands = state(opt)
    assert state(twins[-1]) == stands

    # The mirror image: minimizing -y is maximizing y, bit for bit.
    mirror = new(minimize=True)
    assert advance(mirror, readings + 2, lambda trial: -drifting(trial)) == asked + rest
    assert state(mirror) == stands


@over_combinations
def test_trials_may_be_open_together_and_told_in_any_order(policy, reduction, space):
    opt = make(space, policy=policy, reduction=reduction)
    advance(opt, 4)
    trials = [opt.ask() for _ in range(8)]
    assert opt.study.open_trials == tuple(range(4, 12))
    in_order = copy.deepcopy(opt)
    for trial in trials:
        in_order.tell(trial, drifting(trial))
    for n in np.random.default_rng(0).permutation(8):
        opt.tell(trials[n].id if n % 2 else trials[n], drifting(trials[n]))
    assert opt.study.open_trials == ()
    assert opt.readings == 12
    points = space.candidates(np.random.default_rng(0))
    np.testing.assert_allclose(opt.posterior.at(points).mean, in_order.posterior.at(points).mean, atol=1e-9)
    assert opt.study.belief.comparisons == in_order.study.belief.comparisons
    advance(opt, 2)


def test_open_duels_are_spread_out():
    """What is under way already shrinks the variance: the same duel is not asked for again and again."""
    opt = make()
    pairs = [frozenset((opt.ask().x.tobytes(), opt.ask().x.tobytes())) for _ in range(5)]
    assert len(set(pairs)) == 5
    assert opt.study.belief.comparisons == 0


@over_spaces
@pytest.mark.parametrize("setting", [{"kernel": KERNEL}, {"offset": eq.Arbitrary()}], ids=["given", "learned"])
def test_an_offset_of_its_own_for_every_pair_changes_no_bit_of_a_two_point_run(space, setting):
    offsets = np.random.default_rng(0).integers(-(2**30), 2**30, size=40).astype(float)
    plain, shifted = (eq.Optimizer(space, **setting, reduction=eq.TwoPoint(), rng=1) for _ in range(2))
    assert advance(plain, 40, lambda t: f(t.x)) == advance(shifted, 40, lambda t: f(t.x) + offsets[t.id // 2])
    assert state(plain) == state(shifted)


@pytest.mark.parametrize(
    "seed",
    [
        lambda: 7,
        lambda: np.random.SeedSequence(7),
        lambda: np.random.PCG64(7),
        lambda: np.random.default_rng(7),
    ],
    ids=["int", "SeedSequence", "BitGenerator", "Generator"],
)
def test_every_kind_of_seed_reproduces_the_run(seed):
    first, again, other = (make(BOX, rng=rng) for rng in (seed(), seed(), 8))
    asked = advance(first, 12)
    assert advance(again, 12) == asked
    assert advance(other, 12) != asked


def test_one_generator_seeds_two_different_runs():
    rng = np.random.default_rng(7)
    assert advance(make(BOX, rng=rng), 4) != advance(make(BOX, rng=rng), 4)


class Gambler:
    """A policy that keeps its first draw of each duel, then draws on as often as it is told to."""

    proposal_size, reduction, scores = 1, eq.Direct(), None

    def __init__(self, extra):
        self.extra, self.drawn = extra, []

    def __call__(self, belief, rng):
        self.drawn.append(rng.random())
        for _ in range(self.extra):
            rng.integers(7, dtype=np.uint32)
        return eq.Proposal.single(belief.points[0])


def test_each_duel_has_random_numbers_of_its_own_whatever_was_drawn_before():
    sparing, lavish = Gambler(0), Gambler(5)
    for policy in (sparing, lavish):
        advance(make(policy=policy), 50)
    assert sparing.drawn == lavish.drawn
    assert len(set(sparing.drawn)) == 50


@over_spaces
def test_recommend_does_not_disturb_the_stream(space):
    quiet, curious = (make(space) for _ in range(2))
    asked = []
    for _ in range(15):
        curious.recommend()
        asked += advance(curious, 1)
        curious.recommend()
    assert advance(quiet, 15) == asked


# What it may be told, and what it may not.


@pytest.fixture(scope="module", params=SPACES, ids=repr)
def standing(request):
    """An optimizer with a finished trial 0, a failed trial 4, a void 5, and 6, 7, 8 open; and its state."""
    opt = make(request.param)
    advance(opt, 4)
    for _ in range(5):
        opt.ask()
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(4, failed="shutter closed")
    return opt, state(opt)


@pytest.fixture
def opened(standing):
    """A copy of it."""
    return copy.deepcopy(standing[0])


@pytest.mark.parametrize(
    ("trial", "told", "error", "message"),
    [
        (6, {"value": "1.0"}, TypeError, "`value` must be a real number, got '1.0'"),
        (6, {"value": True}, TypeError, "`value` must be a real number, got True"),
        (6, {"value": 1j}, TypeError, "`value` must be a real number, got 1j"),
        (6, {"value": np.ones(2)}, TypeError, "`value` must be a real number, got array([1., 1.])"),
        (6, {"value": [1.0]}, TypeError, "`value` must be a real number, got [1.0]"),
        (6, {"value": math.nan}, ValueError, "`value` must be finite, got nan"),
        (6, {"value": math.inf}, ValueError, "`value` must be finite, got inf"),
        (6, {"value": np.float64(-math.inf)}, ValueError, "`value` must be finite, got np.float64(-inf)"),
        (6, {"value": 10**400}, ValueError, "`value` must be finite, got 1000"),
        (6, {"value": None}, ValueError, "exactly one of `value` and `failed` must be given, got None and None"),
        (6, {}, ValueError, "exactly one of `value` and `failed` must be given, got None and None"),
        (6, {"value": 1.0, "failed": "no"}, ValueError, "`value` and `failed` must be given, got 1.0 and 'no'"),
        (6, {"value": 1.0, "time": math.nan}, ValueError, "`time` must be finite, got nan"),
        (6, {"value": 1.0, "error": -1.0}, ValueError, "`error` must not be negative, got -1.0"),
        (6, {"value": 1.0, "x": [0.0]}, ValueError, "`x` must have shape (2), got (1,)"),
        (9, {"value": 1.0}, ValueError, "`trial` must be one that was asked for and is still open, got 9"),
        (10, {"value": 1.0}, ValueError, "`trial` must be one that was asked for and is still open, got 10"),
        (99, {"failed": "no"}, ValueError, "`trial` must be one that was asked for and is still open, got 99"),
        (-1, {"value": 1.0}, ValueError, "`trial` must be at least 0, got -1"),
        ("6", {"value": 1.0}, TypeError, "`trial` must be an integer, got '6'"),
        (6.0, {"value": 1.0}, TypeError, "`trial` must be an integer, got 6.0"),
        (None, {"value": 1.0}, TypeError, "`trial` must be an integer, got None"),
        ({"q1": 0.5}, {"value": 1.0}, TypeError, "must be what `ask` returned or its number, got a setting: {'q1'"),
        (0, {"value": 99.0}, ValueError, ", as told before, got 99.0"),
        (0, {"failed": "no"}, ValueError, "`trial` must be open to fail, got 0, which was told "),
        (4, {"value": 1.0}, ValueError, "`trial` must be open, got 4, which failed (shutter closed)"),
    ],
)
def test_a_refused_reading_names_the_rule_and_changes_nothing(opened, standing, trial, told, error, message):
    with pytest.raises(error, match=re.escape(message)):
        opened.tell(trial, **told)
    assert state(opened) == standing[1]


def test_the_same_news_twice_is_no_news(opened):
    opened.tell(6, 0.5)
    before = state(opened)
    opened.tell(6, 0.5)
    opened.tell(0, drifting(eq.Trial(0, advance(make(opened.space), 1)[0][1])))
    opened.tell(4, failed="again")
    assert state(opened) == before


def test_readings_that_cannot_be_teach_nothing_until_they_are_corrected(opened):
    learned = belief(opened)
    with pytest.warns(eq.study.SetAside, match="the reading of trial 6 is impossible and was ignored") as caught:
        opened.tell(6, 1e308)
    assert [warning.filename for warning in caught] == [__file__]
    opened.tell(7, 0.25)
    assert belief(opened) == learned
    assert opened.readings == 6
    opened.correct(6, 0.5)
    assert opened.study.belief.comparisons == 3


def test_a_failed_half_gives_the_duel_up_and_says_so():
    opt = make()
    advance(opt, 6)
    learned = belief(opt)
    first, second = opt.ask(), opt.ask()
    opt.tell(first, 2.0)
    with pytest.warns(eq.DuelGivenUp, match=r"duel 3 given up: trial 7 failed \(beam lost\)") as caught:
        opt.tell(second, failed="beam lost")
    assert [warning.filename for warning in caught] == [__file__]  # it points at the caller
    assert belief(opt) == learned
    assert opt.readings == 7
    assert opt.study.open_trials == ()
    assert opt.ask().id == 8


def test_the_other_half_is_still_accepted_and_teaches_nothing():
    opt = make()
    advance(opt, 6)
    learned = belief(opt)
    first, second = opt.ask(), opt.ask()
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(first, failed="beam lost")
    assert opt.study.open_trials == (second.id,)
    opt.tell(second, 2.0)
    opt.tell(second, 2.0)
    assert belief(opt) == learned
    assert opt.study.open_trials == ()
    assert opt.readings == 7


def test_a_half_that_still_waits_is_never_handed_out():
    opt = make()
    first = opt.ask()
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(first, failed="beam lost")
    assert opt.ask().id == 2
    with pytest.raises(ValueError, match="`trial` must be one that was asked for and is still open, got 1"):
        opt.tell(1, 0.0)


def test_both_halves_may_fail_with_one_warning():
    opt = make()
    first, second = opt.ask(), opt.ask()
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(first, failed="beam lost")
    opt.tell(second, failed="beam lost")
    assert opt.study.open_trials == ()
    assert opt.readings == 0


# What else can be told.


def test_a_reading_may_come_from_elsewhere_with_an_error_of_its_own():
    opt = make()
    first, second = opt.ask(), opt.ask()
    elsewhere = next(x for x in FINITE.points if not any((x == t.x).all() for t in (first, second)))
    told = [(first, 3.0, {"error": 0.5}), (second, 1.0, {"error": 1.0, "x": elsewhere})]
    for trial, value, details in told:  # refused of either half, or the other could never be told
        before = state(opt)
        with pytest.raises(ValueError, match="a point must be one of the 12 given ones"):
            opt.tell(trial, value, x=[9.0, 9.0])
        assert state(opt) == before
        opt.tell(trial, value, **details)
    expected = eq.belief.FinitePosterior(FINITE.points, KERNEL).condition(
        eq.Comparison(first.x, elsewhere, 2.0, variance=0.5**2 + 1.0**2)
    )
    for part in ("mean", "variance"):
        ours, theirs = (getattr(posterior.at(FINITE.points), part) for posterior in (opt.posterior, expected))
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_both_halves_go_to_one_worker():
    opt = make()
    asked = {worker: [opt.ask(worker=worker).id for _ in range(4)] for worker in ("a", "b", None)}
    interleaved = [opt.ask(worker=worker).id for worker in ("a", "b", "a", "b")]
    assert asked == {"a": [0, 1, 2, 3], "b": [4, 5, 6, 7], None: [8, 9, 10, 11]}
    assert interleaved == [12, 14, 13, 15]


def test_a_trial_taken_back_is_handed_out_again_but_never_half_a_lost_duel():
    opt = make()
    first, second = opt.ask(), opt.ask()
    opt.study.expire(first)
    assert opt.study.open_trials == (second.id,)
    with pytest.raises(ValueError, match="asked for and is still open, got 0"):
        opt.tell(first, 1.0)
    assert opt.ask() == first
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(first, failed="beam lost")
    opt.study.expire(second)
    assert opt.study.open_trials == ()
    assert opt.ask().id == 2


def test_a_pair_measured_too_far_apart_is_given_up():
    opt = make(max_gap=10.0)
    for gap in (10.0, 10.5):
        first, second = opt.ask(), opt.ask()
        opt.tell(second, 1.0, time=100.0 + gap)
        if gap <= 10:
            opt.tell(first, 0.0, time=100.0)
        else:
            with pytest.warns(eq.DuelGivenUp, match="its halves were more than 10.0 apart") as caught:
                opt.tell(first, 0.0, time=100.0)
            assert [warning.filename for warning in caught] == [__file__]
    assert opt.study.belief.comparisons == 1
    assert opt.readings == 4


def test_done_is_the_certificate():
    opt = make()
    advance(opt, 10)
    bound = opt.recommend().gap_bound
    assert opt.done(bound * 1.001, audit=False)
    assert not opt.done(bound * 0.999, audit=False)
    assert not opt.done(bound * 1.001)


# Making one.


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"space": [[0.0, 1.0]]}, TypeError, "`space` must be an object such as Space(q=Float(0, 1)), Box(bounds) or"),
        ({"space": eq.Box}, TypeError, "or Finite(points), got <class 'equipoise.spaces.box.Box'>"),
        ({"policy": eq.IDS}, TypeError, "`policy` must be an object such as Challenger(), got <class"),
        ({"policy": "ids"}, TypeError, "`policy` must be an object such as Challenger(), got 'ids'"),
        ({"reduction": eq.OnePoint}, TypeError, "`reduction` must be an object such as TwoPoint(), got <class"),
        ({"policy": eq.UCB(), "reduction": eq.TwoPoint()}, ValueError, "TwoPoint() compares, UCB() proposes single"),
        ({"kernel": KERNEL, "regularizer": 0}, ValueError, "`regularizer` must be positive, got 0"),
        ({"regularizer": 0.1}, ValueError, "`regularizer` must come with a `kernel`, else both are learned, got 0.1"),
        ({"kernel": KERNEL, "offset": eq.Tracked()}, ValueError, "`offset` must be Arbitrary() if a `kernel` is"),
        ({"max_gap": 0}, ValueError, "`max_gap` must be positive, got 0"),
        (
            {"posterior": eq.belief.AnywherePosterior(eq.RBF(1.0)), "kernel": eq.RBF(1.0)},
            ValueError,
            "`posterior` has its own",
        ),
        (
            {"posterior": eq.belief.AnywherePosterior(eq.RBF(1.0)), "regularizer": 0.1},
            ValueError,
            "`posterior` has its own",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        eq.Optimizer(**{"space": FINITE, **options})


def test_a_posterior_of_ones_own_is_used():
    prior = eq.belief.FinitePosterior(FINITE.points, eq.Matern52(0.5), 0.3).condition(
        eq.Comparison(FINITE.points[3], FINITE.points[0], 2.0)
    )
    opt = eq.Optimizer(FINITE, posterior=prior, rng=0)
    assert opt.posterior is prior
    assert opt.recommend().x.tolist() == FINITE.points[np.argmax(prior.at(FINITE.points).mean)].tolist()


def test_defaults_learn_everything_and_a_kernel_means_the_papers_setting():
    default, paper, single = eq.Optimizer(BOX), eq.Optimizer(BOX, kernel=KERNEL), eq.Optimizer(BOX, policy=eq.UCB())
    assert (default.study.setup.policy, default.study.setup.reduction) == (
        default_policy(),
        eq.TwoPoint(),
    )  # its numbers: study/defaults.py
    assert isinstance(default.study.setup.policy, eq.Challenger)
    assert (default.study.setup.offset, paper.study.setup.policy) == (eq.Tracked(), eq.Challenger())
    assert (paper.study.setup.offset, paper.posterior.kernel, paper.posterior.regularizer) == (
        eq.Arbitrary(),
        KERNEL,
        1.0,
    )
    assert (single.study.setup.reduction, single.study.setup.offset) == (eq.Direct(), eq.Constant())


def test_what_the_user_does_to_his_points_does_not_matter():
    careful, careless = (make() for _ in range(2))
    for _ in range(10):
        trial = careless.ask()
        value = drifting(trial)
        trial.x[:] = 1e9
        careless.tell(trial, value)
        careless.recommend().x[:] = 1e9
    advance(careful, 10)
    assert state(careful) == state(careless)


# Doors: what is refused before anything is written.


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("space", eq.Box),
        ("space", "box"),
        ("kernel", eq.RBF),
        ("kernel", "rbf"),
        ("policy", eq.IDS),
        ("reduction", eq.TwoPoint),
        ("offset", eq.Tracked),
        ("offset", "tracked"),
        ("confidence", eq.TightConfidence),
        ("confidence", 2.0),
        ("posterior", eq.belief.AnywherePosterior),
        ("posterior", "gp"),
    ],
    ids=repr,
)
def test_a_class_or_a_word_given_for_an_object_is_refused_and_leaves_no_log(tmp_path, argument, given):
    parts = {"space": BOX, argument: given}
    with pytest.raises(TypeError, match=f"`{argument}` must be an object such as "):
        eq.Optimizer(**parts, log=tmp_path / "study.jsonl", rng=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda opt, trial: opt.tell(trial, 1.0),
        lambda opt, trial: opt.tell(trial, failed="beam lost"),
        lambda opt, trial: opt.study.expire(trial),
    ],
    ids=["told", "failed", "expired"],
)
@over_spaces
def test_a_trial_of_another_optimizer_is_refused_before_anything_is_written(tmp_path, space, answer):
    opt = make(space, log=tmp_path / "study.jsonl")
    ours, theirs = opt.ask(), make(space, rng=1).ask()
    assert (ours.id, ours.x.tolist()) != (theirs.id, theirs.x.tolist())
    before, written = state(opt), opt.study.log.read_bytes()
    with pytest.raises(ValueError, match=r"`trial` must be one of this optimizer, whose trial 0 is at .*, got one at "):
        answer(opt, theirs)
    assert state(opt) == before
    assert opt.study.log.read_bytes() == written
    opt.tell(pickle.loads(pickle.dumps(ours)), 1.0)  # one's own copy is one's own
    assert opt.readings == 1


def test_a_worker_is_named_and_by_keyword():
    opt = make()
    with pytest.raises(TypeError, match="positional argument"):
        opt.ask(8)
    with pytest.raises(TypeError, match="`worker` must be a name, got 8"):
        opt.ask(worker=8)
    assert opt.study.open_trials == ()
    assert opt.ask(worker="8").id == 0


def test_a_gap_that_cannot_be_checked_is_said():
    opt = make(max_gap=10.0)
    for times in ((None, None), (1.0, None), (None, 2.0)):
        trials = opt.ask(), opt.ask()
        opt.tell(trials[0], 1.0, time=times[0])
        with pytest.warns(
            eq.study.GapUnknown, match=r"`max_gap` was not checked for duel \d: tell the `time`"
        ) as caught:
            opt.tell(trials[1], 0.0, time=times[1])
        assert [warning.filename for warning in caught] == [__file__]
    assert opt.study.belief.comparisons == 3
    first, second = opt.ask(), opt.ask()
    opt.tell(first, 1.0, time=3.0)
    opt.tell(second, 0.0, time=4.0)  # nothing to say
    free = make()
    advance(free, 4)


# The law of the offset, and beliefs of one's own.


def hilly(opt, readings=60, drift=0.1):
    """Tell readings of a hill at 0.7 whose offset drifts by more than the hill is high."""
    for t in range(readings):
        trial = opt.ask()
        opt.tell(trial, -4 * (float(trial.x[0]) - 0.7) ** 2 + drift * t)
    return opt


LINE = eq.Box([(0, 1)])
FORM = eq.belief.Form(LINE.extent, LINE.groups, eq.Blocks(4))


@pytest.mark.parametrize(
    ("parts", "law"),
    [
        ({}, eq.Tracked()),
        ({"kernel": KERNEL}, eq.Arbitrary()),
        ({"kernel": KERNEL, "policy": eq.UCB()}, eq.Constant()),
        ({"policy": eq.UCB()}, eq.Constant()),
        ({"offset": eq.Blocks(5)}, eq.Blocks(5)),
        ({"posterior": eq.belief.AnywherePosterior(KERNEL)}, eq.Arbitrary()),
        ({"posterior": eq.belief.AnywherePosterior(KERNEL), "policy": eq.UCB()}, eq.Constant()),
        ({"posterior": eq.belief.AnywherePosterior(KERNEL, offset=eq.Tracked().known())}, eq.Tracked()),
        ({"posterior": eq.belief.LearnedModel(FORM)}, eq.Blocks(4)),
        ({"posterior": eq.belief.LearnedModel(FORM, guard=3.0)}, eq.Blocks(4)),
    ],
    ids=repr,
)
def test_it_says_what_it_assumes_of_the_offset(parts, law):
    opt = eq.Optimizer(LINE, **parts, rng=0)
    assert opt.study.setup.offset == law
    for _ in range(4):
        opt.tell(opt.ask(), 1.0)
    readings_teach = law.learns_readings
    assert opt.study.belief.comparisons == (4 if readings_teach else 2)


@pytest.mark.parametrize("law", [eq.Tracked().known(walk=0.01, wave=0.01), eq.Blocks(1).known(level=0.5)], ids=repr)
def test_a_posterior_with_a_known_law_learns_readings_at_their_times(law):
    opt = hilly(eq.Optimizer(LINE, posterior=eq.belief.AnywherePosterior(eq.RBF(0.3), 0.01, offset=law), rng=0))
    observed = opt.posterior.observations
    assert observed.moments.time.tolist() == list(range(1, 61))
    assert observed.moments.pair.tolist() == [k // 2 for k in range(60)]
    assert math.isfinite(opt.recommend().gap_bound)


def test_where_the_law_is_right_the_bound_is_small():
    """In 0.1.0 every reading was taken at time 0, and the bound was fifty times as large."""
    prior = eq.belief.AnywherePosterior(eq.RBF(0.3), 0.01, offset=eq.Tracked().known(walk=1e-4, wave=1e-4))
    best = hilly(eq.Optimizer(LINE, posterior=prior, rng=0)).recommend()
    assert best.x[0] == pytest.approx(0.7, abs=0.05)
    assert 0 < best.gap_bound < 0.25


class Parabola(eq.belief.Posterior):
    """One's own belief: f is a parabola, its two coefficients have a normal prior; no gradients, no list."""

    def __init__(self, deviation=10.0):
        super().__init__(eq.Linear(), 0.1, None)
        self.coefficients, self.C, self.seen = np.zeros(2), deviation**2 * np.eye(2), np.empty((0, 1))

    @staticmethod
    def features(points):
        return np.concatenate((points, points**2), axis=1)

    def condition(self, comparison):
        return self.learned(comparison, comparison.outcome)

    def anticipate(self, comparison):
        u = self.features(np.array([comparison.first])) - self.features(np.array([comparison.second]))
        return self.learned(comparison, float(u[0] @ self.coefficients))

    def learned(self, comparison, outcome):
        new, pair = copy.copy(self), np.array([comparison.first, comparison.second])
        u = self.features(pair)[0] - self.features(pair)[1]
        c = self.C @ u
        s = self.regularizer + u @ c
        new.coefficients = self.coefficients + c * ((outcome - u @ self.coefficients) / s)
        new.C = self.C - np.outer(c, c) / s
        new.seen, new.comparisons = np.concatenate((self.seen, pair)), self.comparisons + 1
        return new

    def at(self, points):
        phi = self.features(points)
        C = phi @ self.C @ phi.T
        parts = phi @ self.coefficients, np.diag(C), lambda j: C[j], lambda: C
        return eq.belief.Belief(points, *parts, self.regularizer, self.beta, self.comparisons)

    @property
    def support(self):
        return self.seen


@pytest.mark.parametrize("policy", [eq.Challenger(), eq.IDS(), eq.DoubleThompson()], ids=repr)
def test_a_posterior_of_ones_own_is_enough_on_a_box(policy):
    opt = hilly(eq.Optimizer(LINE, posterior=Parabola(), policy=policy, rng=0))
    assert opt.study.setup.offset == eq.Arbitrary()
    assert opt.study.belief.comparisons == 30
    best = opt.recommend()
    assert best.x[0] == pytest.approx(0.7, abs=0.05)
    assert 0 <= best.gap_bound < 1
    advance(copy.deepcopy(opt), 4, lambda trial: 0.0)


def test_a_posterior_of_ones_own_can_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    opt = hilly(eq.Optimizer(LINE, posterior=Parabola(), rng=0), 12)
    figure = eq.plots.overview(opt)
    for draw in (eq.plots.estimate, eq.plots.readings, eq.plots.certificate, eq.plots.duels):
        assert draw(opt) is not None
    assert figure is not None
    plt.close("all")


def test_a_logged_guarded_posterior_is_taken_up(tmp_path):
    prior = eq.belief.LearnedModel(FORM, guard=2.5)
    opt = hilly(eq.Optimizer(LINE, posterior=prior, log=tmp_path / "study.jsonl", rng=0), 15)
    again = eq.resume(tmp_path / "study.jsonl")
    assert (again.study.belief.learned.model.guard, again.study.setup.offset) == (2.5, eq.Blocks(4))
    assert state(again) == state(opt)


# Many hands.


@pytest.fixture
def eager_threads():
    """Threads switched as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@over_spaces
@pytest.mark.usefixtures("eager_threads")
def test_ten_threads_lose_nothing_and_double_nothing(space):
    opt, start, each = make(space), threading.Barrier(10), 10

    def work(worker):
        start.wait()
        asked = []
        for n in range(each):
            trial = opt.ask()
            asked.append(trial.id)
            opt.tell(trial, drifting(trial))
            if n % 5 == worker % 5:
                opt.recommend()
        return asked

    with ThreadPoolExecutor(10) as pool:
        asked = [i for ids in pool.map(work, range(10)) for i in ids]
    assert sorted(asked) == list(range(10 * each))
    assert opt.readings == 10 * each
    assert opt.study.open_trials == ()
    assert opt.study.belief.comparisons == 10 * each // 2


@pytest.mark.usefixtures("eager_threads")
def test_a_copy_taken_while_others_tell_is_whole():
    """In every snapshot the posterior has learned exactly the duels whose readings the snapshot holds."""
    opt = make()
    with ThreadPoolExecutor(3) as pool:
        workers = [pool.submit(advance, opt, 200) for _ in range(3)]
        snapshots = [pickle.dumps(opt)]
        while not all(worker.done() for worker in workers):
            snapshots.append(pickle.dumps(opt))
    for twin in map(pickle.loads, [*snapshots, pickle.dumps(opt)]):
        assert 0 <= twin.readings - 2 * twin.study.belief.comparisons <= 3  # at most a half-told duel for each worker
        for i in twin.study.open_trials:
            twin.tell(i, 0.0)
        assert twin.readings - 2 * twin.study.belief.comparisons in (0, 1)
    assert twin.readings == 600


# Any order at all, against a model.


class Ledger(RuleBasedStateMachine):
    """Ask, tell and fail in any order; the model knows duels as runs of consecutive ids and does the sums itself."""

    @initialize(readings=st.sampled_from([1, 2]), seed=st.integers(0, 99))
    def start(self, readings, seed):
        self.per_duel = readings
        reduction = eq.TwoPoint() if readings == 2 else eq.Direct()
        self.opt = make(reduction=reduction, rng=seed)
        self.reference = eq.belief.FinitePosterior(FINITE.points, KERNEL)
        self.next_id = 0
        self.x, self.told, self.failed, self.given_up = {}, {}, set(), set()

    def open(self):
        return [i for i in self.x if i not in self.told and i not in self.failed]

    def duel(self, i):
        first = i - i % self.per_duel
        return range(first, first + self.per_duel)

    @rule()
    def ask(self):
        while self.next_id // self.per_duel in self.given_up:
            self.next_id += 1
        trial = self.opt.ask()
        assert trial.id == self.next_id
        self.x[trial.id] = trial.x
        self.next_id += 1

    @precondition(lambda self: self.open())
    @rule(data=st.data(), value=st.floats(-10, 10))
    def tell(self, data, value):
        i = data.draw(st.sampled_from(self.open()))
        self.opt.tell(i, value)
        self.told[i] = value
        duel = self.duel(i)
        if i // self.per_duel not in self.given_up and all(j in self.told for j in duel):
            a, b = duel[0], duel[-1]
            second, outcome = (self.x[b], self.told[a] - self.told[b]) if a != b else (None, self.told[a])
            self.reference = self.reference.condition(eq.Comparison(self.x[a], second, outcome))

    @precondition(lambda self: self.open())
    @rule(data=st.data())
    def fail(self, data):
        i = data.draw(st.sampled_from(self.open()))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.opt.tell(i, failed="broken")
        assert [w.category for w in caught] == [eq.DuelGivenUp] * (i // self.per_duel not in self.given_up)
        self.failed.add(i)
        self.given_up.add(i // self.per_duel)

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def tell_again(self, data):
        i = data.draw(st.sampled_from(sorted(self.told)))
        self.opt.tell(i, self.told[i])
        with pytest.raises(ValueError, match="as told before"):
            self.opt.tell(i, self.told[i] + 1)
        with pytest.raises(ValueError, match="which was told"):
            self.opt.tell(i, failed="broken")

    @precondition(lambda self: self.failed)
    @rule(data=st.data())
    def tell_failed(self, data):
        i = data.draw(st.sampled_from(sorted(self.failed)))
        self.opt.tell(i, failed="still broken")
        with pytest.raises(ValueError, match="failed"):
            self.opt.tell(i, 1.0)

    @rule(i=st.integers(0, 60))
    def tell_unknown(self, i):
        if i not in self.x:
            with pytest.raises(ValueError, match=f"asked for and is still open, got {i}"):
                self.opt.tell(i, 1.0)
            with pytest.raises(ValueError, match=f"asked for and is still open, got {i}"):
                self.opt.tell(i, failed="broken")

    @rule(how=st.sampled_from([copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))]))
    def move_to_another_process(self, how):
        self.opt = how(self.opt)

    @invariant()
    def agrees_with_the_model(self):
        if not hasattr(self, "opt"):
            return
        assert self.opt.study.open_trials == tuple(self.open())
        assert self.opt.readings == len(self.told)
        assert self.opt.study.belief.comparisons == self.reference.comparisons
        ours, theirs = (posterior.at(FINITE.points) for posterior in (self.opt.posterior, self.reference))
        np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-9)
        np.testing.assert_allclose(ours.variance, theirs.variance, atol=1e-12)


TestLedger = Ledger.TestCase
TestLedger.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


# --- comfort ------------------------------------------------------------------------------------------------------


def test_a_batch_is_what_single_asks_would_give():
    one, many = (eq.Optimizer(eq.Box([(0, 1)]), rng=0) for _ in range(2))
    batch = many.ask(n=5, worker="w")
    assert batch == [one.ask(worker="w") for _ in range(5)]
    assert [trial.x.tolist() for trial in batch] == [one.records()[i].x.tolist() for i in range(5)]
    assert many.study.open_trials == (0, 1, 2, 3, 4)
    assert {record.worker for record in many.records()} == {"w"}
    with pytest.raises(ValueError, match="`n` must be at least 1, got 0"):
        many.ask(n=0)


def test_run_measures_until_there_are_enough_readings():
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)
    seen = []

    def measure(x):
        seen.append(x)
        if len(seen) == 5:
            raise TimeoutError("no beam")
        return float(x[0])

    with pytest.warns(eq.DuelGivenUp):
        best = opt.run(measure, 20, failures=(TimeoutError,))
    assert (opt.readings, len(seen), best.readings) == (20, 21, 20)
    assert [record.failed for record in opt.records() if record.failed] == ["no beam"]
    assert opt.run(measure, 20).readings == 20  # nothing left to do
    assert len(seen) == 21


def test_an_error_of_the_function_loses_nothing():
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)

    def broken(x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        opt.run(broken, 10)
    assert opt.study.open_trials == ()
    with pytest.raises(ValueError, match="`value` must be finite, got nan"):
        opt.run(lambda x: float("nan"), 10)
    assert opt.study.open_trials == ()
    assert opt.ask().id == 0  # it waited


@pytest.mark.filterwarnings("ignore::equipoise.DuelGivenUp")
@pytest.mark.parametrize("workers", [None, 2])
def test_a_refused_answer_may_be_a_failure(workers):
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)
    with ThreadPoolExecutor(2) as pool:
        given = {} if workers is None else {"executor": pool, "workers": workers}
        opt.run(lambda x: float("nan") if x[0] > 0.8 else float(x[0]), 20, failures=(ValueError,), **given)
    failed = [record for record in opt.records() if record.failed]
    assert failed[0].failed == "`value` must be finite, got nan"
    assert all(record.x[0] > 0.8 for record in failed)
    assert opt.recommend().x[0] <= 0.8


@pytest.mark.parametrize("unit", [1e-60, 1e60, 1e100])
def test_no_unit_is_too_small_or_too_large(unit):
    opt, rng = eq.Optimizer(eq.Box([(0, 1)]), rng=0), np.random.default_rng(0)
    for i in range(36):
        trial = opt.ask()
        opt.tell(trial, unit * (0.01 * i + 0.02 * rng.normal() - (trial.x[0] - 0.7) ** 2))
    assert abs(opt.recommend().x[0] - 0.7) < 0.2


def test_what_is_no_function_measures_nothing():
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)
    with pytest.raises(TypeError, match="`measure` must be a function, got 3"):
        opt.run(3, 10)
    assert opt.records() == []


def test_open_begins_a_study_or_goes_on_with_the_same(tmp_path):
    path, space = tmp_path / "study.jsonl", eq.Space(q=eq.Float(0, 1))
    begun = eq.Optimizer.open(path, space, start={"q": 0.5}, minimize=True, rng=3)
    begun.tell(begun.ask(), 1.0)
    again = eq.Optimizer.open(path, space, start={"q": 0.5}, minimize=True, rng=4)
    assert again.readings == 1
    assert again.ask().id == 1  # the other half of the first pair
    for parts, message in (
        ({"minimize": False}, "`minimize` must stay what the log says, True, got False"),
        ({"start": {"q": 0.25}}, "`start` must stay what the log says"),
    ):
        with pytest.raises(ValueError, match=message):
            eq.Optimizer.open(path, space, **parts)
    with pytest.raises(ValueError, match="`space` must be the one the log describes"):
        eq.Optimizer.open(path, eq.Space(q=eq.Float(0, 2)))


def test_a_notebook_sees_what_is_known_and_nothing_runs_in_it():
    opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1), lens="<script>"), rng=0)
    opt.run(lambda x: x["q"], 4)
    assert repr(opt).startswith("<Optimizer of Space(")
    assert repr(opt).endswith("4 readings, 0 open>")
    shown = opt._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "A guess: there is no bound yet." in shown
    assert "<th>x[0]</th>" in eq.Optimizer(eq.Box([(0, 1)]), rng=0).recommend()._repr_html_()


@pytest.mark.parametrize("rng", ["x", -1, 0.5])
def test_a_wrong_seed_is_refused_by_its_name(rng):
    with pytest.raises((TypeError, ValueError), match=f"`rng` must be a seed, a generator or `Streams`, got {rng!r}"):
        eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=rng)


def test_a_bound_for_judgements_alone_is_refused():
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
    with pytest.raises(ValueError, match=r"`eps` must come with `readings`, since audits are measured, got 0\.1"):
        opt.run(lambda first, second: "first", judgements=4, eps=0.1)
