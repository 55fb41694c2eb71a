"""`equipoise gate`: keep, discard or not decided, for every idea of a loop of experiments."""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import AS_JSON, INTERRUPTED, FailingError, command, noted, printable, say
from equipoise.cli.interrupting import interruptible
from equipoise.programs.commands.arranging import duration
from equipoise.programs.commands.comparing import _Apart
from equipoise.programs.commands.measuring import blame
from equipoise.programs.commands.metrics import reads
from equipoise.programs.commands.processes import LAST, Programs, RunOptions, Site
from equipoise.programs.gating import Gate, Trialed
from equipoise.runners import (
    FailedError,
    LauncherError,
    StoppedError,
    checked_out,
    commit_of,
    has_commit,
    only_one,
    snapshot,
)

EXIT = {"keep": 0, "discard": 1, "open": 2}
"""Exit code of `gate try`, by decision."""

FATAL = (LauncherError, StoppedError)
"""Errors that do not concern a candidate."""

PATIENCE_FACTOR, PATIENCE_SECONDS = 20.0, 10.0
"""Timeout of a run of a candidate: this multiple of the champion's time, plus this number of seconds."""

EXAMPLES = """equipoise gate init --metric reading --lower -- uv run train.py --seed {seed}
equipoise gate try && git commit -am "wider"                  the files as they are now, committed if kept
equipoise gate try --rev idea-7                               a branch, a tag, a commit
equipoise gate status                                         all ideas, and the true gain
equipoise gate init --metric accuracy -- ./measure.sh {seed}  a line `METRIC accuracy=0.93`"""

EXIT_STATUS = """\b
How a loop uses it:
  change something, then `equipoise gate try`
    0    keep: the candidate is the champion from now on
    1    discard: go back to the champion
    2    not decided within --most readings
    4    the champion could not be measured: nothing is lost
    64   wrong usage, or a file that cannot be used
    130  interrupted: the same command continues

"""

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
LOG = click.option(
    "--log",
    type=click.Path(path_type=Path),
    default=Path("gate.jsonl"),
    show_default=True,
    help="The file of the gate.",
)


@click.group("gate", short_help="Decide which changes of a loop of experiments to keep.")
def gate() -> None:
    """Decide on every idea of a loop of experiments: keep, discard or not decided.

    A loop that keeps every idea that beats the record keeps lucky ones. The gate measures champion and candidate on the
    same seeds in random order, reuses earlier readings of the champion, and stops early. Over the whole stream of
    ideas, at most 10 % of the kept ones are no better than the champion.
    """


gate.epilog = EXIT_STATUS + "\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES.splitlines())


@command("init", "equipoise gate init --metric loss --lower -- uv run train.py --seed {seed}", cls=_Apart)
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
@LOG
@click.option("--metric", default="reading", show_default=True, help="The last number printed, or METRIC name=number.")
@click.option("--lower", is_flag=True, help="Lower is better.")
@click.option("--margin", type=click.FloatRange(min=0), default=0.0, help="Keep only ideas that are better by more.")
@click.option("--alpha", type=click.FloatRange(0, 1, True, True), default=0.1, help="Largest share of false keeps.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=40,
    help="Most readings of a candidate before it counts as not decided.",
)
@click.option("--seeds", type=click.IntRange(min=1), help="The number of seeds, splits or instances: 0 to N - 1.")
@click.option("--rev", help="The champion: a revision.  [default: the files as they are now]")
@click.option("--dir", "folder", type=FOLDER, help="The champion: a folder.")
@click.option("--build", help="Run once in every version before it is measured, such as make.")
@click.option("--link", "links", multiple=True, help="A path that git ignores and the program needs, such as data.")
@click.option(
    "--timeout",
    callback=duration,
    help="Longest time of a run.  [default: 20 times the champion's, and 10 s]",
)
@click.option("--seed", "rng", type=click.IntRange(min=0), help="Seed of the random orders.")
def init(words: tuple[str, ...], log: Path, rev: str | None, folder: Path | None, **options: Any) -> None:
    """Write the file of a gate and measure the champion.

    COMMAND measures once; the gate replaces {seed} in it by a number. Let the seed set all of the program's randomness
    (split, order, initialization), so that effects common to two versions cancel.
    """
    if log.exists():
        raise click.UsageError(f"{log} must be a new file: `equipoise gate try` continues it")
    seeded = any("{seed}" in word for word in words)
    command = {"words": list(words), "metric": options["metric"], "build": options["build"], "links": options["links"]}
    about = {**command, "timeout": options["timeout"]}
    home = _Home(log, about)
    name, version = home.version(rev, folder)
    rules = {name: options[name] for name in ("margin", "alpha", "most")}
    rules["seeds"] = options["seeds"] if seeded else 1
    with _measuring(home, version) as measure:
        made = Gate(
            measure(version, 0.0),
            lower=options["lower"],
            log=log,
            name=name,
            about={**about, "version": version},
            rng=options["rng"],
            notify=noted,
            fatal=FATAL,
            **rules,
        )
        made.begin()
    note = "" if seeded else "\nNote: no {seed} in the command, so nothing is paired by seeds."
    click.echo(printable(f"The champion is {name}. Now change something, and call: equipoise gate try{note}"))


