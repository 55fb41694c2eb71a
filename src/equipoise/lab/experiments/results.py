"""Results: the stored data of a repetition, written to disk at once, and all repetitions of an experiment.

symbol    meaning                                                       shape
r         number of repetitions
k         number of points kept of a curve
at        numbers of readings at which the cumulative regret is kept    (k,)
regret    cumulative regret there                                       (k,), together (r, k)
"""

import csv
import json
import os
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.fleet import Trace

KEPT = 200
"""The number of points kept of a curve."""


@dataclass(frozen=True)
class Result:
    """The stored results of a repetition.

    Attributes:
        repetition: Its number, from 0.
        at: The numbers of readings.
        regret: The cumulative regret after each of them.
        recommended: The point recommended at the end.
        recommended_regret: Its true regret.
        gap_bound: The learner's bound on that regret.
        cpu_seconds: The processor time of the run.

    Example:
        >>> result = Result(0, [1, 2], [0.5, 0.75], [0.0], 0.25, 1.0, 0.001)
        >>> Result.from_json(result.to_json()) == result
        True
    """

    repetition: int
    at: list[int]
    regret: list[float]
    recommended: list[float]
    recommended_regret: float
    gap_bound: float
    cpu_seconds: float

    @classmethod
    def of(cls, trace: Trace, repetition: int) -> Self:
        """Return the results of a trace: eight significant digits of about `KEPT` points of the curve."""
        at = grid(len(trace.regrets))
        kept = [_rounded(value) for value in trace.cumulative[np.array(at) - 1]]
        best = trace.recommendation
        point = [float(value) for value in np.ravel(best.x)]
        numbers = (trace.recommended_regret, best.gap_bound, trace.cpu_seconds)
        return cls(repetition, at, kept, point, *(_rounded(value) for value in numbers))

    def to_json(self) -> str:
        """Return the result as JSON, one field per line."""
        fields = [f'  "{name}": {json.dumps(value)}' for name, value in asdict(self).items()]
        return "{\n" + ",\n".join(fields) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result written by `to_json`."""
        return cls(**json.loads(text))


def grid(readings: int) -> list[int]:
    """Return the numbers of readings at which a curve is kept; the last reading is always included.

    Example:
        >>> grid(5), len(grid(10_000)), grid(10_000)[:2]
        ([1, 2, 3, 4, 5], 200, [50, 100])
    """
    kept = min(KEPT, readings)
    return [round(readings * (i + 1) / kept) for i in range(kept)]


@dataclass(frozen=True, eq=False)
class Curves:
    """All repetitions of one experiment, in order.

    Attributes:
        experiment: The experiment.
        results: One result per repetition.
    """

    experiment: Experiment
    results: tuple[Result, ...]

    @property
    def at(self) -> list[int]:
        """The numbers of readings, k of them."""
        return self.results[0].at

    @property
    def regret(self) -> FloatArray:
        """The cumulative regret, shape (r, k)."""
        return np.array([result.regret for result in self.results])

    @property
    def final(self) -> FloatArray:
        """The regret of the whole run, shape (r,)."""
        return np.array([result.regret[-1] for result in self.results])

    def column(self, name: str) -> FloatArray:
        """Return one number of each repetition, shape (r,)."""
        return np.array([getattr(result, name) for result in self.results], dtype=np.float64)


class Store:
    """Results on disk: a directory for each experiment, a file for each repetition.

    The directory's name ends in the experiment's key, so results of other settings are never confused with these. Files
    are written under another name and then renamed, so every file present is complete.

    Args:
        root: The parent of the directories.

    Example:
        >>> import tempfile
        >>> experiment = Experiment("random", "linear", readings=10)
        >>> result = Result(4, [10], [7.5], [1.0, 0.0], 0.5, 2.0, 0.001)
        >>> with tempfile.TemporaryDirectory() as root:
        ...     Store(root).save(experiment, result)
        ...     Store(root).load(experiment, 4) == result, Store(root).load(experiment, 5)
        (True, None)
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def directory(self, experiment: Experiment) -> Path:
        """Return the directory for the results of an experiment."""
        return self.root / f"{experiment.label}_{experiment.key}"

    def path(self, experiment: Experiment, repetition: int) -> Path:
        """Return the path of the result of a repetition."""
        return self.directory(experiment) / f"repetition-{repetition:04d}.json"

    def load(self, experiment: Experiment, repetition: int) -> Result | None:
        """Return a result, or `None` if no readable result exists."""
        try:
            return Result.from_json(self.path(experiment, repetition).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def save(self, experiment: Experiment, result: Result) -> None:
        """Write a result; before the first one, write the manifest."""
        manifest = self.directory(experiment) / "manifest.json"
        if not manifest.exists():
            write(manifest, json.dumps(experiment.description, indent=2) + "\n")
        write(self.path(experiment, result.repetition), result.to_json())


def write(path: Path, text: str) -> None:
    """Write a text file atomically, and create its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


Row = dict[str, str]
"""A row of a CSV file: texts by column name."""

Job = tuple[int, Callable[[], Sequence[Mapping[str, Any]]]]
"""The number of rows of a job, and the function that runs it."""


def continued(
    path: Path | None,
    fields: Sequence[str],
    jobs: Mapping[tuple[str, ...], Job],
    progress: Callable[[int], object] | None = None,
) -> list[Row]:
    """Run the jobs whose rows in a CSV file are missing or incomplete, store new rows at once, and return all rows.

    The first fields name a job, and the jobs are keyed by their texts. Nothing is stored if the path is `None`;
    `progress` is called with 1 after each job.
    """
    stored, rows, key = defaultdict(list), [], len(next(iter(jobs), ()))
    for row in _stored(path):
        stored[tuple(row.values())[:key]].append(row)
    for name, (count, run) in jobs.items():
        rows += stored[name] if len(stored[name]) >= count else _kept(path, fields, run())
        if progress is not None:
            progress(1)
    return rows


def _stored(path: Path | None) -> list[Row]:
    if path is None or not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _kept(path: Path | None, fields: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Append rows to a file, with a header if it is new, and return them as they would be read from it."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fields)
            if new:
                writer.writeheader()
            writer.writerows(rows)
    return [{name: str(row[name]) for name in fields} for row in rows]


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as comma-separated values; no cell may hold a comma or a quote."""
    lines = [",".join(columns), *(",".join(str(cell) for cell in row) for row in rows)]
    return "\n".join(lines) + "\n"


def _rounded(value: float) -> float:
    return float(f"{value:.8g}")
