"""Several numbers per trial in a study: lessons, proposals, recommendations and the log."""

import math
import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import USABLE, Rank, dominated, hypervolume
from equipoise.study.outputs import Named, named_in, wanted
from equipoise.study.outputs.holding import below_zero, level

SPACE = eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1))
START = {"a": 0.3, "b": 0.3}
LIMITS = ["loss <= 3", "size <= start + 0.5"]


def truth(x):
    a, b = x["a"], x["b"]
    return {"flux": math.sin(2 * a) + b, "loss": 4 * a * a + b, "size": (2 * b - 1) * (1 + a)}


def kept(x):
    now, before = truth(x), truth(START)
    return now["loss"] <= 3 and now["size"] <= before["size"] + 0.5


def best_kept():
    grid = [{"a": i / 50, "b": j / 50} for i in range(51) for j in range(51)]
    return max(truth(x)["flux"] for x in grid if kept(x))


def read(opt, readings, drift=0.1, noise=0.03, missing=()):
    """Measure some trials; flux and size drift, loss does not. Return where."""
    asked = []
    for _ in range(readings):
        trial = opt.ask()
        t, rng = trial.id, np.random.default_rng(trial.id)
        now = truth(trial.x)
        numbers = {
            "flux": now["flux"] + drift * t + noise * rng.normal(),
            "loss": now["loss"] + noise * rng.normal(),
            "size": now["size"] - drift * t + noise * rng.normal(),
        }
        told = [name for name in opt.study.setup.outputs.names if name not in missing]
        opt.tell(trial, {name: numbers[name] for name in told}, missing=missing)
        asked.append(trial.x)
    return asked


def study(**more):
    return eq.Optimizer(SPACE, **{"objective": "flux", "limits": LIMITS, "start": START, "rng": 0} | more)


def test_the_best_setting_is_found_that_holds_all_limits():
    opt = study()
    read(opt, 60)
    best = opt.recommend()
    assert kept(best.x)
    assert truth(best.x)["flux"] > 0.95 * best_kept()
    assert best.usability.usable
    assert [each.limit for each in best.usability.limits] == LIMITS
    assert "All limits hold with" in str(best)
    free = eq.Optimizer(SPACE, start=START, rng=0)
    for _ in range(60):
        trial = free.ask()
        free.tell(trial, truth(trial.x)["flux"])
    assert not kept(free.recommend().x), "the limits would have been kept by chance"


def test_a_safe_study_breaks_no_limit_and_still_climbs():
    opt = study(safe=True)
    asked = read(opt, 40)
    assert all(map(kept, asked))
    assert truth(opt.recommend().x)["flux"] > truth(START)["flux"] + 0.3


def test_every_output_is_learned_apart_from_its_offset():
    opt = study()
    read(opt, 50)
    named = named_in(opt._session.state, opt.space)
    rng = np.random.default_rng(0)
    points = SPACE.candidates(rng)[:30]
    for limit, slack in zip(named.outputs.limits, named.slacks(lambda belief, limit: belief.posterior), strict=True):
        mean, sd = slack(points)
        now, base = [truth(SPACE.decode(x)) for x in points], truth(START)
        room = 3.0 if limit.name == "loss" else base["size"] + 0.5
        assert np.abs(mean - [room - each[limit.name] for each in now]).max() < 0.5, limit
        assert (sd < 0.5).all()


def test_the_probability_that_limits_hold_is_that_of_draws():
    """Independent outputs, one with a limit on either side: counted over draws of the belief about each."""
    opt = study(limits=["loss <= 3", "loss >= 0.5", "size <= start + 0.5"])
    read(opt, 14, noise=0.2)
    named, rng = named_in(opt._session.state, opt.space), np.random.default_rng(1)
    points = SPACE.candidates(rng)[:12]
    inside = np.ones((40_000, 12), dtype=bool)
    draws = {name: rng.standard_normal((40_000, 12)) for name in ("loss", "size")}
    for limit, slack in zip(named.outputs.limits, named.slacks(lambda belief, limit: belief.posterior), strict=True):
        mean, sd = slack(points)
        inside &= mean + limit.sign * draws[limit.name] * sd >= 0
    assert named.probability(points) == pytest.approx(inside.mean(axis=0), abs=0.015)
    assert (named.surely(points) <= named.probability(points) + 1e-12).all()


