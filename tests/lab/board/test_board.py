"""The board: tasks are what they say, every learner plays by three functions, results merge, the page has them all."""

import gzip
import importlib
import json
import logging
import re
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.board import (
    ABSENT,
    KINDS,
    LISTED,
    SMALL,
    WEATHER,
    Score,
    Seated,
    Throttle,
    contest,
    fragment,
    listed,
    merged,
    page,
    play,
    report,
    skipped,
    standings,
    stored,
    tasks,
)
from equipoise.lab.board.entrants import admitted, quiet
from equipoise.lab.board.scaled_functions import FAMILIES, in_units, log_bowl
from equipoise.lab.board.standings import ratio
from equipoise.lab.board.turbo import CANDIDATES, FIRST, LEAST, MOST, TrustRegion
from invoking import invoke

DRAWN = [name for name in FAMILIES if name not in ("gp3", "gp8", "additive10")]  # these take a second to maximize


def rng(seed=0):
    return np.random.default_rng(seed)


# --- tasks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", DRAWN)
def test_a_random_setting_loses_one_unit_and_nothing_is_above_the_top(family):
    function = in_units(FAMILIES[family](rng()))
    low, high = function.bounds.T
    lost = function.regret(rng(1).uniform(low, high, (2000, function.dimension)))
    assert lost.mean() == pytest.approx(1, abs=0.08)
    assert lost.min() > 0
    near = np.clip(
        function.maximizer + 1e-3 * (high - low) * rng(2).standard_normal((50, function.dimension)), low, high
    )
    assert function.regret(near).min() >= 0
    assert float(function.regret(function.maximizer)) == pytest.approx(0, abs=1e-9)


def test_a_bowl_is_a_hundred_times_as_curved_along_one_axis_as_along_another():
    bowl = log_bowl(4, 100.0, rng())
    d, h = 4, 1e-4
    steps = bowl.maximizer + h * np.eye(d)[:, None] + h * np.eye(d)
    once = bowl(bowl.maximizer + h * np.eye(d))
    hessian = (bowl(steps) - once[:, None] - once) / h**2
    curved = np.sort(-np.linalg.eigvalsh((hessian + hessian.T) / 2))
    assert curved[-1] / curved[0] == pytest.approx(100, rel=0.02)
    assert np.abs(hessian - np.diag(np.diag(hessian))).max() > 1  # along no knob


@pytest.mark.parametrize("name", SMALL)
def test_all_learners_meet_the_same_world(name):
    task = tasks()[name]
    one, other = task.start(3), task.start(3)
    points = [one.space.decode(point) for point in one.space.candidates(rng())[:6]]
    assert [one.read(x) for x in points] == [other.read(x) for x in points]
    assert [one.regret(x) for x in points] == [other.regret(x) for x in points]
    assert min(one.regret(x) for x in points) >= 0
    assert task.kind in KINDS


def test_runs_and_seasons_are_what_their_names_say():
    def offsets(name, n=105):
        process = WEATHER[name].start(rng())
        return np.array([process.offset() for _ in range(n)])

    for length in (3, 5, 7):
        levels = offsets(f"runs of {length}").reshape(-1, length)
        assert (levels == levels[:, :1]).all()
        assert np.unique(levels[:, 0]).size == len(levels)
    for period in (7, 12):
        wave = offsets(f"season of {period}")
        assert wave[period:] == pytest.approx(wave[:-period], abs=1e-9)
        assert np.ptp(wave) == pytest.approx(2, abs=0.1)
    assert not offsets("none").any()


def test_a_throttle_lasts_a_third_of_the_run_and_begins_anywhere():
    firsts = set()
    for seed in range(20):
        process = Throttle(30).start(rng(seed))
        slow = np.flatnonzero([process.offset() for _ in range(30)])
        assert list(slow) == list(range(slow[0], slow[0] + 10))
        firsts.add(int(slow[0]))
    assert len(firsts) > 8
    assert Throttle(30).depth == pytest.approx(np.log(1.2))
    with pytest.raises(ValueError, match="`share` must be from 0 to 1"):
        Throttle(30, share=2)


