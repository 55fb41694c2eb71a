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


def test_every_number_of_a_reading_is_asked_about(tmp_path):
    path = tmp_path / "study.jsonl"
    parts = {"objective": "flux", "limits": ["loss <= 3"], "kernel": None}
    opt = begun(path, **parts)
    for k in range(6):
        opt.tell(opt.ask(worker="page"), {"flux": 5.0 + 0.1 * k, "loss": 2.0 - 0.1 * k})
    app, place = application(Studies(path)), home("study.jsonl")
    assert '<span class="unit">nA</span>' in answered(app, place, {"do": "ask"}, **{"hx-request": "true"})[1]
    form = {"do": "answer", "trial": 6, "value-flux": "5.2", "value-loss": "1900"}
    status, text = answered(app, place, form)
    assert (status, "Is loss = 1900 right? It is " in text) == (409, True)
    assert '<input type="hidden" name="sure" value="flux=5.2 loss=1900">' in text
    assert answered(app, place, form | {"value-flux": "5300", "value-loss": "1.9"})[0] == 409
    assert answered(app, place, form | {"sure": "flux=5.2 loss=1900"})[0] == 303


def test_a_reading_that_the_study_set_aside_is_no_measure_of_the_next(tmp_path):
    opt = begun(tmp_path / "study.jsonl", readings=12, kernel=None)
    opt.tell(opt.ask(worker="page"), 1e6)
    assert opt.records()[-1].aside
    app, place = application(Studies(tmp_path / "study.jsonl")), home("study.jsonl")
    answered(app, place, {"do": "ask"})
    assert answered(app, place, {"do": "answer", "trial": 13, "value": "1e6"})[0] == 409


def test_a_share_is_asked_about(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = begun(path, likelihood=eq.likelihoods.Binomial(), kernel=None)
    for k in range(6):
        opt.tell(opt.ask(worker="page"), (10.0 + k % 2, 1000.0))
    app, place = application(Studies(path)), home("study.jsonl")
    answered(app, place, {"do": "ask"})
    assert answered(app, place, {"do": "answer", "trial": 6, "value": "11/100"})[0] == 409
    assert answered(app, place, {"do": "answer", "trial": 6, "value": "11/1000"})[0] == 303
