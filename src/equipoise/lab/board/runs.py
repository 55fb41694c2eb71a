"""Runs of the board: single runs, and many runs stored line by line in a file that can be merged with others."""

import gzip
import json
import math
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np

from equipoise import __version__
from equipoise import _validation as check
from equipoise.lab.board.catalog import ABSENT, listed
from equipoise.lab.board.entrants import Entrant, Maker, admitted
from equipoise.lab.board.tasks import tasks
from equipoise.lab.experiments import in_parallel
from equipoise.spaces import Space

KEPT = 20
"""The number of points kept of a regret curve."""


@dataclass(frozen=True)
class Score:
    """The stored results of a run; regrets are in units of the average regret of a random setting.

    Attributes:
        task: The name of the task.
        learner: The name of the learner.
        seed: The seed of the run.
        readings: The number of readings.
        paid: The cumulative regret at each twentieth of the run; the last one is that of the whole run.
        final: The regret of the final recommendation.
        bound: The learner's bound on that regret; `None` if it claims none.
        near: The largest regret of a good answer: 5 % of a time on a graphics card, else a twentieth of the unit.
        milliseconds: The processor time per reading, of `ask` and `tell`.
        version: The version of this library.
        package: The name and version of the learner's package.

    Example:
        >>> score = Score("camel2, walk", "random", 0, 200, (1.0, 2.5), 0.3, None, 0.05, 0.1, "0.2.0", "")
        >>> Score.from_json(score.to_json()) == score, score.cumulative
        (True, 2.5)
    """

    task: str
    learner: str
    seed: int
    readings: int
    paid: tuple[float, ...]
    final: float
    bound: float | None
    near: float
    milliseconds: float
    version: str
    package: str

    @property
    def key(self) -> tuple[str, str, int]:
        """The task, learner and seed, which identify the run."""
        return self.task, self.learner, self.seed

    @property
    def cumulative(self) -> float:
        """The cumulative regret of the whole run."""
        return self.paid[-1]

    def to_json(self) -> str:
        """Return the score as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Undo `to_json`; refuse a line that is not a score."""
        content = json.loads(line)
        if not isinstance(content, dict) or set(content) != {field.name for field in fields(cls)}:
            raise ValueError(
                f"a line of results must have {', '.join(field.name for field in fields(cls))}, got {line}"
            )
        if content["task"] not in tasks():
            raise ValueError(f"`task` must be one of those that --list prints, got {content['task']!r}")
        numbers = [check.number("paid", value) for value in content["paid"]]
        return cls(**content | {"paid": tuple(numbers)})


Job = tuple[str, str, int]
"""Task, learner and seed."""


@dataclass(frozen=True)
class Broken:
    """A run that failed with an error of its learner.

    Attributes:
        key: The task, learner and seed.
        why: The error and its origin.
    """

    key: Job
    why: str

    def __str__(self) -> str:
        task, learner, seed = self.key
        return f"{learner} at {task}, seed {seed}: {self.why}"


def attempt(job: Job) -> Score | Broken:
    """Run a learner on a task; an error of the learner is returned and does not stop other runs.

    Example:
        >>> attempt(("cake, 2 a batch", "random", 0)).readings
        60
    """
    try:
        return play(job)
    except Exception as error:  # third-party learners may raise any error
        frames = [each for each in traceback.extract_tb(error.__traceback__) if "site-packages" not in each.filename]
        last = [each for each in frames if each.filename.endswith(".py")][-1]  # the learner's, not its library's
        where = f"{Path(last.filename).name}, line {last.lineno}"
        return Broken(job, f"{type(error).__name__}: {error} ({where})")


def play(job: Job) -> Score:
    """Run a learner on a task.

    Example:
        >>> score = play(("cake, 2 a batch", "random", 0))
        >>> score.readings, len(score.paid), score.bound
        (60, 20, None)
    """
    name, learner, seed = job
    task, entry = tasks()[name], listed(learner)
    instrument = task.start(seed)
    regrets, spent, begin = [], 0.0, time.process_time()
    entrant = _made(entry.make, instrument.space, task.readings, seed)
    for _ in range(task.readings):
        x = entrant.ask()
        spent += time.process_time() - begin
        setting = admitted(instrument.space, x)
        regrets.append(instrument.regret(setting))
        reading, begin = instrument.read(setting), time.process_time()
        entrant.tell(x, reading)
    spent += time.process_time() - begin
    best, bound = _answer(entrant)
    unit = instrument.unit
    return Score(
        *(name, learner, seed, task.readings),
        paid=tuple(_short(np.cumsum(regrets)[_places(task.readings)])),
        final=_rounded(instrument.regret(admitted(instrument.space, best))),
        bound=_rounded(bound / unit) if math.isfinite(bound) else None,
        near=_rounded(instrument.near),
        milliseconds=_rounded(1000 * spent / task.readings),
        version=__version__,
        package=entry.version,
    )


