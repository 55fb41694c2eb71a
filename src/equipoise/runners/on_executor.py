"""Measuring on many machines at once: one driver asks and tells, any `concurrent.futures.Executor` measures.

    slot       a name under which the driver asks; each slot has at most one open duel
    task       the settings of one duel, measured one after the other by one worker, whose offset then cancels; or one
               of them, if no worker has an offset
    ahead      tasks that wait at the executor, so that no worker is idle while the driver computes

The driver alone writes the log. A task that is lost, with its worker or by a timeout, is retracted and measured again;
its late result is ignored. So nothing is lost and nothing is counted twice.
"""

import math
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from equipoise import _validation as check
from equipoise.data import Trial
from equipoise.offsets import SLOT
from equipoise.runners.user_function import Asking, Failures, reason, taken

AHEAD = 0.125
"""Number of waiting tasks, in units of the workers: a worker that finishes does not wait for the driver. There are
none before the first answer, since nothing is known until then."""

GATHERING = 0.1
"""Share of a task's time for which the driver waits for further results while fewer trials were told than are open:
the next questions then use these results. It reduced the regret of 16 workers at
160 readings by an eighth (four functions, four seeds each; benchmarks/crowd.py)."""

MOST_LOST = 3
"""Lost tasks per worker, with no success in between, after which the executor is considered broken."""

WHOLE = "the study is whole, call `run` again with another one"


@dataclass(frozen=True, slots=True)
class Measured:
    """The report of a worker on one setting; a measuring function may return one instead of its reading.

    Attributes:
        value: The reading, if there is one.
        failed: The reason for a failed measurement.
        x: The setting that was really measured, if it differs from the requested one.
    """

    value: Any = None
    failed: str | None = None
    x: Any = None


Answered = tuple[str, list[Measured], BaseException | None]
"""The name of the worker, its reports, and the error that ended the task, if any."""


def measure_all(measure: Callable[..., Any], questions: Sequence[tuple[Any, ...]], failures: Failures) -> Answered:
    """Measure settings one after the other, in a worker; return errors, so that they differ from a lost worker.

    Args:
        measure: Takes a setting, and the seed if there are seeds, and returns its reading.
        questions: The argument of `measure` for each trial of one duel, in their order.
        failures: Exceptions that mean that there is no reading.
    """
    found: list[Measured] = []
    for question in questions:
        try:
            value = measure(*question)
            found.append(value if isinstance(value, Measured) else Measured(value))
        except failures as problem:
            found.append(Measured(failed=reason(problem)))
        except Exception as error:
            return worker_name(), found, error
    return worker_name(), found, None


