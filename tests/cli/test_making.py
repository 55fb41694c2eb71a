"""`equipoise new`: from options, from a TOML file, and what it refuses."""

import inspect
import json
import os
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.cli.making import KEYS
from invoking import invoke, new_study

EVERYTHING = {
    "q1": eq.Float(-2, 2),
    "rate": eq.Float(1e-4, 1e-1, log=True),
    "n": eq.Int(1, 8),
    "size": eq.Int(16, 1024, log=True),
    "mode": eq.Choice(["a", 4, 0.5, True, None]),
    "lens": "in",
}
OPTIONS = (
    *("--float", "q1", "-2", "2", "--log-float", "rate", "1e-4", "1e-1", "--int", "n", "1", "8"),
    *("--log-int", "size", "16", "1024", "--choice", "mode", "a,4,0.5,true,null", "--fixed", "lens", "in"),
)
TOML = """
minimize = true
max_gap = 30
seed = 3
kernel = {type = "RBF", lengthscale = 0.2}
regularizer = 0.5
policy = {type = "IDS"}

[parameters]
q1 = {type = "float", low = -2, high = 2}
rate = {type = "float", low = 1e-4, high = 1e-1, log = true}
mode = {type = "choice", options = ["a, b", "c"]}
lens = "in"
"""


PAGE = Path(__file__).parents[2] / "docs" / "studies.md"


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


def test_options_make_every_kind_of_parameter(path):
    said = invoke("new", path, *OPTIONS, "--minimize", "--max-gap", 30, "--seed", 3)
    assert f"Next: equipoise ask {path}" in said.stdout
    opt = eq.resume(path)
    assert opt.space.to_dict() == eq.Space(EVERYTHING).to_dict()
    assert (opt.study.setup.minimize, opt.study.setup.max_gap) == (True, 30.0)
    twin = eq.Optimizer(eq.Space(EVERYTHING), minimize=True, rng=3)
    assert opt.ask().x == twin.ask().x


def test_json(path):
    data = invoke("new", path, *OPTIONS, "--json").data
    assert data == {"study": str(path), "space": eq.Space(EVERYTHING).to_dict()}


def test_a_toml_file_says_it_all(path, tmp_path):
    config = tmp_path / "study.toml"
    config.write_text(TOML)
    invoke("new", path, "--config", config)
    opt = eq.resume(path)
    assert opt.space.parameters["mode"].options == ("a, b", "c")
    assert opt.space.parameters["rate"] == eq.Float(1e-4, 1e-1, log=True)
    assert (opt.study.setup.minimize, opt.study.setup.max_gap) == (True, 30.0)
    assert (opt.posterior.kernel, opt.posterior.regularizer, opt.study.setup.policy) == (eq.RBF(0.2), 0.5, eq.IDS())
    twin = eq.Optimizer(opt.space, kernel=eq.RBF(0.2), regularizer=0.5, policy=eq.IDS(), minimize=True, rng=3)
    assert opt.ask().x == twin.ask().x


def test_the_file_of_the_documentation(path, tmp_path):
    config = tmp_path / "study.toml"
    config.write_text(PAGE.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0])
    invoke("new", path, "--config", config)
    assert list(eq.resume(path).space.parameters) == ["q1", "rate", "mode", "lens"]


LIMITED = ("--float", "q1", "-2", "2", "--float", "q2", "-1", "1", "--fixed", "lens", "in")


@pytest.mark.parametrize(
    "start",
    [
        ("--start", "q1=0", "--start", "q2=0.5"),
        ("--start", "q1=0,q2=0.5"),
        ("--start", "q1=0 q2=0.5"),
        ("--start", '{"q1": 0, "q2": 0.5}'),
        ("--start", "q1=0.,q2=.5"),
    ],
)
def test_start_and_limits_are_options(path, start):
    limits = ("--drop", "0.5", "--max-step", "q1=0.2", "--max-step", "q2=0.1")
    invoke("new", path, *LIMITED, *start, *limits, "--seed", 3)
    space = eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1), lens="in")
    twin = eq.Optimizer(space, start={"q1": 0, "q2": 0.5}, drop=0.5, max_step={"q1": 0.2, "q2": 0.1}, rng=3)
    opt = eq.resume(path)
    assert opt.ask(n=4) == twin.ask(n=4)
    assert [trial.x for trial in opt.ask(n=2)] == [trial.x for trial in twin.ask(n=2)]


