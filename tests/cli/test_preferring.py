"""`equipoise judge`: asked in the terminal, answered by a script, and nothing is lost."""

import json

import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli.main import main
from invoking import invoke, new_study


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path)


def typing(study, text, *options):
    """Run the command with what somebody types."""
    result = CliRunner().invoke(main, ["judge", str(study), *options], input=text)
    assert result.exit_code == 0, result.output
    return result.output


def test_asks_until_told_to_stop(study):
    output = typing(study, "a\nmb\nnonsense\n=\nu\nb\nk\n0.5\nq\n")
    assert "mb: B is much better, b: B is better, =: equal, a: A is better" in output
    assert "The answer to pair 2 is taken back." in output
    assert "Please type one of: mb b = a ma k u q, or a number" in output
    opt = eq.resume(study)
    said = [(each.answer, each.judge) for each in opt.posterior.judgements]
    assert said == [("first", ""), ("much second", ""), ("second", ""), (0.5, "")]
    assert opt.judges()[0].skipped == 1
    assert len(opt.open_pairs) == 1


def test_the_end_of_the_input_loses_nothing(study):
    typing(study, "a\nb\n")
    waits = eq.resume(study).open_pairs
    assert eq.resume(study).judgements == 2
    again = typing(study, "a\n", "--steps", "7")  # the open pair comes first, on its own scale
    assert f"A: q1={waits[0].first['q1']}" in again
    assert eq.resume(study).judgements == 3


def test_undo_with_nothing_to_undo(study):
    assert "nothing to undo" in typing(study, "u\nq\n")


def test_by_script(study):
    pair = invoke("judge", study, "--json", "--judge", "anna", "--steps", 3).data
    assert pair["answers"] == ["second", "equal", "first"]
    assert invoke("judge", study, "--json", "--judge", "anna").data["id"] == pair["id"]  # until it is answered
    invoke("judge", study, pair["id"], "much first", code=1)
    invoke("judge", study, pair["id"], code=2)
    assert invoke("judge", study, pair["id"], "equal", "--json").data == {"id": 0, "answer": "equal", "judgements": 1}
    assert "Trial 0 is corrected to first." in invoke("correct", study, 0, "first").output
    assert "1 judgement" in invoke("status", study).output
    assert "anna: 1 judgement; first place preferred in 100 %" in invoke("status", study).output
    assert "After 1 judgement. What is better by 1" in invoke("best", study).output
    assert "judge      0  equal [anna]" in invoke("replay", study).output
    assert invoke("best", study, "--json").data["judgements"] == 1
    invoke("retract", study, 0)
    assert invoke("undo", study, code=1).output.startswith("Error: there is nothing to undo")


def test_a_program_shows_both(study, tmp_path):
    shown = tmp_path / "shown.json"
    output = typing(study, "a\nq\n", "--show", f"cat > {shown}")
    assert set(json.loads(shown.read_text())) == {"A", "B"}
    assert "q1=" not in output
