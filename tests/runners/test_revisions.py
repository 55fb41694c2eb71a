"""Revisions of a repository in folders of their own, which leave nothing behind."""

import os
import signal
import subprocess

import pytest

from equipoise.runners import HERE, GitError, checked_out, ends, revisions

WHO = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def git(where, *words):
    return subprocess.run(["git", "-C", where, *WHO, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Two commits of a file in a subfolder, and a change that is not committed."""
    folder = tmp_path / "repository" / "sub"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for text in ("one", "two"):
        (folder / "file").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", text)
    (folder / "file").write_text("three")
    return folder


def test_each_revision_is_in_a_folder_and_then_gone(repository):
    with checked_out(["HEAD~1", "main", HERE], repository) as found:
        texts = {name: (each.folder / "file").read_text() for name, each in found.items()}
        (found["main"].folder / "built").write_text("by a build")
        assert found["main"].commit == git(repository, "rev-parse", "main")
        assert found[HERE].commit is None
    assert texts == {"HEAD~1": "one", "main": "two", HERE: "three"}
    assert not found["main"].folder.exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert (repository / "file").read_text() == "three"


def test_an_error_takes_everything_away(repository):
    with pytest.raises(KeyboardInterrupt), checked_out(["main"], repository) as found:
        raise KeyboardInterrupt
    assert not found["main"].folder.parent.exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_what_git_does_not_know_is_refused(repository, tmp_path):
    for name in ("nonsense", "--all", "main^{tree}"):
        with pytest.raises(GitError, match="git knows no revision"), checked_out([name], repository):
            pass
    with pytest.raises(GitError, match="not a git repository"), checked_out(["main"], tmp_path):
        pass


@pytest.mark.parametrize("text", ["", "..", "main....HEAD", "..HEAD"])
def test_a_range_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="--git must be a revision or a range of two such as"):
        ends(text)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals")
def test_a_second_interrupt_leaves_no_folder_behind(repository, monkeypatch):
    remove = revisions._removed

    def interrupted(tree, top):
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        remove(tree, top)

    monkeypatch.setattr(revisions, "_removed", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), checked_out(["HEAD~1", "main"], repository) as found:
        raise KeyboardInterrupt
    assert not any(each.folder.exists() for each in found.values())
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert signal.getsignal(signal.SIGINT) is before
