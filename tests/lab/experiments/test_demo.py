"""The demonstration: the comparing learner wins, and is drawn."""

import sys

import pytest

from equipoise.lab.experiments import demo
from equipoise.lab.experiments.demo import contest, paper_contest, recommendation_table, regret_table


@pytest.fixture(scope="module")
def contestants():
    return paper_contest(seeds=2, readings=300)


def test_comparing_costs_less_than_believing(contestants):
    believing, comparing = contestants
    assert (comparing.regret[:, -1] < 0.6 * believing.regret[:, -1]).all()


def test_both_meet_the_same_instrument(contestants):
    first, second = (contestant.readings for contestant in contestants)
    assert [reading.offset for reading in first] == [reading.offset for reading in second]
    assert [reading.noise for reading in first] == [reading.noise for reading in second]


def test_the_tables_say_what_was_paid_and_what_is_recommended(contestants):
    regret = regret_table(contestants)
    assert [f"{n} readings" in regret for n in (50, 150, 300)] == [True] * 3
    for table in (regret, recommendation_table(contestants)):
        assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == ["GP-UCB", "IDS, two-point"]


@pytest.mark.parametrize("play", [contest, paper_contest])
def test_progress_adds_up(play):
    seen = []
    contestants = play(seeds=1, readings=30, progress=seen.append)
    assert sum(seen) == 30 * len(contestants)


@pytest.fixture(scope="module")
def continuous():
    return contest(seeds=1, readings=60)


def test_the_default_is_shown_beside_those_who_believe_their_readings(continuous):
    paid = {contestant.name: contestant.regret[0, -1] for contestant in continuous}
    assert paid["eq.Optimizer(space)"] < 0.8 * paid["plain GP"]
    assert list(paid) == list(demo.contenders())
    assert len({tuple(reading.noise for reading in contestant.readings) for contestant in continuous}) == 1


def test_tpe_claims_nothing_and_stays_away_where_optuna_is_missing(continuous, monkeypatch):
    pytest.importorskip("optuna", reason="needs the extra `optuna`")
    row = next(line for line in recommendation_table(continuous).splitlines() if "TPE" in line)
    assert "nothing yet" in row
    assert row.split("|")[-2].strip() == "-"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert list(demo.contenders()) == ["plain GP", "eq.Optimizer(space)"]


def test_the_picture(contestants, tmp_path):
    pytest.importorskip("matplotlib")
    from equipoise.lab.experiments.demo_plot import draw

    path = draw(contestants, tmp_path / "new" / "demo.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert draw(contestants, tmp_path / "plain").name == "plain.png"


def test_the_picture_of_the_default(continuous, tmp_path):
    pytest.importorskip("matplotlib")
    from equipoise.lab.experiments.demo_plot import draw

    assert draw(continuous, tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_it_says_what_to_install(contestants, tmp_path, monkeypatch):
    from equipoise.lab.experiments.demo_plot import draw

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"install equipoise\[plot\]"):
        draw(contestants, tmp_path / "demo.png")
