"""A constraint that is a text goes into the log, and comes back; a function must be given again."""

import json
import re
import sys
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.log import LogError
from equipoise.testing import check_space
from invoking import invoke

PAGE = Path(__file__).parents[2] / "docs" / "world.md"
SPACE = {"q1": eq.Float(0, 1), "q2": eq.Float(0, 1)}
TEXT = "q1 + q2 <= 1"


def half(x):
    return x["q1"] + x["q2"] <= 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


@pytest.mark.parametrize(
    "space",
    [
        eq.Space(SPACE, n=eq.Int(1, 9), c=eq.Choice(["a", "b"]), candidates=32, constraint=[TEXT, "c == 'a' or n < 5"]),
        eq.Space(n=eq.Int(1, 9), constraint="n % 2 == 1"),
        eq.Box([(-1, 1), (-1, 1)], candidates=32, constraint="x[0]**2 + x[1]**2 <= 1"),
    ],
    ids=repr,
)
def test_the_conformance_suite(space):
    check_space(space)
    twin = eq.spaces.space_from_dict(json.loads(json.dumps(space.to_dict())))
    assert repr(twin) == repr(space)


def test_a_study_resumes_by_its_path_alone(path):
    opt = eq.Optimizer(eq.Space(SPACE, constraint=TEXT), log=path, rng=0)
    for _ in range(12):
        trial = opt.ask()
        assert half(trial.x)
        opt.tell(trial, trial.x["q1"] + 2 * trial.x["q2"])
    again = eq.resume(path)
    assert again.space.constraint == TEXT
    assert json.loads(path.read_text().splitlines()[0])["space"]["constraint"] == [TEXT]
    copied = path.with_name("copy.jsonl")
    copied.write_bytes(path.read_bytes())
    assert eq.resume(copied).ask().x == opt.ask().x
    assert half(again.recommend().x)
    assert eq.resume(path, constraint=TEXT).space.constraint == TEXT
    for other in (half, "q1 < 1"):
        with pytest.raises(ValueError, match=r"`constraint` must be the one of the description, \['q1 \+ q2 <= 1'\]"):
            eq.resume(path, constraint=other)


def test_a_function_must_be_given_again_and_may_become_a_text(path):
    opt = eq.Optimizer(eq.Space(SPACE, constraint=half), log=path, rng=0)
    opt.tell(opt.ask(), 1.0)
    with pytest.raises(
        ValueError, match=r"must be given again: .* function, 'half'. A text, .* need not be given again"
    ):
        eq.resume(path)
    assert "A text, such as" in invoke("best", path, code=1).stderr
    copied = path.with_name("copy.jsonl")
    copied.write_bytes(path.read_bytes())
    assert eq.resume(copied, constraint=TEXT).ask().x == eq.resume(path, constraint=half).ask().x


@pytest.mark.parametrize(
    "constraint",
    [["q1.real < 1"], ["q1 <"], ["q9 < 1"], [], [1], [["q1 < 1"]], {"q1": 1}, 3, True, ["q1 + " * 10**5 + "q1 < 1"]],
    ids=lambda value: repr(value)[:30],
)
def test_a_damaged_text_in_a_log_is_a_log_error(path, constraint):
    eq.Optimizer(eq.Space(SPACE, constraint=TEXT), log=path, rng=0)
    header = json.loads(path.read_text().splitlines()[0])
    header["space"]["constraint"] = constraint
    del header["crc"]
    path.write_text(json.dumps(header) + "\n")
    with pytest.raises(LogError, match="is damaged"):
        eq.resume(path)


def test_a_log_may_not_make_gigabytes_of_candidates(path):
    many = {f"q{i}": eq.Float(0, 1) for i in range(100)}
    with pytest.raises(LogError, match="at most 524288 coordinates of candidates, got 819200"):
        eq.Optimizer(eq.Space(many, candidates=2**13, constraint="q0 > 2"), log=path, rng=0)


def test_every_command_serves_a_constrained_study(path, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    parameters = ("--float", "q1", 0, 1, "--float", "q2", 0, 1)
    invoke("new", path, *parameters, "--constraint", TEXT, "--constraint", "q1 > 0.1", "--seed", 0)
    assert eq.resume(path).space.constraint == (TEXT, "q1 > 0.1")
    script = "import sys; x = dict(w[2:].split('=') for w in sys.argv[1:]); print(float(x['q1']) + 2 * float(x['q2']))"
    invoke("run", path, "--readings", 8, "--", sys.executable, "-c", script)
    invoke("tell", path, invoke("ask", path, "--json").data["id"], 1.0)
    best = invoke("best", path, "--json").data["x"]
    assert half(best)
    assert best["q1"] > 0.1
    assert invoke("status", path, "--json").data["readings"] == 9
    assert "q1" in invoke("export", path).stdout
    invoke("plot", path, "--out", tmp_path / "study.png")
    assert all(half(record.x) for record in eq.resume(path).records())


def test_what_the_page_shows_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8").partition("## Constraints")[2]
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    Path("study.toml").write_text(re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0])
    invoke("new", "other.jsonl", "--config", "study.toml")
    assert eq.resume("other.jsonl").space.constraint == names["space"].constraint
