"""The log: a resumed study equals the original, whatever its parts are and however it ended."""

import copy
import json
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.belief import AnywherePosterior, Form, Hyperparameters, LearnedModel, Schedule
from equipoise.log.header import FORMAT
from equipoise.log.parts import PACKAGES, described, known_part, restored
from studies import BOX, FINITE, KERNEL, act, events, state, value_at
from suites import BASELINES, COMBINATIONS

NAMED = eq.Space(q1=eq.Float(-2, 2), n=eq.Int(1, 8), mode=eq.Choice(["a", "b"]), lens="in", candidates=32)
LISTED = eq.Space(n=eq.Int(1, 4), mode=eq.Choice(["a", "b", None]))
STORED = Path(__file__).parents[1] / "data" / "study-v1.jsonl"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


# The same study.

TRACKED, RUNS = (Form(BOX.extent, BOX.groups, law) for law in (eq.Tracked(), eq.Blocks(4)))
OTHERS = {
    "all learned": (BOX, {}),
    "learned, named": (NAMED, {"minimize": True, "max_gap": 3.0}),
    "learned duels": (BOX, {"offset": eq.Arbitrary()}),
    "learned, listed": (LISTED, {"offset": eq.Tracked(guard=None)}),
    "constant": (BOX, {"policy": eq.UCB()}),
    "runs": (BOX, {"offset": eq.Blocks(5)}),
    "known law": (BOX, {"posterior": AnywherePosterior(KERNEL, 0.2, offset=eq.Tracked().known(0.5, walk=0.1))}),
    "learned posterior": (BOX, {"posterior": LearnedModel(RUNS, schedule=Schedule(first=7), jump=6.0)}),
    "guarded posterior": (BOX, {"posterior": LearnedModel(TRACKED, guard=2.5)}),
    "BOSE": (FINITE, {"kernel": KERNEL, "policy": eq.BOSE(), "regularizer": 0.3}),
    "SemiTS": (
        FINITE,
        {"posterior": eq.policies.SemiTSPosterior(FINITE.points, eq.Linear()), "policy": eq.SemiTS(draws=50)},
    ),
    "Thompson": (NAMED, {"kernel": 2.0 * eq.Matern52(0.5) + KERNEL, "policy": eq.DoubleThompson(scale=0.5)}),
    "forecast": (BOX, {"kernel": KERNEL, "reduction": eq.OnePoint(eq.BestForecaster()), "policy": eq.IDS()}),
    "theory": (
        FINITE,
        {"kernel": KERNEL, "policy": eq.policies.MaxMinLCB(), "confidence": eq.TightConfidence(0.2, 2.0)},
    ),
}
GIVEN = {
    f"{p!r} {r!r}": (s, {"policy": p, "reduction": r, "kernel": KERNEL}) for p, r, s in COMBINATIONS if s is FINITE
}


def test_a_start_is_the_same_to_the_last_bit_though_its_decoding_rounds(path):
    space = eq.Space(q=eq.Float(-1.3, 2.9), p=eq.Float(0.3, 1.7))
    start = {"q": -1.3 + 2 * 4.2 / 61, "p": 0.3 + 5 * 1.4 / 61}
    assert (space.encode(space.decode(space.encode(start))) != space.encode(start)).any()
    opt = eq.Optimizer(space, start=start, drop=0.5, log=path, rng=0)
    assert eq.resume(path).study.propose().points.tobytes() == opt.study.propose().points.tobytes()
    for _ in range(4):
        opt.tell(opt.ask(), 0.3)
    assert eq.resume(path).study.propose().points.tobytes() == opt.study.propose().points.tobytes()


@pytest.mark.parametrize(("space", "parts"), [*OTHERS.values(), *GIVEN.values()], ids=[*OTHERS, *GIVEN])
def test_a_study_taken_up_is_the_study_that_was_left(path, space, parts):
    with_log, without = eq.Optimizer(space, log=path, rng=3, **parts), eq.Optimizer(space, rng=3, **parts)
    assert with_log.study.log == path
    for opt in (with_log, without):
        act(opt, 20)
    assert state(with_log) == state(without)  # the log changes nothing
    again = eq.resume(path)
    assert state(again) == state(with_log)
    act(again, 8, seed=1)  # and it goes on the same way
    act(without, 8, seed=1)
    assert state(eq.resume(path)) == state(again) == state(without)
    act(with_log, 1, seed=2)  # the first one has followed
    act(without, 1, seed=2)
    assert state(with_log) == state(without)


def test_it_can_be_taken_up_after_every_single_event(path, tmp_path):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.IDS(), log=path, rng=0)
    states = {0: state(opt)}
    for step in range(60):
        act(opt, 1, seed=step)
        states[len(events(path)) - 1] = state(opt)
    whole = path.read_bytes().splitlines(keepends=True)
    for n, expected in states.items():
        part = tmp_path / "part.jsonl"
        part.write_bytes(b"".join(whole[: n + 1]))
        assert state(eq.resume(part)) == expected