def test_a_card_reads_one_of_its_times():
    instrument = tasks()["A4000, none"].start(0)
    x = instrument.space.decode(instrument.space.candidates(rng())[0])
    times = {round(float(-np.log(t)), 9) for t in eq.lab.experiments.real.autotuned("A4000").times[tuple(x.values())]}
    read = {round(instrument.read(x), 9) for _ in range(40)}
    assert read <= times
    assert len(read) > 1


def test_no_climb_finds_more_in_the_mixed_space():
    instrument = tasks()["mixed18, none"].start(0)
    space, generator = instrument.space, rng(5)
    lost = [instrument.regret(space.decode(x)) for x in space.candidates(generator)]
    assert np.mean(lost) == pytest.approx(1, abs=0.1)
    assert min(lost) > 0


# --- runs ---------------------------------------------------------------------------------------------------------


class Hill:
    """A learner in three functions: a step from the best reading."""

    def __init__(self, space, readings, seed):
        self.space, self.rng, self.seen = space, np.random.default_rng(seed), []

    def ask(self):
        if len(self.seen) < 6:
            return self.space.decode(self.space.candidates(self.rng)[len(self.seen)])
        best = self.space.encode(self.best()[0])[None]
        near = self.space.near(best, np.full(self.space.dimension, 0.1), 8, self.rng)
        return self.space.decode(near[0]) if len(near) else self.best()[0]

    def tell(self, x, reading):
        self.seen.append((reading, x))

    def best(self):
        return max(self.seen, key=lambda pair: pair[0])[1], 0.5


def test_a_learner_of_ones_own_takes_part():
    score = play(("camel2, none", f"{__name__}:Hill", 0))
    assert score.bound == pytest.approx(0.5)  # a function's readings are in units already
    assert score.package == ""
    assert score.paid == tuple(sorted(score.paid))
    assert score.cumulative < play(("camel2, none", "random", 0)).cumulative
    with pytest.raises(ValueError, match="must be one of default, UCB"):
        listed("nobody")
    with pytest.raises(ValueError, match=r"must be found by Python, got .*: AttributeError: module"):
        listed(f"{__name__}:Nobody")
    with pytest.raises(ValueError, match="or your own as"):
        listed(":Hill")


@pytest.mark.parametrize(
    ("text", "rule"), [("class Odd(:", "SyntaxError: "), ("raise RuntimeError('no key')", "RuntimeError: no key")]
)
def test_a_module_that_cannot_be_imported_is_named_with_its_error(text, rule, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    name = f"odd_{rule[:6].lower()}"
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"`learner` must be found by Python, got '{name}:Odd': {rule}"):
        listed(f"{name}:Odd")


def test_a_bound_is_scored_in_units():
    score = play(("barley, 2 a batch", f"{__name__}:Hill", 0))
    assert score.bound == pytest.approx(0.5 / tasks()["barley, 2 a batch"].start(0).unit, rel=1e-4)


def test_a_run_is_the_same_again():
    job = ("oats, 2 a batch", "default", 1)
    assert replace(play(job), milliseconds=0) == replace(play(job), milliseconds=0)


@pytest.mark.filterwarnings("ignore")  # rivals' packages
@pytest.mark.parametrize("learner", [name for name in LISTED if listed(name).missing is None])
def test_every_learner_that_is_installed_plays(learner):
    task = tasks()[
        "mixed18, none" if LISTED[learner].takes(tasks()["mixed18, none"].start(0).space) else "camel2, none"
    ]
    instrument = task.start(0)
    entrant = LISTED[learner].make(instrument.space, 12, 0)
    for _ in range(12):
        x = entrant.ask()
        assert instrument.regret(x) >= 0
        entrant.tell(x, instrument.read(x))
    best, bound = entrant.best()
    assert instrument.space.valid(instrument.space.encode(best)[None]).all()
    assert np.isnan(bound) or bound > 0


@pytest.mark.filterwarnings("ignore")  # rivals' packages
@pytest.mark.parametrize("learner", [name for name in LISTED if listed(name).missing is None])
def test_every_learner_goes_on_when_it_has_tried_all_settings(learner):
    instrument = tasks()["oats, 2 a batch"].start(0)  # twelve settings
    if LISTED[learner].refuses(instrument.space):
        pytest.skip("numbers only")
    entrant = LISTED[learner].make(instrument.space, 16, 0)
    for _ in range(16):
        x = entrant.ask()
        entrant.tell(x, instrument.read(x))
    assert instrument.regret(entrant.best()[0]) >= 0


