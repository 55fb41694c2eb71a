"""Broken files: what a crash leaves is mended, any other damage is an error that names the line."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.log.header import FORMAT
from studies import FINITE, KERNEL, events, finished, rewrite, state

STORED = Path(__file__).parents[1] / "data" / "study-v1.jsonl"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


def test_a_torn_last_line_is_cut_off_and_nothing_else(path):
    whole = finished(path)
    kept = b"".join(whole[:-1])
    path.write_bytes(kept)
    expected = state(eq.resume(path))
    for size in range(1, len(whole[-1]) - 1):
        path.write_bytes(kept + whole[-1][:size])
        with pytest.warns(eq.log.TornLine, match=rf"line {len(whole)} was torn by a crash: {size} bytes were removed"):
            again = eq.resume(path)
        assert path.read_bytes() == kept
    assert state(again) == expected


def test_only_the_newline_missing_is_nothing_missing(path):
    whole = b"".join(finished(path))
    expected = state(eq.resume(path))
    path.write_bytes(whole[:-1])
    assert state(eq.resume(path)) == expected
    assert path.read_bytes() == whole


@pytest.mark.parametrize("tail", [b"\0" * 50, b"\0" * 50 + b"\n", b'{"tell":6,"value"\0\0\0\0\0\0\n', b"\xff\xfe"])
def test_what_a_file_system_leaves_after_a_power_cut(path, tail):
    whole = b"".join(finished(path))
    expected = state(eq.resume(path))
    path.write_bytes(whole + tail)
    with pytest.warns(eq.log.TornLine):
        assert state(eq.resume(path)) == expected
    assert path.read_bytes() == whole


def test_several_lines_of_zeros_at_the_end_are_torn_too(path):
    whole = b"".join(finished(path))
    expected = state(eq.resume(path))
    path.write_bytes(whole + b'{"tell":6,\0\0\0\n' + b"\0" * 9 + b"\n" + b"\0" * 50)
    with pytest.warns(eq.log.TornLine, match="74 bytes were removed"):
        assert state(eq.resume(path)) == expected
    assert path.read_bytes() == whole
    path.write_bytes(whole + b"\0\0\0\n" + b'{"tell":6,"value":1.0,"crc":"00000000"}\n')
    with pytest.raises(eq.LogError, match="is damaged"):  # something was written behind the zeros
        eq.resume(path)


def test_a_header_that_lacks_only_its_newline_is_whole(path):
    header = finished(path)[0]
    path.write_bytes(header[:-1])
    assert eq.resume(path).readings == 0
    assert path.read_bytes() == header
    path.write_bytes(header[:-2])  # nothing is known of this file, so nothing is cut off
    with pytest.raises(eq.LogError, match="its first line is not that of one"):
        eq.resume(path)
    assert path.read_bytes() == header[:-2]


def test_a_torn_line_is_also_mended_by_a_study_that_is_open(path):
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    opt.tell(opt.ask(), 1.0)
    with path.open("ab") as file:
        file.write(b'{"hand":')
    opt.recommend()
    with pytest.warns(eq.log.TornLine):
        trial = opt.ask()
    opt.tell(trial, 2.0)
    assert eq.resume(path).readings == 2


def damages(whole):
    """Logs with a wrong line, and the number of the first line that must be named."""
    rng = np.random.default_rng(0)
    for n in range(len(whole) - 1):
        line = bytearray(whole[n])
        at = int(rng.integers(len(line) - 1))
        line[at] ^= 1 + int(rng.integers(2))
        yield [*whole[:n], bytes(line), *whole[n + 1 :]], n + 1
        yield [*whole[:n], *whole[n + 1 :]], n + 1
        yield [*whole[: n + 1], *whole[n:]], n + 2
        yield [*whole[:n], whole[n + 1], whole[n], *whole[n + 2 :]], n + 1
        yield [*whole[:n], b"\n", *whole[n:]], n + 1


def test_any_other_damage_is_an_error_that_names_the_line(path):
    whole = finished(path)
    for broken, line in damages(whole):
        path.write_bytes(b"".join(broken))
        with pytest.raises(eq.LogError, match=rf"study.jsonl, line {line} is damaged"):
            eq.resume(path)
        assert path.read_bytes() == b"".join(broken)


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (2, {"duel": 4}, "its duel must be 0, as the lines before it say, got 4"),
        (2, {"points": [[1.0, 2.0, 3.0], 1]}, "`point` must have shape \\(2\\), got \\(3,\\)"),
        (2, {"points": [999, 1]}, "`points` must be below 12, got 999"),
        (3, {"tell": 3}, "`trial` must be one that was asked for and is still open, got 3"),
        (3, {"value": "high"}, "`value` must be a real number, got 'high'"),
        (4, {"hand": 5}, "its trial must wait for worker None, as the lines before say, got 5"),
        (3, {"tell": "0"}, "`tell` must be an integer, got '0'"),
    ],
)
def test_lines_that_contradict_each_other_are_damage(path, line, change, message):
    finished(path)
    contents = events(path)
    contents[line - 1] |= change
    rewrite(path, contents)
    with pytest.raises(eq.LogError, match=rf"line {line} is damaged: .*{message}"):
        eq.resume(path)


def test_what_is_no_log(path):
    with pytest.raises(eq.LogError, match=r"study.jsonl could not be read: No such file or directory"):
        eq.resume(path)
    path.write_text("")
    with pytest.raises(eq.LogError, match="must be the log of a study, but its first line is not that of one"):
        eq.resume(path)
    path.write_text('{"trials": []}\n')
    with pytest.raises(eq.LogError, match="line 1 is damaged"):
        eq.resume(path)
    rewrite(path, [{"equipoise": FORMAT + 1}])
    later = f"has format {FORMAT + 1}, and this equipoise reads up to {FORMAT}: install a newer one"
    with pytest.raises(eq.LogError, match=later):
        eq.resume(path)


def test_another_file_is_told_from_a_damaged_log(path):
    path.write_text('{"q1": 0.5, "value": 0.83}\n')
    with pytest.raises(eq.LogError, match=r"line 1 is damaged: it has no checksum: .* this file is not the log"):
        eq.resume(path)


def test_a_study_is_never_overwritten(path):
    path.touch()
    opt = eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)  # an empty file is none
    opt.ask()
    before = path.read_bytes()
    with pytest.raises(eq.LogError, match="must be a new file, but it is not empty: continue its study with `resume`"):
        eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)
    assert path.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["study.jsonl", "study.jsonl.lock"]


def test_the_first_format_stays_readable(path):
    opt = eq.resume(shutil.copy(STORED, path))
    assert opt.readings == 31
    assert opt.study.open_trials == (32, 34)
    assert {record.failed for record in opt.records()} == {None, "beam lost"}
    assert opt.recommend().x["q1"] == pytest.approx(0.7, abs=0.05)
    asked = next(line for line in events(STORED) if line.get("ask") == 2)
    assert opt.records()[1].x["q1"] == pytest.approx(asked["x"][0]["q1"], rel=1e-5)
