"""Parameters: every value comes back as it went in, encodings are unique to the byte, clear refusals."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import equipoise as eq
from equipoise.spaces.options import Fixed
from equipoise.spaces.parameters import as_parameter, parameter_from_dict

reals = st.floats(-1e9, 1e9, allow_subnormal=False)
positives = st.floats(1e-150, 1e150)
unit = st.floats(0, 1)
Thing = type("Thing", (), {"__repr__": lambda self: "thing"})


def column(*values):
    return np.array(values, dtype=float)[:, None]


@st.composite
def ints(draw):
    log = draw(st.booleans())
    low = draw(st.integers(1, 2**39) if log else st.integers(-(10**30), 10**30))
    size = draw(st.integers(1, 100) | st.integers(1, 2**39))
    return eq.Int(low, low + size, log)


@given(st.tuples(reals, reals).map(sorted), unit)
def test_floats_come_back_up_to_rounding_and_bounds_exactly(ends, u):
    low, high = ends
    assume(high - low > 1e-9)
    parameter = eq.Float(low, high)
    x = parameter.decode([u])
    assert low <= x <= high
    back = parameter.decode(parameter.encode("x", x))
    assert back == pytest.approx(x, rel=0, abs=1e-15 * max(abs(low), abs(high)))
    for bound, end in ((low, 0.0), (high, 1.0)):
        assert parameter.encode("x", bound) == [end]
        assert parameter.decode([end]) == bound
        assert type(parameter.decode([end])) is float


@given(st.tuples(positives, positives).map(sorted), unit)
def test_log_floats_come_back_to_twelve_digits_and_bounds_exactly(ends, u):
    low, high = ends
    assume(high > low * (1 + 1e-9))
    parameter = eq.Float(low, high, log=True)
    x = parameter.decode([u])
    assert low <= x <= high
    assert parameter.decode(parameter.encode("x", x)) == pytest.approx(x, rel=1e-12)
    assert [parameter.decode(parameter.encode("x", bound)) for bound in ends] == [low, high]


def test_bounds_one_rounding_apart_are_a_range_too():
    for low in (1e-300, 0.1, 1.0, 1e300):
        for log in (False, True):
            parameter = eq.Float(low, math.nextafter(low, math.inf), log)
            assert [parameter.decode(parameter.encode("x", x)) for x in (parameter.low, parameter.high)] == [
                parameter.low,
                parameter.high,
            ]


@given(ints(), st.data())
def test_ints_come_back_exactly_and_have_one_encoding_to_the_byte(parameter, data):
    n = data.draw(st.integers(parameter.low, parameter.high))
    (u,) = parameter.encode("n", n)
    assert 0 <= u <= 1
    assert parameter.decode([u]) == n
    assert type(parameter.decode([u])) is int
    k = np.array([n - parameter.low], dtype=float)
    others = np.array([0.0] * 7 + [n - parameter.low] + [1.0] * 6)  # where in an array it stands must not matter
    for encoded in (parameter.place(k)[0], parameter.place(others)[7], parameter.snap(column(u))[0]):
        assert encoded.tobytes() == np.array([u]).tobytes()
    assert parameter.encode("n", np.int64(n) if abs(n) < 2**63 else n) == [u]


@given(ints(), st.lists(unit, min_size=1), st.floats(1e-6, 1), st.integers(0, 2**32))
def test_steps_of_an_int_land_on_other_levels(parameter, us, scale, seed):
    start = parameter.snap(column(*us))
    moved = parameter.move(start, np.array([scale]), np.random.default_rng(seed))
    assert (moved != start).all()
    assert (parameter.snap(moved) == moved).all()
    (low,), (high,) = parameter.encode("n", parameter.low), parameter.encode("n", parameter.high)
    assert ((low <= moved) & (moved <= high)).all()


def test_ints_are_spread_evenly():
    u = (np.arange(3000) + 0.5) / 3000
    values = [eq.Int(1, 5).decode(row) for row in eq.Int(1, 5).spread(u).tolist()]
    assert [values.count(n) for n in range(1, 6)] == [600] * 5
    logarithmic = eq.Int(1, 100, log=True)
    values = np.array([logarithmic.decode(row) for row in logarithmic.spread(u).tolist()])
    assert set(np.unique(values)) == set(range(1, 101))
    expected = 3000 * np.log(10.5 / 9.5) / np.log(100.5 / 0.5)  # how much of the logarithm rounds to ten
    assert abs(np.count_nonzero(values == 10) - expected) <= 1


def test_neighbors_are_one_step_away_and_inside():
    parameter = eq.Int(3, 7)
    for n, expected in ((3, [4]), (5, [4, 6]), (7, [6])):
        found = parameter.neighbors(np.array(parameter.encode("n", n)))
        assert [parameter.decode(row) for row in found.tolist()] == expected
    choice = eq.Choice(["a", "b", "c"])
    assert [choice.decode(row) for row in choice.neighbors(np.array(choice.encode("c", "b"))).tolist()] == ["a", "c"]


def test_options_come_back_as_the_very_objects():
    options = [[1], [1], {"a": 1}, None, 1, 1.0, True, "1", np.arange(3), np.arange(3), math.nan, Thing(), print]
    choice = eq.Choice(options)
    for option in options:
        assert choice.decode(choice.encode("c", option)) is option
    for k, fresh in ((4, int("1")), (5, float("1")), (6, not False), (7, np.str_("1")), (8, np.arange(3)), (0, [1])):
        assert choice.encode("c", fresh) == choice.place([k])[0].tolist()


def test_two_options_lie_at_distance_one():
    rows = eq.Choice(["a", "b", "c", "d"]).place(np.arange(4))
    distances = np.linalg.norm(rows[:, None] - rows, axis=-1)
    np.testing.assert_allclose(distances, 1 - np.eye(4), rtol=1e-15)


@given(st.integers(2, 6), st.lists(st.integers(0, 5), min_size=1), st.integers(0, 2**32))
def test_another_option_is_never_the_same(count, which, seed):
    choice = eq.Choice([object() for _ in range(count)])
    start = choice.place(np.array(which) % count)
    moved = choice.move(start, np.ones(count), np.random.default_rng(seed))
    assert (moved.argmax(axis=1) != start.argmax(axis=1)).all()
    assert (choice.snap(moved) == moved).all()


@pytest.mark.parametrize(
    "parameter",
    [
        eq.Float(-2, 2),
        eq.Float(1e-5, 0.1, log=True),
        eq.Int(1, 5),
        eq.Int(1, 512, log=True),
        eq.Choice(["a", 1, 1.5, None, True]),
        Fixed("fast"),
        Fixed(3),
    ],
    ids=repr,
)
def test_descriptions_and_reprs_give_the_parameter_again(parameter):
    described = json.loads(json.dumps(parameter.to_dict(), allow_nan=False))
    assert parameter_from_dict("p", described) == parameter
    assert eval(repr(parameter), {**vars(eq), "Fixed": Fixed}) == parameter


def test_reprs_are_short():
    assert repr(eq.Float(np.float64(-2), np.int32(2))) == "Float(-2.0, 2.0)"
    assert repr(eq.Int(np.int64(1), 5.0, log=np.bool_(True))) == "Int(1, 5, log=True)"
    assert repr(eq.Choice(np.array(["a", "b"]))) == "Choice(['a', 'b'])"


def test_what_json_does_not_know_is_described_but_not_loaded():
    described = json.loads(json.dumps(eq.Choice([(1, 2), "b"]).to_dict()))
    assert described["options"] == [{"repr": "(1, 2)"}, "b"]
    with pytest.raises(ValueError, match=r"values of parameter 'p' must be text.*\(1, 2\).*make the space in Python"):
        parameter_from_dict("p", described)
    with pytest.raises(ValueError, match=r"values of parameter 'p'.*inf"):
        parameter_from_dict("p", Fixed(math.inf).to_dict())


def test_plain_values_are_constants():
    thing = Thing()
    for value in (1, 2.5, "text", None, True, thing, {"a": 1}, b"x"):
        assert as_parameter("p", value).value is value
    assert as_parameter("p", Fixed((1, 2))).decode([]) == (1, 2)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: eq.Float(1, 1), ValueError, "`low` must be below `high`, got 1.0 and 1.0"),
        (lambda: eq.Float(0, math.inf), ValueError, "`high` must be finite, got inf"),
        (lambda: eq.Float("0", 1), TypeError, "`low` must be a real number, got '0'"),
        (lambda: eq.Float(0, 1, log=True), ValueError, "`low` must be positive if `log` is true, got 0.0"),
        (lambda: eq.Float(0, 1, 10), TypeError, "`log` must be True or False, got 10"),
        (lambda: eq.Float(-1e308, 1e308), ValueError, r"`high` - `low` must be finite, got 1e\+308 and -1e\+308"),
        (lambda: eq.Float(1e-300, 1e300, True), ValueError, "`high` / `low` must be finite"),
        (lambda: eq.Int(0.5, 2), ValueError, "`low` must be a whole number, got 0.5"),
        (lambda: eq.Int(True, 2), TypeError, "`low` must be a real number, got True"),
        (lambda: eq.Int(3, 3), ValueError, "`low` must be below `high`, got 3 and 3"),
        (lambda: eq.Int(0, 3, log=True), ValueError, "`low` must be positive if `log` is true, got 0"),
        (lambda: eq.Int(0, 2**41), ValueError, r"`high` - `low` must be at most 2\*\*40, got 2199023255552"),
        (lambda: eq.Int(2**50, 2**50 + 1, True), ValueError, r"`high` must be at most 2\*\*40"),
        (lambda: eq.Choice("ab"), TypeError, "`options` must be a list or the like.*got 'ab'"),
        (lambda: eq.Choice({"a", "b"}), TypeError, "`options` must be a list or the like, in a lasting order"),
        (lambda: eq.Choice(3), TypeError, "`options` must be a list or the like.*got 3"),
        (lambda: eq.Choice(["a"]), ValueError, r"`options` must be at least two, got \('a',\)"),
        (lambda: eq.Choice([10**30, 10**30]), ValueError, "`options` must be different from each other"),
        (lambda: eq.Float(0, 1).encode("q", 2), ValueError, r"`q` must lie within \[0.0, 1.0\], got 2"),
        (lambda: eq.Float(0, 1).encode("q", math.nan), ValueError, "`q` must be finite, got nan"),
        (lambda: eq.Int(0, 1).encode("q", 2), ValueError, r"`q` must lie within \[0, 1\], got 2"),
        (lambda: eq.Int(0, 1).encode("q", 0.5), ValueError, "`q` must be a whole number, got 0.5"),
        (lambda: eq.Choice(["a", "b"]).encode("q", "c"), ValueError, r"`q` must be one of \['a', 'b'\], got 'c'"),
        (lambda: Fixed(1).encode("q", 2), ValueError, "`q` must be the constant 1, got 2"),
        (lambda: as_parameter("q", (0, 1)), TypeError, r"`q` must be a Float.*got \(0, 1\): write Float"),
        (lambda: as_parameter("q", eq.Float), TypeError, "`q` must be a Float.*got <class"),
        (lambda: parameter_from_dict("q", {"type": "real"}), ValueError, "type of parameter 'q' must be.*got 'real'"),
    ],
)
def test_refusals_name_argument_rule_and_value(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_parameters_cannot_be_changed():
    for parameter, name in ((eq.Float(0, 1), "low"), (eq.Int(0, 1), "high"), (eq.Choice([1, 2]), "options")):
        with pytest.raises(AttributeError):
            setattr(parameter, name, 3)


@given(st.integers(-500, 500), st.integers(1, 40), st.sampled_from([0.1, 0.25, 0.05, 3.0, 1e-4]), unit)
def test_steps_are_kept_everywhere_in_decimals(start, size, step, u):
    low = start * step
    parameter = eq.Float(low, low + size * step, step=step)
    assert parameter.grid.count == size + 1
    x = parameter.decode([u])
    assert round((x - low) / step) == pytest.approx((x - low) / step, abs=1e-6)
    assert parameter.decode(parameter.encode("x", x)) == x
    assert parameter.snap(column(u)).tobytes() == column(*parameter.encode("x", x)).tobytes()
    spread = parameter.spread(np.linspace(0, 1, 500, endpoint=False))
    assert len(np.unique(spread)) == size + 1
    assert np.ptp(np.unique(spread, return_counts=True)[1]) <= 1


def test_steps_of_a_tenth_are_tenths():
    parameter = eq.Float(0, 1, step=0.1)
    assert [parameter.decode([k / 10]) for k in range(11)] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert eq.Float(0, 1, step=0.3).high == 0.9
    assert parameter_from_dict("x", json.loads(json.dumps(parameter.to_dict()))) == parameter
    assert repr(parameter) == "Float(0.0, 1.0, step=0.1)"


@pytest.mark.parametrize("value", [0.15, -0.1, 1.1, 0.2001])
def test_what_lies_between_two_steps_is_refused(value):
    parameter = eq.Float(0, 1, step=0.1)
    with pytest.raises(
        ValueError, match=r"`x` must (lie within \[0.0, 1.0\]|be 0.0 plus a whole number of steps of 0.1)"
    ):
        parameter.encode("x", value)


def test_what_was_printed_with_few_digits_is_the_step_it_was():
    assert eq.Float(0, 1, step=0.1).encode("x", 0.30000001) == [0.3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0}, "`step` must be positive, got 0"),
        ({"step": 1.5}, "`step` must be at most `high` - `low`, got 1.5"),
        ({"step": 1e-13}, r"`step` must be such that at most 2\*\*40 fit"),
        ({"step": 0.1, "log": True}, "`step` must be None if `log` is true, got 0.1"),
        ({"step": "0.1"}, "`step` must be a real number"),
    ],
)
def test_steps_that_cannot_be_are_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        eq.Float(1, 2, **options)


def test_a_study_asks_and_recommends_only_steps_and_a_text_sees_them():
    space = eq.Space(gap=eq.Float(0, 2, step=0.1), q=eq.Float(0, 1), constraint="gap <= 1.2")
    opt = eq.Optimizer(space, rng=0)
    for _ in range(30):
        trial = opt.ask()
        assert trial.x["gap"] in [k / 10 for k in range(13)]
        opt.tell(trial, -((trial.x["gap"] - 0.68) ** 2) - (trial.x["q"] - 0.3) ** 2)
    assert opt.recommend().x["gap"] in (0.6, 0.7, 0.8)
    with pytest.raises(ValueError, match="whole number of steps"):
        opt.tell(opt.ask(), 0.0, x={"gap": 0.65, "q": 0.5})
