"""Readings in tables: into a study, and out of it."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.study.tables import RowError, Table, columns

pd = pytest.importorskip("pandas", reason="frames need pandas: pip install 'equipoise[frames]'")

SPACE = eq.Space(q1=eq.Float(0, 1), n=eq.Int(1, 5), lens=eq.Choice(["in", 2]), mode="fast", value=eq.Float(0, 1))
ROW = {"q1": "0.5", "n": "3", "lens": "2", "x.value": ".4", "value": "7"}


def test_a_row_of_text_is_a_reading():
    read = Table(SPACE, covariates=("humidity",)).read(ROW | {"humidity": " ", "error": "0.1", "block": "monday"})
    assert read == {
        "x": {"q1": 0.5, "n": 3, "lens": 2, "value": 0.4},
        "value": 7.0,
        "error": 0.1,
        "block": "monday",
    }


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({"value": ""}, "value is empty"),
        ({"value": "n/a"}, "value must be a number, got 'n/a'"),
        ({"q1": None}, "q1 is empty"),
        ({"lens": "out"}, "lens must be one of in, 2, got 'out'"),
    ],
)
def test_a_row_that_is_none_is_refused_with_the_reason(cells, says):
    with pytest.raises(RowError, match=says):
        Table(SPACE).read(ROW | cells)


def test_a_table_must_have_its_columns():
    with pytest.raises(ValueError, match=r"columns q1, n, lens, x.value, yield; it lacks n, yield"):
        Table.of(SPACE, ["q1", "lens", "x.value"], [], value="yield")


def test_a_frame_goes_in_and_comes_out_again():
    space = eq.Space(q1=eq.Float(0, 1), n=eq.Int(1, 5))
    first = eq.Optimizer(space, rng=0)
    for t in range(6):
        first.tell(first.ask(), 0.5 * t, covariates={"humidity": t / 10} if t % 2 else None)
    frame = first.study.to_frame()
    assert frame["value"].tolist() == [0.5 * t for t in range(6)]
    assert frame["humidity"].notna().tolist() == [False, True] * 3
    second = eq.Optimizer(space, rng=1)
    assert second.study.add_frame(frame, block="2025", covariates=["humidity"]) == list(range(6))
    again = second.study.to_frame()
    for name in ("q1", "n", "value", "humidity"):
        np.testing.assert_array_equal(again[name], frame[name])
    assert set(again["block"]) == {"2025"}
    assert second.readings == 0


def test_a_frame_is_taken_in_whole_or_not_at_all():
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)
    with pytest.raises(ValueError, match="must lie within"):
        opt.study.add_frame(pd.DataFrame({"x[0]": [0.5, 7.0], "value": [1.0, 2.0]}))
    assert not opt.records()
    assert opt.study.add_frame(pd.DataFrame({"x[0]": [0.5, 0.7], "value": [1.0, 2.0]})) == [0, 1]
    assert opt.readings == 2  # of now: no block was named


def test_the_table_of_an_empty_study_is_empty():
    assert columns(eq.Optimizer(SPACE, rng=0).records()) == {}


def test_names_without_features_have_a_column_too():
    opt = eq.Optimizer(eq.Finite(["espresso", "filter", "press"]), rng=0)
    opt.tell(opt.ask(), 1.0)
    assert columns(opt.records())["x"][0] in ("espresso", "filter", "press")


def test_several_numbers_of_a_reading_are_kept_by_name(tmp_path):
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), log=tmp_path / "study.jsonl", rng=0)
    trial = opt.ask()
    told = eq.log.Told(trial.id, eq.data.Reading(3.1, values={"flux": 3.1, "loss": 0.4}))
    opt._session.change(lambda: opt._session.happen(told))
    for known in (opt, eq.resume(opt.study.log)):
        assert [record.values for record in known.records()] == [{"flux": 3.1, "loss": 0.4}]
        assert (columns(known.records())["loss"], columns(known.records())["value"]) == ([0.4], [3.1])


@pytest.mark.parametrize("values", [[3.1], {"flux": "high"}, {"": 1.0}, {"flux": float("inf")}])
def test_other_than_numbers_by_name_are_refused(values):
    codec = eq.log.Codec(eq.Space(q1=eq.Float(0, 1)))
    with pytest.raises((TypeError, ValueError), match="`values` must be"):
        codec.from_json({"tell": 0, "value": 3.1, "values": values})


INF = float("inf")
BAD_ROWS = [{"error": -1.0}, {"block": "two\nlines"}, {"time": INF}, {"value": INF}, {"humidity": INF}]


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_a_table_is_taken_whole_or_not_at_all(tmp_path, bad):
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), log=tmp_path / "study.jsonl", rng=0)
    good = {"q1": 0.5, "value": 1.0, "error": 0.0, "block": "2025", "time": 0.0, "humidity": 0.5}
    log = opt.study.log.read_bytes()
    with pytest.raises(ValueError, match="must"):
        opt.study.add_frame(pd.DataFrame([good, good | bad]), covariates=["humidity"])
    assert (opt.records(), opt.study.log.read_bytes()) == ([], log)
    assert opt.study.add_frame(pd.DataFrame([good, good]), covariates=["humidity"]) == [0, 1]
    assert len(eq.resume(opt.study.log).records()) == 2


def test_judgements_in_a_table_are_taken_whole_or_not_at_all(tmp_path):
    opt = eq.Optimizer(eq.Finite(["espresso", "filter"]), log=tmp_path / "study.jsonl", rng=0)
    good, log = (
        {"first": "filter", "second": "espresso", "answer": "first", "judge": "anna"},
        opt.study.log.read_bytes(),
    )
    for bad in ({"second": "tea"}, {"steps": 4}, {"answer": "perhaps"}):
        with pytest.raises(ValueError, match="must"):
            opt.study.add_frame(pd.DataFrame([good, good | bad]), judgements=True)
        assert (opt.records(judgements=True), opt.study.log.read_bytes()) == ([], log)
    with pytest.raises(ValueError, match="`value` must be a number or one of"):
        opt.add("filter", "perhaps", against="espresso")
    assert (opt.records(judgements=True), opt.study.log.read_bytes()) == ([], log)


def test_a_table_that_cannot_be_written_is_not_taken_in(tmp_path, monkeypatch):
    from equipoise.log import jsonl

    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), log=tmp_path / "study.jsonl", rng=0)
    log, written = opt.study.log.read_bytes(), []

    def full(file, data):
        written.append(data)
        file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(jsonl, "_write", full)
        with pytest.raises(eq.log.LogError, match="No space left"):
            opt.study.add_frame(pd.DataFrame({"q1": [0.1, 0.2, 0.3], "value": [1.0, 2.0, 3.0]}))
    assert (len(written), opt.records(), opt.study.log.read_bytes()) == (1, [], log)
    assert eq.resume(opt.study.log).records() == []


TAKEN = ("trial", "value", "time", "error", "block", "asked", "failed", "x", "first", "answer", "judge", "prompt")


@pytest.mark.parametrize("name", TAKEN)
def test_a_parameter_may_be_called_as_a_column_is(tmp_path, name):
    from invoking import invoke

    space, table = eq.Space({name: eq.Float(0, 1), "q": eq.Int(0, 3)}), tmp_path / "table.csv"
    opt = eq.Optimizer(space, log=tmp_path / "from.jsonl", rng=0)
    for value in (1.5, 2.5):
        opt.tell(opt.ask(), value)
    opt.tell(opt.ask_pair(), "first")
    for judgements, options in ((False, ()), (True, ("--judgements",))):
        into = eq.Optimizer(space, log=tmp_path / f"into{judgements}.jsonl", rng=0)
        into.study.add_frame(opt.study.to_frame(judgements=judgements), judgements=judgements)
        table.write_text(invoke("export", opt.study.log, *options).stdout)
        by_shell = eq.Optimizer(space, log=tmp_path / f"shell{judgements}.jsonl", rng=0)
        invoke("import", by_shell.study.log, table, *options)
        by_shell.study.follow()
        for other in (into, by_shell):
            assert [record.x for record in other.records()] == ([] if judgements else [r.x for r in opt.records()])
            pairs = [(pair.first, pair.second, answer) for pair, answer in opt.study.answers()] if judgements else []
            assert [(pair.first, pair.second, answer) for pair, answer in other.study.answers()] == pairs
    assert f" {name}=" in invoke("replay", opt.study.log).output


def test_only_a_data_frame_is_a_frame():
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
    with pytest.raises(TypeError, match="`frame` must be a pandas DataFrame, got 3"):
        opt.study.add_frame(3)


ODD = [("none", None), ("-dash", "=sum", "@at", "+plus"), (True, False), (1, 2.5, "'3"), ("", "é ☃")]


@pytest.mark.parametrize("options", ODD, ids=str)
def test_options_survive_a_table(tmp_path, options):
    from invoking import invoke

    space, table = eq.Space(mode=eq.Choice(options), q=eq.Int(0, 3)), tmp_path / "table.csv"
    opt = eq.Optimizer(space, log=tmp_path / "from.jsonl", rng=0)
    for option in options:
        opt.add({"mode": option, "q": 1}, 0.5)
    frame, shell = (eq.Optimizer(space, log=tmp_path / f"{name}.jsonl", rng=0) for name in ("frame", "shell"))
    frame.study.add_frame(opt.study.to_frame())
    table.write_text(invoke("export", opt.study.log).stdout, encoding="utf-8")
    invoke("import", shell.study.log, table)
    shell.study.follow()
    for into in (frame, shell):
        assert [record.x["mode"] for record in into.records()] == list(options)


@pytest.mark.parametrize("readings", [3, "x", [0, -1], [0.5]])
def test_a_history_is_after_numbers_of_readings(readings):
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
    with pytest.raises((TypeError, ValueError), match="`readings` must be"):
        opt.study.history(readings)


def test_a_table_has_a_column_for_each_output_and_one_that_lacks_it_is_refused():
    space, goal = eq.Space(q1=eq.Float(0, 1)), {"objective": "flux", "limits": ["loss <= 3"], "rng": 0}
    opt, into = eq.Optimizer(space, **goal), eq.Optimizer(space, **goal)
    for _ in range(4):
        opt.tell(opt.ask(), {"flux": 1.0}, missing=["loss"])
    frame = opt.study.to_frame()
    assert frame["loss"].isna().all()
    with pytest.raises(ValueError, match="must have the columns q1, flux, loss; it lacks loss"):
        into.study.add_frame(frame.rename(columns={"loss": "Loss"}))
    assert into.study.add_frame(frame) == [0, 1, 2, 3]
