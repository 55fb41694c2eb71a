"""Several numbers per trial in the shell: a study begun, told, recommended and drawn; programs that print them."""

import json
import sys

import pytest

import equipoise as eq
from equipoise.runners.program import FailedError, reading
from invoking import invoke

BEGUN = ("--float", "q1", "0", "1", "--start", "q1=0.2", "--objective", "flux, -size", "--limit", "loss <= 0.75")


def begun(path):
    invoke("new", path, *BEGUN, "--seed", 0)
    return path


def test_a_study_of_several_numbers_from_new_to_best(tmp_path):
    path = begun(tmp_path / "study.jsonl")
    for k in range(16):
        trial = json.loads(invoke("ask", path, "--json").stdout)
        x = trial["x"]["q1"]
        invoke("tell", path, trial["id"], f"flux={x + k}", f"size={x * x - k}", f"loss={x}")
    assert invoke("tell", path, 15, "flux=1", code=1).output.count("got none for size, loss") == 1
    best = json.loads(invoke("best", path, "--prefer", "flux", "--json").stdout)
    assert set(best["objectives"]) == {"flux", "size"}
    assert best["limits"][0]["limit"] == "loss <= 0.75"
    assert best["holds"] >= 0.95
    assert best["x"]["q1"] <= 0.75
    smallest = json.loads(invoke("best", path, "--weight", "size=1", "--json").stdout)
    assert smallest["x"]["q1"] < best["x"]["q1"]
    front = json.loads(invoke("front", path, "--json").stdout)
    assert front[0]["objectives"]["flux"]["value"] > front[-1]["objectives"]["flux"]["value"]
    assert "against the start" in invoke("front", path).stdout
    invoke("plot", path, "--what", "front", "--out", tmp_path / "front.png")
    assert (tmp_path / "front.png").stat().st_size > 5000
    rows = invoke("export", path).stdout.splitlines()
    assert {"flux", "size", "loss"} < set(rows[0].split(","))


def test_a_program_prints_numbers_by_name(tmp_path):
    path = begun(tmp_path / "study.jsonl")
    code = "import sys; x = float(sys.argv[1].split('=')[1]); print('ready'); print('flux =', x); print('size=', x * x)"
    invoke("run", path, "--readings", 6, "--", sys.executable, "-c", f"{code}; print('loss =', x / 2)")
    assert eq.resume(path).records()[0].values.keys() == {"flux", "size", "loss"}


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("flux=3.1 loss=0.4", {"value": {"flux": 3.1, "loss": 0.4}}),
        ("q = 1\n\nflux = 3.1\nloss = 0.4", {"value": {"flux": 3.1, "loss": 0.4}}),
        ('{"flux": 3.1, "loss": 0.4, "error": 0.1}', {"value": {"flux": 3.1, "loss": 0.4}, "error": 0.1}),
        ('{"value": {"flux": 3.1}, "missing": ["loss"]}', {"value": {"flux": 3.1}, "missing": ["loss"]}),
    ],
)
def test_what_a_program_may_print(out, told):
    assert reading(out) == told


@pytest.mark.parametrize("out", ["flux=3.1 flux=3", "flux=", "time=3", '{"id": 3}'])
def test_what_is_no_reading(out):
    with pytest.raises(FailedError):
        reading(out)


def test_a_toml_file_says_objective_and_limits(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('objective = "flux"\nlimits = ["loss <= 3", "size <= start + 1"]\nsafe = true\nstart = {q1 = 0.5}\n'
                    "[parameters]\nq1 = {type = 'float', low = 0, high = 1}\n")  # fmt: skip
    invoke("new", tmp_path / "study.jsonl", "--config", file)
    setup = eq.resume(tmp_path / "study.jsonl").study.setup
    assert (setup.objective, setup.limits, setup.safe) == ("flux", ("loss <= 3", "size <= start + 1"), True)
