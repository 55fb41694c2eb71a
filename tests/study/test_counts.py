"""Studies of counts and of shares: told, refused, logged, resumed, corrected, exported."""

import json
import re

import numpy as np
import pytest

import equipoise as eq
from equipoise.data import Reading, teaches
from equipoise.likelihoods import Binomial, Poisson
from equipoise.plots import series
from invoking import invoke

SPACE = eq.Space(q1=eq.Float(0, 1), q2=eq.Float(0, 1))
LIKELIHOODS = {"counts": Poisson(), "shares": Binomial()}


def told(likelihood, readings=12, **parts):
    """A study whose answers drift, the same each time."""
    opt, rng = eq.Optimizer(SPACE, likelihood=likelihood, rng=0, **parts), np.random.default_rng(0)
    for t in range(readings):
        trial = opt.ask()
        u = 2 - 3 * (trial.x["q1"] - 0.3) ** 2 - trial.x["q2"] ** 2 + np.sin(t / 4)
        opt.tell(trial, likelihood.draw(u, rng))
    return opt


@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)
@pytest.mark.parametrize(
    "parts", [{}, {"minimize": True}, {"kernel": eq.RBF(0.3)}, {"offset": eq.Arbitrary()}], ids=str
)
def test_a_study_is_told_logged_and_resumed(tmp_path, likelihood, parts):
    opt = told(likelihood, log=tmp_path / "study.jsonl", **parts)
    again = eq.resume(tmp_path / "study.jsonl")
    assert again.study.setup.likelihood == likelihood
    assert again.records() == opt.records()
    points = SPACE.candidates(np.random.default_rng(0))
    assert again.posterior.at(points).mean.tobytes() == opt.posterior.at(points).mean.tobytes()
    assert again.study.propose().points.tolist() == opt.study.propose().points.tolist()


def test_a_log_keeps_the_numbers_as_they_were_told(tmp_path):
    for name, answer, kept in (
        ("Poisson", 17, {"value": 17.0}),
        ("Binomial", (17, 200), {"value": 17.0, "values": {"of": 200.0}}),
    ):
        path = tmp_path / f"{name}.jsonl"
        opt = eq.Optimizer(SPACE, likelihood=getattr(eq.likelihoods, name)(), log=path, rng=0)
        opt.tell(opt.ask(), answer)
        header, *_, last = map(json.loads, path.read_text().splitlines())
        assert header["settings"]["likelihood"] == {"type": name}
        assert {key: last[key] for key in kept} == kept
        assert "likelihood" not in told_header(tmp_path)["settings"]


def told_header(folder):
    path = folder / "numbers.jsonl"
    path.unlink(missing_ok=True)
    eq.Optimizer(SPACE, log=path, rng=0)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("likelihood", "value", "said"),
    [
        (Poisson(), 1.5, "`value` must be a whole number of at least 0, got 1.5"),
        (Poisson(), (17, 200), r"`value` must be a real number, got \(17, 200\)"),
        (Binomial(), 17, r"`value` must be successes and trials, such as \(17, 200\), got 17"),
        (None, (17, 200), r"`value` must be a real number, got \(17, 200\)"),
    ],
    ids=str,
)
def test_another_kind_of_answer_is_refused_and_the_trial_stays_open(likelihood, value, said):
    opt = eq.Optimizer(SPACE, likelihood=likelihood, rng=0)
    trial = opt.ask()
    for say in (lambda: opt.tell(trial, value), lambda: opt.add(trial.x, value, block="earlier")):
        with pytest.raises((TypeError, ValueError), match=said):
            say()
    assert opt.study.open_trials == (trial.id,)
    assert opt.readings == 0


def test_an_answer_with_an_error_of_its_own_takes_no_other():
    opt = eq.Optimizer(SPACE, likelihood=Poisson(), rng=0)
    with pytest.raises(ValueError, match=r"`error` must be 0 for Poisson\(\), which has its own, got 2.0"):
        opt.tell(opt.ask(), 17, error=2.0)


def test_a_hostile_log_is_refused(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, likelihood=Poisson(), log=path, rng=0)
    opt.tell(opt.ask(), 17)
    path.write_text(path.read_text().replace('"value":17.0', '"value":17.5'))
    with pytest.raises(eq.LogError):
        eq.resume(path).recommend()


def test_a_theorem_of_gaussian_duels_is_none_of_counts():
    with pytest.raises(ValueError, match=r"`likelihood` must be Gaussian\(\) for the theorem of TightConfidence"):
        eq.Optimizer(SPACE, kernel=eq.RBF(0.3), confidence=eq.TightConfidence(), likelihood=Poisson())