def test_start_and_limits_are_keys_of_a_toml_file(path, tmp_path):
    config = tmp_path / "study.toml"
    config.write_text(
        "drop = 0.5\nstart = {q1 = 0, temp = 21}\nmax_step = {q1 = 0.1}\nconstraint = 'q1 < 1'\nseed = 1\n"
        "[parameters]\n"
        'q1 = {type = "float", low = -2, high = 2, step = 0.05}\ntemp = {type = "context", low = 0, high = 40}\n'
    )
    invoke("new", path, "--config", config)
    opt = eq.resume(path)
    space = eq.Space(q1=eq.Float(-2, 2, step=0.05), temp=eq.Context(0, 40), constraint="q1 < 1")
    assert opt.space.to_dict() == space.to_dict()
    twin = eq.Optimizer(space, start={"q1": 0, "temp": 21}, drop=0.5, max_step={"q1": 0.1}, rng=1)
    assert opt.ask(context={"temp": 30}).x == twin.ask(context={"temp": 30}).x


def test_everything_that_a_study_is_made_of_can_be_said_in_a_file():
    """All arguments of `Optimizer`, but for those that are no description: a log, a generator, a block."""
    arguments = set(inspect.signature(eq.Optimizer).parameters) - {"space", "log", "rng", "block"}
    assert arguments <= set(KEYS)


def test_options_win_over_the_file(path, tmp_path):
    config = tmp_path / "study.toml"
    config.write_text(TOML)
    invoke("new", path, "--config", config, "--max-gap", 5, "--float", "q1", 0, 1)
    opt = eq.resume(path)
    assert opt.study.setup.max_gap == 5.0
    assert opt.space.parameters["q1"] == eq.Float(0, 1)
    assert list(opt.space.parameters) == ["q1", "rate", "mode", "lens"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "give at least one parameter"),
        (("--float", "q1", 2, -2), 1, "parameter 'q1': `low` must be below `high`"),
        (("--float", "q1", 0, 1, "--policy", "challenger"), 1, "not know: 'challenger'; did you mean Challenger?"),
        (("--float", "q1", "low", "high"), 2, "'low' is not a valid float"),
        (("--float", "q1", 0, 1, "--int", "q1", 0, 3), 2, "a parameter must be given once, got q1 more often"),
        (("--fixed", "lens", "in"), 1, "must hold a Float, an Int or a Choice"),
        (("--float", "q1", 0, 1, "--max-gap", -1), 1, "`max_gap` must be positive"),
        (("--float", "q1", 0, 1, "--offset", "Blocks"), 1, "`offset` must be Blocks with length, guard: missing a req"),
        (("--float", "q1", 0, 1, "--kernel", '{"type": "RBF", "x": 1}'), 1, "`kernel` must be RBF with lengthscale: "),
        (("--names", os.devnull), 2, "--names must be a file of names, got an empty one"),
        (("--float", "q1", 0, 1, "--drop", 0.5), 1, "`drop` must come with a `start`"),
        (("--float", "q1", 0, 1, "--start", "0.5"), 2, "--start must be NAME=VALUE, such as q1=0.5"),
        (("--float", "q1", 0, 1, "--start", "q1=0", "--start", "q1=1"), 2, "once for each name"),
        (("--float", "q1", 0, 1, "--start", "{q1}"), 2, "or JSON, got '{q1}'"),
        ((*LIMITED, "--start", "q1=0"), 1, "`start` must give every parameter, got none for q2"),
        ((*LIMITED, "--start", "q1=0,q2=0", "--max-step", "q3=1"), 1, "`max_step` must name a Float or an Int"),
        (("--config", "missing.toml"), 2, "does not exist"),
        (("--float", "q1", 0, 1, "--constraint", "q1 + q2 <= 1"), 1, "must use the names q1, got 'q2' at character 6"),
        (("--float", "q1", 0, 1, "--constraint", "q1.real < 1"), 1, "got 'q1.real' at character 1"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_refusals(path, arguments, code, message):
    assert message in invoke("new", path, *arguments, code=code).stderr
    assert not path.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 =", "must be a TOML file"),
        ("colour = 1\n[parameters]\nq1 = {type = 'float', low = 0, high = 1}", "may hold [parameters] and policy, "),
        ("[parameters]\nq1 = {low = 0, high = 1}", "the type of parameter 'q1' must be 'float'"),
        ("[parameters]\nq1 = {type = 'flot', low = 0, high = 1}", "q1"),
        ("[parameters]\nq1 = {type = 'float', low = 0}", "parameter 'q1' must be like"),
        ("[parameters]\nmode = {type = 'choice'}", "'options' is missing"),
        ("kernel = {type = 'RFB'}\n[parameters]\nq1 = {type = 'float', low = 0, high = 1}", "'RFB'"),
        ("constraint = 3\n[parameters]\nq1 = {type = 'float', low = 0, high = 1}", "`constraint` must be a text"),
        ("[parameters]\nq1 = {type = 'float', low = 0, high = 1}\nconstraint = 'q1 < 1'", "above [parameters]"),
        ("seed = 'x'\n[parameters]\nq1 = {type = 'float', low = 0, high = 1}", "`seed` must be"),
    ],
)
def test_a_wrong_file_is_explained(path, tmp_path, text, message):
    config = tmp_path / "study.toml"
    config.write_text(text)
    assert message in invoke("new", path, "--config", config, code=1).stderr
    assert not path.exists()


