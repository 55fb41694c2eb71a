"""An implausible reading must be confirmed before it is told."""

from served import begun, home
from test_page import answered

import equipoise as eq
from equipoise.web.server import application
from equipoise.web.studies import Studies


def test_an_improbable_reading_is_asked_about_first_and_taken_if_it_is_sent_again(tmp_path):
    begun(tmp_path / "study.jsonl", readings=6)
    app, place = application(Studies(tmp_path / "study.jsonl")), home("study.jsonl")
    answered(app, place, {"do": "ask"})
    form = {"do": "answer", "trial": 6, "value": "5000"}
    status, text = answered(app, place, form)
    assert (status, "Is 5000 right? It is " in text) == (409, True)
    assert '<input type="hidden" name="sure" value="5000">' in text
    assert eq.resume(tmp_path / "study.jsonl").readings == 6
    assert answered(app, place, form | {"value": "4000", "sure": "5000"})[0] == 409  # another one is asked about again
    status, text = answered(app, place, form | {"sure": "5000", "error": "x"})
    assert (status, 'name="sure"' in text) == (409, False)  # refused for another reason
    assert answered(app, place, form | {"sure": "5000"})[0] in (200, 303)
    assert eq.resume(tmp_path / "study.jsonl").records(trials=[6])[0].value == 5000.0


def test_a_usual_reading_is_not_asked_about(tmp_path):
    begun(tmp_path / "study.jsonl", readings=6)
    app, place = application(Studies(tmp_path / "study.jsonl")), home("study.jsonl")
    answered(app, place, {"do": "ask"})
    for endless in ("1e999", "inf", "nan"):
        status, text = answered(app, place, {"do": "answer", "trial": 6, "value": endless})
        assert (status, "must be finite" in text) == (409, True)
    assert answered(app, place, {"do": "answer", "trial": 6, "value": "9"})[0] == 303


def test_a_best_setting_at_a_limit_is_said(tmp_path):
    opt = eq.Optimizer(
        eq.Space(n=eq.Int(0, 3), m=eq.Int(0, 4)), kernel=eq.RBF(0.5), rng=0, log=tmp_path / "study.jsonl"
    )
    for _ in range(30):
        trial = opt.ask()
        opt.tell(trial, float(trial.x["n"]) - abs(trial.x["m"] - 2.0))
    assert opt.recommend().x == {"n": 3, "m": 2}
    text = answered(application(Studies(tmp_path / "study.jsonl")), home("study.jsonl"))[1]
    assert "It is at the limit of n: beyond, it may be better." in text
