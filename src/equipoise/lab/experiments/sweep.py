"""Sweeps: many repetitions of many experiments, in parallel, stored as they come, and resumable."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from equipoise import _validation as check
from equipoise.lab.experiments.batches import Batch, divided
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.parallel import in_parallel, workers
from equipoise.lab.experiments.results import Curves, Store


def sweep(
    experiments: Sequence[Experiment],
    repetitions: int,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = False,
) -> list[Curves]:
    """Run the missing repetitions and return all.

    Args:
        experiments: The experiments to run.
        repetitions: The number of repetitions of each.
        out: The directory that stores results as they come; `None` stores nothing.
        jobs: The number of processes, -1 for one per core; by default that of `joblib.parallel_config`, which is one.
        progress: Show a bar with the remaining time.

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
    missing = divided([key for key in wanted if key not in found], workers(jobs))
    with (
        _bar(progress, len(wanted), done=len(found)) as advance,
        closing(in_parallel(Batch.run, missing, jobs)) as results,
    ):
        for finished in results:
            for experiment, result in finished:
                if store:
                    store.save(experiment, result)
                found[experiment, result.repetition] = result
            advance(len(finished))
    return [Curves(experiment, tuple(found[experiment, i] for i in range(repetitions))) for experiment in experiments]


@contextmanager
def _bar(show: bool, total: int, done: int) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances the bar, or does nothing."""
    if not show:
        yield lambda n: None
        return
    from tqdm import tqdm

    with tqdm(total=total, initial=done, unit="run", dynamic_ncols=True, smoothing=0.05) as bar:
        yield bar.update