def _made(make: Maker, space: Space, readings: int, seed: int) -> Entrant:
    """Return the learner of a run; refuse early if the run could not finish."""
    entrant = make(space, readings, seed)
    if lacking := [name for name in ("ask", "tell", "best") if not callable(getattr(entrant, name, None))]:
        raise TypeError(f"a learner must have `ask`, `tell` and `best`, got one without {', '.join(lacking)}")
    return entrant


def _answer(entrant: Entrant) -> tuple[Any, float]:
    """Return the recommendation of a learner and its bound; refuse any other kind of answer."""
    try:
        best, bound = entrant.best()
        return best, float(bound)
    except (TypeError, ValueError) as error:
        raise TypeError(f"`best` must return a setting and a bound, nan for no claim: {error}") from error


def _places(readings: int) -> Any:
    return [round(readings * (i + 1) / KEPT) - 1 for i in range(KEPT)]


def _short(values: Iterable[float]) -> list[float]:
    return [_rounded(value) for value in values]


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def skipped(names: Sequence[str], learners: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return why learners skip tasks, by task and learner.

    Example:
        >>> skipped(["A4000, none"], ["CMA", "random"])[("A4000, none", "CMA")]
        'it takes no constraint that is a function'
        >>> skipped(["A4000, none"], ["HEBO"])[("A4000, none", "HEBO")]
        'HEBO 0.3.6 did not install with the others'
    """
    reasons = {}
    spaces = {name: tasks()[name].start(0).space for name in names}
    for name, learner in product(names, learners):
        why = ABSENT.get(learner) or listed(learner).missing or listed(learner).refuses(spaces[name])
        if why is not None:
            reasons[name, learner] = why
    return reasons


def contest(
    jobs: Sequence[Job],
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
    workers: int | None = 1,
) -> tuple[list[Score], list[Broken]]:
    """Run the jobs that are missing in a file, and append a line after each job.

    Returns the scores of all finished runs, and the failed runs: the next call repeats those.

    Args:
        jobs: The task, learner and seed of each run.
        out: A file of JSON lines; nothing is stored if it is `None`.
        progress: Called with 1 after each run.
        workers: The number of processes, -1 for one per core; `None` uses the setting of `joblib.parallel_config`.
    """
    known = {score.key: score for score in _resumed(out)}
    left = [job for job in jobs if job not in known]
    if progress is not None:
        progress(len(jobs) - len(left))
    results, broken = in_parallel(attempt, left, workers), []
    with closing(results):
        for result in results:
            if isinstance(result, Broken):
                broken.append(result)
            else:
                known[result.key] = result
                _keep(out, result)
            if progress is not None:
                progress(1)
    return [known[job] for job in jobs if job in known], broken


def _keep(out: Path | None, score: Score) -> None:
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a", encoding="utf-8", newline="\n") as file:
            file.write(score.to_json() + "\n")


def merged(paths: Iterable[Path]) -> list[Score]:
    """Return the scores of several files; if a run occurs in several files, the first one counts.

    An incomplete last line, cut off during writing, is skipped; any other line that is not a score is refused.
    """
    found: dict[Job, Score] = {}
    for path in paths:
        for score in _read(path):
            found.setdefault(score.key, score)
    return list(found.values())


def _resumed(out: Path | None) -> list[Score]:
    """Return the scores of a file to be continued, and terminate its last line, which may have been cut off."""
    if out is None or not out.exists():
        return []
    scores = _read(out)
    if not out.read_bytes().endswith(b"\n"):
        out.write_text("".join(score.to_json() + "\n" for score in scores), encoding="utf-8", newline="\n")
    return scores


def _read(path: Path) -> list[Score]:
    scores, lines = [], path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            scores += [Score.from_json(line)] if line.strip() else []
        except ValueError as error:
            if number < len(lines):
                raise ValueError(f"{path}, line {number}: {error}") from error
    return scores


def stored() -> list[Score]:
    """Return the scores that ship with this library: those of docs/board.md."""
    text = gzip.decompress((files("equipoise.lab.board") / "results.jsonl.gz").read_bytes()).decode("utf-8")
    return list(map(Score.from_json, text.splitlines()))