def test_the_level_of_a_reading_is_what_a_gaussian_process_predicts():
    offset = eq.offsets.Tracked().known(walk=0.3)
    posterior = eq.belief.AnywherePosterior(eq.RBF(0.5), regularizer=0.04, offset=offset)
    X, y = np.array([[0.1], [0.5], [0.9]]), np.array([1.0, 2.5, 2.0])
    for t, (x, value) in enumerate(zip(X, y, strict=True), 1):
        posterior = posterior.condition(eq.Comparison(x, None, value, time=t))
    moments, points = posterior.observations.moments, np.array([[0.3], [0.7]])
    now = moments.take(np.array([2]))
    K = posterior.kernel(X, X) + offset(moments, moments) + 0.04 * np.eye(3)
    k = posterior.kernel(points, X) + offset(now, moments)
    mean, variance = level(posterior, points)
    assert mean == pytest.approx(k @ np.linalg.solve(K, y))
    expected = 1.0 + offset(now, now)[0, 0] - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))
    assert variance == pytest.approx(expected)


@pytest.mark.parametrize("offset", [eq.Arbitrary(), eq.offsets.Constant()])
def test_a_limit_of_a_reading_as_it_stands_is_known_under_every_offset(offset):
    """Readings of loss do not drift: their level belongs to f, not to the offset."""
    opt = study(offset=offset, limits=["loss <= 3"])
    for k in range(24):
        trial = opt.ask()
        now, rng = truth(trial.x), np.random.default_rng(k)
        opt.tell(trial, {"flux": now["flux"] + 0.02 * rng.normal(), "loss": now["loss"] + 0.02 * rng.normal()})
    best = opt.recommend()
    (loss,) = best.usability.limits
    assert best.usability.usable
    assert truth(best.x)["loss"] <= 3
    assert loss.low - 0.05 <= truth(best.x)["loss"] <= loss.high + 0.05
    assert loss.high - loss.low < 0.5


def test_nothing_is_below_zero_for_sure_without_scatter():
    assert below_zero(np.array([0.5, -0.5]), np.zeros(2)).tolist() == [0.0, 1.0]
    assert below_zero(np.array([0.0, 3.0]), np.full(2, np.inf)).tolist() == [0.5, 0.5]


def test_if_no_setting_holds_all_limits_that_is_said():
    opt = study(limits=["loss <= -1"])
    read(opt, 30)
    best = opt.recommend()
    assert not best.usability.usable
    assert "No setting is known to hold all limits with 95 %" in str(best)
    assert truth(best.x)["loss"] < 0.5, "what most nearly holds them is recommended"
    assert best.overall.kind == "guess"
    assert best.gap_bound == math.inf, "no setting is known to be within the limits, so there is no bound"
    assert best.forecast is None


