"""Parallel work through joblib, in processes of this machine or on a cluster.

The default is processes of this machine; `joblib.parallel_config(backend="dask")` or `"ray"` around the call sends
the work to a cluster. With one job and no such configuration joblib is not needed. Processes of this machine end if
the work is interrupted, and if the process that called them is killed.
"""

import importlib.util
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, TypeVar

from equipoise.lab.experiments.workers import deaf, end_with

T = TypeVar("T")
R = TypeVar("R")


def workers(jobs: int | None) -> int:
    """Return the number of workers that will share the work."""
    return 1 if _alone(jobs) else int(_joblib().effective_n_jobs(jobs))


def _alone(jobs: int | None) -> bool:
    """Return True if joblib is not needed."""
    return jobs == 1 or (jobs is None and importlib.util.find_spec("joblib") is None)


def in_parallel(call: Callable[[T], R], items: Sequence[T], jobs: int | None) -> Generator[R, None, None]:
    """Call a module-level function with each item, the slowest first, and yield the results in the order of completion.

    `jobs` is the number of processes, -1 for one per core; by default that of `joblib.parallel_config`, which is one.

    Example:
        >>> list(in_parallel(len, ["ab", "c"], jobs=1))
        [2, 1]
    """
    if _alone(jobs):
        yield from map(call, items)
        return
    joblib = _joblib()
    with _own_workers():
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, **_how_to_answer())
        calls = [joblib.delayed(call)(item) for item in items]
        if parallel.return_generator:
            yield from _as_they_come(parallel, calls)
            return
        size = 2 * joblib.effective_n_jobs(jobs)
        for first in range(0, len(calls), size):
            yield from parallel(calls[first : first + size])


def _as_they_come(parallel: Any, calls: Iterable[Any]) -> Iterator[Any]:
    """Start the workers, yield their results, and end them if the caller stops."""
    with ExitStack() as stack:
        with deaf() if _local() else nullcontext():
            results = parallel(calls)
            stack.callback(_end, results)
        yield from results


def _end(results: Generator[Any, None, None]) -> None:
    """End the workers if they are not done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it counts the work that was lost
        results.close()


def _how_to_answer() -> dict[str, str]:
    """Request results as they come; backends that return all results at once (ray) get a few tasks at a time."""
    backend, _ = _joblib().parallel.get_active_backend()
    return {"return_as": "generator_unordered"} if backend.supports_return_generator else {}


def _own_workers() -> AbstractContextManager[object]:
    """Limit local workers to one thread of linear algebra and to the life of this process; clusters manage theirs."""
    if not _local():
        return nullcontext()
    joblib = _joblib()
    _, jobs = joblib.parallel.get_active_backend()
    watch: dict[str, Any] = {"initializer": end_with, "initargs": (os.getpid(),)}
    config: AbstractContextManager[object] = joblib.parallel_config(
        "loky", n_jobs=jobs, inner_max_num_threads=1, **watch
    )
    return config


def _local() -> bool:
    """Return True if joblib will start processes of this machine."""
    backend, _ = _joblib().parallel.get_active_backend()
    return bool(backend.supports_inner_max_num_threads)


def _joblib() -> Any:
    try:
        import joblib
    except ImportError as error:
        raise ImportError("several jobs need joblib: install equipoise[experiments], or use one job") from error
    return joblib
