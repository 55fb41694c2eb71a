"""How often a comparison is wrong, and how soon it is right: simulated noise, and real processes under load.

    python benchmarks/compare.py noise [REPEATS]        coverage and power of each claim, simulated
    python benchmarks/compare.py load [REPEATS]         one program against itself while the load changes
    python benchmarks/compare.py power [REPEATS]        rounds until 2, 5 and 10 % are found, real processes
    python benchmarks/compare.py overhead               what measuring costs
    python benchmarks/compare.py picture                one program against itself, drawn: docs/images/compare-order.png

Everything is looked at after every round. `load` runs hyperfine too, where it is installed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats
from scipy.special import betaln

from equipoise._typing import FloatArray
from equipoise.answer.sequential import reach, wealth
from equipoise.plots.style import logarithmic
from equipoise.programs import Contest, Question
from equipoise.programs.commands.processes import Programs, RunOptions

ALPHA, ROUNDS, MOST, TRIM = 0.05, 200, 600, 0.2
EFFECTS = (0.02, 0.05, 0.10)

# --- noise: log times of two arms, shape (rounds, 2), in the order of measuring -----------------------------------


def normal(rng: Generator, n: int) -> FloatArray:
    return rng.normal(0, 0.05, (n, 2))


def lognormal(rng: Generator, n: int) -> FloatArray:
    return np.log1p(0.05 * rng.lognormal(0, 1, (n, 2)))


def t2(rng: Generator, n: int) -> FloatArray:
    return 0.03 * rng.standard_t(2, (n, 2))


def two_mode(rng: Generator, n: int) -> FloatArray:
    return 0.25 * (rng.random((n, 2)) < 0.2) + rng.normal(0, 0.02, (n, 2))


def throttling(rng: Generator, n: int) -> FloatArray:
    """Switches between two clocks about every 40 runs, also within a round."""
    slow = np.cumsum(rng.random(2 * n) < 1 / 40) % 2
    return 0.35 * slow.reshape(n, 2) + rng.normal(0, 0.03, (n, 2))


def ramping(rng: Generator, n: int) -> FloatArray:
    """Slows down by a third over the whole."""
    return np.linspace(0, 0.3, 2 * n).reshape(n, 2) + rng.normal(0, 0.03, (n, 2))


def bursts(rng: Generator, n: int) -> FloatArray:
    """A neighbor comes every 25 runs or so and stays for about 4."""
    busy, left = np.zeros(2 * n), 0
    for i in range(2 * n):
        left = rng.geometric(1 / 4) if left == 0 and rng.random() < 1 / 25 else max(left - 1, 0)
        busy[i] = left > 0
    return 0.5 * busy.reshape(n, 2) * rng.uniform(0.5, 1, (n, 2)) + rng.normal(0, 0.03, (n, 2))


def position(rng: Generator, n: int) -> FloatArray:
    """Whatever runs second is 5 % slower: caches, heat."""
    return np.array([0.0, 0.05]) + rng.normal(0, 0.03, (n, 2))


Noise = Callable[[Generator, int], FloatArray]
NOISES: dict[str, Noise] = {
    each.__name__: each for each in (normal, lognormal, t2, two_mode, throttling, ramping, bursts, position)
}


def paired(noise: Noise, rng: Generator, n: int, shift: float = 0.0) -> FloatArray:
    """Differences of two arms, each round in random order; shape (n,)."""
    times, order = noise(rng, n), rng.integers(2, size=n)
    a, b = times[np.arange(n), order], times[np.arange(n), 1 - order]
    return b + shift - a


def uneven(rng: Generator, n: int) -> FloatArray:
    """Differences of a steady program and one that is 30 % slower in a tenth of its runs."""
    return paired(normal, rng, n) + 0.3 * (rng.random(n) < 0.1)


def tailed(rng: Generator, n: int) -> FloatArray:
    """Differences of a steady program and one with an exponential tail."""
    return paired(normal, rng, n) + rng.exponential(0.1, n)


# --- claims: after which round the interval excludes theta, first -------------------------------------------------


def first(excluded: NDArray[np.bool_]) -> float:
    at = np.flatnonzero(excluded)
    return float(at[0] + 1) if len(at) else math.inf


def by_typical(d: FloatArray, theta: float) -> float:
    return first(wealth(d, theta) >= 1 / ALPHA)


def by_median(d: FloatArray, theta: float) -> float:
    n, k = np.arange(1, len(d) + 1), np.cumsum(d > theta)
    return first(betaln(k + 1.0, n - k + 1.0) + n * math.log(2) >= -math.log(ALPHA))


def by_mean(d: FloatArray, theta: float) -> float:
    n = np.arange(1, len(d) + 1)
    mean = np.cumsum(d) / n
    deviation = np.sqrt(np.maximum(np.cumsum(d * d) / n - mean**2, 0))
    return first((np.abs(mean - theta) > UNIT_REACH[: len(d)] * (deviation + 1e-300)) & (n > 1))


def by_trimmed(d: FloatArray, theta: float) -> float:
    for n in range(7, len(d) + 1):
        cut = int(TRIM * n)
        ordered = np.sort(d[:n])
        inner = ordered[cut : n - cut]
        spread = np.clip(ordered, inner[0], inner[-1]).std() / (1 - 2 * TRIM)
        if abs(inner.mean() - theta) > UNIT_REACH[n - 1] * spread:
            return float(n)
    return math.inf


def by_t_test(d: FloatArray, theta: float) -> float:
    """The usual interval, looked at after every round from the tenth."""
    n = np.arange(1, len(d) + 1)
    mean = np.cumsum(d) / n
    deviation = np.sqrt(np.maximum(np.cumsum(d * d) / n - mean**2, 0) / np.maximum(n - 1, 1))
    return first((np.abs(mean - theta) > stats.t.ppf(1 - ALPHA / 2, np.maximum(n - 1, 1)) * deviation) & (n >= 10))


UNIT_REACH = np.array([reach(n, 1.0, ALPHA) for n in range(1, MOST + 1)])
CLAIMS = {"typical": by_typical, "median": by_median, "trimmed": by_trimmed, "mean": by_mean, "t-test": by_t_test}


def centers(drawn: Callable[[Generator, int], FloatArray]) -> dict[str, float]:
    """What each claim is about, from a million differences."""
    d, other = (drawn(np.random.default_rng(seed), 10**6) for seed in (1, 2))
    trimmed = float(stats.trim_mean(d, TRIM))
    mean = float(d.mean())
    middle = {"typical": float(np.median((d + other) / 2)), "median": float(np.median(d))}
    return middle | {"trimmed": trimmed, "mean": mean, "t-test": mean}


def noise_tables(repeats: int) -> None:
    rng = np.random.default_rng(0)
    print(f"wrong at any of {ROUNDS} looks, percent of {repeats}; sequential: all of A, then all of B, one Welch test")
    print("| noise | " + " | ".join(CLAIMS) + " | sequential |\n|---|" + "---:|" * (len(CLAIMS) + 1))
    for name, noise in NOISES.items():
        drawn = [paired(noise, rng, ROUNDS) for _ in range(repeats)]
        wrong = [100 * np.mean([claim(d, 0.0) < math.inf for d in drawn]) for claim in CLAIMS.values()]
        welch = 100 * np.mean([sequential(noise, rng) for _ in range(repeats)])
        print(f"| {name} | " + " | ".join(f"{x:.1f}" for x in [*wrong, welch]) + " |", flush=True)
    for drawn_by in (uneven, tailed):
        truth, drawn = centers(drawn_by), [drawn_by(rng, ROUNDS) for _ in range(repeats)]
        wrong = [100 * np.mean([claim(d, truth[name]) < math.inf for d in drawn]) for name, claim in CLAIMS.items()]
        print(f"| {drawn_by.__name__} | " + " | ".join(f"{x:.1f}" for x in wrong) + " | |", flush=True)
    for effect in EFFECTS:
        print(f"\nrounds until a difference of {100 * effect:g} % is found, median of {repeats // 5} (most {MOST})")
        print("| noise | " + " | ".join(list(CLAIMS)[:-1]) + " |\n|---|" + "---:|" * (len(CLAIMS) - 1))
        for name, noise in NOISES.items():
            drawn = [paired(noise, rng, MOST, math.log1p(effect)) for _ in range(repeats // 5)]
            soon = [np.median([claim(d, 0.0) for d in drawn]) for claim in list(CLAIMS.values())[:-1]]
            print(f"| {name} | " + " | ".join("-" if math.isinf(x) else f"{x:.0f}" for x in soon) + " |", flush=True)


def sequential(noise: Noise, rng: Generator) -> bool:
    """Whether all runs of A, then all of B, differ by Welch's test, though they are the same program."""
    times = np.exp(noise(rng, ROUNDS).ravel())
    return bool(stats.ttest_ind(times[:ROUNDS], times[ROUNDS:], equal_var=False).pvalue < ALPHA)