def test_if_all_settings_break_a_limit_alike_the_best_is_recommended():
    opt = study(limits=["loss <= 3"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(30):
            trial = opt.ask()
            opt.tell(trial, {"flux": truth(trial.x)["flux"], "loss": 9.0})
    best = opt.recommend()
    assert "this one does with 0 %" in str(best)
    assert truth(best.x)["flux"] > 1.6


def test_a_resumed_study_is_the_one_that_was_left(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = study(log=path)
    read(opt, 21)
    opt.correct(3, truth({"a": 0.2, "b": 0.9}))
    opt.retract(5)
    opt.undo()
    read(opt, 6, missing=["size"])
    again = eq.resume(path)
    assert again.study.setup.outputs == opt.study.setup.outputs
    points = SPACE.candidates(np.random.default_rng(0))[:20]
    for name, belief in named_in(opt._session.state, opt.space).beliefs.items():
        other = named_in(again._session.state, opt.space).beliefs[name]
        assert belief.posterior.at(points).mean.tolist() == other.posterior.at(points).mean.tolist(), name
    assert again.study.propose().points.tolist() == opt.study.propose().points.tolist()
    assert again.records()[0].values == opt.records()[0].values


def test_a_log_without_its_fits_leads_to_the_same_beliefs(tmp_path):
    opt = study()
    read(opt, 20)
    again = study()
    for record in opt.records():
        trial = again.ask()
        again.tell(trial, dict(record.values))
    mine, theirs = (named_in(each._session.state, SPACE).beliefs for each in (opt, again))
    points = SPACE.candidates(np.random.default_rng(0))[:20]
    assert all(
        mine[name].posterior.mean(points).tolist() == theirs[name].posterior.mean(points).tolist() for name in mine
    )


def test_an_output_may_be_missing_and_the_others_are_learned():
    opt = study()
    read(opt, 20, missing=["size"])
    named = named_in(opt._session.state, opt.space)
    assert named.beliefs["size"].comparisons == 0
    assert named.beliefs["loss"].comparisons == named.beliefs["flux"].comparisons == 20
    assert not opt.recommend().usability.usable, "nothing is known of the size"


def test_a_failed_trial_has_failed_for_all_outputs():
    opt = study()
    read(opt, 10)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(), failed="no beam")
    read(opt, 4)
    named = named_in(opt._session.state, opt.space)
    assert {belief.comparisons for belief in named.beliefs.values()} == {14}


def test_a_constant_output_and_one_that_cannot_be_lose_nothing():
    opt = eq.Optimizer(SPACE, objective="flux", limits=["loss <= 3"], rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(24):
            trial = opt.ask()
            opt.tell(trial, {"flux": truth(trial.x)["flux"], "loss": 9.9e37 if k == 11 else 1.0})
    best = opt.recommend()
    assert opt.readings == 24
    assert truth(best.x)["flux"] > 1.6
    assert best.usability.usable


def earlier(opt):
    """Readings of an earlier campaign, far above those of now."""
    rng = np.random.default_rng(5)
    for a, b in rng.random((12, 2)):
        now = truth({"a": a, "b": b})
        opt.add({"a": a, "b": b}, {name: value + 50.0 for name, value in now.items()}, block="2025")


def test_readings_of_an_earlier_campaign_teach_all_outputs():
    opt = study()
    earlier(opt)
    named = named_in(opt._session.state, opt.space)
    assert {belief.comparisons for belief in named.beliefs.values()} == {12}
    read(opt, 20)
    assert kept(opt.recommend().x)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"objective": None, "limits": LIMITS}, "`limits` must come with an `objective`"),
        ({"start": None}, "`limits` must come with a `start`, from which 'size <= start [+] 0.5' is counted"),
        ({"limits": ["size <= start - 1"], "safe": True}, "`limits` must hold at the start if `safe`"),
        ({"limits": None, "safe": True}, "`safe` must come with `limits`"),
        ({"objective": "a"}, "must not name an output like a parameter or column: a"),
        ({"objective": "value"}, "must not name an output like a parameter or column: value"),
        ({"minimize": True}, "`minimize` must be False with an `objective`, which implies it: objective='-flux'"),
        ({"likelihood": eq.likelihoods.Binomial()}, r"`likelihood` must take one number for each of several outputs"),
        ({"likelihood": eq.likelihoods.Poisson(), "limits": ["flux <= 3"]}, "of outputs that are not counts, got flux"),
        ({"offset": eq.Arbitrary(), "limits": ["flux >= 3"]}, "of flux must be relative to the start under Arb"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(parts, words):
    with pytest.raises(ValueError, match=words):
        study(**parts)


def test_numbers_are_refused_that_the_study_does_not_know():
    opt = study()
    trial = opt.ask()
    with pytest.raises(ValueError, match="may name flux, loss, size, got lost"):
        opt.tell(trial, {"flux": 1, "lost": 2, "size": 3})
    with pytest.raises(TypeError, match=r"`value` must be a number for each of flux, loss, size, got 0\.5"):
        opt.tell(trial, 0.5)
    rule = r"must be finite, got nan: name it as missing if there is none; the names are flux, loss, size"
    with pytest.raises(ValueError, match=rf"`value\['size'\]` {rule}"):
        opt.tell(trial, {"flux": 1, "loss": 2, "size": math.nan})
    with pytest.raises(TypeError, match=r"`value\['flux'\]` must be a real number, got None: tell `failed` if"):
        opt.tell(trial, {"flux": None, "loss": 2, "size": 3})
    with pytest.raises(TypeError, match=r"`weights` must be a number by name, such as {'flux': 1}, got \[1\]"):
        wanted(opt.study.setup.outputs, [1], None)
    plain = eq.Optimizer(SPACE, rng=0)
    with pytest.raises(ValueError, match="`value` must be a number: the study has no `objective`"):
        plain.tell(plain.ask(), {"flux": 1.0})
    with pytest.raises(ValueError, match="`missing` must name outputs, of which this study has none"):
        plain.tell(0, 1.0, missing=["flux"])
    with pytest.raises(RuntimeError, match="a front needs several objectives"):
        opt.front()


def test_one_named_number_is_a_plain_study():
    opt, plain = eq.Optimizer(SPACE, objective="-flux", rng=0), eq.Optimizer(SPACE, minimize=True, rng=0)
    for k in range(12):
        trial = opt.ask()
        value = truth(trial.x)["flux"]
        opt.tell(trial, {"flux": value} if k % 2 else value)
        plain.tell(plain.ask(), value)
    assert opt.study.propose().points.tolist() == plain.study.propose().points.tolist()
    assert str(opt.recommend()) == str(plain.recommend())


def two(x):
    a, b = x["a"], x["b"]
    return {"flux": -((a - 0.2) ** 2) - (b - 0.5) ** 2, "size": (a - 0.8) ** 2 + (b - 0.5) ** 2}


def test_the_front_of_two_objectives_is_found_though_both_drift():
    opt = eq.Optimizer(SPACE, objective="flux, -size", start=START, rng=0)
    for t in range(60):
        trial = opt.ask()
        now, rng = two(trial.x), np.random.default_rng(t)
        noise = 0.01 * rng.normal(size=2)
        opt.tell(trial, {"flux": now["flux"] + 0.1 * t + noise[0], "size": now["size"] - 0.1 * t + noise[1]})
    front = opt.front()
    Y = np.array([[two(point.x)["flux"], -two(point.x)["size"]] for point in front])
    ideal = np.array([[two({"a": a, "b": 0.5})[name] for name in ("flux", "size")] for a in np.linspace(0.2, 0.8, 61)])
    reference = np.array([-0.45, -0.45])
    assert hypervolume(Y, reference) > 0.95 * hypervolume(ideal * [1, -1], reference)
    assert all(abs(point.x["b"] - 0.5) < 0.1 for point in front)
    assert not dominated(Y, 0.05).any()
    with pytest.raises(RuntimeError, match="an audit bounds the gain in one objective, and there are several"):
        opt.audit()
    base = two(START)
    held = [
        point.against_start[name].low <= two(point.x)[name] - base[name] <= point.against_start[name].high
        for point in front
        for name in ("flux", "size")
    ]
    assert np.mean(held) >= 0.9
    margins = np.array([front[0].tolerance[name] for name in ("flux", "size")])
    assert margins == pytest.approx(0.05 * np.ptp(Y, axis=0), rel=0.3)
    assert {tuple(point.x.values()) for point in front} <= {tuple(point.x.values()) for point in opt.front(tolerance=1)}
    most, least = opt.recommend(prefer="flux"), opt.recommend(prefer="size")
    assert most.x["a"] < opt.recommend().x["a"] < least.x["a"]
    assert most.x["a"] < opt.recommend(weights={"flux": 2, "size": 1}).x["a"] < opt.recommend().x["a"]
    assert "A compromise: flux" in str(most)
    with pytest.raises(ValueError, match="`prefer` must be one of flux, size, got 'loss'"):
        opt.recommend(prefer="loss")
    with pytest.raises(ValueError, match="`weights` must give one of flux, size more than 0"):
        opt.recommend(weights={"flux": 0})


def test_a_front_holds_the_limits():
    opt = eq.Optimizer(SPACE, objective="flux, -size", limits=["loss <= 0.5"], start=START, rng=0)
    for _ in range(50):
        trial = opt.ask()
        opt.tell(trial, {**two(trial.x), "loss": trial.x["a"] + 0.001 * trial.id % 0.01})
    front = opt.front()
    assert front
    assert all(point.x["a"] <= 0.5 and point.holds >= USABLE for point in front)
    assert max(point.x["a"] for point in front) > 0.4


def test_a_ranking_says_how_probably_each_setting_holds_the_limits():
    opt = study()
    read(opt, 40)
    table = opt.rank()
    assert not kept(table[0].x)  # the best in the flux alone
    assert table[0].holds < 0.5
    assert "limits hold with 0 %" in str(table[0])
    sure = [each for each in table if each.holds >= USABLE]
    assert sure
    assert all(kept(each.x) for each in sure)
    assert "limits hold" not in str(Rank(1, "a", 0.1, 0.0, 0.2, (1, 2)))


def test_what_is_believed_of_outputs_is_known_by_name():
    opt = study()
    read(opt, 6)
    named = named_in(opt._session.state, opt.space)
    assert isinstance(named, Named)
    assert list(named.beliefs) == ["flux", "loss", "size"]
    assert named.start.tolist() == [0.3, 0.3]


def test_a_limit_on_what_was_never_told_is_named_and_nothing_is_claimed_of_it():
    opt = study()
    read(opt, 14, missing=["size"])
    best = opt.recommend()
    assert not best.usability.usable
    assert best.usability.unknown == ("size",)
    assert [each.limit for each in best.usability.limits] == ["loss <= 3"]
    assert "It is unknown if all limits hold: there are too few readings of size. loss <= 3: " in str(best)
    assert best.x == START, "a limit relative to the start holds there"
    assert {each.holds for each in opt.rank()} == {None}, "of limits about which nothing is known nothing is said"
    assert "A guess: there is no bound yet" in str(best)


def test_a_sensor_of_a_further_output_that_seems_dead_is_named():
    opt = study(limits=["loss <= 3"])
    said = []
    for _ in range(20):
        trial = opt.ask()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            opt.tell(trial, {"flux": truth(trial.x)["flux"], "loss": 0.0})
        said += [str(each.message) for each in caught]
    assert said == [f"the last {n} readings of loss are all 0.0: check its sensor" for n in (10, 20)]
    assert opt.recommend().usability.usable, "a loss of zero is within the limit"


def test_a_function_may_return_none_for_a_number_that_is_missing():
    opt = study()
    opt.run(lambda x: truth(x) | {"size": None if x["a"] > 0.5 else truth(x)["size"]}, readings=8)
    assert {frozenset({"flux", "loss", "size"} - set(record.values)) for record in opt.records()} == {
        frozenset(),
        frozenset({"size"}),
    }


def test_the_first_objective_may_be_a_count(tmp_path):
    opt = study(limits=["size <= start + 0.5"], likelihood=eq.likelihoods.Poisson(), log=tmp_path / "study.jsonl")
    rng = np.random.default_rng(0)
    for _ in range(40):
        trial = opt.ask()
        now = truth(trial.x)
        opt.tell(trial, {"flux": int(rng.poisson(40 * now["flux"])), "size": now["size"] - 0.1 * trial.id})
    best = opt.recommend()
    assert truth(best.x)["size"] <= truth(START)["size"] + 0.5
    assert truth(best.x)["flux"] > 1.4 * truth(START)["flux"]
    assert "in log rate" in str(best)
    assert eq.resume(tmp_path / "study.jsonl").recommend().x == best.x
    with pytest.raises(ValueError, match=r"`value\['flux'\]` must be a whole number of at least 0, got 1.5"):
        opt.tell(opt.ask(), {"flux": 1.5, "size": 0})


@pytest.mark.parametrize("code", [9.9e37, 1e300])
def test_an_overload_of_any_sensor_sets_the_reading_aside(code):
    opt = study(safe=True)
    read(opt, 8)
    trial = opt.ask()
    with pytest.warns(eq.study.SetAside, match=f"trial {trial.id} is impossible"):
        opt.tell(trial, truth(trial.x) | {"loss": code})
    read(opt, 6)
    assert [record.trial for record in opt.records() if record.aside] == [trial.id]
    assert kept(opt.recommend().x)


def test_a_bound_covers_settings_whose_limits_are_in_doubt():
    """More would be gained at settings that hold the limit, but are not known to with 95 %."""
    for seed in range(3):
        opt = eq.Optimizer(
            eq.Space(a=eq.Float(0, 1)), objective="gain", limits=["load <= start + 0.5"], start={"a": 0}, rng=seed
        )
        rng = np.random.default_rng(seed)
        for _ in range(40):
            trial = opt.ask()
            a = trial.x["a"]
            opt.tell(trial, {"gain": a + 0.01 * rng.normal(), "load": a + 0.2 * rng.normal()})
        best = opt.recommend()
        assert best.gap_bound >= 0.5 - best.x["a"] > 0.02
