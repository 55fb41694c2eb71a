"""Numbers on the command line: those that a program would print, and no others."""

import pytest

import equipoise as eq
from invoking import invoke, new_study


@pytest.fixture
def study(tmp_path):
    """A study whose first trial is told and whose second is open."""
    path = new_study(tmp_path)
    invoke("ask", path)
    invoke("tell", path, 0, 1.0)
    invoke("ask", path)
    return path


STRANGE = ["1_000", "1_0.5", "٣", "\uff11", "1e٣", "0x10", "1,5", "½"]
"""Texts that are not numbers, although Python accepts some of them."""


@pytest.mark.parametrize("number", STRANGE)
@pytest.mark.parametrize(
    "words",
    [
        ("tell", "STUDY", 1, "NUMBER"),
        ("tell", "STUDY", 1, 0.5, "--time", "NUMBER"),
        ("tell", "STUDY", 1, 0.5, "--error", "NUMBER"),
        ("tell", "STUDY", "NUMBER", 0.5),
        ("correct", "STUDY", 0, "NUMBER"),
        ("correct", "STUDY", 0, 0.5, "--time", "NUMBER"),
        ("correct", "STUDY", 0, 0.5, "--error", "NUMBER"),
        ("retract", "STUDY", "NUMBER"),
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_no_other_spelling_is_a_number(study, words, number):
    before = study.read_bytes()
    given = {"STUDY": study, "NUMBER": number}
    said = invoke(*(given.get(word, word) for word in words), code=2)
    assert f"{number!r} is not a valid" in said.stderr
    assert study.read_bytes() == before


@pytest.mark.parametrize("text", ["-1.25e-3", "+7", ".5", "12.", " 3 ", "1E+2", "-0"])
def test_numbers_as_programs_print_them(study, text):
    invoke("tell", study, 1, text, "--time", text)
    record = eq.resume(study).records()[1]
    assert (record.value, record.time) == (float(text), float(text))


def test_a_refused_reading_begins_no_block(study):
    before = study.read_bytes()
    assert "`trial` must be" in invoke("tell", study, 7, 0.5, "--block", "tuesday", code=1).stderr
    assert study.read_bytes() == before
    invoke("tell", study, 1, 0.5, "--block", "tuesday")
    invoke("tell", study, invoke("ask", study).stdout.split()[0], 0.7)
    assert [record.block for record in eq.resume(study).records()] == [None, "tuesday", "tuesday"]
