"""Audits and verifications in the shell."""

import json

import pytest

import equipoise as eq
from invoking import invoke, new_study


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path)


def answer(study, times):
    """Ask and tell in the library, as a worker elsewhere would."""
    opt = eq.resume(study)
    for _ in range(times):
        trial = opt.ask()
        opt.tell(trial, -((trial.x["q1"] - 0.7) ** 2) + 0.01 * trial.id)


def test_an_audit_from_plan_to_bound(study):
    answer(study, 30)
    said = invoke("audit", study, "--duels", 2).stdout
    assert said == "An audit is under way: 0 of 2 duels told, 2 not yet asked. The next asks belong to it.\n"
    trial = invoke("ask", study, "--json").data["id"]
    invoke("tell", study, trial, 0.25)
    assert invoke("status", study, "--json").data["plan"] == {"purpose": "audit", "duels": 2, "told": 0, "left": 1}
    assert "An audit is under way: 0 of 2 duels told, 1 not yet asked." in invoke("status", study).stdout
    assert invoke("audit", study, "--json").data["duels"] == 2  # it goes on
    answer(study, 3)
    data = invoke("best", study, "--eps", 1e6, "--json").data
    assert (data["kind"], data["certified"]) == ("audited", True)
    assert invoke("best", study).stdout.splitlines()[1].startswith("By audit, nothing is better by more than ")
    assert "plan       0  audit, 2 duels" in invoke("replay", study, "--verify").stdout


def test_a_verification_against_a_setting_of_ones_own(study):
    answer(study, 30)
    rival = {"q1": -1.5, "q2": 0.5}
    said = invoke("verify", study, "--duels", 6, "--against", json.dumps(rival)).stdout.splitlines()
    assert said[0].startswith("A verification is under way: 0 of 6 duels told")
    assert said[2] == "  against q1 = -1.5000, q2 = 0.5000"
    answer(study, 12)
    data = invoke("best", study, "--json").data
    assert data["kind"] == "verified"
    assert [claim["kind"] for claim in data["claims"]] == ["verified", "estimate"]
    assert eq.resume(study).compare(data["x"], rival).duels == 6


def test_a_verification_says_that_it_has_too_few_duels(study):
    answer(study, 30)
    said = invoke("verify", study, "--duels", 6).stdout
    assert said.endswith("Too few duels for a verdict on all of them: it takes 24, or fewer --runners-up.\n")
    answer(study, 14)
    told = invoke("best", study).stdout
    assert "There is no verified bound: 2 fresh duels with a rival are too few, 8 may do." in told
    assert "A guess" not in told
    assert "Too few" not in invoke("verify", study, "--duels", 8, "--runners-up", 0).stdout


def test_the_start_in_words(study):
    answer(study, 30)
    invoke("verify", study, "--runners-up", 0, "--duels", 8)
    answer(study, 16)
    text = invoke("best", study).stdout
    assert "Verified by fresh duels, the start is not better by more than " in text
    assert "than the start by " in text
    assert ", verified by 8 fresh duels (" in text


def test_the_coins_of_a_study(study):
    answer(study, 20)
    before = study.read_bytes()
    data = invoke("verify", study, "--test", "--json").data
    assert data == {"p_value": eq.resume(study).study.coin_test(), "readings": 20, "judgements": 0}
    assert "(exact test)." in invoke("verify", study, "--test").stdout
    assert study.read_bytes() == before


def test_cancel(study):
    answer(study, 10)
    invoke("audit", study)
    assert "a plan to audit is under way" in invoke("verify", study, code=1).stderr
    assert invoke("cancel", study).stdout == "Canceled: the study continues as before.\n"
    assert invoke("status", study, "--json").data["plan"] is None
    assert "no plan under way" in invoke("cancel", study, code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("audit", "STUDY"), 1, "nothing to audit yet"),
        (("verify", "STUDY", "--against", "{"), 1, "--against must be JSON"),
        (("audit", "STUDY", "--duels", 1), 2, "--duels"),
    ],
)
def test_refusals(study, arguments, code, message):
    before = study.read_bytes()
    assert message in invoke(*(study if word == "STUDY" else word for word in arguments), code=code).stderr
    assert study.read_bytes() == before
