"""The paper's figures, tiny: all learners, all files, all statements."""

import csv
import json

import pytest

from equipoise.lab.environments import BIASES
from equipoise.lab.experiments import LEARNERS
from equipoise.lab.experiments.figures import FIGURES
from equipoise.lab.experiments.paper import reproduce, save
from equipoise.lab.experiments.reports import markdown, references

READINGS = {"linear": 60, "camelback": 30}


@pytest.fixture(scope="module", params=list(FIGURES))
def reproduced(request, tmp_path_factory):
    pytest.importorskip("matplotlib")
    out = tmp_path_factory.mktemp(request.param)
    report = reproduce(request.param, repetitions=2, readings=READINGS[request.param], out=out, jobs=1)
    return report, out, save(report, out)


def test_the_figure_is_drawn(reproduced):
    report, out, written = reproduced
    assert [path.name for path in written] == [f"{report.figure.name}.{end}" for end in ("md", "csv", "png", "pdf")]
    assert (out / f"{report.figure.name}.png").read_bytes().startswith(b"\x89PNG")
    assert (out / f"{report.figure.name}.pdf").read_bytes().startswith(b"%PDF")


def test_the_curves_are_written(reproduced):
    report, out, _ = reproduced
    with (out / f"{report.figure.name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    first = next(iter(report.outcome.values()))
    assert len(rows) == len(report.outcome) * len(first.at)
    assert {row["learner"] for row in rows} == {*report.figure.learners, *report.figure.thin}
    last = rows[len(first.at) - 1]
    assert float(last["mean"]) == pytest.approx(first.final.mean(), rel=1e-5)
    assert int(last["readings"]) == READINGS[report.figure.name]


def test_the_page_has_table_and_statements(reproduced):
    report, out, _ = reproduced
    page = (out / f"{report.figure.name}.md").read_text(encoding="utf-8")
    assert page.count("\n- **PASS** ") + page.count("\n- **FAIL** ") == len(report.checks)
    assert page.count("\n| ") == 1 + len(report.outcome)
    assert "2 repetitions" in page


def test_results_are_kept(reproduced):
    report, out, _ = reproduced
    folders = list((out / "runs").iterdir())
    assert len(folders) == len(report.outcome)
    for folder in folders:
        assert len(list(folder.glob("repetition-*.json"))) == 2
        assert json.loads((folder / "manifest.json").read_text())["seed"] == 0


def test_a_reproduced_figure_is_only_drawn_again(reproduced):
    report, out, _ = reproduced
    name = report.figure.name
    again = reproduce(name, repetitions=2, readings=READINGS[name], out=out, jobs=1)
    assert again.table == report.table  # processor times included


def test_the_arrangement_is_the_papers():
    linear, camelback = FIGURES["linear"], FIGURES["camelback"]
    assert [world.bias for world in linear.panels] == ["none", "negative-repeat", "drift", "compensated-drift"]
    assert [world.bias for world in camelback.panels] == ["calibration", "periodic"]
    assert (linear.columns, linear.readings) == (2, 10_000)
    assert (camelback.columns, camelback.readings) == (2, 1_000)
    assert camelback.label("UCB") == "GP-UCB"


def test_the_reference_speaks_of_known_things():
    known = references()
    assert sum(map(len, known.values())) == 44
    for figure, bias, learner, readings in known:
        assert figure in FIGURES
        assert bias in BIASES
        assert learner in LEARNERS
        assert readings == FIGURES[figure].readings


def test_the_reference_stands_beside_full_runs_only(reproduced):
    report, _, _ = reproduced
    assert "authors' code)" not in report.table


def test_a_table_is_aligned_markdown():
    lines = markdown(["a", "long name"], [["first", "1"], ["b", "22"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1] == "|-------|-----------|"
