"""The cost of a fleet: learners in one array program and one by one, live ones by name, and millions in compiled code.

    python benchmarks/fleet.py                                                          all parts, small, on a processor
    python benchmarks/fleet.py --part million candidates --device cuda --learners 1000000 --readings 10000
    python benchmarks/fleet.py --part growth --picture docs/images/performance.png

parts
    paper        processor time per reading of the paper's learners, fleet beside one by one, as a ratio
    live         10,000 named learners, asked and told once
    million      linear IDS-two in compiled rounds (nvcc or g++); rounds/s, share of the memory bandwidth, and the
                 regret beside that of the array program in double precision
    candidates   one learner on many candidates: a round of IDS, to choose and to learn (NumPy, or torch and
                 array-api-compat with --device cuda)
    growth       the cost of a round by learners, candidates, features and readings, as a picture

Times are processor times of one thread, or wall-clock times of the device.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from compiled import CompiledDuels
from growth import ACTIONS, FEATURES, growth, sphere, unit_actions
from numpy.random import SeedSequence

import equipoise as eq
from equipoise.belief.arrays import namespace, pick
from equipoise.lab.environments import Drift, linear
from equipoise.lab.fleet import Beliefs, Blueprint, Fleet, SharedCoins, Worlds, simulate
from equipoise.lab.fleet.array_math import placed
from equipoise.lab.fleet.covariances import FeatureCovariances

CURVE = 200
"""Points of a regret curve; as many launches."""

FLOATS_A_LAUNCH = ACTIONS * FEATURES + FEATURES + 2 * (FEATURES + FEATURES * (FEATURES + 1) // 2 + 4)
"""Numbers of a learner that one launch reads and writes: actions, parameter, and the state both ways."""


# --- paper: fleet beside one by one -------------------------------------------------------------------------------


def paper(repetitions: int = 50, readings: int = 500) -> None:
    from equipoise.lab.experiments.figures import FIGURES
    from equipoise.lab.experiments.reports import markdown

    rows = []
    for figure, n in ((FIGURES["linear"], readings), (FIGURES["camelback"], readings // 2)):
        cells = figure.experiments(readings=n, engine="fleet")
        fleet = together(list(cells.values()), repetitions)
        for name in figure.learners + figure.thin:
            plan = replace(cells[figure.panels[-1], name], engine="one-by-one").plan
            alone = 1e6 * statistics.median(plan.run(i).cpu_seconds for i in range(3)) / n
            rows.append([figure.function, name, f"{alone:.0f}", f"{fleet[name]:.1f}", f"{alone / fleet[name]:.0f}"])
    print(markdown(["function", "learner", "one by one, us/reading", "as a figure runs it", "times faster"], rows))


def together(experiments: list[Any], repetitions: int) -> dict[str, float]:
    """Return microseconds of processor time a reading by learner, in the batches that two workers would share."""
    from equipoise.lab.experiments.batches import divided

    spent: dict[str, float] = defaultdict(float)
    for batch in divided([(experiment, i) for experiment in experiments for i in range(repetitions)], workers=2):
        start = time.process_time()
        batch.run()
        spent[batch.runs[0][0].experiment.learner] += time.process_time() - start
    taken: Counter[str] = Counter()
    for experiment in experiments:
        taken[experiment.learner] += repetitions * experiment.readings
    return {name: 1e6 * spent[name] / taken[name] for name in spent}


# --- live ---------------------------------------------------------------------------------------------------------


def live(learners: int = 10_000, repeats: int = 20) -> None:
    blueprint = Blueprint(sphere(ACTIONS, FEATURES), eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
    fleet, rng = Fleet([f"device {i}" for i in range(learners)], blueprint, rng=0), np.random.default_rng(1)
    names, times = list(fleet.names), []
    for _ in range(repeats):
        noise = rng.standard_normal(learners)
        start = time.process_time()
        fleet.tell(fleet.ask(names)[:, 0] + noise, names)
        times.append(1e3 * (time.process_time() - start))
    print(f"live: {learners:,} asks and tells in {statistics.median(times):.1f} ms, at most {max(times):.1f} ms")


# --- million ------------------------------------------------------------------------------------------------------


def million(device: str, learners: int, readings: int, blocks: int | None = None) -> None:
    X, truth = unit_actions(device, learners)
    defines: dict[str, Any] = {} if blocks is None or device == "cpu" else {"BLOCKS": blocks}
    wait, stream = _waiting(device)
    CompiledDuels.on(X, truth, Drift(), seed=1, **defines).play(1, stream=stream)  # builds, loads and warms up
    wait()
    duels = CompiledDuels.on(X, truth, Drift(), seed=0, **defines)
    rounds, launches = readings // 2, min(CURVE, readings // 2)
    ends = [rounds * (i + 1) // launches for i in range(launches)]
    curve, start, begin = [], time.perf_counter(), 0
    for end in ends:
        curve.append(float(duels.play(end - begin, begin=begin, stream=stream).mean()))
        begin = end
    wait()
    seconds = time.perf_counter() - start
    _report(device, learners, rounds, launches, seconds)
    _agree(X, ends, curve, duels)


def _report(device: str, learners: int, rounds: int, launches: int, seconds: float) -> None:
    print(f"million: {learners:,} learners x {2 * rounds:,} readings on {device} in {seconds:.2f} s")
    each, a_round = seconds / rounds, 4 * learners * FLOATS_A_LAUNCH
    print(f"  {learners * rounds / seconds:.3g} rounds/s, {1e3 * each:.3f} ms a round of two readings of all learners")
    peak = _bandwidth(device)
    moved = a_round * launches / seconds
    print(f"  {moved / 1e9:.1f} GB/s moved, {moved / peak:.1%} of the {peak / 1e9:.0f} GB/s that a copy reaches here")
    bound = a_round / peak
    times = f"{1e3 * bound:.3f} ms for that, {each / bound:.2f} times as long as which this takes"
    print(f"  a program that reads and writes its state in each round needs {times}")


def _agree(X: Any, ends: list[int], curve: list[float], duels: CompiledDuels) -> None:
    """Print the regret beside that of the array program in double precision, over as many rounds as it affords."""
    few, rounds = min(2000, X.shape[-1]), min(ends[-1], 500)
    at = max(i for i, end in enumerate(ends) if end <= max(rounds, ends[0]))
    exact = [linear(rng=i) for i in range(few)]
    blueprint = Blueprint(np.array([f.points for f in exact]), eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
    worlds = Worlds(exact, Drift(), 1.0, [SeedSequence((1, i)) for i in range(few)])
    courses = simulate(blueprint, worlds, 2 * ends[at], rng=0)
    paid = np.array([course.regrets.sum() for course in courses])
    error = 2 * paid.std(ddof=1) / math.sqrt(few)
    spread = 2 * float(duels.regret.std()) / math.sqrt(X.shape[-1])
    theirs = f"the array program's {paid.mean():.2f} ± {error:.2f}"
    print(f"  regret after {2 * ends[at]:,} readings {curve[at]:.2f}; {theirs}")
    print(f"  regret at the end {curve[-1]:.2f} ± {spread:.2f}")


def _waiting(device: str) -> tuple[Callable[[], object], int]:
    """Return what waits for the device, and the stream to launch on."""
    if device == "cpu":
        return (lambda: None), 0
    import torch

    return torch.cuda.synchronize, int(torch.cuda.current_stream().cuda_stream)


def _bandwidth(device: str) -> float:
    """Return the bytes a second that a large copy reads and writes."""
    if device == "cpu":
        source = np.zeros(2**25, dtype=np.float32)
        target = np.zeros_like(source)
        return _copied(lambda: np.copyto(target, source), lambda: None, source.nbytes)
    import torch

    tensor = torch.zeros(2**29, device=device)
    other = torch.zeros_like(tensor)
    return _copied(lambda: other.copy_(tensor), torch.cuda.synchronize, 4 * tensor.numel())


def _copied(copy: Callable[[], object], wait: Callable[[], object], size: int, repeats: int = 10) -> float:
    copy()
    wait()
    start = time.perf_counter()
    for _ in range(repeats):
        copy()
    wait()
    return 2 * size * repeats / (time.perf_counter() - start)


# --- candidates ---------------------------------------------------------------------------------------------------


def candidates(device: str, count: int, features: int, rounds: int = 20) -> None:
    try:
        milliseconds = _candidate_round(device, count, features, rounds)
    except ImportError as error:
        print(f"candidates: skipped, {error}")
        return
    bound = 1e3 * 2 * 4 * count * features / _bandwidth(device)
    print(f"candidates: {count:,} with {features} features on {device}: {milliseconds:.2f} ms a round, two passes")
    print(f"  over the features alone need {bound:.2f} ms")


def _candidate_round(device: str, count: int, features: int, rounds: int) -> float:
    """Return the median milliseconds of a round: choose by IDS, learn from the pair."""
    X, wait = _candidate_features(device, count, features), _waiting(device)[0]
    xp = namespace(X)
    ones = xp.ones((1,), dtype=X.dtype, **placed(X))
    eye = xp.eye(features, dtype=X.dtype, **placed(X))[None, ...]
    variance, counts = xp.sum(X * X, axis=-1)[None, :], xp.zeros((1,), dtype=xp.int64, **placed(X))
    settings = 1.0, eq.PaperConfidence(), features
    beliefs = Beliefs(0 * variance, variance, FeatureCovariances(X, eye), 0 * ones, counts, *settings)
    blueprint = Blueprint(np.zeros((1, features)), eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
    coins, times = SharedCoins(np.random.default_rng(0)), []
    for _ in range(rounds):
        start = time.perf_counter()
        duels = blueprint.propose(beliefs, coins)
        y = xp.stack([pick(variance, duels.points[:, k]) for k in range(2)], axis=-1)
        beliefs = blueprint.learn(beliefs, duels, y)
        wait()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[rounds // 4 :])


def _candidate_features(device: str, count: int, features: int) -> Any:
    if device == "cpu":
        drawn = np.random.default_rng(0).standard_normal((count, features), dtype=np.float32)
        return drawn / math.sqrt(features)
    import torch

    torch.manual_seed(0)
    return torch.randn((count, features), device=device) / math.sqrt(features)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["paper", "live", "million", "candidates", "growth"]
    parser.add_argument("--part", nargs="+", choices=parts, help="what to measure; all but growth by default")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--learners", type=int, default=20_000, help="of the part million")
    parser.add_argument("--readings", type=int, default=1_000, help="of the part million")
    parser.add_argument("--candidates", type=int, help="1,000,000 on cuda, 20,000 on cpu by default")
    parser.add_argument("--features", type=int, help="512 on cuda, 64 on cpu by default")
    parser.add_argument("--blocks", type=int, help="blocks a multiprocessor, to tune the kernel; 3 by default")
    parser.add_argument("--picture", default="docs/images/performance.png", help="of the part growth")
    args = parser.parse_args()
    cuda = args.device == "cuda"
    chosen = args.part or (["million", "candidates"] if cuda else parts[:-1])
    sizes = args.candidates or (1_000_000 if cuda else 20_000), args.features or (512 if cuda else 64)
    run: dict[str, Callable[[], None]] = {
        "paper": paper,
        "live": live,
        "million": lambda: million(args.device, args.learners, args.readings, args.blocks),
        "candidates": lambda: candidates(args.device, *sizes),
        "growth": lambda: growth(args.picture),
    }
    for part in chosen:
        run[part]()


if __name__ == "__main__":
    main()