def test_the_file_is_for_people_too(path):
    opt = eq.Optimizer(NAMED, log=path, rng=0, minimize=True)
    trial = opt.ask(worker="laser-2")
    opt.tell(trial, 0.83, x=trial.x | {"q1": 1.98}, time=12.5, error=0.1)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(worker="laser-2"), failed="Tür offen")
    first, ask, tell, hand, fail = events(path)
    assert first["equipoise"] == FORMAT
    assert first["version"] == eq.__version__
    assert first["space"] == NAMED.to_dict()
    assert first["settings"]["policy"]["type"] == "Challenger"
    assert first["settings"]["minimize"] is True
    assert (ask["ask"], ask["duel"], ask["worker"]) == (0, 0, "laser-2")
    assert ask["x"][0]["q1"] == pytest.approx(trial.x["q1"], rel=1e-5)
    assert (tell["tell"], tell["value"], tell["x"]["q1"], tell["time"], tell["error"]) == (0, 0.83, 1.98, 12.5, 0.1)
    assert hand["hand"] == 1
    assert (fail["fail"], fail["reason"]) == (1, "Tür offen")
    assert "Tür offen" in path.read_text(encoding="utf-8")
    assert all(event["at"].endswith("Z") for event in events(path))


def test_no_news_leaves_no_trace(path):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    trial = opt.ask()
    opt.tell(trial, 1.0)
    before = path.read_bytes()
    opt.tell(trial, 1.0)
    opt.recommend()
    for refused in ({"value": 2.0}, {"failed": "no"}, {"value": "1"}):
        with pytest.raises((ValueError, TypeError)):
            opt.tell(trial, **refused)
    with pytest.raises(ValueError, match="`trial` must be one that was asked for"):
        opt.study.expire(7)
    assert path.read_bytes() == before


def test_copies_are_in_memory(path):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    act(opt, 10)
    before, twin = path.read_bytes(), copy.copy(opt)
    act(twin, 10)
    assert twin.study.log is None
    assert path.read_bytes() == before


# What it is made of.


CONTRACTS = {
    "Likelihood",
    "LogConcave",
    "Policy",
    "Posterior",
    "Kernel",
    "Reduction",
    "Baseline",
    "Confidence",
    "Offset",
    "Law",
    "Prepared",
    "Stationary",
}
# of a posterior, of a law, of readings: never a part by themselves
INSIDE = {"Belief", "Circumstances", "Compression", "Covariate", "Hyperparameter", "Moments"}
INSIDE |= {"Answers", "Differences", "Few", "Judge", "JudgeReport", "Judgement", "Many", "OrderedAnswers", "Pair"}
INSIDE |= {"Panel", "Propagated", "ReadAnswers", "Sites", "Tilt"}


def every_part():
    """One of every part the library has, with other arguments than the defaults where that is easy."""
    forecasts = eq.BestForecaster((eq.reductions.Zero(), eq.reductions.Trend(0.2, 0.3)), discount=0.9)
    made = [eq.OnePoint(forecasts), *(eq.OnePoint(baseline) for baseline in BASELINES)]
    made += [eq.RBF([0.1, 0.2]) * eq.Linear() + 3.0 * eq.kernels.Matern32(0.4), eq.RBF(0.2) * eq.Linear(), 2 * KERNEL]
    made += [kind(0.2) for kind in (eq.RBF, eq.kernels.Matern32, eq.Matern52)]
    made += [eq.SemiTS(draws=7), eq.BOSE(delta=0.1), eq.PaperConfidence(0.1, 2.0, 0.01), eq.CredibleConfidence(3.0)]
    made += [eq.reductions.ExponentialAverage(0.3), eq.TightConfidence(0.2, 2.0)]
    made += [eq.Tracked(guard=None), eq.Blocks(7, guard=None), eq.Tracked().known(2.0, walk=0.5).jumping((3.0, 0.5))]
    guess = Hyperparameters((0.2, 0.3), 2.0, 0.1, (0.5,), step=3.0)
    made += [
        eq.belief.Feasibility(BOX.extent),
        TRACKED,
        guess,
        eq.belief.Learned(guess, ((3.0, 0.5),), 1.5),
        eq.belief.Model(KERNEL, 0.1),
        eq.kernels.Levels([0.5, 2.0], [0.0, 0.3]),
        eq.offsets.Accounted(eq.Tracked(), True, (eq.offsets.Covariate("humidity", 0.4, 0.1),)),
    ]
    made += [
        AnywherePosterior(eq.RBF(0.3), 0.2, eq.FixedConfidence(2.0), eq.Blocks(3).known(level=0.5)),
        eq.belief.FinitePosterior(FINITE.points, eq.RBF(0.3)),
        eq.policies.SemiTSPosterior(FINITE.points, eq.Linear()),
        LearnedModel(TRACKED, eq.CredibleConfidence(3.0), Schedule(8, 1.5), 5.0),
        LearnedModel(RUNS, guard=2.5),
    ]
    kinds = {type(part).__name__ for part in made} | CONTRACTS | INSIDE
    found = {name: known_part(name) for package in PACKAGES for name in package.__all__}
    return made + [kind() for name, kind in found.items() if kind is not None and name not in kinds]


