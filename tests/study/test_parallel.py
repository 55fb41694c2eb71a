"""Ten workers at once: nothing is lost or doubled, every duel stays on one worker, and little is paid for it."""

import heapq
import json
import os
import random
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from parallel_harness import WORKERS, World, work

import equipoise as eq

HARNESS = Path(__file__).with_name("parallel_harness.py")
READINGS = 400
SEEDS = range(8)
ALLOWED = 1.5
"""Six reruns of the 8 problems with other noise had ratios of 1.08 on average, with a scatter of 0.15."""

ALLOWED_OF_FOUR = 1.5
"""Ten reruns of the first 4, against the same sequential ones: 0.92, with a scatter of 0.09."""

ALLOWED_OF_TWO = 2.2
"""The same of the first 2, 16 reruns: 0.81, with a scatter of 0.33, at most 1.66; random settings pay 2.7."""


def simulated(seed, workers):
    """Mean regret of a run in simulated time: each worker's readings take a random time, one in twenty fails."""
    world, rng = World(seed), random.Random(seed)
    opt, queue = world.study(), []
    for w in range(workers):
        heapq.heappush(queue, (rng.expovariate(1), w, opt.ask(worker=f"laser-{w}")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.DuelGivenUp)
        while opt.readings < READINGS:
            t, w, trial = heapq.heappop(queue)
            if rng.random() < 0.05:
                opt.tell(trial, failed="beam lost")
            else:
                opt.tell(trial, world.read(trial.x, w, t, rng))
            heapq.heappush(queue, (t + rng.expovariate(1), w, opt.ask(worker=f"laser-{w}")))
    return world.regret(opt)


@pytest.fixture(scope="module")
def sequential():
    """Mean regret of one worker, by seed."""
    return {seed: simulated(seed, 1) for seed in SEEDS}


def check_integrity(path, acknowledged):
    """Nothing lost, nothing doubled, every duel on one worker; in the file itself, not by the library."""
    events = [json.loads(line) for line in path.read_text().splitlines()][1:]
    told = [event["tell"] for event in events if "tell" in event]
    failed = [event["fail"] for event in events if "fail" in event]
    assert len(set(told)) == len(told)
    assert not set(told) & set(failed)
    assert len(set(acknowledged)) == len(acknowledged)
    assert set(acknowledged) <= set(told)
    asked = [event for event in events if "ask" in event]
    assert [event["duel"] for event in asked] == list(range(len(asked)))
    owner = {event["ask"] + k: event["worker"] for event in asked for k in range(len(event["measure"]))}
    out = set()
    for event in events:  # a trial is out with one worker at a time, and always with the same one
        match event:
            case {"ask": i, "worker": worker} | {"hand": i, "worker": worker}:
                assert owner[i] == worker
                assert i not in out
                out.add(i)
            case {"tell": i} | {"fail": i} | {"expire": i}:
                out.remove(i)
    return told


def test_ten_workers_pay_little_in_regret(sequential):
    """Paired by problem, over 8 of them; what is paid is the start, when ten duels are fought with no result known."""
    parallel = np.array([simulated(seed, WORKERS) for seed in SEEDS])
    alone = np.array([*sequential.values()])
    assert parallel.mean() < ALLOWED * alone.mean(), (parallel.mean(), alone.mean())


def threads(world, opt, readings):
    """Let ten threads work on one optimizer; return the trials acknowledged."""
    told, errors = [], []

    def run(w):
        try:
            work(world, opt, w, readings, random.Random(w), told.append)
        except BaseException as error:
            errors.append(error)

    herd = [threading.Thread(target=run, args=(w,)) for w in range(WORKERS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.DuelGivenUp)
        for thread in herd:
            thread.start()
        for thread in herd:
            thread.join()
    assert not errors
    return told


def test_ten_threads_on_one_log(tmp_path):
    world = World(0)
    opt = world.study(log=tmp_path / "study.jsonl")
    told = threads(world, opt, 200)
    assert sorted(check_integrity(opt.study.log, told)) == sorted(told)
    assert len(told) == opt.readings
    again = eq.resume(opt.study.log)
    assert repr(again.records()) == repr(opt.records())
    assert repr(again.recommend()) == repr(opt.recommend())


def test_ten_threads_pay_little_in_regret(sequential):
    regrets, seeds = [], list(SEEDS)[:4]
    for seed in seeds:
        world = World(seed)
        opt = world.study()
        threads(world, opt, READINGS)
        regrets.append(world.regret(opt))
    assert np.mean(regrets) < ALLOWED_OF_FOUR * np.mean([sequential[seed] for seed in seeds])


def test_ten_processes_on_one_log(tmp_path, sequential):
    memory = Path("/dev/shm")  # many processes wait for one disk: in memory, where there is such a place
    regrets, seeds = [], list(SEEDS)[:2]
    for seed in seeds:
        path = (memory if memory.is_dir() else tmp_path) / f"equipoise-{os.getpid()}-{seed}.jsonl"
        try:
            command = [sys.executable, HARNESS, path, str(READINGS), str(seed)]
            env = os.environ | {"OMP_NUM_THREADS": "1"}
            run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
            assert run.returncode == 0, run.stderr
            result = json.loads(run.stdout)
            assert set(result["statuses"]) == {0}, run.stderr
            told = check_integrity(path, result["acknowledged"])
            assert READINGS <= len(told) <= READINGS + WORKERS
            assert len(told) - len(result["acknowledged"]) <= 3  # killed between the disk and the pipe
            regrets.append(result["regret"])
        finally:
            for name in (path, path.with_name(path.name + ".lock")):
                name.unlink(missing_ok=True)
    assert np.mean(regrets) < ALLOWED_OF_TWO * np.mean([sequential[seed] for seed in seeds])
