"""The grammar of objectives and limits: what it accepts, what it refuses and in which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.study.outputs import Limit, Outputs


@pytest.mark.parametrize(
    ("text", "name", "upper", "bound", "relative"),
    [
        ("loss <= 3", "loss", True, 3.0, False),
        ("loss>=-1.5e-3", "loss", False, -0.0015, False),
        ("size <= start + 1", "size", True, 1.0, True),
        (" size >= start - .5 ", "size", False, -0.5, True),
        ("size<=start", "size", True, 0.0, True),
        ("laser:power <= 2.", "laser:power", True, 2.0, False),
    ],
)
def test_a_limit_is_read(text, name, upper, bound, relative):
    assert Limit.of(text) == Limit(name, upper, bound, relative)


@given(
    st.sampled_from(["loss", "a.b", "µ_1"]),
    st.booleans(),
    st.integers(-(10**5), 10**5).map(lambda n: n / 1000),
    st.booleans(),
)
def test_a_limit_says_itself_again(name, upper, bound, relative):
    limit = Limit(name, upper, bound / 7, relative)
    assert Limit.of(str(limit)) == limit


@pytest.mark.parametrize(
    "text",
    ["loss", "loss < 3", "loss == 3", "0 <= loss <= 3", "loss <= 2 * start", "loss <= start * 2", "loss <= nan", "3"],
)
def test_another_text_is_no_limit(text):
    with pytest.raises(ValueError, match=r"each of `limits` must be a text such as 'loss <= 3'"):
        Limit.of(text)


@pytest.mark.parametrize(
    ("objective", "limits", "words"),
    [
        ("flux,", (), "`objective` must be a name, or several such as 'flux, -size', got 'flux,'"),
        ("2 flux", (), "`objective` must be a name"),
        ("flux, -flux", (), "`objective` must name each output once"),
        ("start", (), "`objective` must not name an output 'start'"),
        ("flux", ["start <= 3"], "`limits` must not name an output 'start'"),
        ("flux", ["loss <= 3", "loss <= 4"], "`limits` must name each bound once, got loss <= 3 and loss <= 4"),
        ("flux", ["s >= start + 1", "s <= start - 1"], "s >= start [+] 1 and s <= start - 1 exclude each other"),
        ("flux", ["loss <= 3", "loss >= 3"], "exclude each other"),
    ],
)
def test_what_contradicts_itself_is_refused(objective, limits, words):
    with pytest.raises(ValueError, match=words):
        Outputs.of(objective, limits)


@pytest.mark.parametrize(("objective", "limits"), [(3, ()), ("flux", "loss <= 3"), ("flux", {"loss": 3})])
def test_other_types_are_refused(objective, limits):
    with pytest.raises(TypeError, match=r"must be a (text|list of texts) such as"):
        Outputs.of(objective, limits)


OUTPUTS = Outputs.of("-size, flux", ["loss <= 3", "flux >= start - 1"])


def test_outputs_know_their_names_and_signs():
    assert OUTPUTS.names == ("size", "flux", "loss")
    assert OUTPUTS.others == ("flux", "loss")
    assert [OUTPUTS.sign(name) for name in OUTPUTS.names] == [-1.0, 1.0, -1.0]
    assert [OUTPUTS.believed(name) for name in OUTPUTS.names] == [False, False, True]
    assert OUTPUTS.several


@pytest.mark.parametrize(
    ("value", "missing", "error", "words"),
    [
        (0.5, (), TypeError, "`value` must be a number for each of size, flux, loss, got 0.5"),
        ({"size": 1.0, "flux": 2.0}, (), ValueError, "got none for loss: name it as missing"),
        ({"size": 1.0, "flux": 2.0, "loss": 0.1, "lost": 0}, (), ValueError, "may name size, flux, loss, got lost"),
        ({"size": 1.0, "flux": float("nan"), "loss": 0.1}, (), ValueError, r"`value\['flux'\]` must be finite"),
        ({"size": 1.0, "flux": "2", "loss": 0.1}, (), TypeError, r"`value\['flux'\]` must be a real number"),
        ({"size": 1.0, "flux": 2.0, "loss": 0.1}, ["loss"], ValueError, "must not name what `value` gives, got loss"),
        ({"flux": 2.0, "loss": 0.1}, ["size"], ValueError, "must not name the first objective, size"),
        ({"size": None, "flux": 2.0, "loss": 0.1}, (), TypeError, r"`value\['size'\]` must be a real number"),
        ({"size": 1.0}, ["flux", "los"], ValueError, "`missing` may name size, flux, loss, got los"),
        ({"size": 1.0, "flux": 2.0}, "loss", TypeError, "`missing` must be a list of names"),
    ],
)
def test_numbers_are_checked_by_name(value, missing, error, words):
    with pytest.raises(error, match=words):
        OUTPUTS.read(value, missing)


def test_an_output_may_be_missing_if_that_is_said():
    assert OUTPUTS.read({"loss": 1, "size": 2}, ["flux"]) == {"size": 2.0, "loss": 1.0}
    assert OUTPUTS.read({"loss": None, "size": 2, "flux": None}) == {"size": 2.0}
    assert Outputs.of("flux").read(3) == {"flux": 3.0}
