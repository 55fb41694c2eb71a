"""Sweeps: many repetitions of many experiments, in parallel, kept as they come, continued where they stopped.

Parallel work goes through joblib: processes of this machine by default; `joblib.parallel_config(backend="dask")` or
`"ray"` around the call sends it to a cluster. With one job and no such configuration joblib is not needed. Processes of
this machine end with the sweep where it is interrupted, and with the process that called it where that is killed.
"""

import importlib.util
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from typing import Any

from equipoise import _validation as check
from equipoise.lab.experiments.batches import Batch, Done, divided
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.results import Curves, Store
from equipoise.lab.experiments.workers import deaf, end_with


def sweep(
    experiments: Sequence[Experiment],
    repetitions: int,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = False,
) -> list[Curves]:
    """Run the repetitions that are not on disk yet and return all.

    Args:
        experiments: What to run.
        repetitions: How often each.
        out: Directory in which results are kept as they come; `None` keeps nothing.
        jobs: Processes to use, -1 for one per core; by default as `joblib.parallel_config` says, which is one.
        progress: Show a bar with the time left.

    Returns:
        The results of each experiment, in the order given.

    Example:
        >>> ucb, ids = sweep([Experiment(name, "linear", readings=50) for name in ("UCB", "IDS-two")], repetitions=2)
        >>> ucb.regret.shape, len(ids.results)
        ((2, 50), 2)
    """
    repetitions = check.count("repetitions", repetitions)
    store = None if out is None else Store(out)
    wanted = [(experiment, i) for experiment in dict.fromkeys(experiments) for i in range(repetitions)]
    found = {key: result for key in wanted if store and (result := store.load(*key)) is not None}
    missing = divided([key for key in wanted if key not in found], _workers(jobs))
    with _bar(progress, len(wanted), done=len(found)) as advance, closing(_execute(missing, jobs)) as results:
        for finished in results:
            for experiment, result in finished:
                if store:
                    store.save(experiment, result)
                found[experiment, result.repetition] = result
            advance(len(finished))
    return [Curves(experiment, tuple(found[experiment, i] for i in range(repetitions))) for experiment in experiments]


def _workers(jobs: int | None) -> int:
    """Return how many will share the work."""
    return 1 if _alone(jobs) else int(_joblib().effective_n_jobs(jobs))


def _alone(jobs: int | None) -> bool:
    """Return whether joblib is not needed."""
    return jobs == 1 or (jobs is None and importlib.util.find_spec("joblib") is None)


def _execute(batches: Sequence[Batch], jobs: int | None) -> Generator[list[Done], None, None]:
    """Run batches and yield their results in the order they are done."""
    if _alone(jobs):
        yield from (batch.run() for batch in batches)
        return
    joblib = _joblib()
    with _own_workers():
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, **_how_to_answer())
        calls = [joblib.delayed(Batch.run)(batch) for batch in batches]
        if parallel.return_generator:
            yield from _as_they_come(parallel, calls)
            return
        size = 2 * joblib.effective_n_jobs(jobs)
        for first in range(0, len(calls), size):
            yield from parallel(calls[first : first + size])


def _as_they_come(parallel: Any, calls: Iterable[Any]) -> Iterator[list[Done]]:
    """Start the workers, yield what they find, and end them where that is not wanted any more."""
    with ExitStack() as stack:
        with deaf() if _local() else nullcontext():
            results = parallel(calls)
            stack.callback(_end, results)
        yield from results


def _end(results: Generator[list[Done], None, None]) -> None:
    """End the workers if they are not done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # how much of their work was in vain
        results.close()


def _how_to_answer() -> dict[str, str]:
    """Ask for results as they come; backends that answer with all at once (ray) get a few tasks at a time."""
    backend, _ = _joblib().parallel.get_active_backend()
    return {"return_as": "generator_unordered"} if backend.supports_return_generator else {}


def _own_workers() -> AbstractContextManager[object]:
    """Keep local workers to one thread of linear algebra and to the life of this process; clusters see to theirs."""
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
    """Return whether joblib is to start processes of this machine."""
    backend, _ = _joblib().parallel.get_active_backend()
    return bool(backend.supports_inner_max_num_threads)


def _joblib() -> Any:
    try:
        import joblib
    except ImportError as error:
        raise ImportError("several jobs need joblib: install equipoise[experiments], or use one job") from error
    return joblib


@contextmanager
def _bar(show: bool, total: int, done: int) -> Iterator[Callable[[int], object]]:
    """Give a function that advances the bar, or does nothing."""
    if not show:
        yield lambda n: None
        return
    from tqdm import tqdm

    with tqdm(total=total, initial=done, unit="run", dynamic_ncols=True, smoothing=0.05) as bar:
        yield bar.update