def test_the_optunas_samplers_keep_to_a_constraint():
    pytest.importorskip("optuna")
    instrument = tasks()["A100, none"].start(0)
    entrant = LISTED["TPE"].make(instrument.space, 12, 0)
    for _ in range(12):
        x = entrant.ask()
        assert instrument.space.constraint(x)
        entrant.tell(x, instrument.read(x))


class Lost(Hill):
    """A learner that leaves the space on its fourth reading."""

    def ask(self):
        return super().ask() if len(self.seen) < 3 else {"x1": 0.0, "x2": 7.0}


class Mute:
    """A learner that recommends nothing."""

    def __init__(self, space, readings, seed):
        raise OSError("no license")


def test_a_learner_that_breaks_loses_its_run_only(tmp_path, monkeypatch):
    out, here = tmp_path / "runs.jsonl", __name__
    monkeypatch.setitem(sys.modules, "theirs", sys.modules[here])
    jobs = [("camel2, walk", f"theirs:{name}", 0) for name in ("Lost", "Mute", "Hill")]
    scores, broken = contest(jobs, out)
    assert [score.learner for score in scores] == ["theirs:Hill"]
    assert [each.key for each in broken] == jobs[:2]
    assert "must lie within [-1.0, 1.0], got 7.0" in broken[0].why
    assert "OSError: no license (test_board.py, line" in str(broken[1])
    assert len(out.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ({"best": lambda self: ({"x1": 0.0, "x2": 0.0}, None)}, "`best` must return a setting and a bound"),
        ({"best": None}, "must have `ask`, `tell` and `best`, got one without best"),
        ({"ask": lambda self: (0.0, 0.0)}, "`x` must be a dict with the names"),
    ],
)
def test_what_is_no_learner_is_told_so(parts, rule, monkeypatch):
    monkeypatch.setitem(sys.modules, "theirs", types.SimpleNamespace(Odd=type("Odd", (Hill,), parts)))
    with pytest.raises((TypeError, ValueError), match=rule):
        play(("camel2, walk", "theirs:Odd", 0))


def test_numbers_are_put_back_into_their_range_if_rounding_moved_them():
    space = eq.Space({"q": eq.Float(-1, 3), "n": eq.Int(0, 4)}, constraint="q <= n")
    assert admitted(space, {"q": -1 - 1e-12, "n": 2}) == {"q": -1.0, "n": 2}
    for x, rule in (({"q": -1.1, "n": 2}, "must lie within"), ({"q": 3.0, "n": 2}, "must satisfy the constraint")):
        with pytest.raises(ValueError, match=rule):
            admitted(space, x)


def test_a_rival_is_silent_and_others_are_heard(caplog):
    log = logging.getLogger("a rival")
    with quiet():
        log.warning("no")
    log.warning("yes")
    assert [record.message for record in caplog.records] == ["yes"]


def test_a_seated_learner_is_told_what_it_asked_for():
    entrant = Seated(eq.Optimizer(eq.Space(q=eq.Float(0, 1)), rng=0))
    with pytest.raises(RuntimeError, match="must follow an `ask`"):
        entrant.tell({"q": 0.5}, 1.0)


def test_who_is_left_out_is_said_with_the_reason(monkeypatch):
    reasons = skipped(["A100, none", "oats, 2 a batch"], ["CMA", "Xopt-TD", "random"])
    assert "random" not in {learner for _, learner in reasons}
    assert reasons["oats, 2 a batch", "Xopt-TD"] in ("it takes numbers only", LISTED["Xopt-TD"].missing)
    absent = replace(LISTED["GPSampler"], modules=("optuna", "no_such_module"))
    assert absent.missing == "needs no_such_module: pip install no_such_module"  # not what it has
    find = importlib.util.find_spec
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None if name in ("ax", "optuna") else find(name))
        assert LISTED["Ax"].missing == "needs ax: pip install ax-platform"
    assert not set(ABSENT) & set(LISTED)
    assert skipped(["oats, 2 a batch"], ["HEBO"]) == {("oats, 2 a batch", "HEBO"): ABSENT["HEBO"]}


