"""Versions of a folder that stay as they are while they are measured: commits, each in a worktree of git's."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

NAMED = 12
"""Digits of a commit that name its folder."""

AUTHOR = {f"GIT_{who}_{what}": "equipoise" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
"""Who makes the commit of a snapshot: it is no commit of the user's."""


class Checkouts:
    """Commits of the repository that a folder lies in, each in a folder of its own inside `.git`.

    Args:
        folder: A folder in the repository.
        linked: Paths, relative to that folder, that git ignores and the program needs: linked into every version.
        left_out: Files that belong to no version, such as a log.
    """

    def __init__(self, folder: Path, linked: Sequence[str] = (), left_out: Sequence[Path] = ()) -> None:
        self.folder, self._linked, self._left_out = folder.resolve(), linked, left_out
        self.root = Path(git(self.folder, "rev-parse", "--show-toplevel"))
        self._home = Path(git(self.folder, "rev-parse", "--path-format=absolute", "--git-common-dir")) / "equipoise"

    def commit(self, revision: str) -> str:
        """Return the commit that a revision means."""
        return git(self.folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

    def snapshot(self) -> str:
        """Return a commit of the files as they are now, new ones too: neither branch nor index is touched."""
        with tempfile.TemporaryDirectory() as scratch:
            index = {**AUTHOR, "GIT_INDEX_FILE": str(Path(scratch) / "index")}
            inside = [path.resolve() for path in self._left_out if path.resolve().is_relative_to(self.root)]
            apart = [f":(exclude,top){path.relative_to(self.root).as_posix()}*" for path in inside]
            git(self.root, "read-tree", "HEAD", environment=index)
            git(self.root, "add", "-A", "--", ".", *apart, environment=index)
            tree = git(self.root, "write-tree", environment=index)
            if tree == git(self.root, "rev-parse", "HEAD^{tree}"):
                return self.commit("HEAD")
            return git(self.root, "commit-tree", "-p", "HEAD", "-m", "equipoise gate", tree, environment=index)

    def keep(self, commit: str) -> None:
        """Let git keep a commit that no branch has."""
        git(self.root, "update-ref", f"refs/equipoise/{commit[:NAMED]}", commit)

    def place(self, commit: str) -> tuple[Path, bool]:
        """Return the folder that stands for ours in a version, and whether it was made just now."""
        home = self._home / commit[:NAMED]
        fresh = not home.exists()
        if fresh:
            git(self.root, "worktree", "prune")
            git(self.root, "worktree", "add", "--quiet", "--detach", str(home), commit)
        folder = home / self.folder.relative_to(self.root)
        for name in self._linked if fresh else ():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(self.folder / name)
        return folder, fresh

    def remove(self, commit: str) -> None:
        """Remove the folder of a version."""
        home = self._home / commit[:NAMED]
        if home.exists():
            for name in self._linked:
                (home / self.folder.relative_to(self.root) / name).unlink(missing_ok=True)
            git(self.root, "worktree", "remove", "--force", str(home))


def has_git(folder: Path) -> bool:
    """Return whether a folder lies in a repository that has a commit."""
    if shutil.which("git") is None:
        return False
    words = ["git", "-C", str(folder), "rev-parse", "--verify", "--quiet", "HEAD"]
    return subprocess.run(words, capture_output=True).returncode == 0


def git(folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what git says; refuse what it refuses."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, env={**os.environ, **(environment or {})}
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise click.ClickException(f"git {words[0]} failed: {said[0]}")
    return done.stdout.strip()