# --- real processes under load ------------------------------------------------------------------------------------

BURNER = """
import random, sys, time
profile, seconds = sys.argv[1], float(sys.argv[2])
start, period, on, until = time.monotonic(), 0.01, False, 0.0
while (t := (time.monotonic() - start) / seconds) < 3:
    if profile == "burst" and time.monotonic() > until:
        on = not on
        until = time.monotonic() + random.expovariate(1 / (0.2 if on else 0.6))
    duty = {"ramp": min(t, 1.0), "step": float(t > 0.5), "burst": float(on), "none": 0.0}[profile]
    end = time.monotonic() + duty * period
    while time.monotonic() < end:
        pass
    time.sleep((1 - duty) * period + 1e-4)
"""
CORE = max(os.sched_getaffinity(0))
MEGABYTES, LOAD_ROUNDS, MOST_HERE = 1.5, 30, 200


@contextmanager
def load(profile: str, seconds: float) -> Iterator[None]:
    """A neighbor on the same core."""
    with subprocess.Popen([sys.executable, "-S", "-c", BURNER, profile, str(seconds)]) as neighbor:
        try:
            yield
        finally:
            neighbor.kill()


def program(folder: Path, factor: float = 1.0) -> str:
    """A command line that reads a file and computes for about 5 ms, times a factor."""
    path = folder / f"{factor}.bin"
    path.write_bytes(os.urandom(int(1e6 * MEGABYTES * factor)))
    return f"sha256sum {path}"


