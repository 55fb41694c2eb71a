"""`run` on an executor: threads, processes, a dask cluster. Nothing is lost or doubled if a process dies."""

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import equipoise as eq
from equipoise.offsets import SLOT
from equipoise.runners import on_executor
from equipoise.runners.on_executor import measure_all, worker_name

SPACE = eq.Space(q=eq.Float(0, 1))
STEADY = eq.offsets.Steady()


def hill(x):
    return -((x["q"] - 0.3) ** 2)


def hill_of_a_process(x):
    """Each process has its own offset."""
    return hill(x) + 10.0 * (os.getpid() % 7)


def dies_once(x, mark):
    """End the process that comes to the upper half first."""
    if x["q"] > 0.5:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return hill(x)
        os._exit(1)
    return hill(x)


class DiesOnce:
    def __init__(self, mark):
        self.mark = str(mark)

    def __call__(self, x):
        return dies_once(x, self.mark)


def whole(opt, readings):
    """Whether every trial was told once and nothing is open; both halves of a duel were told."""
    records = [record for record in opt.records() if record.value is not None]
    assert opt.readings == len(records) >= readings
    assert opt.study.open_trials == ()
    assert len({record.trial for record in records}) == len(records)
    assert {record.worker[: len(SLOT)] for record in records} == {SLOT}
    return Counter(record.duel for record in records)


def test_processes_measure_and_a_pair_stays_on_one(tmp_path):
    opt = eq.Optimizer(SPACE, log=tmp_path / "study.jsonl", rng=0)
    with ProcessPoolExecutor(3) as executor:
        best = opt.run(hill_of_a_process, readings=36, executor=executor, blocks=True)
    assert set(whole(opt, 36).values()) == {2}
    halves = {}
    for record in opt.records():
        halves.setdefault(record.duel, set()).add(record.block)
    assert all(len(blocks) == 1 for blocks in halves.values())  # both by one process
    assert 1 < len(set.union(*halves.values())) <= 3
    assert abs(best.x["q"] - 0.3) < 0.2
    assert eq.resume(tmp_path / "study.jsonl").readings == opt.readings


def test_workers_without_an_offset_of_their_own_are_no_blocks():
    opt = eq.Optimizer(SPACE, rng=0)
    with ThreadPoolExecutor(2) as executor:
        opt.run(hill, readings=8, executor=executor)
    assert {record.block for record in opt.records()} == {None}


def test_a_study_with_seeds_hands_them_to_the_workers():
    """Both halves of a pair are measured under one seed, by one worker."""
    opt = eq.Optimizer(SPACE, seeds=[3, 5, 8], rng=0)
    with ThreadPoolExecutor(2) as executor:
        opt.run(lambda x, seed: hill(x) + 10.0 * seed, readings=16, executor=executor)
    assert opt.readings >= 16
    records = [record for record in opt.records() if record.value is not None]
    assert {round(record.value / 10) for record in records} <= {3, 5, 8}
    assert opt.study.open_trials == ()


def test_several_numbers_come_from_the_workers():
    opt = eq.Optimizer(SPACE, objective="light", limits=["heat <= 0.9"], rng=0)
    with ThreadPoolExecutor(2) as executor:
        best = opt.run(lambda x: {"light": hill(x), "heat": x["q"]}, readings=16, executor=executor)
    assert set(whole(opt, 16).values()) == {2}
    assert best.x["q"] <= 0.9


class Recording(ThreadPoolExecutor):
    """Writes down how many readings were told when it was given a task, and how many settings the task has."""

    def __init__(self, opt, workers):
        super().__init__(workers)
        self.opt, self.given = opt, []

    def submit(self, fn, *args):
        self.given.append((self.opt.readings, len(args[1])))
        return super().submit(fn, *args)


@pytest.mark.parametrize(
    ("options", "blocks", "size"),
    [
        ({}, None, 2),
        ({}, True, 2),
        ({}, False, 1),
        ({"offset": eq.offsets.Steady()}, None, 1),
        ({"seeds": True}, None, 1),
    ],
)
def test_halves_part_only_if_no_worker_has_an_offset(options, blocks, size):
    opt = eq.Optimizer(SPACE, rng=0, **options)
    with Recording(opt, 4) as executor:
        opt.run(lambda x, *seed: hill(x), readings=24, executor=executor, blocks=blocks)
    assert {each for _, each in executor.given} == {size}
    told = Counter(record.duel for record in opt.records() if record.value is not None)
    assert set(told.values()) <= ({2} if "seeds" not in options else {1, 2})
    assert opt.readings == sum(told.values()) >= 24
    assert opt.study.open_trials == ()


