"""Contexts: conditions that are given, not chosen, and the part of a space at one of them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.spaces.restricted import Restricted
from invoking import invoke

PAGE = Path(__file__).parents[2] / "docs" / "world.md"

SPACE = eq.Space(
    q=eq.Float(0, 1), temp=eq.Context(0, 40), lens=eq.Choice(["in", "out"]), sample=eq.Context(["dry", "wet", "ice"])
)
AT = {"temp": 21, "sample": "wet"}


def rng():
    return np.random.default_rng(0)


def test_a_part_obeys_them_too_but_is_described_as_the_whole():
    eq.testing.check_space(SPACE.at(AT), without=["is_described", "is_resumed"])
    assert SPACE.at(AT).to_dict() == SPACE.to_dict()


def test_candidates_and_what_is_near_are_at_the_context_and_spread_over_the_rest():
    part = SPACE.at(AT)
    points = part.candidates(rng())
    near = part.near(points[:2], np.full(part.dimension, 0.1), 30, rng())
    for found in map(part.decode, (*points, *near)):
        assert {name: found[name] for name in AT} == AT
    q = np.array([part.decode(point)["q"] for point in points])
    assert np.abs(np.quantile(q, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.02
    assert (near[:, 0] != np.repeat(points[:2, 0], 30)[: len(near)].mean()).any()


def test_snapping_moves_a_setting_to_the_context_and_keeps_the_setting():
    part, there = SPACE.at(AT), SPACE.encode({"q": 0.3, "temp": 5, "lens": "out", "sample": "ice"})
    assert part.decode(part.snap(there[None])[0]) == {"q": 0.3, "temp": 21.0, "lens": "out", "sample": "wet"}
    assert part.valid(part.snap(there[None])).all()
    assert not part.valid(there[None]).any()


def test_the_part_through_a_point_has_its_context_to_the_last_bit():
    space = eq.Space(q=eq.Float(0, 1), temp=eq.Context(0.1, 3.7, log=True))
    for point in space.candidates(rng())[:50]:
        part = space.through(point)
        assert part.valid(point[None]).all()
        assert part.encode(part.decode(point)).tobytes() == point.tobytes() or part.free.any()
        assert part.encode({"q": part.decode(point)["q"]})[1] == point[1]


def test_a_part_whose_settings_are_few_lists_them_also_where_the_context_is_a_number():
    space = eq.Space(n=eq.Int(1, 3), gap=eq.Float(0, 0.2, step=0.1), temp=eq.Context(0, 40))
    assert space.points is None
    assert len(space.at({"temp": 7.5}).points) == 9


def test_a_constraint_may_be_about_the_context():
    space = eq.Space(q=eq.Float(0, 1), temp=eq.Context(0, 40), constraint="40 * q <= temp")
    points = space.at({"temp": 10}).candidates(rng())
    assert 0.2 < points[:, 0].max() <= 0.25
    with pytest.raises(RuntimeError, match="leave something to measure"):
        eq.Space(n=eq.Int(1, 3), temp=eq.Context(0, 40), constraint="n > temp").at({"temp": 30})


def test_what_is_encoded_in_a_part_need_not_say_the_context_and_may_not_say_another():
    part = SPACE.at(AT)
    x = {"q": 0.3, "lens": "out"}
    assert (part.encode(x) == SPACE.encode(x | AT)).all()
    with pytest.raises(ValueError, match=r"`x\['temp'\]` must be that of the context, 21.0, got 22"):
        part.encode(x | {"temp": 22})


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (None, r"`context` must say temp and sample, such as context={'temp': 20.0, 'sample': 'dry'}, got None"),
        ({"temp": 21}, "`context` must say temp and sample"),
        (AT | {"q": 0.5}, "`context` must say temp and sample"),
        (AT | {"temp": 41}, r"`context\['temp'\]` must lie within \[0.0, 40.0\], got 41"),
        (AT | {"sample": "hot"}, r"`context\['sample'\]` must be one of \['dry', 'wet', 'ice'\], got 'hot'"),
        (21, "`context` must say temp and sample"),
    ],
)
def test_a_context_that_cannot_be_is_refused(context, message):
    with pytest.raises(ValueError, match=message):
        SPACE.at(context)


@pytest.mark.parametrize("space", [eq.Box([(0, 1)]), eq.Finite([[0.0], [1.0]]), eq.Space(q=eq.Float(0, 1))])
def test_a_space_without_contexts_is_its_only_part(space):
    assert space.at(None) is space is space.through(np.array([0.5]))
    with pytest.raises(ValueError, match="`context` must be None, since the space has no Context, got"):
        space.at({"temp": 21})


def test_a_restricted_space_is_restricted_in_every_part():
    part = Restricted(SPACE, lambda points: points[:, 0] < 0.5).at(AT)
    points = part.candidates(rng())
    assert points[:, 0].max() < 0.5
    assert part.through(points[0]).valid(points).all()


@pytest.mark.parametrize("context", [eq.Context(0, 40), eq.Context(1, 9, log=True), eq.Context(["dry", "wet"])])
def test_contexts_come_back_from_their_description(context):
    space = eq.Space(q=eq.Float(0, 1), c=context)
    assert eq.spaces.space_from_dict(json.loads(json.dumps(space.to_dict()))).parameters == space.parameters
    assert repr(space) == f"Space(q=Float(0.0, 1.0), c={context!r})"


@pytest.mark.parametrize("arguments", [(3,), ("dry",), (["dry"],), (5, 1), ([1, 2], None, True)])
def test_what_is_no_context_is_refused(arguments):
    with pytest.raises((TypeError, ValueError), match="must"):
        eq.Context(*arguments)


def test_contexts_alone_are_nothing_to_tune():
    with pytest.raises(ValueError, match="must hold a Float, an Int or a Choice"):
        eq.Space(temp=eq.Context(0, 40))


def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    monkeypatch.chdir(tmp_path)
    text, names = PAGE.read_text(encoding="utf-8").partition("## Contexts")[2].partition("## Constraints")[0], {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), names)
    assert Path("contexts.png").stat().st_size > 10_000
    Path("study.toml").write_text(re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0])
    invoke("new", "other.jsonl", "--config", "study.toml")
    assert eq.resume("other.jsonl").space.contexts == ("temp", "sample")
