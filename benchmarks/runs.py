"""Runs of a benchmark, kept in a CSV file row by row: finished runs are not repeated, and Ctrl-C loses one row."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Job = tuple[str | int, ...]


def stored(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a file; none where it does not exist."""
    if not Path(path).exists():
        return []
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def sweep(
    path: str | Path, fields: Sequence[str], jobs: Sequence[Job], one: Callable[..., dict[str, Any]], processes: int
) -> None:
    """Run the jobs that the file has no row of, and add a row of each.

    Args:
        path: The file.
        fields: Its columns; the first ones name a job.
        jobs: Their names, in the order of these columns.
        one: Makes the row of a job.
        processes: How many run at once.
    """
    import joblib
    from tqdm import tqdm

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    rows = stored(path)
    names = [tuple(map(str, job)) for job in jobs]
    known = {tuple(row[field] for field in fields[: len(names[0])]) for row in rows} if names else set()
    left = [job for job, name in zip(jobs, names, strict=True) if name not in known]
    parallel = joblib.Parallel(n_jobs=processes, return_as="generator_unordered")
    with Path(path).open("a", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if not rows:
            writer.writeheader()
        for row in tqdm(parallel(joblib.delayed(one)(*job) for job in left), total=len(left)):
            writer.writerow(row)
            file.flush()