@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)
def test_answers_are_corrected_taken_back_and_told_twice(likelihood):
    opt = told(likelihood, 6)
    first, other = (5, 8) if likelihood == Poisson() else ((5, 20), (8, 30))
    opt.correct(2, other)
    assert opt.records(trials=[2])[0].said == ("8" if likelihood == Poisson() else "8/30")
    assert opt.undo() == 2
    opt.correct(3, first)
    opt.tell(3, first)  # the same once more changes nothing
    with pytest.raises(ValueError, match="of trial 3 must stay"):
        opt.tell(3, other)
    opt.retract(3)
    assert 3 in opt.study.open_trials
    opt.tell(3, other)
    assert np.isfinite(opt.posterior.at(SPACE.candidates(np.random.default_rng(0))).mean).all()


def test_equal_counts_are_no_dead_sensor():
    opt = eq.Optimizer(SPACE, likelihood=Poisson(), rng=0)
    for _ in range(20):
        assert opt.tell(opt.ask(), 0) is None


def test_a_duel_of_counts_compares_logarithms_of_rates():
    """Under an arbitrary offset: a gain that multiplies both counts cancels, and few counts say less than many."""
    opt = eq.Optimizer(eq.Finite([[0.0], [1.0]]), kernel=eq.RBF(0.5), likelihood=Poisson(), rng=0)
    duel, found = opt.study.propose(), []
    for counts in ((40, 10), (400, 100)):
        readings = [Reading(float(y), place=k).under(Poisson()) for k, y in enumerate(counts, 1)]
        found += teaches(duel, readings, eq.Arbitrary())
    few, many = found
    assert abs(few.outcome) == pytest.approx(np.log(40.5 / 10.5))
    assert few.outcome == pytest.approx(many.outcome, abs=0.05)
    assert few.variance == pytest.approx(1 / 40.5 + 1 / 10.5)
    assert many.variance < few.variance / 9


@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)
def test_a_table_of_answers_goes_into_another_study(tmp_path, likelihood):
    path, other = tmp_path / "study.jsonl", tmp_path / "other.jsonl"
    opt = told(likelihood, 8, log=path)
    (tmp_path / "table.csv").write_text(invoke("export", path).output)
    eq.Optimizer(SPACE, likelihood=likelihood, log=other, rng=1)
    invoke("import", other, tmp_path / "table.csv", "--block", "earlier")
    assert [(each.value, each.of) for each in eq.resume(other).records()] == [
        (each.value, each.of) for each in opt.records()
    ]


def test_the_shell_takes_counts_and_shares(tmp_path):
    path = tmp_path / "study.jsonl"
    invoke("new", path, "--float", "q1", 0, 1, "--likelihood", "Binomial")
    invoke("ask", path)
    invoke("tell", path, 0, "17/200")
    assert "`value` must be successes and trials" in invoke("tell", path, 0, "17", code=1).output
    assert "corrected to 18/200" in invoke("correct", path, 0, "18/200").output
    assert "Trial 0 is at 17/200 again." in invoke("undo", path).output
    assert "tell       0  17/200" in invoke("replay", path).output


def test_a_program_prints_shares(tmp_path):
    path = tmp_path / "study.jsonl"
    eq.Optimizer(SPACE, likelihood=Binomial(), log=path, rng=0)
    code = 'print("warming up"); print("17/200")'
    invoke("run", path, "--readings", 4, "--", "python", "-c", code)
    assert [record.said for record in eq.resume(path).records()][:4] == ["17/200"] * 4


@pytest.mark.parametrize(("name", "scale"), [("counts", "log rate"), ("shares", "log odds")])
def test_claims_say_on_which_scale_they_are(name, scale):
    opt = told(LIKELIHOODS[name], 40)
    said = str(opt.recommend())
    bound = opt.recommend().gap_bound
    assert f"in {scale}, a factor of" in said
    factor = float(re.search(r"nothing is better by more than .*?, a factor of ([\d.]+)\.\n", said)[1])
    assert np.exp(bound) <= factor <= 1.1 * np.exp(bound)
    opt.study.set("unit", "counts/s")  # that of a reading, not of f
    assert f"in {scale}, a factor of" in str(opt.recommend())


@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)
@pytest.mark.parametrize("parts", [{}, {"kernel": eq.RBF(0.3)}], ids=str)
def test_pictures_show_rates_and_shares(likelihood, parts):
    opt = told(likelihood, 16, **parts)
    levels, offsets = [record.level for record in opt.records()], series.offsets(opt)
    highest = 1.0 if likelihood == Binomial() else 5 * max(levels)
    assert all(0 <= level <= highest for level in levels)
    assert ((offsets > 0) & (offsets <= highest)).all()  # what the best setting would have read: never below zero