def worker_name() -> str:
    """Return a name for the measuring process: its machine and its process number."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(slots=True)
class Task:
    """A duel that is being measured.

    Attributes:
        slot: The slot of the duel.
        trials: Its trials.
        since: The time when the executor received it, in seconds.
    """

    slot: str
    trials: list[Trial]
    since: float

    @property
    def ids(self) -> list[int]:
        """The numbers of its trials."""
        return [trial.id for trial in self.trials]


class OnExecutor:
    """A driver that keeps an executor busy with the duels of a study.

    Args:
        opt: The optimizer.
        executor: The executor that measures: processes, a dask, ray or MPI cluster, threads.
        measure: Takes a setting, and the seed if there are seeds, and returns its reading; it is sent to the workers.
        workers: Maximum number of tasks that are measured at once.
        failures: Exceptions that mean that there is no reading.
        context: The value of each context of the space, or a function that returns it.
        timeout: Seconds, for each of its settings, after which a task is retracted; never by default.
        blocks: Whether each worker has a separate offset: its readings then belong to a block of its name. If it is
            `False`, or `None` under a law without drift, two workers measure the settings of a duel at once.
    """

    def __init__(
        self,
        opt: Asking,
        executor: Executor,
        measure: Callable[..., Any],
        workers: int,
        failures: Failures = (),
        context: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        blocks: bool | None = None,
    ) -> None:
        self._opt, self._executor, self._measure = opt, executor, measure
        self._workers, self._failures, self._context = workers, failures, context
        self._timeout = math.inf if timeout is None else check.positive("timeout", timeout)
        self._blocks = bool(blocks)
        self._apart = blocks is False or (blocks is None and opt.study.setup.offset.timeless)
        self._tasks: dict[Future[Answered], Task] = {}
        self._slots = [f"{SLOT}{k}" for k in range(workers + max(1, math.ceil(AHEAD * workers)))]
        self._lost = 0

    def run(self, readings: float, reached: Callable[[], bool] = lambda: False) -> None:
        """Measure until the study has a given number of readings, or has reached its bound.

        In any case, open trials are requeued in the end.
        """
        from tqdm import tqdm

        self._take_back(self._left_open())
        try:
            with tqdm(total=readings, initial=self._opt.readings, unit="reading", disable=None) as bar:
                while self._opt.readings < readings and not reached():
                    self._hand_out(readings)
                    self._collect()
                    bar.update(self._opt.readings - bar.n)
        finally:
            for future in self._tasks:
                future.cancel()
            self._take_back([i for task in self._tasks.values() for i in task.ids])
            self._tasks.clear()

    @property
    def _out(self) -> int:
        """The number of trials at the executor."""
        return sum(len(task.trials) for task in self._tasks.values())

    def _hand_out(self, readings: float) -> None:
        """Submit tasks until the executor is full, but no more than are still needed."""
        most = len(self._slots) if self._opt.readings else self._workers
        while len(self._tasks) < most and self._opt.readings + self._out < readings:
            busy = {task.slot for task in self._tasks.values()}
            slot = next(slot for slot in self._slots if slot not in busy)
            context = self._context() if callable(self._context) else self._context
            trials = self._ask_duel(slot, context)
            for k, part in enumerate(parts := [[trial] for trial in trials] if self._apart else [trials]):
                self._submit(Task(slot, part, time.monotonic()), [trial.id for left in parts[k:] for trial in left])

    def _submit(self, task: Task, asked: Sequence[int]) -> None:
        """Submit a task; if the executor refuses it, requeue the trials that were asked and are not at the executor."""
        questions = [taken(trial) for trial in task.trials]
        try:
            future = self._executor.submit(measure_all, self._measure, questions, self._failures)
        except BaseException as error:
            self._take_back(asked)
            if isinstance(error, BrokenExecutor):
                raise RuntimeError(f"`executor` is broken ({error}): {WHOLE}") from error
            raise
        self._tasks[future] = task

    def _ask_duel(self, slot: str, context: Mapping[str, Any] | None) -> list[Trial]:
        """Return all trials of the next duel of a slot; a duel that waits for the slot comes first."""
        first = self._opt.ask(worker=slot, context=context)
        (record,) = self._opt.records(aside=False, trials=[first.id])
        others = [first.id - record.position + 1 + k for k in range(record.positions) if k + 1 != record.position]
        known = self._opt.records(aside=False, trials=others) if others else []
        ended = sum(each.value is not None or each.failed is not None for each in known)
        return [first, *(self._opt.ask(worker=slot, context=context) for _ in range(len(others) - ended))]

    def _left_open(self) -> list[int]:
        """Return the trials that an earlier driver left open."""
        open_trials = self._opt.study.open_trials
        records = self._opt.records(aside=False, trials=open_trials) if open_trials else []
        return [record.trial for record in records if (record.worker or "").startswith(SLOT)]

    def _collect(self) -> None:
        """Wait until a task ends, and tell its results."""
        due = min((task.since + self._patience(task) for task in self._tasks.values()), default=math.inf)
        left = None if due == math.inf else max(due - time.monotonic(), 0.0)
        done, waiting = wait(self._tasks, left, FIRST_COMPLETED)
        if done and waiting and self._opt.readings < self._out:
            took = time.monotonic() - min(self._tasks[future].since for future in done)
            done, _ = wait(self._tasks, GATHERING * took)
        errors = [self._end(future) for future in done]  # all results are told, even if another task failed
        for error in errors:
            if error is not None:
                raise error
        now = time.monotonic()
        for future, task in list(self._tasks.items()):
            if now - task.since > self._patience(task):
                future.cancel()
                self._lose(self._tasks.pop(future), TimeoutError(f"no answer within {self._patience(task):.4g} s"))

    def _patience(self, task: Task) -> float:
        return self._timeout * len(task.trials)

    def _end(self, future: "Future[Answered]") -> BaseException | None:
        """Tell the results of a task, and return the error that ended it, if any; retract a lost task."""
        task = self._tasks[future]
        try:
            worker, found, error = future.result()
        except (Exception, CancelledError) as lost:
            self._lose(self._tasks.pop(future), lost)
            return None
        self._lost = 0
        for trial, measured in zip(task.trials, found, strict=False):
            block = worker if self._blocks and measured.failed is None else None
            try:
                self._opt.tell(trial, measured.value, x=measured.x, block=block, failed=measured.failed)
            except self._failures as problem:  # a refused value, such as NaN
                self._opt.tell(trial, failed=reason(problem))
        del self._tasks[future]
        self._take_back(task.ids)
        return error

    def _take_back(self, trials: Sequence[int]) -> None:
        """Requeue those of some trials that were not told, for their worker."""
        left = set(self._opt.study.open_trials)
        for i in reversed(trials):  # the first one is then at the front
            if i in left:
                self._opt.study.expire(i)

    def _lose(self, task: Task, why: BaseException) -> None:
        """Requeue a lost task; raise an error if tasks keep getting lost."""
        self._take_back(task.ids)
        self._lost += 1
        if self._lost > MOST_LOST * self._workers:
            message = f"`executor` has lost {self._lost} tasks in a row, the last one by {type(why).__name__}, {why}"
            raise RuntimeError(f"{message}: {WHOLE}") from why


def places(executor: Executor, workers: int | None) -> int:
    """Return how many tasks an executor can measure at once: the user's number, or its own.

    Args:
        executor: The executor.
        workers: The user's number.
    """
    known = getattr(executor, "_max_workers", None) if workers is None else workers
    if workers is None and not isinstance(known, int):
        raise ValueError("`workers` must be the number of settings this executor measures at once, got None")
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(f"`executor` must have a method `submit`, as those of concurrent.futures, got {executor!r}")
    return check.count("workers", known)
