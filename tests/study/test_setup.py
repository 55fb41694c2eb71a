"""The table of parts: every row reaches the constructor, the header of a log, the shell, a TOML file and the form."""

import inspect
import json
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.log.header import Header
from equipoise.study.setup import PARTS
from equipoise.web.beginning import begin
from equipoise.web.forms import RefusedError
from equipoise.web.studies import Studies
from invoking import invoke

SPACE = eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1))
FLOATS = ("--float", "q1", "-2", "2", "--float", "q2", "-1", "1")
KNOBS = {"name0": "q1", "kind0": "float", "low0": "-2", "high0": "2"}
KNOBS |= {"name1": "q2", "kind1": "float", "low1": "-1", "high1": "1"}
START = {"start": {"q1": 0.5, "q2": 0.0}}

EXAMPLES = {
    "policy": ({"type": "Challenger", "scale": 1.5}, eq.Challenger(scale=1.5)),
    "reduction": ("OnePoint", eq.OnePoint()),
    "minimize": (True, True),
    "max_gap": (30.5, 30.5),
    "design": (4, 4),
    "start": (START["start"], START["start"]),
    "drop": (0.5, 0.5),
    "max_step": ({"q2": 0.1, "q1": 0.2}, {"q2": 0.1, "q1": 0.2}),
    "posterior": (
        {"type": "AnywherePosterior", "kernel": {"type": "RBF", "lengthscale": 0.2}},
        eq.belief.AnywherePosterior(eq.RBF(0.2)),
    ),
    "kernel": ({"type": "RBF", "lengthscale": 0.2}, eq.RBF(0.2)),
    "regularizer": (0.5, 0.5),
    "confidence": ({"type": "CredibleConfidence", "deviations": 3.0}, eq.belief.CredibleConfidence(3.0)),
    "offset": ("Arbitrary", eq.Arbitrary()),
    "seeds": (["fold 1", "fold 2", "fold 3"], ["fold 1", "fold 2", "fold 3"]),
    "likelihood": ("Poisson", eq.likelihoods.Poisson()),
    "objective": ("flux, -size", "flux, -size"),
    "limits": (["loss <= 3", "size <= start + 1"], ["loss <= 3", "size <= start + 1"]),
    "safe": (True, True),
}
"""Of each part: a value that is not the default, as people write it and as an object."""

NEEDS = {name: ("start",) for name, part in PARTS.items() if part.needs_start} | {
    "regularizer": ("kernel",),
    "limits": ("start", "objective"),
    "safe": ("start", "objective", "limits"),
}
"""The parts without which a part is refused."""


def written(name):
    """A part, and those it needs, as people write them."""
    return {each: EXAMPLES[each][0] for each in (*NEEDS.get(name, ()), name)}


def objects(name):
    """The same as arguments of `Optimizer`."""
    return {each: EXAMPLES[each][1] for each in (*NEEDS.get(name, ()), name)}


def plain_parts(name):
    """The others that a part needs, but for those that need it too."""
    return {each: value for each, value in objects(name).items() if each != name}


def settings(path):
    return Header.read(path).settings


def on_the_shell(name, value):
    match PARTS[name].kind, value:
        case "flag", True:
            return (f"--{name}",)
        case "texts", list():
            return [word for text in value for word in (f"--{name.removesuffix('s')}", text)]
        case _, dict():
            return f"--{name.replace('_', '-')}", json.dumps(value)
        case "listed", list():
            return f"--{name}", ",".join(value)
    return f"--{name.replace('_', '-')}", value


def as_toml(value):
    match value:
        case dict():
            return f"{{{', '.join(f'{name} = {as_toml(each)}' for name, each in value.items())}}}"
    return json.dumps(value)


def in_the_form(name, value):
    match PARTS[name].kind, value:
        case "by name", dict():
            return {f"{name}{['q1', 'q2'].index(knob)}": str(each) for knob, each in value.items()}
        case "flag", True:
            return {name: "yes"}
        case "texts", list():
            return {name: ", ".join(value)}
        case _, dict():
            return {name: json.dumps(value)}
        case "listed", list():
            return {name: ", ".join(value)}
    return {name: str(value)}


def test_every_row_is_an_argument_of_the_constructor_and_has_an_example():
    arguments = set(inspect.signature(eq.Optimizer).parameters) - {"space", "block", "rng", "log"}
    assert arguments == set(PARTS) == set(EXAMPLES)


