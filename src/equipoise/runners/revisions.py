"""Revisions of a repository, each in a separate folder: git worktrees, which are removed afterwards."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = ""
"""The name of the working tree with its uncommitted changes."""


AUTHOR = {f"GIT_{who}_{what}": "equipoise" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
"""The author of a snapshot's commit, distinct from the user."""


class GitError(RuntimeError):
    """An error of git, with the message of git."""


@dataclass(frozen=True)
class Revision:
    """A revision in a folder.

    Attributes:
        name: The name as the user gave it.
        commit: The full hash; `None` for the working tree as it is.
        folder: The folder of the checkout that corresponds to the folder of the request.
    """

    name: str
    commit: str | None
    folder: Path


def ends(text: str) -> tuple[str, ...]:
    """Return the two revisions of a range; a single revision is compared with the working tree.

    As in git, three dots begin at the last common commit of the two, and a range without an end ends at HEAD.

    Example:
        >>> ends("main..HEAD"), ends("v1.2"), ends("main..")
        (('main', 'HEAD'), ('v1.2', ''), ('main', 'HEAD'))
        >>> ends("main...HEAD")
        ('main...HEAD', 'HEAD')
    """
    first, dots, second = text.partition("..")
    common, second = second.startswith("."), second.removeprefix(".") or ("HEAD" if dots else HERE)
    if not first or second.startswith(".") or ".." in second:
        raise ValueError(f"--git must be a revision or a range of two such as main..HEAD, got {text!r}")
    return text if common else first, second


def commit_of(name: str, where: Path) -> str:
    """Return the full hash of a commit, of `a...b` the last common one; refuse a name that git does not know."""
    first, common, second = name.partition("...")
    if common:
        ask = ["merge-base", *(commit_of(each or "HEAD", where) for each in (first, second))]
    else:
        ask = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    try:
        return git(*ask, where=where)
    except GitError:
        is_shallow = git("rev-parse", "--is-shallow-repository", where=where) == "true"
        advice = ": fetch more of its history, in a shallow clone" if is_shallow else ""
        raise GitError(f"git knows no revision {name!r} in {where}{advice}") from None


@contextmanager
def checked_out(names: Sequence[str], where: Path | None = None) -> Iterator[dict[str, Revision]]:
    """Check out revisions, each into a separate folder below a temporary one, and remove them in the end.

    Args:
        names: Revisions by the names that git knows; `HERE` for the working tree as it is.
        where: A folder of the repository; the current one by default.

    Yields:
        The checked-out revisions, by name.
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
        with undisturbed():
            for tree in trees.values():
                _removed(tree, top)
            folder.rmdir()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C, requests to terminate and hangups, in the main thread: impatient users press it twice."""
    is_main = threading.current_thread() is threading.main_thread()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if is_main and hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.SIG_IGN) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), signal.SIG_DFL if handler is None else handler)


def _removed(tree: Path, top: Path) -> None:
    """Remove a worktree, including build products."""
    if tree.exists():
        git("worktree", "remove", "--force", "--force", str(tree), where=top)


def has_commit(where: Path) -> bool:
    """Return whether a folder lies in a repository that has a commit."""
    try:
        return bool(git("rev-parse", "--verify", "--quiet", "HEAD", where=where))
    except GitError:
        return False


def snapshot(where: Path, left_out: Sequence[Path] = ()) -> str:
    """Return a commit of the present files, including new ones, without touching branch or index.

    Args:
        where: A folder of the repository.
        left_out: Files to leave out, with all files whose names begin like them.
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
    git("update-ref", f"refs/equipoise/{commit}", commit, where=top)  # otherwise git would delete it
    return commit


def git(*words: str, where: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run git with extra environment variables, and return its output."""
    other = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    kept = {name: value for name, value in os.environ.items() if name not in other} | dict(variables or {})
    try:
        words = ("-C", str(where), *words)
        run = subprocess.run(["git", *words], capture_output=True, text=True, env=kept, start_new_session=True)
    except FileNotFoundError:
        raise GitError("git must be installed to compare revisions") from None
    if run.returncode:
        raise GitError(run.stderr.strip() or f"git {words[2]} failed with exit status {run.returncode}")
    return run.stdout.strip()
