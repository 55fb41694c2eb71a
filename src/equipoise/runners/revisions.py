"""Revisions of a repository, each in a separate folder: git worktrees, which are taken away again."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = ""
"""Stands for the working tree with its uncommitted changes."""


AUTHOR = {f"GIT_{who}_{what}": "equipoise" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
"""The author of a snapshot's commit, which is not the user's."""


class GitError(RuntimeError):
    """Git refused, with its own message."""


@dataclass(frozen=True)
class Revision:
    """A revision in a folder.

    Attributes:
        name: As it was given.
        commit: Its full name; `None` for the working tree as it is.
        folder: Where it is: the folder that corresponds to the one in which it was asked for.
    """

    name: str
    commit: str | None
    folder: Path


def ends(text: str) -> tuple[str, ...]:
    """Return the revisions that a range names; a revision alone is compared with the working tree.

    Example:
        >>> ends("main..HEAD"), ends("v1.2"), ends("main..")
        (('main', 'HEAD'), ('v1.2', ''), ('main', ''))
    """
    first, _, second = text.partition("..")
    if not first or second.startswith("."):
        raise ValueError(f"--git must be a revision or a range of two such as main..HEAD, got {text!r}")
    return first, second


def commit_of(name: str, where: Path) -> str:
    """Return the full name of a commit; refuse what git does not know."""
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", where=where)
    except GitError:
        raise GitError(f"git knows no revision {name!r} in {where}") from None


@contextmanager
def checked_out(names: Sequence[str], where: Path | None = None) -> Iterator[dict[str, Revision]]:
    """Check revisions out, each into a separate folder below a temporary one, and take them away in the end.

    Args:
        names: Revisions, as git knows them; `HERE` for the working tree as it is.
        where: A folder of the repository; the present one by default.

    Yields:
        Where each is, by name.
    """
    here = Path.cwd() if where is None else where
    top = Path(git("rev-parse", "--show-toplevel", where=here))
    inside = Path(os.path.relpath(here.resolve(), top.resolve()))
    commits = {name: commit_of(name, here) for name in names if name != HERE}
    folder = Path(tempfile.mkdtemp(prefix="equipoise-")).resolve()
    trees = {name: folder / f"{number}-{commits[name][:10]}" for number, name in enumerate(commits)}
    try:
        for name, tree in trees.items():
            git("worktree", "add", "--quiet", "--detach", str(tree), commits[name], where=top)
        yield {
            name: Revision(name, commits.get(name), (trees[name] / inside) if name in trees else here) for name in names
        }
    finally:
        for tree in trees.values():
            _removed(tree, top)
        folder.rmdir()


def _removed(tree: Path, top: Path) -> None:
    """Take a worktree away, with whatever was built in it."""
    if tree.exists():
        git("worktree", "remove", "--force", "--force", str(tree), where=top)


def has_commit(where: Path) -> bool:
    """Return whether a folder lies in a repository that has a commit."""
    try:
        return bool(git("rev-parse", "--verify", "--quiet", "HEAD", where=where))
    except GitError:
        return False


def snapshot(where: Path, left_out: Sequence[Path] = ()) -> str:
    """Return a commit of the files as they are now, new ones too; neither branch nor index is touched.

    Args:
        where: A folder of the repository.
        left_out: Files that do not belong to it, with all whose names begin so.
    """
    top = Path(git("rev-parse", "--show-toplevel", where=where)).resolve()
    inside = [path.resolve() for path in left_out if path.resolve().is_relative_to(top)]
    apart = [f":(top){path.relative_to(top).as_posix()}*" for path in inside]
    with tempfile.TemporaryDirectory() as scratch:
        index = {**AUTHOR, "GIT_INDEX_FILE": str(Path(scratch) / "index")}
        git("read-tree", "HEAD", where=top, variables=index)
        git("add", "-A", where=top, variables=index)
        if apart:
            git("rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *apart, where=top, variables=index)
        tree = git("write-tree", where=top, variables=index)
        if tree == git("rev-parse", "HEAD^{tree}", where=top):
            return commit_of("HEAD", top)
        commit = git("commit-tree", "-p", "HEAD", "-m", "equipoise", tree, where=top, variables=index)
    git("update-ref", f"refs/equipoise/{commit}", commit, where=top)  # or git would forget it
    return commit


def git(*words: str, where: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run git, with some variables of the environment, and return what it prints."""
    other = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    kept = {name: value for name, value in os.environ.items() if name not in other} | dict(variables or {})
    try:
        run = subprocess.run(["git", "-C", str(where), *words], capture_output=True, text=True, env=kept)
    except FileNotFoundError:
        raise GitError("git must be installed to compare revisions") from None
    if run.returncode:
        raise GitError(run.stderr.strip() or f"git {words[0]} failed with exit status {run.returncode}")
    return run.stdout.strip()
