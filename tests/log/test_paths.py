"""One log, one lock, whatever its name; and `log=` never destroys what is there."""

import json
import os
import subprocess
import sys

import pytest

import equipoise as eq
from studies import FINITE, KERNEL, finished, state

WORKER = """
import os, sys, warnings
import equipoise as eq
opt = eq.resume(sys.argv[1])
for _ in range(int(sys.argv[3])):
    trial = opt.ask(worker=sys.argv[2])
    opt.tell(trial, 0.5)
    print(trial.id, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


def new(path):
    return eq.Optimizer(FINITE, kernel=KERNEL, log=path, rng=0)


# One log, one lock.


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symlink", "hard link"])
def test_workers_that_reach_a_log_by_two_names_lose_nothing(path, link):
    new(path)
    (path.parent / "elsewhere").mkdir()
    other = path.parent / "elsewhere" / "same.jsonl"
    link(path, other)
    tells = 25
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, name, f"w{i}", str(tells)], stdout=subprocess.PIPE, text=True)
        for i, name in enumerate([path, other])
    ]
    told = [int(line) for worker in workers for line in worker.communicate()[0].split()]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert len(told) == len(set(told)) == 2 * tells
    assert eq.resume(path).readings == 2 * tells
    in_log = [event["tell"] for event in map(json.loads, path.read_text().splitlines()) if "tell" in event]
    assert sorted(in_log) == sorted(told)


def test_a_process_that_changes_its_directory_keeps_its_log(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    opt = new("study.jsonl")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    opt.tell(opt.ask(), 0.5)
    assert opt.study.log == path
    assert eq.resume(path).readings == 1
    assert list((tmp_path / "other").iterdir()) == []


@pytest.mark.parametrize("readings", [0, 3])
def test_a_file_that_was_replaced_is_refused(path, tmp_path, readings):
    opt = new(path)
    for _ in range(readings):
        opt.tell(opt.ask(), 0.5)
    other = tmp_path / "other.jsonl"
    theirs = eq.Optimizer(FINITE, kernel=KERNEL, log=other, rng=1)
    for _ in range(9):
        theirs.tell(theirs.ask(), 0.7)
    content = other.read_bytes()
    other.replace(path)
    for call in (opt.ask, opt.recommend):
        with pytest.raises(eq.LogError, match="is not the file that was read before: it was replaced or changed"):
            call()
    assert path.read_bytes() == content


def test_a_copy_put_in_its_place_is_the_same_log(path, tmp_path):
    opt = new(path)
    opt.tell(opt.ask(), 0.5)
    (tmp_path / "copy").write_bytes(path.read_bytes())
    (tmp_path / "copy").replace(path)
    opt.tell(opt.ask(), 0.7)
    assert state(eq.resume(path)) == state(opt)


def test_a_file_that_grew_otherwise_is_noticed(path):
    opt = new(path)
    trial = opt.ask()
    journal = opt._session.turns.journal
    journal.begin(opt._session.apply)
    with path.open("ab") as file:  # somebody who does not lock
        file.write(b"x")
    with pytest.raises(eq.LogError, match="was changed by something that did not lock it"):
        journal.write(eq.log.Stamped(eq.log.Told(trial.id, eq.data.Reading(0.5))))
    journal.end(well=False)
    assert path.read_bytes().endswith(b"x")


# Nothing is destroyed.


@pytest.mark.parametrize("kind", ["directory", "fifo", "device"])
def test_what_is_no_file_is_refused_and_left_alone(tmp_path, kind):
    path = tmp_path / "thing"
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    before = path.stat()
    with pytest.raises(eq.LogError, match="must be a regular file, but it is a directory, a device or the like"):
        new(path)
    with pytest.raises(eq.LogError, match="must be a regular file, but it is a directory, a device or the like"):
        eq.resume(path)
    assert (path.stat().st_mode, path.stat().st_ino) == (before.st_mode, before.st_ino)
    assert [file.name for file in tmp_path.iterdir()] == ["thing"]
    assert not os.path.exists("/dev/null.lock")


def test_a_dangling_link_is_followed(path, tmp_path):
    (tmp_path / "disk").mkdir()
    path.symlink_to(tmp_path / "disk" / "real.jsonl")
    opt = new(path)
    opt.ask()
    assert path.is_symlink()
    assert opt.study.log == tmp_path / "disk" / "real.jsonl"
    assert eq.resume(path).study.open_trials == (0,)


def test_an_empty_file_stays_the_file_it_is(path):
    path.touch()
    other = path.with_name("other.jsonl")
    os.link(path, other)
    new(path).ask()
    assert eq.resume(other).study.open_trials == (0,)


def test_no_other_file_is_touched(path):
    for name in ("study.jsonl.new", "study.jsonl.tmp", "study.json"):
        path.with_name(name).write_text("mine")
    new(path).ask()
    names = {file.name: file.read_text() for file in path.parent.iterdir() if file.name.startswith("study.json")}
    assert sum(text == "mine" for text in names.values()) == 3


@pytest.mark.parametrize("content", ["[[package]]\nname = 'numpy'\n" * 9, "x"])
def test_a_lock_file_of_another_program_is_left_alone(tmp_path, content):
    theirs = tmp_path / "poetry.lock"
    theirs.write_text(content)
    with pytest.raises(eq.LogError, match=r"poetry could not be created: .*poetry.lock is a file of another program"):
        new(tmp_path / "poetry")
    assert theirs.read_text() == content
    assert not (tmp_path / "poetry").exists()


def test_a_lock_that_is_no_file_is_refused(path):
    finished(path)
    lock = path.with_name("study.jsonl.lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises(eq.LogError, match=r"study.jsonl could not be locked"):
        eq.resume(path).ask()
