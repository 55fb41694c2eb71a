"""Backends of a sweep: this machine, a dask cluster or a ray cluster, all through joblib.

with backend("dask", workers=4) as jobs:
    sweep(experiments, repetitions=50, jobs=jobs)
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from equipoise.lab.experiments.experiment import known


@contextmanager
def backend(name: str = "loky", workers: int | None = None, address: str | None = None) -> Iterator[int]:
    """Choose the backend of the sweeps in the `with` block, and yield the number of jobs for `sweep`.

    Args:
        name: "loky" for processes of this machine, "threading", "dask" or "ray".
        workers: The number of workers; by default one per core, or all workers of an existing cluster.
        address: The address of a running dask scheduler or ray head; by default dask and ray start local workers.

    Example:
        >>> with backend("loky", workers=1) as jobs:
        ...     jobs
        1
    """
    known("backend", name, BACKENDS)
    if address is not None and name not in ("dask", "ray"):
        raise ValueError(f"`address` must not be given for {name!r}, which has none, got {address!r}")
    with BACKENDS[name](workers, address) as jobs:
        yield jobs


@contextmanager
def _loky(workers: int | None, address: str | None) -> Iterator[int]:
    alone = importlib.util.find_spec("joblib") is None
    yield (1 if alone else -1) if workers is None else workers


@contextmanager
def _threading(workers: int | None, address: str | None) -> Iterator[int]:
    joblib = _needed("joblib")
    with joblib.parallel_config("threading"):
        yield -1 if workers is None else workers


@contextmanager
def _dask(workers: int | None, address: str | None) -> Iterator[int]:
    joblib = _needed("joblib")
    client = _needed("distributed").Client
    local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with client(address) if address is not None else client(**local), joblib.parallel_config("dask"):
        yield -1


@contextmanager
def _ray(workers: int | None, address: str | None) -> Iterator[int]:
    joblib = _needed("joblib")
    ray = _needed("ray")
    _needed("ray.util.joblib").register_ray()
    ray.init(address) if address is not None else ray.init(num_cpus=workers, include_dashboard=False)
    try:
        with joblib.parallel_config("ray"):
            yield -1 if workers is None else workers
    finally:
        ray.shutdown()


def _needed(name: str) -> Any:
    """Import a module from a package that only one backend needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"this backend needs {package}: install it with pip install {package}") from error


BACKENDS: dict[str, Callable[[int | None, str | None], AbstractContextManager[int]]] = {
    "loky": _loky,
    "threading": _threading,
    "dask": _dask,
    "ray": _ray,
}
"""Backends by name."""
