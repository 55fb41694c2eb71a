"""`equipoise judge`: asked in the terminal, answered by a script, and nothing is lost."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli.main import main
from equipoise.data import PairToJudge
from equipoise.log import Asked
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
    output = typing(study, "a\nmb\nnonsense\n=\nu\nb\nk\n0.5\nq\n", "--numbers")
    assert "mb: B is much better, b: B is better, =: equal, a: A is better" in output
    assert "The answer to pair 2 was taken back." in output
    assert "Please type one of: mb b = a ma k u q, or a number" in output
    opt = eq.resume(study)
    said = [(each.answer, each.judge) for each in opt.study.belief.judgements]
    assert said == [("first", ""), ("much second", ""), ("second", ""), (0.5, "")]
    assert opt.study.judges()[0].skipped == 1
    assert len(opt.study.open_pairs) == 1


def test_a_number_is_taken_only_where_numbers_are_asked_for(study):
    output = typing(study, "1\ntie\nMuch A\nB\nq\n")
    assert "Please type one of: mb b = a ma k u q\n" in output
    assert [each.answer for each in eq.resume(study).study.belief.judgements] == ["equal", "much first", "second"]
    pair = invoke("judge", study, "--json").data["id"]
    assert "numbers need --numbers, got 1" in invoke("judge", study, pair, "1", code=1).stderr
    assert invoke("judge", study, pair, "TIE", "--json").data["judgements"] == 4


def test_a_list_of_names_is_ranked(tmp_path):
    (tmp_path / "prompts.txt").write_text("Be brief.\n\nThink  step by step.\nAnswer as a pirate.\n")
    study = tmp_path / "study.jsonl"
    assert f"equipoise judge {study}" in invoke("new", study, "--names", tmp_path / "prompts.txt").output
    assert invoke("new", tmp_path / "b.jsonl", "--names", tmp_path / "prompts.txt", "--float", "a", 0, 1, code=2)
    opt = eq.resume(study)
    for pair in opt.ask_pairs(3, steps=2):
        opt.tell(pair, "A" if pair.first < pair.second else "b")
    assert invoke("rank", study, "--json").data[0]["x"] == "Answer as a pirate."


def test_the_end_of_the_input_loses_nothing(study):
    typing(study, "a\nb\n")
    waits = eq.resume(study).study.open_pairs
    assert eq.resume(study).judgements == 2
    again = typing(study, "a\n", "--steps", "7")  # the open pair comes first, on its own scale
    assert f"A: q1 = {waits[0].first['q1']:.4f}" in again
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
    assert "Trial 0 is at first again." in invoke("undo", study).output  # the retraction, then what was before it
    for _ in range(2):
        invoke("undo", study)
    assert invoke("undo", study, code=1).output.startswith("Error: there is nothing to undo")


def test_a_program_shows_both(study, tmp_path):
    shown = tmp_path / "shown.json"
    output = typing(study, "a\nq\n", "--show", f"cat > {shown}")
    assert set(json.loads(shown.read_text())) == {"A", "B"}
    assert "q1" not in output


def test_an_earlier_pair_is_asked_again_in_the_other_order(study):
    typing(study, "a\na\na\nq\n", "--check-every", "2")
    shown = eq.resume(study).records(judgements=True)
    assert [record.again for record in shown] == [None, None, 0, None]
    assert shown[2].x == shown[0].x[::-1]


def test_a_table_of_judgements(study, tmp_path):
    typing(study, "a\nmb\n0.5\nk\nq\n", "--judge", "anna", "--numbers")
    csv = invoke("export", study, "--judgements").stdout
    assert csv.splitlines()[0] == (
        "pair,judge,first.q1,first.q2,second.q1,second.q2,answer,skipped,steps,again,plan,added,asked,ended"
    )
    rows = invoke("export", study, "--judgements", "--json").data
    assert [row["answer"] for row in rows] == ["first", "much second", 0.5, None, None]
    assert [row["skipped"] for row in rows] == [None, None, None, "can't tell", None]
    assert all(row["asked"] and row["judge"] == "anna" for row in rows)
    assert [bool(row["ended"]) for row in rows] == [True] * 4 + [False]
    assert invoke("export", study).stdout.count("\n") == 1  # there are no trials
    (tmp_path / "other").mkdir()
    (tmp_path / "old.csv").write_text(csv + "9,bert,7,0,0,0,first,,5,,,False,,\n")
    other = new_study(tmp_path / "other")
    taken = invoke("import", other, tmp_path / "old.csv", "--judgements", code=1).stdout
    assert "3 judgements of " in taken
    assert "line 7 is skipped: " in taken
    assert [answer for _, answer in eq.resume(other).study.answers()] == ["first", "much second", 0.5]


def test_pairs_come_out_the_same_when_made_anew(study):
    typing(study, "a\nmb\nb\na\nu\nb\na\na\nma\nq\n")
    done = invoke("replay", study, "--verify", "--json").data
    assert (done["different"], done["different_pairs"], done["judgements"]) == ([], [], 7)
    assert "Pairs: none." in invoke("replay", study, "--verify").stdout
    opt = eq.resume(study)
    opt.add({"q1": 0, "q2": 0}, "first", against={"q1": 1, "q2": 0})  # nobody has asked for it
    assert "Pairs: none." in invoke("replay", study, "--verify").stdout


def test_a_pair_that_comes_out_differently_is_named(study):
    typing(study, "a\nb\nq\n")
    opt = eq.resume(study)
    points = opt.space.candidates(np.random.default_rng(9))[:2]
    asked = Asked(opt._session.state.ledger.trials, PairToJudge(points, 5))
    opt._session.change(lambda: opt._session.happen(asked))
    assert "Pairs: [3]." in invoke("replay", study, "--verify", code=1).stdout


def test_best_says_what_fresh_judgements_have_settled(study):
    typing(study, "a\nb\na\nq\n")
    assert "0 of 2 duels told" in invoke("verify", study, "--duels", 2, "--runners-up", 1).stdout
    typing(study, "a\na\na\nq\n")  # the pair that was open is no part of it
    settled = invoke("best", study, "--json").data.get("preferred", [])
    assert sum(each["judgements"] for each in settled) in (0, 2)
    if settled:
        assert "of cases, verified by 2 fresh judgements." in invoke("best", study).stdout
