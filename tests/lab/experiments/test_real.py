"""Real data: the tables are what was published, the worlds return their numbers, and the runs are kept."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.experiments.real import (
    CARDS,
    COMPETITORS,
    REPORTED,
    TABLES,
    TRACES,
    InBatches,
    OnInstrument,
    autotuned,
    missing,
    planned,
    published,
    recorded_worlds,
    recording,
    score,
    score_table,
    scores,
)
from equipoise.lab.experiments.real.rivals import RandomizedBlocks, WithReference


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("name", "arms", "batches", "rows", "mean"),
    [
        ("cake", 18, 15, 270, 32.122),  # means of the columns as the sources ship them
        ("oats", 12, 6, 72, 103.972),
        ("barley", 10, 12, 120, 34.4206),
        ("fullerenes", 216, 0, 246, 0.80343),
    ],
)
def test_a_table_is_what_was_published(name, arms, batches, rows, mean):
    table = published(name)
    assert (len(table.arms), len(table.batches)) == (arms, batches)
    numbers = np.concatenate(table.numbers)
    assert len(numbers) == rows
    assert numbers.mean() == pytest.approx(mean, rel=1e-4)
    assert all(table.arm(table.point(arm)) == arm for arm in range(arms))
    assert all(table.space.decode(table.space.encode(table.point(arm))) == table.point(arm) for arm in range(arms))


def test_the_spread_of_the_cakes_is_that_of_the_literature():
    Y = np.array(published("cake").numbers)
    assert Y.mean(axis=0).std(ddof=1) == pytest.approx(6.4, abs=0.05)
    assert Y.mean(axis=1).std(ddof=1) == pytest.approx(3.1, abs=0.05)


def test_the_data_are_small_and_every_file_is_in_the_notice():
    from importlib.resources import files

    found = list((files("equipoise.lab.experiments.real") / "data").iterdir())
    notice = next(each for each in found if each.name == "NOTICE.md").read_text(encoding="utf-8")
    tables = [each for each in found if each.name != "NOTICE.md"]
    packed = {f"convolution-{card}.csv.gz" for card in CARDS}
    assert {each.name for each in tables} == {f"{name}.csv" for name in (*TABLES, *TRACES)} | packed
    assert all(f"`{each.name}`" in notice for each in tables)
    assert sum(len(each.read_bytes()) for each in tables) < 500_000


@pytest.mark.parametrize(
    ("card", "runs", "near", "least"),
    [("A100", 4201, 1, 0.5492), ("A4000", 4201, 11, 0.9937), ("MI250X", 4362, 9, 0.6541), ("W6600", 4362, 4, 1.461)],
)
def test_a_search_space_is_complete(card, runs, near, least):
    """As the source has it: this many settings run, this many are within 5 % of the best."""
    table = autotuned(card)
    values = np.array(list(table.values.values()))
    assert len(values) == runs
    assert np.count_nonzero(values > table.top - np.log(1.05)) == near
    best = dict(zip(table.options, max(table.values, key=lambda key: table.values[key]), strict=True))
    assert table.times[table.key(best)].min() == pytest.approx(least, rel=1e-3)
    assert table.space.decode(table.space.encode(best)) == best
    assert bool(table.space.valid(table.space.encode(best)[None])[0])
    assert not table.holds(best | {"block_size_x": 0})


def test_residuals_are_free_of_arm_and_batch():
    for name in ("cake", "oats", "barley"):
        rest = np.array(published(name).residuals)
        assert abs(rest.mean(axis=0)).max() < 1e-9
        assert abs(rest.mean(axis=1)).max() < 1e-9
    assert np.std(published("fullerenes").residuals[0]) == pytest.approx(0.0117, abs=2e-4)


def test_a_batch_returns_the_number_that_was_measured():
    table = published("oats")
    world = InBatches(table, 4, rng())
    read = [world.read(arm) for arm in (0, 1, 2, 3)]
    assert any(read == [table.numbers[arm][batch] for arm in (0, 1, 2, 3)] for batch in range(6))
    rest = [world.read(5) for _ in range(world.readings - 4)]
    assert set(rest) <= set(table.numbers[5])
    assert rest[:4] == [rest[0]] * 4


def test_a_drift_moves_as_much_as_the_arms_differ():
    table = published("fullerenes")
    moved = []
    for seed in range(40):
        world = OnInstrument(table, recording("temperature"), rng(seed))
        still = OnInstrument(table, None, rng(seed))
        drift = np.array([world.read(0) for _ in range(100)])
        moved.append(np.ptp(drift) - np.ptp([still.read(0) for _ in range(100)]))
    assert np.mean(moved) == pytest.approx(table.range, rel=0.35)


def test_the_reference_is_measured_every_other_time():
    class Spy:
        told = ()

        def ask(self):
            return eq.Trial(0, published("oats").point(7))

        def tell(self, trial, y):
            self.told += (y,)

    spy = Spy()
    learner = WithReference(InBatches(published("oats"), 4, rng()), 0, lambda world, seed: spy)
    asked = []
    for y in (10.0, 13.0, 20.0, 21.0):
        trial = learner.ask()
        asked.append(trial.x)
        learner.tell(trial, y)
    assert asked[0] == asked[2] != asked[1] == asked[3]
    assert spy.told == (3.0, 1.0)


def test_least_squares_finds_the_arm_behind_the_batches():
    world = InBatches(published("oats"), 4, rng())
    learner = RandomizedBlocks(world, 0)
    level = 0.0
    for reading in range(48):
        level += 1000.0 * (reading % 4 == 0)
        trial = learner.ask()
        learner.tell(trial, level + (world.table.arm(trial.x) == 5))
    assert world.table.arm(learner.recommend().x) == 5


@pytest.mark.parametrize("name", [name for name in COMPETITORS if name != "UCB, reference arm"])
def test_every_competitor_runs(name):
    if (package := missing(name)) is not None:
        pytest.skip(f"needs {package}")
    row = score(name, "barley, 2 a batch", seed=3)
    assert 0 <= row["regret"] <= 100
    assert 0 < row["cumulative"] <= 100
    ours = name.startswith(("default", "UCB"))
    assert np.isnan(row["bound"]) != ours


def test_runs_are_kept_and_not_repeated(tmp_path, monkeypatch):
    out = tmp_path / "new" / "real.csv"
    names, worlds = ["randomized blocks"], ["oats, 2 a batch", "fullerenes"]
    assert list(planned(names, worlds, [0, 1])) == [(names[0], worlds[0], 0), (names[0], worlds[0], 1)]
    first = scores(names, worlds, [0, 1], out)
    monkeypatch.setattr("equipoise.lab.experiments.real.scoring.score", None)
    seen = []
    assert scores(names, worlds, [0, 1], out, seen.append) == first
    assert seen == [1, 1]
    table = score_table(first)
    assert "randomized blocks" in table
    assert "oats, 2 a batch" in table
    assert "fullerenes" not in table


def test_the_picture_has_a_panel_for_each_kind_of_world(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    from equipoise.lab.experiments.real.score_plot import KINDS, draw, kind_of

    rows = [{"competitor": name, "world": w, "regret": "3.0"} for name in REPORTED for w in recorded_worlds()]
    assert {kind_of(row["world"]) for row in rows} == set(KINDS)
    assert draw(rows, tmp_path / "real").read_bytes().startswith(b"\x89PNG")


def test_what_is_reported_exists():
    assert set(REPORTED) <= set(COMPETITORS)
    assert len(recorded_worlds()) == 15