def test_nothing_waits_at_the_executor_before_the_first_answer():
    opt, hold = eq.Optimizer(SPACE, rng=0), threading.Barrier(4, timeout=60)

    def measure(x):
        if opt.readings == 0 and not hold.broken and len(executor.given) <= 4:
            hold.wait()
        return hill(x)

    with Recording(opt, 4) as executor:
        opt.run(measure, readings=24, executor=executor)
    assert [told for told, _ in executor.given].count(0) == 4


@pytest.mark.parametrize(("gathering", "told"), [(1e6, [0, 0, 4]), (0.0, [0, 0, 2])])
def test_answers_that_come_together_are_told_before_more_is_asked(gathering, told, monkeypatch):
    monkeypatch.setattr(on_executor, "GATHERING", gathering)
    opt, given, third = eq.Optimizer(SPACE, rng=0), [], threading.Event()

    class Staggered:
        """The second task ends a little later than the first, or after the third was given."""

        def submit(self, fn, *args):
            given.append(opt.readings)
            future = Future()
            if len(given) == 3:
                third.set()
            if len(given) == 2:
                later = threading.Thread(target=lambda: (third.wait(0.05 if gathering else 60), end()))
                end = lambda: future.set_result(fn(*args))  # noqa: E731
                later.start()
            else:
                future.set_result(fn(*args))
            return future

    opt.run(hill, readings=8, executor=Staggered(), workers=2)
    assert given[:3] == told


def test_a_half_that_is_lost_is_measured_again_and_the_other_half_is_not():
    class LosesOne(ThreadPoolExecutor):
        lost = 0

        def submit(self, fn, *args):
            if not self.lost and opt.readings:
                self.lost = 1
                future = Future()
                future.set_exception(OSError("gone"))
                return future
            return super().submit(fn, *args)

    opt, calls = eq.Optimizer(SPACE, rng=0), []

    def measure(x):
        calls.append(x["q"])
        return hill(x)

    with LosesOne(3) as executor:
        opt.run(measure, readings=20, executor=executor, blocks=False)
    assert executor.lost
    assert set(whole(opt, 20).values()) == {2}
    assert len(calls) == opt.readings


def test_a_process_that_dies_breaks_its_pool_and_not_the_study(tmp_path):
    opt, measure = eq.Optimizer(SPACE, rng=0), DiesOnce(tmp_path / "died")
    with ProcessPoolExecutor(2) as executor, pytest.raises(RuntimeError, match="`executor` is broken"):
        opt.run(measure, readings=24, executor=executor)
    assert opt.study.open_trials == ()
    with ProcessPoolExecutor(2) as executor:
        opt.run(measure, readings=24, executor=executor)
    assert set(whole(opt, 24).values()) == {2}


def test_a_dask_cluster_goes_on_when_workers_are_killed():
    distributed = pytest.importorskip("distributed")
    opt, killed = eq.Optimizer(SPACE, rng=0), []
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())

        def kill():
            """Kill one worker, and then the other, while they measure."""
            for wanted, pid in zip((4, 12), pids, strict=True):
                while opt.readings < wanted:
                    time.sleep(0.01)
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        def measure(x):
            time.sleep(0.05)
            return hill_of_a_process(x)

        killer = threading.Thread(target=kill)
        killer.start()
        opt.run(measure, readings=24, executor=client.get_executor(), workers=2, blocks=True)
        killer.join()
    assert killed == pids
    assert set(whole(opt, 24).values()) == {2}
    measured = {int(record.block.rsplit("-", 1)[1]) for record in opt.records()}
    assert measured & set(pids)
    assert measured - set(pids)  # what was started in their place


@pytest.mark.filterwarnings("ignore::equipoise.DuelGivenUp")
def test_what_fails_is_told_as_failed_and_other_errors_stop_the_run():
    opt, calls = eq.Optimizer(SPACE, rng=0), []

    def measure(x):
        calls.append(x)
        if len(calls) == 3:
            raise TimeoutError("beam lost")
        if len(calls) > 9:
            raise ZeroDivisionError
        return hill(x)

    with ThreadPoolExecutor(1) as executor, pytest.raises(ZeroDivisionError):
        opt.run(measure, readings=20, executor=executor, failures=(TimeoutError,))
    assert [record.failed for record in opt.records() if record.failed] == ["beam lost"]
    assert opt.study.open_trials == ()
    with ThreadPoolExecutor(1) as executor:  # those that were not measured wait, and come first
        opt.run(hill, readings=12, executor=executor)
    assert all(record.value is not None or record.failed for record in opt.records()[:12])


