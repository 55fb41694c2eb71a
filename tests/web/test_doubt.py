"""A reading that cannot well be is asked about before it is told."""

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
    assert answered(app, place, form | {"value": "4000", "sure": "5000"})[0] == 409  # another one is asked about anew
    status, text = answered(app, place, form | {"sure": "5000", "error": "x"})
    assert (status, 'name="sure"' in text) == (409, False)  # refused for another reason
    assert answered(app, place, form | {"sure": "5000"})[0] in (200, 303)
    assert eq.resume(tmp_path / "study.jsonl").records(trials=[6])[0].value == 5000.0


def test_a_usual_reading_is_not_asked_about(tmp_path):
    begun(tmp_path / "study.jsonl", readings=6)
    app, place = application(Studies(tmp_path / "study.jsonl")), home("study.jsonl")
    answered(app, place, {"do": "ask"})
    assert answered(app, place, {"do": "answer", "trial": 6, "value": "9"})[0] == 303
