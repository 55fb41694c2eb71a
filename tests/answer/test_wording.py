"""Claims in words: the same for the shell, the page, the notebook and `str()`, with units and meaningful digits."""

import html
import math
import pickle
import re

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import Claim, Difference, Forecast, Recommendation, Usability
from equipoise.answer.recommendation import WITHIN_LIMITS
from equipoise.answer.wording import amount, as_html, compared, interval, sentences
from invoking import invoke

SPACE = eq.Space(q1=eq.Float(-2, 2, unit="A"), gain=eq.Float(0, 10, step=0.25), lens=eq.Choice(["in", "out"]))


def value(x):
    return -((x["q1"] - 0.7) ** 2) - 0.1 * (x["gain"] - 3) ** 2 + (x["lens"] == "in")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with units: of a knob, and of the reading."""
    path = tmp_path_factory.mktemp("words") / "study.jsonl"
    opt = eq.Optimizer(SPACE, start={"q1": -1, "gain": 1, "lens": "out"}, rng=0, log=path)
    opt.study.set("unit", "mW")
    for t in range(60):
        trial = opt.ask()
        opt.tell(trial, value(trial.x) + 0.1 * t)
    return path


def test_a_recommendation_prints_as_sentences_and_keeps_its_repr(study):
    best = eq.resume(study).recommend()
    lines = str(best).splitlines()
    assert re.fullmatch(r"q1 = -?\d\.\d{4} A, gain = \d+\.\d\d, lens = in", lines[0])
    assert re.fullmatch(r"By estimate, nothing is better by more than [\d.]+ mW\.", lines[1])
    assert re.fullmatch(r"24 more duels of audit would bring the bound to about [\d.]+ mW\.", lines[-3])
    assert re.fullmatch(r"Better than the start by [\d.]+ \[[\d.]+, [\d.]+\] mW, by estimate\.", lines[-2])
    assert lines[-1] == "After 60 readings."
    assert repr(best).startswith("Recommendation(x={'q1': ")
    assert "readouts" not in repr(best)
    assert str(pickle.loads(pickle.dumps(best))) == str(best)


def test_shell_notebook_and_str_say_the_same(study):
    opt = eq.resume(study)
    said = sentences(opt.recommend())
    assert invoke("best", study).stdout.splitlines() == said
    shown = opt.recommend()._repr_html_()
    assert "<th>q1</th><td>" in shown
    assert " A</td>" in shown
    assert html.unescape(shown.rpartition("<p>")[2].removesuffix("</p>")).split("<br>") == said[1:]
    assert as_html(opt.recommend()) in opt._repr_html_()


def test_the_page_says_the_same(study):
    pytest.importorskip("starlette")
    from equipoise.web.station import Station

    station = Station(study)
    known, said = station.known(), sentences(station.opt.recommend())
    best = known["best"]
    assert ", ".join(map(str, best["setting"])) == said[0]
    assert [*best["claims"], best["against_start"], f"After {known.told}."] == said[1:]


def test_settings_are_rounded_for_people_and_exact_for_programs(study):
    exact = invoke("best", study, "--json").data["x"]
    assert exact == eq.resume(study).recommend().x
    asked = invoke("ask", study).stdout.split()
    told = invoke("ask", study, "--json", "--worker", "b").data["x"]
    assert re.fullmatch(r"q1=-?\d\.\d{4}", asked[1])
    assert isinstance(told["q1"], float)
    number = re.compile(r"\d\.\d{6,}")
    for command in (("ask", study), ("status", study), ("best", study), ("verify", study, "--duels", 2)):
        assert number.search(invoke(*command).stdout) is None, command


def test_rounding_never_leaves_the_range():
    space = eq.Space(q=eq.Float(0, 2 / 3), r=eq.Float(1 / 3, 4, unit="s"))
    readout = eq.spaces.readouts_of(space)
    assert (readout["q"].text(2 / 3), readout["r"].text(1 / 3)) == ("0.66666", "0.3334")
    box = eq.spaces.readouts_of(eq.Box([(-1000, 1000), (0, 1e-9)]))
    assert (box["x[0]"].text(123.456), box["x[1]"].text(1.23456789e-10)) == ("123.5", "1.2346e-10")
    assert box["x[0]"].text(-0.0001) == "0.0"


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ((3e-7, -0.0009, 4e-5), "Not shown to be better than the start: 0.00000 [-0.00090, 0.00004] W, by estimate."),
        ((0.0, -0.1, 0.3), "Not shown to be better than the start: 0.00 [-0.10, 0.30] W, by estimate."),
        ((0.5, 0.0, 1.0), "Not shown to be better than the start: 0.50 [0.00, 1.00] W, by estimate."),
        ((0.312, 0.2, 0.42), "Better than the start by 0.31 [0.20, 0.42] W, by estimate."),
        ((-0.312, -0.42, -0.2), "Worse than the start by 0.31 [0.20, 0.42] W, by estimate."),
        ((0.0, 0.0, 0.0), "This is the start."),
        ((0.0, -math.inf, math.inf), "Not compared with the start yet."),
    ],
)
def test_better_is_said_only_if_the_interval_excludes_zero(start, said):
    assert compared(Difference(*start, "estimate"), "W") == said


def test_no_digits_but_those_that_an_uncertainty_leaves():
    rng = np.random.default_rng(0)
    for _ in range(300):
        size, half = 10.0 ** rng.uniform(-12, 12, 2)
        value, half = size, max(half, 1e-9 * size)
        text = interval(value, value - half, value + half)
        middle, low, high = (float(word) for word in re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", text).groups())
        rounding = 0.051 * half  # half a unit of the second digit
        assert max(abs(middle - value), abs(low - (value - half)), abs(high - (value + half))) <= rounding
        assert max(map(len, text.split())) <= 24
        assert size <= float(amount(size)) <= 1.1 * size


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((1.07, 0.5, math.inf), "1.1 [0.5, inf]"),
        ((-1.05, -math.inf, -0.002), "-1.050 [-inf, -0.002]"),
        ((math.nan, -math.inf, math.inf), "nan (no interval yet)"),
        ((0.0, -math.inf, math.inf), "0 (no interval yet)"),
    ],
)
def test_limits_that_are_not_known_yet(numbers, said):
    assert interval(*numbers) == said


def test_a_ranking_is_printed_without_idle_digits():
    ranks = [
        eq.answer.Rank(1, "espresso", 1.2345, 0.61, 1.87, (1, 2)),
        eq.answer.Rank(2, {"q": 1 / 3}, 3e-7, -1e-7, 7e-7, (1, 2)),
    ]
    assert str(ranks[0]) == "  1  1.23 [0.61, 1.87]  rank 1 to 2  espresso"
    assert str(ranks[1]) == "  2  3.0e-07 [-1.0e-07, 7.0e-07]  rank 1 to 2  q = 0.33333"


def test_pictures_have_units(study):
    plt = pytest.importorskip("matplotlib.pyplot")
    opt = eq.resume(study)
    line, readings = eq.plots.estimate(opt, "q1"), eq.plots.readings(opt)
    assert (line.get_xlabel(), line.get_ylabel()) == ("q1 / A", "f(x) - f(best) / mW")
    assert readings.get_ylabel() == "value / mW"
    assert line.get_title().splitlines()[-1] == sentences(opt.recommend())[1].rstrip(".")
    assert eq.plots.certificate(opt, points=3).get_ylabel() == "bound on the remaining gain / mW"
    assert eq.plots.duels(opt, "q1").get_xlabel() == "q1 / A"
    plt.close("all")


def test_a_context_has_a_unit():
    space = eq.Space(q=eq.Float(0, 1), temp=eq.Context(0, 40, unit="°C"))
    opt = eq.Optimizer(eq.spaces.space_from_dict(space.to_dict()), rng=0)
    opt.tell(opt.ask(context={"temp": 21.5}), 1.0)
    assert str(opt.recommend()).splitlines()[0].endswith(", temp = 21.5 °C")
    with pytest.raises(TypeError, match="`Context` must have `low` and `high`, or a list of options, got"):
        eq.Context(["dry", "wet"], unit="°C")


def test_judgements_alone_have_the_unit_of_the_judge():
    opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), start={"q": 0.0}, rng=0)
    for _ in range(24):
        pair = opt.ask_pair()
        opt.tell(pair, "first" if abs(pair.first["q"] - 0.7) < abs(pair.second["q"] - 0.7) else "second")
    said = str(opt.recommend()).splitlines()
    assert re.fullmatch(r"By estimate, nothing is better by more than [\d.]+ noises of the judge\.", said[1])
    assert re.search(r" chosen over the start in \d+ % of cases\.$", said[2])
    assert said[-1] == "After 24 judgements. What is better by 1 is chosen in 84 % of cases."


def test_units_from_the_shell(tmp_path):
    study = tmp_path / "study.jsonl"
    invoke("new", study, "--float", "q", 0, 1, "--context", "temp", 0, 40, "--unit", "q", "A", "--unit", "temp", "°C")
    invoke("set", study, "unit", "mW")
    invoke("ask", study, "--context", "temp=21.5")
    invoke("tell", study, 0, 1)
    assert re.match(r"q = \d\.\d{4,5} A, temp = 21\.5 °C\n", invoke("best", study).stdout)
    assert eq.resume(study).recommend().unit == "mW"


def test_only_verified_claims_stay_if_no_setting_is_known_to_hold_the_limits():
    verified, overall = Claim("verified", 0.3, "the start"), Claim("estimate", 0.04, WITHIN_LIMITS)
    best = Recommendation({"q1": 0.7}, 0.04, 30, claims=(overall, verified), forecast=Forecast(24, 0.02))
    sure, doubtful = Usability(0.97, ()), Usability(0.6, ())
    assert "By estimate, none of the settings within the limits is better" in str(best.within(sure))
    assert best.within(sure).forecast is None
    found = best.within(doubtful)
    assert (found.gap_bound, found.kind, found.overall.bound, found.forecast) == (0.3, "verified", math.inf, None)
    assert [claim.kind for claim in found.claims] == ["verified", "guess"]
    assert "within the limits" not in str(found)