def ours(
    programs: Programs, commands: dict[str, str], rounds: int, seed: int, metric: str = "wall"
) -> tuple[float, float]:
    """After which round it is decided that two commands differ, infinite where it is not; and the estimate then."""
    contest = Contest(Question(tuple(commands)), rng=seed)
    while contest.begun < rounds:
        for turn in contest.ask_round():
            contest.tell(turn, programs.run(turn.arm, commands[turn.arm]).value(metric))
        if (verdict := contest.look()).decided:
            return float(contest.begun), verdict.findings[0].ratio.value
    return math.inf, contest.verdict().findings[0].ratio.value


def hyperfine(commands: dict[str, str], runs: int) -> list[list[float]]:
    """The times of hyperfine: all of one command, then all of the other."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        words = ["hyperfine", "-N", "--runs", str(runs), "--style", "none", "--export-json", file.name]
        subprocess.run([*words, *commands.values()], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [result["times"] for result in json.loads(Path(file.name).read_text())["results"]]


def one_by_one(programs: Programs, commands: dict[str, str], runs: int) -> list[list[float]]:
    """The same without hyperfine."""
    return [[programs.run(arm, command).wall for _ in range(runs)] for arm, command in commands.items()]


def load_table(repeats: int) -> None:
    """One program against itself: how often it is called different."""
    os.sched_setaffinity(0, {CORE})
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        command = program(Path(folder))
        commands = {"a": command, "b": command}
        usual = statistics.median(programs.run("a", command).wall for _ in range(20))
        seconds = 2 * LOAD_ROUNDS * usual * 1.3
        print(f"a program of {1e3 * usual:.1f} ms against itself, {LOAD_ROUNDS} rounds, {repeats} times each load")
        print("| load | equipoise, wrong | Welch on hyperfine's runs, wrong | largest difference claimed by each |")
        print("|---|---:|---:|---:|")
        for profile in ("none", "ramp", "step", "burst"):
            wrong, claimed, welch, seen = 0, 0.0, 0, 0.0
            for repeat in range(repeats):
                with load(profile, seconds):
                    at, ratio = ours(programs, commands, LOAD_ROUNDS, repeat)
                wrong, claimed = (wrong + 1, max(claimed, abs(ratio - 1))) if at < math.inf else (wrong, claimed)
                with load(profile, seconds):
                    a, b = (
                        hyperfine(commands, LOAD_ROUNDS) if HYPERFINE else one_by_one(programs, commands, LOAD_ROUNDS)
                    )
                if stats.ttest_ind(a, b, equal_var=False).pvalue < ALPHA:
                    welch, seen = welch + 1, max(seen, abs(statistics.mean(b) / statistics.mean(a) - 1))
            shares = f"{wrong} of {repeats} | {welch} of {repeats}"
            print(f"| {profile} | {shares} | {100 * claimed:.1f} %, {100 * seen:.1f} % |", flush=True)


HYPERFINE = shutil.which("hyperfine")


def power_table(repeats: int) -> None:
    """Rounds until a known difference is found, by the clock on the wall and by the time of computing."""
    os.sched_setaffinity(0, {CORE})
    columns = " | ".join(f"{100 * effect:g} % more work" for effect in EFFECTS)
    print(f"rounds, median (largest) of {repeats}, at most {MOST_HERE}")
    print(f"| load, metric | {columns} |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        base = program(Path(folder), 2.0)
        for profile, metric in (("none", "cpu"), ("burst", "cpu"), ("none", "wall"), ("burst", "wall")):
            cells = []
            for effect in EFFECTS:
                commands = {"a": base, "b": program(Path(folder), 2.0 * (1 + effect))}
                found = []
                for seed in range(repeats):
                    with load(profile, 60.0):
                        found.append(ours(programs, commands, MOST_HERE, seed, metric))
                rounds = sorted(at for at, _ in found)
                wrong = sum(ratio < 1 for at, ratio in found if at < math.inf)
                cells.append(f"{statistics.median(rounds):g} ({rounds[-1]:g}), {wrong} wrong")
            print(f"| {profile}, {metric} | " + " | ".join(cells) + " |", flush=True)


def overhead_table() -> None:
    """What measuring costs: around a process, and of the time that is measured."""
    with Programs(RunOptions(shell=())) as programs:
        for command in ("true", "sleep 0.01"):
            begin = time.perf_counter()
            walls = [programs.run("a", command).wall for _ in range(200)]
            around = (time.perf_counter() - begin - sum(walls)) / len(walls)
            text = f"{command}: wall {1e3 * statistics.median(walls):.2f} ms, {1e3 * around:.2f} ms of ours around it"
            if HYPERFINE:
                text += f"; hyperfine {1e3 * statistics.median(hyperfine({'a': command}, 200)[0]):.2f} ms"
            print(text)


PICTURE = Path(__file__).parents[1] / "docs" / "images" / "compare-order.png"


def picture(rounds: int = 60) -> None:
    """Draw one program against itself while a neighbor comes: one after the other, and in rounds."""
    from matplotlib import pyplot as plt

    os.sched_setaffinity(0, {CORE})
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        command = program(Path(folder))
        usual = statistics.median(programs.run("a", command).wall for _ in range(20))
        with load("step", 2 * rounds * usual * 1.4):
            sequence = one_by_one(programs, {"a": command, "b": command}, rounds)
        contest = Contest(Question(("a", "b")), rng=0)
        order: list[tuple[str, float]] = []
        with load("step", 2 * rounds * usual * 1.4):
            for _ in range(rounds):
                for turn in contest.ask_round():
                    order.append((turn.arm, programs.run(turn.arm, command).wall))
                    contest.tell(turn, order[-1][1])
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained", sharey=True)
    a, b = (np.array(times) for times in sequence)
    test = stats.ttest_ind(b, a, equal_var=False)
    draw_order(axes[0], [("a", x) for x in a] + [("b", x) for x in b])
    change = 100 * (b.mean() / a.mean() - 1)
    axes[0].set_title(f"All of a, then all of b: {change:+.1f} %, p = {test.pvalue:.1g}")
    draw_order(axes[1], order)
    ratio = contest.verdict().findings[0].ratio
    limits = ", ".join(f"{100 * (x - 1):+.1f}" for x in (ratio.low, ratio.high))
    axes[1].set_title(f"In rounds of random order: {100 * (ratio.value - 1):+.1f} % [{limits}]")
    axes[0].set_ylabel("milliseconds")
    axes[0].legend(frameon=False, loc="upper center")
    figure.savefig(PICTURE, dpi=150)


def draw_order(ax: Any, order: list[tuple[str, float]]) -> None:
    for arm, color in (("a", "#0072B2"), ("b", "#D55E00")):
        at = [(i, 1e3 * wall) for i, (name, wall) in enumerate(order, 1) if name == arm]
        ax.plot(*zip(*at, strict=True), ".", color=color, markersize=5, label=arm)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="run, in the order of measuring")
    logarithmic(ax, "y")


def main() -> None:
    """Run one part."""
    what, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if what == "noise":
        noise_tables(repeats or 1000)
    elif what == "load":
        load_table(repeats or 60)
    elif what == "power":
        power_table(repeats or 9)
    elif what == "picture":
        picture(repeats or 60)
    else:
        overhead_table()


if __name__ == "__main__":
    main()