def test_a_study_is_not_overwritten(study):
    before = study.read_bytes()
    assert "it is not empty" in invoke("new", study, "--float", "q1", 0, 1, code=1).stderr
    assert study.read_bytes() == before


def test_a_name_may_be_anything(path):
    hostile = "two words; $(rm -rf /) ü"
    invoke("new", path, "--float", hostile, 0, 1, "--choice", "x", "*,$HOME,it's", "--seed", 0)
    assert list(eq.resume(path).space.parameters) == [hostile, "x"]
    assert json.loads(path.read_text().splitlines()[0])["space"]["parameters"][hostile]["high"] == 1.0


@pytest.mark.parametrize("texts", [["q1 + q2 <= 1"], ["q1 + q2 <= 1", "q1 > 0.1"]])
def test_constraints(path, tmp_path, texts):
    parameters = ("--float", "q1", 0, 1, "--float", "q2", 0, 1)
    options = [word for text in texts for word in ("--constraint", text)]
    expected = eq.Space(q1=eq.Float(0, 1), q2=eq.Float(0, 1), constraint=texts).to_dict()
    assert invoke("new", path, *parameters, *options, "--json").data["space"] == expected
    assert eq.resume(path).space.to_dict() == expected
    config = tmp_path / "study.toml"
    config.write_text(f"constraint = {json.dumps(texts if len(texts) > 1 else texts[0])}")
    assert invoke("new", tmp_path / "b", *parameters, "--config", config, "--json").data["space"] == expected
    other = invoke("new", tmp_path / "c", *parameters, "--config", config, "--constraint", "q2 < 1", "--json").data
    assert other["space"]["constraint"] == ["q2 < 1"]


def test_a_start(tmp_path):
    path = tmp_path / "study.jsonl"
    invoke("new", path, "--float", "q1", 0, 1, "--choice", "mode", "a,b", "--start", '{"q1": 0.5, "mode": "b"}')
    opt = eq.resume(path)
    asked = [opt.ask().x, opt.ask().x]
    assert {"q1": 0.5, "mode": "b"} in asked
    said = invoke("new", tmp_path / "other.jsonl", "--float", "q1", 0, 1, "--start", "{", code=2).stderr
    assert "must be NAME=VALUE, such as q1=0.5, once for each name, or JSON" in said
    said = invoke("new", tmp_path / "other.jsonl", "--float", "q1", 0, 1, "--start", '{"q1": 3}', code=1).stderr
    assert "q1" in said
    assert not (tmp_path / "other.jsonl").exists()


def test_steps_and_contexts_come_from_options_and_from_a_file(path, tmp_path):
    given = eq.Space(
        q1=eq.Float(0, 1),
        gap=eq.Float(0, 1, step=0.1),
        temp=eq.Context(0, 40),
        sample=eq.Context(["dry", 4]),
    )
    options = ("--float", "q1", 0, 1, "--step-float", "gap", 0, 1, 0.1)
    invoke("new", path, *options, "--context", "temp", 0, 40, "--context-choice", "sample", "dry,4")
    assert eq.resume(path).space.to_dict() == given.to_dict()
    file = tmp_path / "study.toml"
    file.write_text(
        """
[parameters]
q1 = {type = "float", low = 0, high = 1}
gap = {type = "float", low = 0, high = 1, step = 0.1}
temp = {type = "context", low = 0, high = 40}
sample = {type = "context", options = ["dry", 4]}
"""
    )
    invoke("new", tmp_path / "other.jsonl", "--config", file)
    assert eq.resume(tmp_path / "other.jsonl").space.to_dict() == given.to_dict()
