"""Named spaces: dictionaries come back as they went in, discrete parameters are explored one by one, clear refusals."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.spaces.options import Fixed

names = st.text(min_size=1, max_size=8)
options = st.lists(st.none() | st.booleans() | st.integers() | st.text() | st.builds(list), min_size=2, max_size=4)


def distinct(values):
    return len({(type(v), v if not isinstance(v, list) else id(v)) for v in values}) == len(values)


floats = st.builds(lambda low, size: eq.Float(low, low + size), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
logs = st.builds(lambda low, ratio: eq.Float(low, low * ratio, True), st.floats(1e-9, 1e3), st.floats(1.1, 1e9))
ints = st.builds(lambda low, n: eq.Int(low, low + n), st.integers(-100, 100), st.integers(1, 1000))
log_ints = st.builds(lambda low, n: eq.Int(low, low + n, True), st.integers(1, 100), st.integers(1, 10**6))
choices = st.builds(eq.Choice, options.filter(distinct))
constants = st.builds(Fixed, st.integers() | st.text() | st.builds(object))
tuned = floats | logs | ints | log_ints | choices


@st.composite
def spaces(draw):
    parameters = draw(st.dictionaries(names, tuned, min_size=1, max_size=5))
    parameters |= draw(st.dictionaries(names.filter(lambda n: n not in parameters), constants, max_size=2))
    return eq.Space(dict(draw(st.permutations(list(parameters.items())))), candidates=16)


@settings(deadline=None)
@given(spaces(), st.integers(0, 2**32))
def test_points_of_any_space_come_back_as_they_went_in(space, seed):
    rng = np.random.default_rng(seed)
    candidates = space.candidates(rng)
    around = space.near(candidates[:2], 0.2 * space.extent, 5, rng)
    for point in np.concatenate((candidates, around)):
        x = space.decode(point)
        assert list(x) == list(space.parameters)
        again = space.decode(space.encode(x))
        for name, p in space.parameters.items():
            if isinstance(p, eq.Float):
                assert p.low <= x[name] <= p.high
                assert type(x[name]) is float
                assert again[name] == pytest.approx(x[name], rel=1e-12, abs=1e-15 * max(abs(p.low), abs(p.high)))
            elif isinstance(p, eq.Int):
                assert type(x[name]) is int
                assert again[name] == x[name]
            else:
                assert again[name] is x[name]
        assert (space.encode(x) == point)[~space.free].all()
    assert (space.snap(candidates) == candidates).all()
    anywhere = space.snap(rng.normal(0.5, 1, (20, space.dimension)))
    assert (space.snap(anywhere) == anywhere).all()


@settings(deadline=None)
@given(st.floats(0.02, 2.0), st.integers(0, 2**32))
def test_nothing_forbidden_is_offered(limit, seed):
    space = eq.Space(
        a=eq.Float(0, 1),
        n=eq.Int(0, 9),
        c=eq.Choice([0.0, 0.5]),
        constraint=lambda x: x["a"] + x["n"] / 9 + x["c"] < limit,
    )
    rng = np.random.default_rng(seed)
    candidates = space.candidates(rng)
    for point in np.concatenate((candidates, space.near(candidates[:3], 0.3 * space.extent, 20, rng))):
        x = space.decode(point)
        assert x["a"] + x["n"] / 9 + x["c"] < limit
    assert space.valid(np.array([space.encode({"a": 1.0, "n": 9, "c": 0.5})])).tolist() == [False]


def test_layout_of_the_coordinates():
    space = eq.Space(fixed=1, a=eq.Float(0, 1), c=eq.Choice(["x", "y", "z"]), n=eq.Int(0, 4), b=eq.Float(0, 1))
    assert space.dimension == 6
    assert space.free.tolist() == [True, False, False, False, False, True]
    assert space.groups.tolist() == [0, 1, 1, 1, 2, 3]
    assert space.points is None
    point = space.encode({"b": 1.0, "a": 0.25, "n": 1, "c": "y"})  # in any order, without the constant
    np.testing.assert_allclose(point, [0.25, 0, 0.5**0.5, 0, 0.25, 1], rtol=1e-15)
    assert space.decode(point) == {"fixed": 1, "a": 0.25, "c": "y", "n": 1, "b": 1.0}
    assert (space.snap(point[None] + 0.02) == space.encode({"a": 0.27, "b": 1, "n": 1, "c": "y"})).all()


def test_each_discrete_step_from_the_first_point_is_tried():
    space = eq.Space(a=eq.Float(0, 1), c=eq.Choice(["x", "y", "z"]), n=eq.Int(0, 4), k=eq.Int(1, 10**6, log=True))
    start = {"a": 0.3, "c": "y", "n": 0, "k": 7}
    found = [space.decode(p) for p in space.near(space.encode(start)[None], space.extent, 0, np.random.default_rng(0))]
    changes = [{"c": "x"}, {"c": "z"}, {"n": 1}, {"k": 6}, {"k": 8}]
    assert found == [start | change for change in changes]


def test_near_points_differ_in_some_parameters_and_not_in_all():
    space = eq.Space({f"f{i}": eq.Float(0, 1) for i in range(4)} | {f"c{i}": eq.Choice([1, 2, 3]) for i in range(4)})
    start = space.snap(np.full((1, space.dimension), 0.5))
    moved = space.near(start, 0.05 * space.extent, 1000, np.random.default_rng(0))[:1000]
    before = space.decode(start[0])
    changed = np.array([[x != before[name] for name, x in space.decode(point).items()] for point in moved])
    assert changed.any(axis=1).all()
    assert abs(changed.mean() - 0.306) < 0.02  # 0.3, and one where that would be none; four standard errors
    floats = moved[:, space.free]
    assert abs((floats - 0.5)[floats != 0.5].std() - 0.05) < 0.005


def test_few_settings_are_listed():
    space = eq.Space(n=eq.Int(1, 4, log=True), c=eq.Choice(["x", "y"]), constraint=lambda x: x["n"] != 2)
    assert [space.decode(p) for p in space.points] == [{"n": n, "c": c} for n in (1, 3, 4) for c in "xy"]
    assert space.candidates(np.random.default_rng(0)) is space.points
    assert not space.points.flags.writeable
    assert eq.Space(n=eq.Int(1, 512)).points is not None
    assert eq.Space(n=eq.Int(1, 513)).points is None
    assert eq.Space(n=eq.Int(1, 3), candidates=2).points is None


def test_many_settings_are_offered_once_each():
    space = eq.Space(n=eq.Int(1, 30), m=eq.Int(1, 30))
    candidates = space.candidates(np.random.default_rng(0))
    assert len(np.unique(candidates, axis=0)) == len(candidates) > 300


def test_any_name_will_do():
    space = eq.Space(
        {"constraint": eq.Float(0, 1), "candidates": 5, "pump power": eq.Int(1, 9)}, self=eq.Choice(["a", "b"])
    )
    assert list(space.decode(space.candidates(np.random.default_rng(0))[0])) == [
        "constraint",
        "candidates",
        "pump power",
        "self",
    ]
    assert repr(eval(repr(space), {**vars(eq), "Fixed": Fixed})) == repr(space)
    assert repr(space).startswith("Space({'constraint': Float(0.0, 1.0), 'candidates': Fixed(5), ")
    assert repr(eq.Space({"class": eq.Float(0, 1)})) == "Space({'class': Float(0.0, 1.0)})"


def test_reprs_are_python():
    space = eq.Space(q1=eq.Float(-2, 2), n=eq.Int(1, 8, log=True), c=eq.Choice(["a", 1]), mode="fast", candidates=32)
    assert repr(space) == (
        "Space(q1=Float(-2.0, 2.0), n=Int(1, 8, log=True), c=Choice(['a', 1]), mode=Fixed('fast'), candidates=32)"
    )
    assert repr(eval(repr(space), {**vars(eq), "Fixed": Fixed})) == repr(space)


def test_the_description_is_what_the_log_keeps():
    space = eq.Space(q1=eq.Float(-2, 2), n=eq.Int(1, 8), c=eq.Choice(["a", None]), mode="fast")
    assert space.to_dict() == {
        "type": "space",
        "parameters": {
            "q1": {"type": "float", "low": -2.0, "high": 2.0, "log": False},
            "n": {"type": "int", "low": 1, "high": 8, "log": False},
            "c": {"type": "choice", "options": ["a", None]},
            "mode": {"type": "fixed", "value": "fast"},
        },
    }
    assert repr(eq.Space.from_dict(json.loads(json.dumps(space.to_dict())))) == repr(space)


def test_decoded_points_belong_to_the_user():
    space = eq.Space(a=eq.Float(0, 1), mode="fast")
    point = space.encode({"a": 0.5})
    space.decode(point).clear()
    assert space.decode(point) == {"a": 0.5, "mode": "fast"}
    assert not point.flags.writeable


def test_twenty_dimensions_of_every_kind():
    kinds = [
        eq.Float(0, 1),
        eq.Float(1e-3, 1, log=True),
        eq.Int(0, 9),
        eq.Int(1, 99, log=True),
        eq.Choice(["a", "b", "c"]),
    ]
    space = eq.Space({f"p{i}": kinds[i % 5] for i in range(20)})
    rng = np.random.default_rng(0)
    candidates = space.candidates(rng)
    assert candidates.shape == (512, 28)
    assert all(len(np.unique(candidates[:, j])) >= 2 for j in range(28))
    around = space.near(candidates[:5], 0.1 * space.extent, 50, rng)
    assert len(around) >= 250
    assert space.valid(around).all()


def test_candidates_and_near_points_take_little_time():
    rng = np.random.default_rng(0)
    space = eq.Space({f"q{i}": eq.Float(0, 1) for i in range(6)})
    start, scale = space.candidates(rng)[:4], 0.1 * space.extent

    def spent():
        before = time.process_time()
        for _ in range(50):
            space.near(start, scale, 64, rng)
            space.candidates(rng)
        return (time.process_time() - before) / 50

    assert min(spent() for _ in range(3)) < 1.5e-3  # about 0.15 ms on an idle core


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: eq.Space(), ValueError, r"`parameters` must hold a Float, an Int or a Choice, got \{\}"),
        (lambda: eq.Space(a=1), ValueError, r"must hold a Float, an Int or a Choice, got \{'a': Fixed\(1\)\}"),
        (lambda: eq.Space([eq.Float(0, 1)]), TypeError, "`parameters` must be a dict of parameters by name, got"),
        (lambda: eq.Space({1: eq.Float(0, 1)}), TypeError, "`parameters` must be a dict of parameters by name, got"),
        (
            lambda: eq.Space({"a": eq.Float(0, 1)}, a=1),
            ValueError,
            r"must not repeat names given as arguments, got \['a'\]",
        ),
        (lambda: eq.Space(a=(0, 1)), TypeError, r"`a` must be a Float.*got \(0, 1\): write Float\(low, high\)"),
        (lambda: eq.Space(a=eq.Float(0, 1), candidates=0), ValueError, "`candidates` must be at least 1, got 0"),
        (
            lambda: eq.Space(a=eq.Float(0, 1), constraint=1),
            TypeError,
            "`constraint` must be a text, a list of texts, a function of a point, or None",
        ),
        (
            lambda: eq.Space(constraint=eq.Float(0, 1)),
            TypeError,
            r"`constraint` is an argument of Space.*of this name as Space\(\{'constraint': Float\(0.0, 1.0\)\}",
        ),
        (lambda: SPACE.encode([0.5]), TypeError, r"`x` must be a dict with the names \['a', 'n', 'k'\], got \[0.5\]"),
        (lambda: SPACE.encode({"a": 0.5}), ValueError, r"`x` must have the names \['a', 'n', 'k'\], got \['a'\]"),
        (
            lambda: SPACE.encode({"a": 0.5, "n": 1, "b": 1}),
            ValueError,
            r"`x` must have the names .* got \['a', 'n', 'b'\]",
        ),
        (lambda: SPACE.encode({"a": 2, "n": 1}), ValueError, r"`x\['a'\]` must lie within \[0.0, 1.0\], got 2"),
        (lambda: SPACE.encode({"a": 0.5, "n": 1, "k": 8}), ValueError, r"`x\['k'\]` must be the constant 7, got 8"),
    ],
)
def test_refusals_name_argument_rule_and_value(make, error, message):
    with pytest.raises(error, match=message):
        make()


SPACE = eq.Space(a=eq.Float(0, 1), n=eq.Int(0, 3), k=7)


def test_a_notebook_shows_a_table_of_parameters_and_what_must_hold():
    shown = eq.Space({"pump <1>": eq.Float(0, 1), "lens": "in"}, constraint='lens == "in"')._repr_html_()
    assert "<th>pump &lt;1&gt;</th><td>Float(0.0, 1.0)</td>" in shown
    assert "<p>Constraint: lens == &quot;in&quot;</p>" in shown
    assert "Constraint" not in eq.Space(q=eq.Float(0, 1))._repr_html_()