@command("try", "equipoise gate try --rev idea-7", cls=_Apart)
@LOG
@click.option("--rev", help="The candidate: a revision.  [default: the files as they are now]")
@click.option("--dir", "folder", type=FOLDER, help="The candidate: a folder.")
@click.option("--name", help="Name of the idea.  [default: the revision or folder]")
@AS_JSON
def try_(log: Path, rev: str | None, folder: Path | None, name: str | None, as_json: bool) -> None:
    """Measure a candidate beside the champion: keep it, or discard it?

    The exit status is 0 for keep, 1 for discard and 2 for not decided. After an interruption the trial continues with
    the same candidate. A candidate that fails, hangs or prints no number is discarded.
    """
    with _alone(log):
        said = _tried(log, rev, folder, name)
    say(as_json, {**said.data(), "exit": EXIT[said.decision]}, str(said))
    sys.exit(EXIT[said.decision])


@contextmanager
def _alone(log: Path) -> Iterator[None]:
    """Refuse a concurrent trial: both would share its candidate."""
    with ExitStack() as stack:
        try:
            stack.enter_context(only_one(log, None))
        except RuntimeError as error:
            raise click.ClickException(f"another `gate try` is running on {log}: wait for it") from error
        yield


def _tried(log: Path, rev: str | None, folder: Path | None, name: str | None) -> Trialed:
    """Measure a candidate until it is decided."""
    found = _opened(log)
    home = _Home(log, found.first["about"])
    known, version = home.version(rev, folder)
    name = name or known
    before = found.about["version"]
    if version == before:
        raise click.UsageError(f"the candidate must differ from the champion, got {known} for both")
    with _measuring(home, before, version) as measure:
        found = _opened(log, measure(before, 0.0))
        return found.test(measure(version, _patience(found)), name, {"version": version})


@command("status", "equipoise gate status --json", cls=_Apart)
@LOG
@AS_JSON
def status_(log: Path, as_json: bool) -> None:
    """Show all ideas, the kept ones, and the true gain.

    The gain that the record would suggest stands beside it.
    """
    night = _opened(log).status()
    say(as_json, night.data(), str(night))


gate.add_command(init)
gate.add_command(try_)
gate.add_command(status_)


class _Home:
    """The versions of a gate and their folders: versions are commits of a repository, or folders.

    Args:
        log: The log, which belongs to no version.
        about: The command and its options.
    """

    def __init__(self, log: Path, about: Mapping[str, Any]) -> None:
        self.about, self._log = about, log
        self._here = Path.cwd()
        self._in_git = has_commit(self._here)
        self._built: set[str] = set()

    def version(self, rev: str | None, folder: Path | None) -> tuple[str, dict[str, str]]:
        """Return the name of a version, and its location."""
        if rev is not None and folder is not None:
            raise click.UsageError("--rev or --dir must be given, and not both")
        if folder is not None or not self._in_git:
            if rev is not None:
                raise click.UsageError("--rev must be a revision of a git repository: this folder is in none")
            where = (folder or self._here).resolve()
            return str(folder or where.name), {"dir": str(where)}
        commit = snapshot(self._here, [self._log]) if rev is None else commit_of(rev, self._here)
        return rev or commit[:12], {"commit": commit}

    @contextmanager
    def folders(self, *versions: Mapping[str, str]) -> Iterator[dict[str, Path]]:
        """Yield the folder of each version: commits are checked out, with linked files, and removed in the end."""
        commits = [version["commit"] for version in versions if "commit" in version]
        with ExitStack() as stack:
            found = stack.enter_context(checked_out(commits, self._here)) if commits else {}
            for revision in found.values():
                for name in self.about["links"]:
                    (revision.folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (revision.folder / name).symlink_to(self._here / name)
            yield {key(v): found[v["commit"]].folder if "commit" in v else Path(v["dir"]) for v in versions}

    def first_time(self, version: Mapping[str, str]) -> bool:
        """Return whether a version is used here for the first time."""
        before = len(self._built)
        self._built.add(key(version))
        return len(self._built) > before


def key(version: Mapping[str, str]) -> str:
    """Return a key that identifies a version."""
    return version.get("commit") or version["dir"]


Make = Callable[[Mapping[str, str], float], Callable[[int], float]]


@contextmanager
def _measuring(home: _Home, *versions: Mapping[str, str]) -> Iterator[Make]:
    """Yield a function that makes the measure of a version with a time limit in seconds; end programs at the end."""
    about, read = home.about, LAST if home.about["metric"] == "reading" else reads(home.about["metric"])
    try:
        with interruptible(), home.folders(*versions) as folders, Programs(RunOptions((), reads=(read,))) as programs:

            def make(version: Mapping[str, str], limit: float) -> Callable[[int], float]:
                place = Site(str(folders[key(version)]))

                def measure(seed: int) -> float:
                    if about["build"] and home.first_time(version):
                        programs.do(about["build"], place)
                    line = shlex.join(word.replace("{seed}", str(seed)) for word in about["words"])
                    return programs.but(timeout=about["timeout"] or limit).run("", line, place).value(read.name)

                return measure

            yield make
    except FailedError as error:
        raise FailingError(blame("the champion", " ".join(home.about["words"]), error)) from error
    except LauncherError as error:
        raise FailingError(str(error)) from error
    except KeyboardInterrupt:
        click.echo("\nInterrupted: the same command continues.", err=True)
        sys.exit(INTERRUPTED)


def _opened(log: Path, measure: Callable[[int], float] | None = None) -> Gate:
    """Return the gate of a log."""
    if not log.exists():
        raise click.UsageError(f"{log} does not exist: `equipoise gate init -- COMMAND` makes it")
    return Gate(measure or _unmeasured, log=log, notify=noted, fatal=FATAL)


def _unmeasured(seed: int) -> float:
    raise RuntimeError("a gate that was opened to be read measures nothing")


def _patience(found: Gate) -> float:
    """Return the seconds that a candidate may take."""
    return PATIENCE_FACTOR * found.seconds + PATIENCE_SECONDS
