"""Runs of the program, here or by an executor, until the time is up or it fails again and again."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import click

from equipoise.cli.common import FailingError
from equipoise.cli.running import bar
from equipoise.optimizer import Optimizer
from equipoise.programs.commands.processes import Programs, RunOptions
from equipoise.programs.commands.tuning.goals import Goals
from equipoise.programs.commands.tuning.template import Template
from equipoise.programs.comparison_log import Execution
from equipoise.runners import FailedError, Measured, OnExecutor

MOST_FAILURES = 20
"""Failures in a row after which the search ends."""

LONGEST_REASON = 400
"""The most characters of the reason for a failed trial that the study keeps."""


@dataclass(frozen=True)
class SettingRunner:
    """Runs the program with a setting, in this process or, sent there, in that of a worker.

    Attributes:
        plan: The command line.
        goals: The numbers to read from a run.
        how: The options for running programs.
        prepare: A command line to run before each run.
    """

    plan: Template
    goals: Goals
    how: RunOptions
    prepare: str | None = None

    def run(self, x: Mapping[str, Any]) -> Execution:
        """Run the program with a setting and return its cost."""
        programs = programs_of(self.how)
        if self.prepare is not None:
            try:
                programs.do(self.plan.filled(self.prepare, x))
            except FailedError as error:
                raise FailedError(f"in its --prepare: {error}", error.complaints) from error
        return programs.run("trial", self.plan.command(x))

    def __call__(self, x: Mapping[str, Any]) -> Measured:
        """Return the reading of a setting and its worker, or the reason for a failure."""
        nearest = self.plan.settings(x)
        try:
            return Measured(self.goals.value(self.run(nearest), programs_of(self.how).floor), x=nearest)
        except FailedError as error:
            return Measured(failed=error.reason[:LONGEST_REASON])


_THREAD = threading.local()
_STARTED: list[Programs] = []


def programs_of(how: RunOptions) -> Programs:
    """Return the runner of programs of this thread: with one for each thread, a thread runs one program at a time."""
    known: dict[RunOptions, Programs] = vars(_THREAD).setdefault("programs", {})
    if how not in known:
        known[how] = Programs(how)
        _STARTED.append(known[how])
        known[how].calibrate()
    return known[how]


@contextmanager
def programs_ended() -> Iterator[None]:
    """End all programs of this process and their runners when the block ends."""
    try:
        yield
    finally:
        vars(_THREAD).clear()
        while _STARTED:
            _STARTED.pop().__exit__()


@contextmanager
def workers(kind: str | None, address: str | None, jobs: int | None) -> Iterator[tuple[Executor, int] | None]:
    """Yield an executor and how many settings it measures at once; `None` to measure one at a time."""
    if address is not None and kind is None:
        raise click.UsageError("--address must come with --executor dask")
    if kind == "dask":
        with _dask(address, jobs) as found:
            yield found
    elif jobs is None or jobs == 1:
        yield None
    else:
        with ThreadPoolExecutor(jobs) as pool, programs_ended():
            yield pool, jobs


@contextmanager
def _dask(address: str | None, jobs: int | None) -> Iterator[tuple[Executor, int]]:
    try:
        from distributed import Client
    except ImportError as error:
        raise click.ClickException("--executor dask needs distributed: pip install distributed") from error
    local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = Client(address) if address is not None else Client(**local)
    except OSError as error:
        raise click.ClickException(f"--address must be that of a dask scheduler, got {address}: {error}") from error
    with client:
        there = len(client.scheduler_info(n_workers=-1)["workers"])
        if not there:
            raise click.ClickException(f"the dask scheduler at {address} has no workers")
        yield client.get_executor(), jobs or there


def search(
    opt: Optimizer, runner: SettingRunner, most: float, until: float, where: tuple[Executor, int] | None, blocks: bool
) -> None:
    """Measure the proposals of the study until it has enough readings, the time is up or the program keeps failing."""
    before = len(opt.records(aside=False))

    def over() -> bool:
        ended = [each for each in opt.records(aside=False)[before:] if each.failed or each.value is not None]
        if len(ended) >= MOST_FAILURES and all(each.failed for each in ended[-MOST_FAILURES:]):
            last = f"{ended[-1].failed}: {runner.plan.command(runner.plan.settings(ended[-1].x))}"
            raise FailingError(f"The program failed {MOST_FAILURES} times in a row. The last error: {last}")
        return time.monotonic() >= until

    if where is not None:
        OnExecutor(opt, where[0], runner, where[1], blocks=blocks or None).run(most, over)
        return
    with bar(opt, None if math.isinf(most) else int(most)) as advance:
        while opt.readings < most and not over():
            _measure(opt, runner)
            advance(opt.readings)


def _measure(opt: Optimizer, runner: Callable[[Any], Measured]) -> None:
    """Measure one trial; after an interrupt it is handed out again."""
    trial = opt.ask()
    try:
        found = runner(trial.x)
        opt.tell(trial, found.value, x=found.x, failed=found.failed)
    except BaseException:
        with suppress(ValueError):  # it may have been told just before
            opt.study.expire(trial)
        raise
