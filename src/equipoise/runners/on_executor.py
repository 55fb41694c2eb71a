"""Measuring on many machines at once: one driver asks and tells, any `concurrent.futures.Executor` measures.

    slot       a name under which the driver asks: one duel at a time is out under it
    task       the settings of one duel, measured one after the other by one worker, whose offset then cancels; or one
               of them, if no worker has an offset
    ahead      tasks that wait at the executor, so that no worker is idle while the driver learns

The driver alone writes the log. A task that is lost, with its worker or by a timeout, is taken back and measured again;
what comes back of it later is ignored. So nothing is lost and nothing is counted twice.
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
"""Tasks that wait at the executor, in units of its workers: a worker that ends does not wait for the driver. There are
none before the first answer, since nothing is known then."""

GATHERING = 0.1
"""While less was told than is out, the driver waits for others that end this much later than a task, as a share of its
time: the next questions are then asked with their answers known. It took an eighth off the regret of 16 workers at
160 readings (four functions, four seeds each; benchmarks/crowd.py)."""

MOST_LOST = 3
"""If more tasks for each worker are lost, with none measured in between, the executor counts as broken."""

WHOLE = "the study is whole, call `run` again with another one"


@dataclass(frozen=True, slots=True)
class Measured:
    """The report of a worker on one setting; a function that measures may return one instead of its reading.

    Attributes:
        value: The reading, if there is one.
        failed: Why there is none, if the measurement failed.
        x: Where it was really measured, if that is not where it should have been.
    """

    value: Any = None
    failed: str | None = None
    x: Any = None


Answered = tuple[str, list[Measured], BaseException | None]
"""The worker, its reports on the settings it measured, and the error that ended the task, if one did."""


def measure_all(measure: Callable[..., Any], questions: Sequence[tuple[Any, ...]], failures: Failures) -> Answered:
    """Measure settings one after the other, in a worker; errors are returned, so that they differ from a lost worker.

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
    """Return a name for the process that measures: its machine and its number there."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(slots=True)
class Task:
    """A duel that is being measured.

    Attributes:
        slot: The slot it was asked for.
        trials: Its trials.
        since: When it was handed to the executor, in seconds.
    """

    slot: str
    trials: list[Trial]
    since: float

    @property
    def ids(self) -> list[int]:
        """The numbers of its trials."""
        return [trial.id for trial in self.trials]


class OnExecutor:
    """Keeps an executor busy with the duels of a study.

    Args:
        opt: The optimizer.
        executor: Where the settings are measured: processes, a dask, ray or MPI cluster, threads.
        measure: Takes a setting, and the seed if there are seeds, and returns its reading; it is sent to the workers.
        workers: How many tasks may be measured at once.
        failures: Exceptions that mean that there is no reading.
        context: The value of each context of the space, or a function that returns it.
        timeout: After this many seconds a task is taken back, for each of its settings; never by default.
        blocks: Whether each worker has its own offset: its readings then belong to a block of its name. If it is
            `False`, or `None` under a law by which nothing drifts, two workers measure the settings of a duel at once.
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
        self._timeout, self._blocks = math.inf if timeout is None else timeout, bool(blocks)
        self._apart = blocks is False or (blocks is None and opt.study.setup.offset.timeless)
        self._tasks: dict[Future[Answered], Task] = {}
        self._slots = [f"{SLOT}{k}" for k in range(workers + max(1, math.ceil(AHEAD * workers)))]
        self._lost = 0

    def run(self, readings: float, reached: Callable[[], bool] = lambda: False) -> None:
        """Measure until the study has a given number of readings, or has reached its bound.

        Whatever happens, open trials wait again.
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
        """How many trials are out."""
        return sum(len(task.trials) for task in self._tasks.values())

    def _hand_out(self, readings: float) -> None:
        """Give the executor as many tasks as it should have; no more than are still wanted."""
        most = len(self._slots) if self._opt.readings else self._workers
        while len(self._tasks) < most and self._opt.readings + self._out < readings:
            busy = {task.slot for task in self._tasks.values()}
            slot = next(slot for slot in self._slots if slot not in busy)
            context = self._context() if callable(self._context) else self._context
            trials = self._ask_duel(slot, context)
            for k, part in enumerate(parts := [[trial] for trial in trials] if self._apart else [trials]):
                self._submit(Task(slot, part, time.monotonic()), [trial.id for left in parts[k:] for trial in left])

    def _submit(self, task: Task, asked: Sequence[int]) -> None:
        """Give the executor a task; if it takes none, trials wait again: those that were asked and are not out."""
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
        """Return all trials of the next duel of a slot, and first those of a duel that wait for it."""
        first = self._opt.ask(worker=slot, context=context)
        (record,) = self._opt.records(aside=False, trials=[first.id])
        others = [first.id - record.position + 1 + k for k in range(record.positions) if k + 1 != record.position]
        known = self._opt.records(aside=False, trials=others) if others else []
        ended = sum(each.value is not None or each.failed is not None for each in known)
        return [first, *(self._opt.ask(worker=slot, context=context) for _ in range(len(others) - ended))]

    def _left_open(self) -> list[int]:
        """Return the trials that a former driver was given and that were never told."""
        open_trials = self._opt.study.open_trials
        records = self._opt.records(aside=False, trials=open_trials) if open_trials else []
        return [record.trial for record in records if (record.worker or "").startswith(SLOT)]

    def _collect(self) -> None:
        """Wait for a task that has ended, and tell what came of it."""
        due = min((task.since + self._patience(task) for task in self._tasks.values()), default=math.inf)
        left = None if due == math.inf else max(due - time.monotonic(), 0.0)
        done, waiting = wait(self._tasks, left, FIRST_COMPLETED)
        if done and waiting and self._opt.readings < self._out:
            took = time.monotonic() - min(self._tasks[future].since for future in done)
            done, _ = wait(self._tasks, GATHERING * took)
        errors = [self._end(future) for future in done]  # all that was measured is told, whatever ended another task
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
        """Tell what came of a task, and return the error that ended it, if any; a lost task is taken back."""
        task = self._tasks[future]
        try:
            worker, found, error = future.result()
        except (Exception, CancelledError) as lost:
            self._lose(self._tasks.pop(future), lost)
            return None
        self._lost = 0
        for trial, measured in zip(task.trials, found, strict=False):
            block = worker if self._blocks and measured.failed is None else None
            self._opt.tell(trial, measured.value, x=measured.x, block=block, failed=measured.failed)
        del self._tasks[future]
        self._take_back(task.ids)
        return error

    def _take_back(self, trials: Sequence[int]) -> None:
        """Let those of some trials that were not told wait again for their worker."""
        left = set(self._opt.study.open_trials)
        for i in reversed(trials):  # the first one waits in front
            if i in left:
                self._opt.study.expire(i)

    def _lose(self, task: Task, why: BaseException) -> None:
        """Measure a lost task again; stop with an error if tasks keep getting lost."""
        self._take_back(task.ids)
        self._lost += 1
        if self._lost > MOST_LOST * self._workers:
            message = f"`executor` has lost {self._lost} tasks in a row, the last one by {type(why).__name__}, {why}"
            raise RuntimeError(f"{message}: {WHOLE}") from why


def places(executor: Executor, workers: int | None) -> int:
    """Return how many tasks an executor can measure at once: as the user says, or as it says itself.

    Args:
        executor: The executor.
        workers: The user's number.
    """
    if workers is not None:
        return check.count("workers", workers)
    known = getattr(executor, "_max_workers", None)
    if not isinstance(known, int):
        raise ValueError("`workers` must be the number of settings this executor measures at once, got None")
    return known