def test_what_is_no_reading_is_refused_and_its_trial_waits():
    opt = eq.Optimizer(SPACE, rng=0)
    with ThreadPoolExecutor(2) as executor, pytest.raises((TypeError, ValueError), match="`value` must be"):
        opt.run(lambda x: "bright", readings=8, executor=executor)
    assert (opt.readings, opt.study.open_trials) == (0, ())
    with ThreadPoolExecutor(2) as executor:
        opt.run(hill, readings=8, executor=executor)
    assert set(whole(opt, 8).values()) == {2}


def test_a_reading_that_never_comes_is_asked_for_again():
    opt, hung, release = eq.Optimizer(SPACE, rng=0), [], threading.Event()

    def measure(x):
        if not hung:
            hung.append(x)
            release.wait(60)
            return 1e6  # too late: it must not be told
        return hill(x)

    with ThreadPoolExecutor(2) as executor:
        opt.run(measure, readings=8, executor=executor, timeout=0.2)
        release.set()
    whole(opt, 8)
    assert max(record.value for record in opt.records()) < 1
    assert hung[0] in [record.x for record in opt.records()]


def test_ctrl_c_loses_nothing():
    opt, calls = eq.Optimizer(SPACE, rng=0), []

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args, **kwargs):
            calls.append(args)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return super().submit(*args, **kwargs)

    with Interrupted(2) as executor, pytest.raises(KeyboardInterrupt):
        opt.run(hill, readings=12, executor=executor)
    assert opt.study.open_trials == ()
    with ThreadPoolExecutor(2) as executor:
        opt.run(hill, readings=12, executor=executor)
    assert set(whole(opt, 12).values()) == {2}


def test_what_a_killed_driver_has_left_is_measured_by_the_next(tmp_path):
    path = tmp_path / "study.jsonl"
    left = eq.Optimizer(SPACE, log=path, rng=0).ask(worker=f"{SLOT}0")  # and the driver is gone
    opt = eq.resume(path)
    assert opt.study.open_trials == (left.id,)
    with ThreadPoolExecutor(2) as executor:
        opt.run(hill, readings=6, executor=executor)
    assert left.id in {record.trial for record in opt.records() if record.value is not None}
    assert set(whole(opt, 6).values()) == {2}


def test_an_executor_that_loses_every_task_is_given_up():
    class Losing:
        def submit(self, *args):
            future = Future()
            future.set_exception(OSError("gone"))
            return future

    opt = eq.Optimizer(SPACE, rng=0)
    with pytest.raises(RuntimeError, match=r"`executor` has lost 7 tasks in a row, the last one by OSError, gone"):
        opt.run(hill, readings=6, executor=Losing(), workers=2)
    assert opt.study.open_trials == ()


def test_what_cannot_be_is_refused():
    opt = eq.Optimizer(SPACE, rng=0)
    with pytest.raises(ValueError, match="`workers` must be the number of settings"):
        opt.run(hill, readings=6, executor=object())
    with pytest.raises(ValueError, match="`workers` must be"), ThreadPoolExecutor(1) as executor:
        opt.run(hill, readings=6, executor=executor, workers=0)
    with pytest.raises(ValueError, match="`workers`, `timeout` and `blocks` are of an `executor`"):
        opt.run(hill, readings=6, workers=2)
    with pytest.raises(TypeError, match="`executor` must have a method `submit`"):
        opt.run(hill, readings=6, executor="pool", workers=2)
    for timeout, error in ((-1.0, ValueError), (0, ValueError), ("2", TypeError)):
        with pytest.raises(error, match="`timeout` must be"), ThreadPoolExecutor(1) as executor:
            opt.run(hill, readings=6, executor=executor, timeout=timeout)
    with pytest.raises(ValueError, match="`executor` must come with `readings`"), ThreadPoolExecutor(1) as executor:
        opt.run(lambda first, second: "first", judgements=6, executor=executor)
    assert opt.readings == 0


def test_a_task_says_who_measured_and_what_went_wrong():
    worker, found, error = measure_all(lambda x: 1 / x, [(1,), (2,), (0,), (4,)], ())
    assert (worker, [each.value for each in found]) == (worker_name(), [1.0, 0.5])
    assert isinstance(error, ZeroDivisionError)
