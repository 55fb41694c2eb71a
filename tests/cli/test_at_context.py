"""A study with contexts from the shell: every command takes one, and says what it needs."""

import sys

import pytest

import equipoise as eq
from invoking import invoke

HERE = ("--context", "temp=21", "--context", "sample=wet")
MEASURE = "import sys; x = dict(word[2:].split('=') for word in sys.argv[1:]); print(-(float(x['q']) - 0.5) ** 2)"


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.jsonl"
    invoke("new", path, "--float", "q", 0, 1, "--context", "temp", 0, 40, "--context-choice", "sample", "dry,wet")
    return path


def test_ask_needs_a_context_for_the_first_half_of_a_pair_only(study):
    assert "must say temp and sample, such as" in invoke("ask", study, code=1).output
    first = invoke("ask", study, *HERE, "--json").data
    assert (first["x"]["temp"], first["x"]["sample"]) == (21.0, "wet")
    invoke("tell", study, first["id"], 0.5)
    assert invoke("ask", study, "--json").data["x"]["temp"] == 21.0
    assert "NAME=VALUE, such as temp=21, got temp" in invoke("ask", study, "--context", "temp", code=2).output
    assert "once for each name" in invoke("ask", study, *HERE, *HERE, code=2).output


def test_run_best_plans_and_pictures_are_at_a_context(study, tmp_path):
    program = ("--", sys.executable, "-S", "-c", MEASURE)
    assert invoke("run", study, "--readings", 8, *HERE, "--json", *program).data["x"]["temp"] == 21.0
    assert invoke("best", study, "--json").data["x"]["sample"] == "wet"
    there = ("--context", "temp=5", "--context", "sample=dry")
    assert invoke("best", study, *there, "--json").data["x"]["temp"] == 5.0
    invoke("audit", study, "--duels", 2, *there)
    assert invoke("ask", study, "--json").data["x"]["sample"] == "dry"  # the plan's
    invoke("cancel", study)
    invoke("verify", study, "--duels", 2, "--against", '{"q": 0.9}', *HERE)
    invoke("status", study)
    for what in ("slices", "readings"):
        invoke("plot", study, "--what", what, *there, "--out", tmp_path / "study.png")


def test_an_option_is_meant_as_it_is_written(tmp_path):
    opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1), n=eq.Context(["4", "5"])), log=tmp_path / "study.jsonl")
    assert invoke("ask", opt.study.log, "--context", "n=5", "--json").data["x"]["n"] == "5"


def test_a_study_without_rows_is_exported_with_its_columns(study):
    assert "q,temp,sample" in invoke("export", study).stdout
    assert "must be None, since the space has no Context" in _plain(study.parent).output


def _plain(folder):
    path = folder / "plain.jsonl"
    invoke("new", path, "--float", "q", 0, 1)
    return invoke("ask", path, "--context", "temp=3", code=1)
