"""The commands that ask, tell and look: what they print, for people and for scripts, and what they refuse."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.cli.common import EXIT_CODES
from equipoise.cli.main import SECTIONS
from invoking import invoke, new_study


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path)


def told(study, readings, value=lambda x: -((x["q1"] - 0.7) ** 2) - x["q2"] ** 2):
    """Ask and tell by command."""
    for _ in range(readings):
        trial = invoke("ask", study, "--json").data
        invoke("tell", study, trial["id"], value(trial["x"]) + trial["id"] / 8)


def test_help_teaches():
    text = invoke("--help").stdout
    assert "equipoise new study.jsonl --float q1 -2 2" in text
    assert re.search(r"130 +interrupted; nothing is lost", text)
    for command in SECTIONS["A study"]:
        assert command in text
        shown = invoke(command, "-h").stdout
        assert f"equipoise {command} study.jsonl" in shown  # an example to copy
        assert "--json" in shown or command == "serve"  # it prints addresses, for people


def test_the_documentation_has_every_exit_code():
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    in_help = re.findall(r"^  (\d+) ", EXIT_CODES, re.MULTILINE)
    assert in_help == re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "4", "130"]


def test_ask_and_tell(study):
    said = invoke("ask", study).stdout
    assert re.fullmatch(r"0 q1=-?\d\S* q2=-?\d\S*\n", said)
    assert invoke("tell", study, 0, -1.25e-3).stdout == "Trial 0 is told: reading 1.\n"
    data = invoke("ask", study, "--worker", "laser-2", "--json").data
    assert (data["id"], data["worker"], set(data["x"])) == (2, "laser-2", {"q1", "q2"})
    assert invoke("tell", study, 2, 0.5, "--json").data == {"id": 2, "value": 0.5, "readings": 2}
    assert invoke("ask", study, "--json").data["id"] == 1  # the other half of the first pair
    assert [record.value for record in eq.resume(study).records()] == [-1.25e-3, 0.5, None]


def test_it_is_the_study_one_has_in_python(study, tmp_path):
    told(study, 12)
    twin = eq.Optimizer(eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1)), rng=0)
    for record in eq.resume(study).records():
        trial = twin.ask()
        assert trial.x == record.x
        twin.tell(trial, record.value)
    best = invoke("best", study, "--json").data
    assert (best["x"], best["gap_bound"], best["readings"]) == (twin.recommend().x, twin.recommend().gap_bound, 12)


def test_what_was_really_measured(study):
    invoke("ask", study)
    moved = json.dumps({"q1": 1.98, "q2": 0.5})
    invoke("tell", study, 0, 0.9, "--x", moved, "--time", 1731660000, "--error", 0.05)
    (record,) = eq.resume(study).records()
    assert record.x == {"q1": pytest.approx(1.98), "q2": pytest.approx(0.5)}
    assert (record.value, record.time, record.error) == (0.9, 1731660000.0, 0.05)


def test_failures_expiry_and_no_news(study):
    first = invoke("ask", study, "--json").data
    assert invoke("expire", study, 0, "--json").data == {"id": 0, "expired": True}
    assert invoke("ask", study, "--json").data == first
    said = invoke("fail", study, 0, "shutter", "closed")
    assert said.stdout == "Trial 0 has failed; its pair is given up.\n"
    assert said.stderr == ""
    assert invoke("fail", study, 0, "again", "--json").data == {"id": 0, "failed": "again"}  # no news
    assert eq.resume(study).records()[0].failed == "shutter closed"
    invoke("ask", study)
    invoke("tell", study, 2, 1.0)
    before = study.read_bytes()
    invoke("tell", study, 2, 1.0)
    assert study.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("tell", "STUDY", 0, 2.0), 1, "`value` of trial 0 must stay 1.0, as told before, got 2.0"),
        (("tell", "STUDY", 7, 1.0), 1, "`trial` must be one that was asked for and is still open, got 7"),
        (("tell", "STUDY", 1, "nan"), 1, "`value` must be finite"),
        (
            ("tell", "STUDY", 1, "high"),
            2,
            "'high' is not a valid reading",
        ),
        (("tell", "STUDY", 1, 1.0, "--x", "q1=3"), 1, "--x must be JSON"),
        (("tell", "STUDY", 1, 1.0, "--x", '{"q1": 3, "q2": 0}'), 1, "must lie within [-2.0, 2.0]"),
        (("tell", "STUDY", 1, 1.0, "--error", -1), 1, "`error` must not be negative"),
        (("tell", "STUDY", 1, 1.0, "--tim", 3), 2, "--tim"),
        (("fail", "STUDY", 0, "late"), 1, "`trial` must be open to fail, got 0, which was told 1.0"),
        (("fail", "STUDY", 1), 2, "REASON"),
        (("expire", "STUDY", 0), 1, "`trial` must be one that was asked for and is still open, got 0"),
        (("best", "STUDY", "--eps", 0), 2, "--eps"),
        (("plot", "STUDY", "--what", "nothing"), 2, "--what"),
        (("plot", "STUDY", "--what", "readings", "--along", "q1"), 2, "--along is for --what estimate, duels or front"),
        (("plot", "STUDY", "--what", "estimate", "--along", "q3"), 1, "`along` must name parameters"),
        (("plot", "STUDY", "--out", "no/where.png"), 1, "no/where.png could not be written: No such file or directory"),
        (("export", "STUDY", "--out", "no/where.csv"), 1, "no/where.csv could not be written: No such file"),
        (("export", "STUDY", "--out", "STUDY"), 2, "--out must be another file than the study"),
        (("ask", "nowhere.jsonl"), 1, "nowhere.jsonl does not exist: `equipoise new nowhere.jsonl ...` makes a study"),
        (("run", "STUDY"), 2, "PROGRAM"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_refusals(study, arguments, code, message):
    invoke("ask", study)
    invoke("tell", study, 0, 1.0)
    invoke("ask", study)
    before = study.read_bytes()
    result = invoke(*(study if word == "STUDY" else word for word in arguments), code=code)
    assert message in result.stderr
    assert result.stdout == ""
    assert study.read_bytes() == before


def test_best_and_its_exit_codes(study):
    said = invoke("best", study, "--eps", 1000, code=3)
    assert said.stdout.endswith("\nA guess: there is no bound yet.\nAfter 0 readings.\n")
    assert invoke("best", study, "--json").data["gap_bound"] is None
    told(study, 30)
    best = eq.resume(study).recommend()
    text = invoke("best", study).stdout.splitlines()
    assert text == str(best).splitlines()
    assert text[0] == f"q1 = {best.x['q1']:.4f}, q2 = {best.x['q2']:.4f}"
    assert text[1].startswith("By estimate, nothing is better by more than ")
    assert str(best.forecast) in text
    assert text[-2].startswith(("Better than the start by ", "Not shown to be better than the start: "))
    assert text[-1] == "After 30 readings."
    data = invoke("best", study, "--eps", 2 * best.gap_bound, "--json", code=3).data
    assert (data["certified"], data["kind"]) == (False, "estimate")  # it takes an audit
    assert invoke("best", study, "--eps", 2 * best.gap_bound, "--no-audit", "--json").data["certified"] is True
    assert invoke("best", study, "--eps", best.gap_bound / 2, "--no-audit", "--json", code=3).data["certified"] is False


def test_status(study):
    told(study, 3)
    invoke("ask", study, "--worker", "laser-2")
    invoke("ask", study)
    invoke("fail", study, 3, "beam lost")
    data = invoke("status", study, "--json").data
    assert (data["readings"], data["failed"], data["minimize"]) == (3, 1, False)
    assert data["space"] == eq.resume(study).space.to_dict()
    (waiting,) = data["open"]
    assert (waiting["id"], waiting["worker"]) == (4, "laser-2")
    assert 0 <= waiting["seconds"] < 60
    assert data["created"] <= waiting["asked"] <= data["last"]
    text = invoke("status", study).stdout
    assert "maximize over Space(q1=Float(-2.0, 2.0), q2=Float(-1.0, 1.0))" in text
    assert re.search(r"3 readings, the last one \d+ s ago; 1 failed; 1 open", text)
    assert re.search(r"trial 4 with laser-2 for \d+ s: q1 = ", text)


def test_export(study, tmp_path):
    empty = invoke("export", study).stdout
    assert empty == "trial,duel,worker,block,q1,q2,value,error,time,failed,given up,set aside,asked,ended\n"
    told(study, 2)
    invoke("ask", study, "--worker", 'la"ser, 2')
    invoke("fail", study, 2, "beam\nlost")
    rows = list(csv.DictReader(io.StringIO(invoke("export", study).stdout)))
    records = eq.resume(study).records()
    assert [int(row["trial"]) for row in rows] == [0, 1, 2]
    assert [float(row["q1"]) for row in rows] == [record.x["q1"] for record in records]  # every digit
    assert [float(row["value"]) for row in rows[:2]] == [record.value for record in records[:2]]
    assert (rows[2]["worker"], rows[2]["failed"], rows[2]["given up"]) == ('la"ser, 2', "beam\nlost", "True")
    assert rows[0]["asked"] <= rows[0]["ended"]
    listed = invoke("export", study, "--json").data
    assert [row["value"] for row in listed] == [record.value for record in records]
    invoke("export", study, "--out", tmp_path / "study.csv")
    assert (tmp_path / "study.csv").read_text() == invoke("export", study).stdout


def test_no_exported_cell_is_a_formula(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(eq.Space(**{"=q": eq.Float(-2, -1), "mode": "@SUM(1)", "level": "-5"}), log=path, rng=0)
    opt.tell(opt.ask(worker="+1+1|cmd"), -0.5)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(worker="+1+1|cmd"), failed="=HYPERLINK(1)")
    header, told, failed = csv.reader(io.StringIO(invoke("export", path).stdout))
    row = dict(zip(header, told, strict=True))
    assert (row["worker"], row["mode"]) == ("'+1+1|cmd", "'@SUM(1)")
    assert failed[header.index("failed")] == "'=HYPERLINK(1)"
    assert "=q" not in header
    assert float(row["'=q"]) < 0  # numbers stay numbers
    assert (row["value"], row["level"]) == ("-0.5", "-5")
    assert invoke("export", path, "--json").data[0]["worker"] == "+1+1|cmd"


def test_export_keeps_parameters_named_like_columns(tmp_path):
    path = tmp_path / "study.jsonl"
    invoke("new", path, "--float", "time", 0, 1, "--float", "q", 0, 1)
    x = invoke("ask", path, "--json").data["x"]
    invoke("tell", path, 0, 1.5, "--time", 9)
    (row,) = invoke("export", path, "--json").data
    assert (row["x.time"], row["q"], row["time"], row["value"]) == (x["time"], x["q"], 9.0, 1.5)


def test_replay(study):
    told(study, 6)
    invoke("ask", study, "--worker", "laser-2")
    invoke("expire", study, 6)
    text = invoke("replay", study, "--verify").stdout.splitlines()
    assert len(text) == 1 + 14
    assert re.search(r"Z  ask        6  q1=\S+ q2=\S+ \[laser-2\]$", text[-3])
    assert text[-1].startswith("14 events, 6 readings, rebuilt in ")
    assert text[-1].endswith("Proposals that come out differently: none.")
    data = invoke("replay", study, "--verify", "--json").data
    assert data["events"] == {"ask": 4, "tell": 6, "hand": 3, "expire": 1}
    assert (data["readings"], data["different"]) == (6, [])


def test_replay_notices_other_proposals(study):
    told(study, 4)
    lines = study.read_text().splitlines()
    header = json.loads(lines[0])
    from equipoise.log.jsonl import Place, sealed

    place, data = Place(), b""
    for content in [header | {"key": [1, 2]}, *map(json.loads, lines[1:])]:  # as if another seed had been noted
        line, place = sealed({k: v for k, v in content.items() if k != "crc"}, place)
        data += line
    study.write_bytes(data)
    assert invoke("replay", study, "--verify", "--json", code=1).data["different"] == [0, 1]


def test_damage_and_repair_are_said(study):
    told(study, 2)
    with study.open("ab") as file:
        file.write(b'{"ask":')
    said = invoke("best", study)
    assert said.stderr == f"Note: {study}, line 6 was torn by a crash: 7 bytes were removed\n"
    lines = study.read_bytes().splitlines(keepends=True)
    study.write_bytes(b"".join([lines[0], lines[1].replace(b"1", b"2"), *lines[2:]]))
    assert f"Error: {study}, line 2 is damaged: its checksum is wrong" in invoke("best", study, code=1).stderr


def test_plot(study, tmp_path):
    pytest.importorskip("matplotlib")
    told(study, 8)
    assert invoke("plot", study).stdout == f"Picture: {study.with_suffix('.png')}\n"
    for what in ("estimate", "slices", "readings", "duels", "certificate"):
        out = tmp_path / f"{what}.svg"
        assert invoke("plot", study, "--what", what, "--out", out, "--json").data == {"picture": str(out)}
        assert "<svg" in out.read_text()
    invoke("plot", study, "--what", "estimate", "--along", "q2", "--out", tmp_path / "q2.png")
    assert (tmp_path / "q2.png").read_bytes().startswith(b"\x89PNG")


def test_plot_without_matplotlib(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "install equipoise[plot]" in invoke("plot", study, code=1).stderr


def test_points_without_names(tmp_path):
    path = tmp_path / "study.jsonl"
    eq.Optimizer(eq.Finite(np.arange(6.0).reshape(3, 2)), log=path, rng=0)
    assert re.fullmatch(r"0 x\[0\]=\d\.0 x\[1\]=\d\.0\n", invoke("ask", path).stdout)
    invoke("tell", path, 0, 1.0, "--x", "[2.0, 3.0]")
    (row,) = invoke("export", path, "--json").data
    assert (row["x[0]"], row["x[1]"]) == (2.0, 3.0)
    assert invoke("ask", path, "--json").data["x"] in ([0.0, 1.0], [2.0, 3.0], [4.0, 5.0])


def test_hostile_values_reach_a_shell_as_they_are(tmp_path):
    path = tmp_path / "study.jsonl"
    hostile = "$(touch hacked); `id` 'quoted' \"twice\" \\ * ~ -x ü"
    eq.Optimizer(eq.Space(q=eq.Float(0, 1), mode=hostile), log=path, rng=0)
    words = shlex.split(invoke("ask", path).stdout)
    assert words[0] == "0"
    assert words[2] == f"mode={hostile}"
    script = f"""{sys.executable} -m equipoise ask {shlex.quote(str(path))} | {{
        read -r id settings
        eval "$settings"
        printf '%s|%s' "$id" "$mode"
    }}"""
    run = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout == f"1|{hostile}"
    assert not (tmp_path / "hacked").exists()