def test_a_trust_region_grows_with_success_and_shrinks():
    def after(*told, dimension=6, region=TrustRegion()):  # noqa: B008 - it is frozen
        for success in told:
            region = region.told(success, dimension)
        return region

    assert after(True, True).side == after(False, True, True, False).side == FIRST
    assert after(True, True, True).side == MOST
    assert after(*[True] * 6).side == MOST  # and no larger
    assert after(*[False] * 5, True, *[False] * 5).side == FIRST
    assert after(*[False] * 6).side == FIRST / 2 == after(*[False] * 4, dimension=2).side
    assert after(*[False] * 42).side < LEAST


def test_candidates_of_a_trust_region_lie_in_it_and_move_few_knobs():
    center, w = np.array([0.5] * 49 + [0.99]), np.array([2.0, 0.5] * 25)
    found = TrustRegion(0.2).candidates(center, w, rng())
    assert found.shape == (CANDIDATES, 50)
    assert np.abs(found - center).max(axis=0) == pytest.approx(0.1 * w, rel=0.05)
    assert found.max() <= 1
    moved = (found != center).sum(axis=1)
    assert moved.min() >= 1
    assert moved.mean() == pytest.approx(20.6, abs=0.3)  # 20, and one more if by chance it would have stayed


# --- results ------------------------------------------------------------------------------------------------------


def a_score(task="cake, 2 a batch", learner="random", seed=0, paid=(1.0, 4.0), **parts):
    given = {
        "readings": 60,
        "final": 0.1,
        "bound": None,
        "near": 0.05,
        "milliseconds": 1.0,
        "version": "",
        "package": "",
    }
    return Score(task, learner, seed, paid=paid, **given | parts)