@pytest.mark.parametrize("name", PARTS)
def test_every_row_reaches_header_shell_toml_and_form(tmp_path, name):
    made, plain = tmp_path / "made.jsonl", tmp_path / "plain.jsonl"
    eq.Optimizer(SPACE, log=made, **objects(name))
    eq.Optimizer(SPACE, log=plain, **plain_parts(name))
    assert settings(made)[name] != settings(plain).get(name)

    options = [word for each, value in written(name).items() for word in on_the_shell(each, value)]
    invoke("new", tmp_path / "shell.jsonl", *FLOATS, *options)
    assert settings(tmp_path / "shell.jsonl") == settings(made)

    lines = [f"{each} = {as_toml(value)}" for each, value in written(name).items()]
    (tmp_path / "study.toml").write_text("\n".join(lines))
    invoke("new", tmp_path / "toml.jsonl", *FLOATS, "--config", tmp_path / "study.toml")
    assert settings(tmp_path / "toml.jsonl") == settings(made)

    filled = [in_the_form(each, value) for each, value in written(name).items()]
    begin(
        Studies(tmp_path), KNOBS | {"name": "form"} | {field: text for each in filled for field, text in each.items()}
    )
    assert settings(tmp_path / "form.jsonl") == settings(made)


@pytest.mark.parametrize("name", PARTS)
def test_every_row_is_restored_and_may_be_given_again(tmp_path, name):
    path = tmp_path / "study.jsonl"
    begun = eq.Optimizer.open(path, SPACE, rng=0, **objects(name))
    expected = begun.ask().x
    assert eq.resume(path).study.open_trials == (0,)
    again = eq.Optimizer.open(path, SPACE, **objects(name))
    again.study.expire(0)
    assert again.ask().x == expected


def test_another_value_is_refused_also_if_the_log_has_none(tmp_path):
    path = tmp_path / "study.jsonl"
    eq.Optimizer(SPACE, log=path, **START, max_step={"q1": 0.2})
    with pytest.raises(
        ValueError, match=r"`max_step` must stay what the log says, \(\('q1', 0.2\),\), got {'q1': 0.1}"
    ):
        eq.Optimizer.open(path, SPACE, max_step={"q1": 0.1})
    with pytest.raises(ValueError, match=r"`start` must stay what the log says, {'q1': 0.5, 'q2': 0.0}, got"):
        eq.Optimizer.open(path, SPACE, start={"q1": 0.0, "q2": 0.0})
    with pytest.raises(ValueError, match=r"`drop` must stay what the log says, None, got 0.5"):
        eq.resume(path, drop=0.5)


def test_a_new_header_has_the_settings_of_former_versions_byte_for_byte(tmp_path):
    golden = Path(__file__).parents[1] / "data" / "v0.2.0" / "limited.jsonl"
    space = eq.Space(q1=eq.Float(-2, 2, unit="A"), q2=eq.Float(-1, 1))
    eq.Optimizer(space, log=tmp_path / "new.jsonl", start={"q1": 0.5, "q2": 0.0}, drop=2.0, max_step={"q1": 1.0})
    assert json.dumps(settings(tmp_path / "new.jsonl")) == json.dumps(settings(golden))


def test_an_object_that_is_not_one_is_explained(tmp_path):
    path = tmp_path / "study.jsonl"
    assert "`kernel` must be a type, or JSON" in invoke("new", path, *FLOATS, "--kernel", "{RBF", code=1).stderr
    assert "does not know: 'Kernel9'" in invoke("new", path, *FLOATS, "--kernel", "Kernel9", code=1).stderr
    assert "`policy` must be an object such as" in invoke("new", path, *FLOATS, "--policy", "Tracked", code=1).stderr
    for fields, message in (
        ({"kernel": "{RBF"}, "`kernel` must be a type, or JSON"),
        ({"design": "2.5"}, "`design` must be an integer"),
        ({"max_gap": "soon"}, "must be a number such as"),
        ({"start0": "1"}, "Give the present value of every knob"),
        ({"drop": "1"}, "`drop` must come with a `start`"),
    ):
        with pytest.raises(RefusedError, match=message):
            begin(Studies(path), KNOBS | fields)
    assert not path.exists()