@pytest.mark.parametrize("part", every_part(), ids=lambda part: type(part).__name__)
def test_every_part_of_the_library_survives_json(part):
    description = json.loads(json.dumps(described(part)))
    again = restored("part", description)
    assert type(again) is type(part)
    assert described(again) == description
    if not isinstance(part, (eq.belief.Posterior, Form, LearnedModel, eq.belief.Feasibility)):
        assert again == part


def test_every_public_part_is_known():
    made = {type(part) for part in every_part()}
    for package in PACKAGES:
        for kind in (getattr(package, name) for name in package.__all__):
            if isinstance(kind, type):
                assert known_part(kind.__name__) is kind
                assert kind in made or kind.__name__ in CONTRACTS | INSIDE
    modules = {package.__name__ for package in PACKAGES}
    for kind in (getattr(eq, name) for name in eq.__all__):
        if isinstance(kind, type) and kind.__module__.rpartition(".")[0] in modules:
            assert known_part(kind.__name__) is kind


class MyPolicy(eq.IDS):
    """A policy of the user's own."""

    def __repr__(self):
        return "MyPolicy()"


def test_a_part_of_your_own_must_be_given_again(path):
    opt = eq.Optimizer(BOX, kernel=KERNEL, policy=MyPolicy(), log=path, rng=0)
    act(opt, 20)
    with pytest.raises(ValueError, match=r"`policy` must be given again, as `policy=`: .* as MyPolicy\(\)"):
        eq.resume(path)
    again = eq.resume(path, policy=MyPolicy(), kernel=eq.RBF(0.4))
    assert state(again) == state(opt)
    with pytest.raises(ValueError, match=r"`kernel` must stay what the log says, RBF\(lengthscale=0.4\), got RBF\(le"):
        eq.resume(path, policy=MyPolicy(), kernel=eq.RBF(0.5))
    with pytest.raises(TypeError, match=r"resume takes `space`, `constraint`, policy, .*, got \['polcy'\]"):
        eq.resume(path, polcy=MyPolicy())


def test_a_posterior_that_has_learned_must_be_given_again(path):
    prior = eq.belief.AnywherePosterior(KERNEL).condition(eq.Comparison([0.1, 0.1], [0.9, 0.9], 1.0))
    opt = eq.Optimizer(BOX, posterior=prior, log=path, rng=0)
    act(opt, 12)
    with pytest.raises(ValueError, match="`posterior` must be given again"):
        eq.resume(path)
    assert state(eq.resume(path, posterior=prior)) == state(opt)


def test_a_constraint_must_be_given_again(path):
    def allowed(x):
        return x[0] < 1

    opt = eq.Optimizer(eq.Box(BOX.bounds, 32, constraint=allowed), kernel=KERNEL, log=path, rng=0)
    act(opt, 12)
    with pytest.raises(ValueError, match="`constraint` must be given again"):
        eq.resume(path)
    assert state(eq.resume(path, constraint=allowed)) == state(opt)


def test_a_space_given_again_in_another_order_is_the_same_space(path):
    a, b = eq.Float(-2, 2), eq.Float(-1, 1)
    opt = eq.Optimizer(eq.Space(b=b, a=a), log=path, rng=0)
    for _ in range(4):
        trial = opt.ask()
        opt.tell(trial, trial.x["a"])
    again = eq.resume(path, space=eq.Space(a=a, b=b))
    assert again.records() == opt.records()
    assert again.recommend().x == opt.recommend().x


def test_a_space_of_objects_must_be_given_again(path):
    space = eq.Space(q=eq.Float(0, 1), window=eq.Choice([(0, 1), (1, 2)]))
    act(eq.Optimizer(space, kernel=KERNEL, log=path, rng=0), 12)
    with pytest.raises(ValueError, match="make the space in Python instead"):
        eq.resume(path)
    assert eq.resume(path, space=space).ask().x["window"] in space.parameters["window"].options
    with pytest.raises(ValueError, match="`space` must be the one the log describes"):
        eq.resume(path, space=BOX)


def test_several_events_of_one_turn_are_all_written(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    asked = opt.ask(n=5)
    for trial in asked:
        opt.tell(trial, value_at(trial))
    opt.ask(n=2)
    assert state(eq.resume(path)) == state(opt)
    assert opt.study.open_trials == (5, 6)