def test_results_continue_and_merge(tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    jobs = [("oats, 2 a batch", "random", seed) for seed in (0, 1)]
    done = []
    first, _ = contest(jobs[:1], one, done.append)
    again, broken = contest(jobs, one, done.append)
    assert broken == []
    assert again[0] == first[0]
    assert sum(done) == 1 + 2
    assert len(one.read_text().splitlines()) == 2
    two.write_text(replace(first[0], final=9.0).to_json() + "\n" + a_score(seed=7).to_json() + "\n")
    assert [score.seed for score in merged([one, two])] == [0, 1, 7]
    assert merged([one, two])[0] == first[0]
    two.write_text('{"task": "cake"}\n')
    with pytest.raises(ValueError, match=r"two.jsonl, line 1: a line of results must have task, learner"):
        merged([two])
    two.write_text(a_score().to_json().replace("cake", "cheese") + "\n")
    with pytest.raises(
        ValueError, match="line 1: `task` must be one of those that --list prints, got 'cheese, 2 a batch'"
    ):
        merged([two])


def test_a_line_that_was_cut_off_is_run_again(tmp_path):
    out, jobs = tmp_path / "one.jsonl", [("oats, 2 a batch", "random", seed) for seed in (0, 1)]
    scores, _ = contest(jobs, out)
    whole = out.read_text()
    out.write_text(whole[:-20])
    assert [score.seed for score in merged([out])] == [0]
    again, _ = contest(jobs, out)
    assert [score.cumulative for score in again] == [score.cumulative for score in scores]
    assert [json.loads(line)["seed"] for line in out.read_text().splitlines()] == [0, 1]
    out.write_text(whole[:-1])  # whole but for its end
    assert len(merged([out])) == 2


def test_standings_compare_the_same_runs():
    scores = [
        *(a_score(learner="default", seed=i, paid=(1.0, 2.0), bound=0.2) for i in range(2)),
        *(a_score(seed=i, paid=(1.0, 8.0), final=0.5) for i in range(3)),
        a_score("oats, 2 a batch", "default", paid=(4.0, 4.0), bound=0.05, final=0.1),
        a_score("oats, 2 a batch", paid=(4.0, 4.0), final=0.0),
    ]
    ours, other = standings(scores, "tables")
    assert (ours.learner, ours.ratio, ours.claims, ours.lost) == ("default", 1.0, 3, 0.0)
    assert ours.held == pytest.approx(2 / 3)
    assert other.ratio == pytest.approx(2.0)  # the root of 4 times 1
    assert (other.tasks, other.runs, other.lost, other.near) == (2, 4, 0.75, 0.25)
    assert np.isnan(ratio(scores[:1], {}))
    assert standings(scores, "many knobs") == []


def test_the_stored_results_are_whole_and_small():
    scores = stored()
    assert len({score.key for score in scores}) == len(scores)
    assert {score.task for score in scores} >= set(SMALL)
    assert {"default", "UCB", "random", "TPE", "CMA"} <= {score.learner for score in scores}
    assert all(score.task in tasks() for score in scores)
    packed = eq.lab.board.runs.files("equipoise.lab.board").joinpath("results.jsonl.gz").read_bytes()
    assert len(packed) < 200_000
    assert json.loads(gzip.decompress(packed).splitlines()[0])["task"] in tasks()


def test_the_page_has_every_kind_and_task_and_names_who_is_absent():
    scores = [
        a_score(),
        a_score(learner="default"),
        a_score("camel2, <b>".replace("<b>", "walk"), "TPE", package="optuna 5"),
    ]
    text = page(scores)
    assert all(word in text for word in ("Few knobs", "Tables", "cake, 2 a batch", "camel2, walk", "optuna 5", *ABSENT))
    assert text.count("<svg") == 2
    assert page(scores) == text
    assert "## Tables" in report(scores)


def test_the_fragment_styles_itself_and_nothing_around_it():
    text = fragment([a_score(version="0.3.0")])
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    assert all(rule.split("{")[0].strip().startswith(".board ") for rule in style.split("}") if rule.strip())
    assert all(wide in style for wide in (".board table { ", ".curves { overflow-x: auto }", ".board svg { "))
    assert text.startswith('<div class="board">')
    assert text.count("<div") == text.count("</div>")
    assert "Versions: equipoise 0.3.0." in text


# --- the command --------------------------------------------------------------------------------------------------


def test_the_command_runs_merges_and_writes_a_page(tmp_path):
    out, other, target = tmp_path / "runs.jsonl", tmp_path / "other.jsonl", tmp_path / "board.html"
    other.write_text(a_score("oats, 2 a batch", "theirs").to_json() + "\n")
    options = ["--task", "oats, 2 a batch", "--learner", "random", "--learner", "W-DBO", "--seeds", "1", "--jobs", "1"]
    done = invoke("bench", "board", *options, "--out", out, "--with", other, "--page", target)
    assert "Skipped: W-DBO" in done.stderr
    assert {"random", "theirs"} <= set(done.stdout.replace("|", " ").split())
    assert "theirs" in target.read_text()
    lines = invoke("bench", "board", *options, "--out", out, "--json").stdout.splitlines()
    assert [json.loads(line)["learner"] for line in lines] == ["random"]
    broken = invoke(
        "bench", "board", "--task", "oats, 2 a batch", "--learner", "json:JSONDecoder", "--seeds", 1, code=1
    )
    assert "Failed: json:JSONDecoder at oats, 2 a batch, seed 0: TypeError" in broken.stderr
    other.write_text("no score\n")
    assert "other.jsonl, line 1: " in invoke("bench", "board", "--seeds", 0, "--with", other, code=1).stderr
    assert invoke("bench", "board", "--seeds", 0).stdout == "No runs.\n"
    assert "--task must be one of those" in invoke("bench", "board", "--task", "nothing", code=2).stderr
    assert "--out" not in invoke("bench", "board", "--learner", "nobody", code=2).stdout
    names = invoke("bench", "board", "--list").stdout.splitlines()
    assert {name[:26].strip() for name in names} == {*tasks(), *LISTED, *ABSENT, ""}
    assert [name[:26].strip() for name in names if name.endswith("small board")] == sorted(SMALL, key=[*tasks()].index)
    assert "HEBO                      HEBO 0.3.6 did not install with the others" in names


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    def late(*args):
        raise TimeoutError("Timed out trying to connect to tcp://127.0.0.1:9")

    monkeypatch.setattr("equipoise.lab.board.contest", late)
    done = invoke("bench", "board", "--task", "oats, 2 a batch", "--learner", "random", "--jobs", "1", code=1)
    assert "Error: TimeoutError: Timed out trying to connect to tcp" in done.stderr


def test_the_folder_of_a_page_is_made(tmp_path):
    target = tmp_path / "new" / "board.html"
    invoke("bench", "board", "--seeds", 0, "--stored", "--page", target)
    assert target.exists()
