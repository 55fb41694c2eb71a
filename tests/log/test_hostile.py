"""A stranger's log is data: it may contain false data, but it never runs anything."""

import json
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.log import jsonl as lines
from invoking import invoke
from studies import FINITE, KERNEL, rewrite

FUZZ = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "log_fuzz.py"))
SPACE = eq.Space(q=eq.Float(0, 1), mode=eq.Choice(["a", "b"]), candidates=16)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


def study(path, space=SPACE):
    """The lines of a log with a duel of which a half is read."""
    opt = eq.Optimizer(space, kernel=KERNEL, policy=eq.IDS(), log=path, rng=0)
    opt.tell(opt.ask(), 0.5)
    opt.ask()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_no_setting_of_a_header_writes_a_file(path, tmp_path):
    contents = study(path)
    contents[0]["settings"]["log"] = str(tmp_path / "theirs")
    rewrite(path, contents)
    with pytest.raises(eq.LogError, match=r"line 1 is damaged: its settings may be .*, got log"):
        eq.resume(path)
    assert "got log" in invoke("best", path, code=1).stderr
    assert not (tmp_path / "theirs").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": {"rng": 0}}, "got rng"),
        ({"settings": {"policy": {"type": "Optimizer"}}}, "of a type that equipoise does not know"),
        ({"settings": {"policy": {"type": ["IDS"]}}}, "TypeError"),
        ({"settings": {"policy": {"type": "RBF", "lengthscale": 0.2}}}, "`policy` must be an object such as"),
        ({"settings": {"policy": {"type": "IDS", "no": 1}}}, "unexpected keyword argument"),
        (
            {"settings": {"posterior": {"type": "AnywherePosterior", "kernel": [1]}}},
            "`kernel` of AnywherePosterior must",
        ),
        ({"settings": {"posterior": {"type": "AnywherePosterior", "kernel": {"type": "IDS"}}}}, "`kernel` of Anywhere"),
        ({"settings": {"start": [9.0]}}, "`point` must have shape"),
        ({"settings": {"start": [9.0, 0.0, 0.0]}}, "its points must lie in the space"),
        ({"settings": {"start": {"type": "IDS"}}}, "`point` must"),
        ({"settings": []}, "it must have a space, settings and a key"),
        ({"key": [1, 2, 3]}, "it must have a space, settings and a key"),
        ({"key": [-1, 2**70]}, "OverflowError"),
        ({"space": {"type": "box", "bounds": [[0, 1]], "candidates": 2**40}}, "at most 16384 candidates"),
        ({"space": {"type": "box", "bounds": [[0, 1]] * 1001}}, "at most 1000 parameters"),
        ({"space": {"type": "finite", "points": [[0.5]] * 100_001}}, "at most 100000 points"),
        ({"space": {"type": "finite", "points": [[0.5]] * 10_001}}, "with a kernel a space may have at most 10000"),
        ({"space": {"type": "space", "parameters": {"a": {"type": "choice", "options": [1] * 1001}}}}, "1000 options"),
        ({"space": {"type": "sphere"}}, "the type of a space must be"),
        ({"space": {"type": "box"}}, "KeyError"),
        ({"space": {"type": "space", "parameters": {"q": None, "w": {"value": {"repr": "x"}}}}}, "TypeError"),
        ({"space": {"type": "box", "bounds": None}}, "TypeError"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(path, change, message):
    contents = study(path)
    contents[0] |= change
    rewrite(path, contents)
    with pytest.raises(eq.LogError, match=rf"study.jsonl, line 1 is damaged: .*{message}"):
        eq.resume(path)


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (2, {"points": [[0.5, 0.0, 7.0], [0.5, 0.0, 0.7]]}, "its points must lie in the space"),
        (2, {"points": [[1.5, 0.0, 0.7071067811865476], [0.5, 0.0, 0.7]]}, "its points must lie in the space"),
        (2, {"points": [[1e400, 0, 0], [0, 0, 0]]}, "it holds Infinity, which is not a number"),
        (2, {"points": [True, 1]}, "`point` must have shape"),
        (2, {"points": []}, "`points` must be a list"),
        (2, {"measure": [0, -1]}, "`measure` must be at least 0, got -1"),
        (2, {"measure": [0]}, "`signs` must be one for each measured point"),
        (2, {"signs": ["1", "-1"]}, "`signs` must be a real number"),
        (2, {"first": "both"}, "`first and second` must be an integer"),
        (2, {"first": None}, "a duel must be of a point or of its own proposal"),
        (2, {"weights": [5.0, -4.0]}, "`weights` must be those of points, at least 0, and sum to 1"),
        (2, {"baseline": "0"}, "`baseline` must be a real number"),
        (2, {"worker": ["w"]}, "`worker` must be a name"),
        (2, {"ask": True}, "`ask` must be an integer"),
        (3, {"value": True}, "`value` must be a real number"),
        (3, {"error": -1.0}, "`error` must not be negative"),
        (3, {"time": "now"}, "`time` must be a real number"),
        (3, {"point": [2.0, 0.0, 0.0]}, "its points must lie in the space"),
        (4, {"hand": 10**30}, "its trial must wait"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(path, line, change, message):
    contents = study(path)
    contents[line - 1] |= change
    with pytest.MonkeyPatch.context() as patched:
        real = json.dumps
        patched.setattr(json, "dumps", lambda *args, **options: real(*args, **options | {"allow_nan": True}))
        rewrite(path, contents)
    with pytest.raises(eq.LogError, match=rf"study.jsonl, line {line} is damaged: .*{message}"):
        eq.resume(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "celebrate"}, "`kind` must be audit or verify, got 'celebrate'"),
        ({"duels": 10**12}, "`duels` must be from 1 to 1000000"),
        ({"duels": 0}, "`duels` must be from 1 to 1000000"),
        ({"plan": 3}, "its plan must be 0"),
        ({"kind": "verify", "points": [[0.5, 0.0, 0.7071067811865476]]}, "of a point against others"),
        ({"kind": "verify", "points": [[0.5, 0.0, 0.7071067811865476]] * 2}, "of a point against others"),
        ({"kind": "verify", "points": [[2.5, 0.0, 0.7], [0.5, 0.0, 0.7]]}, "its points must lie in the space"),
        ({"kind": "verify"}, "'points'"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(path, change, message):
    contents = [*study(path), {"plan": 0, "kind": "audit", "duels": 2} | change]
    rewrite(path, contents)
    with pytest.raises(eq.LogError, match=rf"study.jsonl, line 5 is damaged: .*{message}"):
        eq.resume(path)


def test_a_duel_of_no_plan_is_refused(path):
    contents = study(path)
    contents[1]["plan"] = 0
    rewrite(path, contents)
    with pytest.raises(eq.LogError, match="line 2 is damaged: its plan must be one of the lines before it, got 0"):
        eq.resume(path)


def test_lines_of_any_length_and_depth_are_refused(path, monkeypatch):
    contents = study(path)
    rewrite(path, contents[:1])
    place = lines.Place(len(path.read_bytes()), 1, int(json.loads(path.read_bytes())["crc"], 16))
    deep = b'{"tell":' + b"[" * 100_000 + b"]" * 100_000
    path.write_bytes(path.read_bytes() + deep + lines._seal(lines.zlib.crc32(deep, place.crc)))
    with pytest.raises(eq.LogError, match="line 2 is damaged: it is nested too deeply"):
        eq.resume(path)
    monkeypatch.setattr(lines, "MAX_LINE", 10_000)
    rewrite(path, contents[:1])
    path.write_bytes(path.read_bytes() + b" " * 20_000)
    with pytest.raises(eq.LogError, match="line 2 is damaged: it is longer than 10000 bytes"):
        eq.resume(path)


def test_a_study_too_large_to_be_read_again_is_not_begun(path):
    with pytest.raises(eq.LogError, match="a space may have at most 16384 candidates, got 32768"):
        eq.Optimizer(eq.Box([(0, 1)], 32768), log=path)
    assert not path.exists()
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    trial = opt.ask()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "MAX_LINE", 1000)
        with pytest.raises(eq.LogError, match="must have lines of at most 1000 bytes"):
            opt.tell(trial, failed="x" * 1000)
    assert opt.study.open_trials == (0,)


def test_mutated_logs_are_read_or_refused(tmp_path):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found, slowest = FUZZ["fuzz"](400, 7, tmp_path)
    assert not [what for what in found if what.startswith("WRONG")]
    assert found["refused"] > 100
    assert found["read"] > 50
    assert slowest < 10
