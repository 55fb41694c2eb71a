"""How soon a difference is found, and how often a false one is claimed, with a look after every round.

    python benchmarks/power.py alarms [RUNS]         one program against itself, ten laws, simulated
    python benchmarks/power.py noise [RUNS]          rounds until 2, 5 and 10 % are found, eight noises, simulated
    python benchmarks/power.py forecast [RUNS]       how often the range of rounds to come holds, simulated
    python benchmarks/power.py foretold [RUNS]       the same of real programs
    python benchmarks/power.py busy [RUNS]           10 % in wall and 3 % in user time beside two busy loops, real
    python benchmarks/power.py lengths [RUNS]        10 % in wall time of programs of 12, 50 and 200 ms, likewise
    python benchmarks/power.py duet [RUNS]           one at a time, and both at once on two cores, real
    python benchmarks/power.py duet10 [RUNS]         the same for 10 % beside two busy loops
    python benchmarks/power.py same [RUNS]           one program against itself beside two busy loops, real
    python benchmarks/power.py little [RUNS]         a program of 2 ms against itself, as the host is, real

Seeds are 0, 1, ...; a figure comes with its standard error. `busy` and `same` take about half a second a round and a
comparison; busy loops end by themselves.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from compare import EFFECTS, NOISES, first, paired
from coverage import percent
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer.sequential import evidence, typical
from equipoise.programs import Contest, Question
from equipoise.programs.commands.arranging import two_cores
from equipoise.programs.commands.measuring import Bench, Job
from equipoise.programs.commands.processes import Programs, RunOptions
from equipoise.programs.forecasting import MoreRounds, forecast

ALPHA, ROUNDS, MOST = 0.05, 120, 600

# --- simulated ----------------------------------------------------------------------------------------------------

Reads = Callable[[Generator, int], FloatArray]


def autocorrelated(rng: Generator, n: int) -> FloatArray:
    x = np.empty(n)
    state = 0.0
    for i in range(n):
        state = 0.9 * state + rng.normal()
        x[i] = state
    return x


LAWS: dict[str, Reads] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "steady drift": lambda rng, n: np.arange(n, dtype=float),
    "steady drift, noise 0.1": lambda rng, n: np.arange(n) + 0.1 * rng.normal(size=n),
    "coarse clock": lambda rng, n: np.arange(n, dtype=float) // 2 * 2,
    "coarse clock, noise": lambda rng, n: np.rint(0.6 * rng.normal(size=n)),
    "passes in half": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "passes in 95 %": lambda rng, n: (rng.random(n) < 0.95).astype(float),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "autocorrelated, 0.9": autocorrelated,
    "throttling": lambda rng, n: NOISES["throttling"](rng, n // 2).ravel(),
    "bursts of a neighbor": lambda rng, n: NOISES["bursts"](rng, n // 2).ravel(),
    "what runs second is slower": lambda rng, n: NOISES["position"](rng, n // 2).ravel(),
}


def found_at(d: FloatArray, limit: float = 2 / ALPHA) -> float:
    """Return after which round the bets on either side have won; infinite if they never do."""
    return min(first(evidence(d) >= limit), first(evidence(-d) >= limit))


def alarms(runs: int) -> None:
    """Print how often one program is called different from itself at any round."""
    print(
        f"called different from itself at any of {ROUNDS} rounds, percent of {runs}\n\n| readings | called different |"
    )
    for name, reads in LAWS.items():
        wrong = []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            pairs, coins = reads(rng, 2 * ROUNDS).reshape(ROUNDS, 2), rng.choice([-1.0, 1.0], ROUNDS)
            wrong.append(found_at(coins * (pairs[:, 1] - pairs[:, 0])) < math.inf)
        print(f"| {name} | {percent(wrong)} |", flush=True)


def noise(runs: int) -> None:
    """Print how soon a difference is found."""
    print(f"rounds until it is found, median of {runs}, at most {MOST}\n")
    print("| noise | " + " | ".join(f"{100 * effect:g} %" for effect in EFFECTS) + " |\n|---|" + "---:|" * len(EFFECTS))
    for name, drawn in NOISES.items():
        cells = []
        for effect in EFFECTS:
            rngs = [np.random.default_rng(10_000 + seed) for seed in range(runs)]
            at = [found_at(paired(drawn, rng, MOST, math.log1p(effect))) for rng in rngs]
            cells.append(f"{np.median(at):g}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


# --- real processes -----------------------------------------------------------------------------------------------

LOOP = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"
MEGABYTES, LONGEST = 6.0, 120.0
SIZES = (6.0, 24.0, 96.0)


@contextmanager
def busy(loops: int = 2) -> Iterator[None]:
    """Busy loops beside, which end by themselves."""
    running = [subprocess.Popen([sys.executable, "-S", "-c", LOOP, str(LONGEST)]) for _ in range(loops)]
    try:
        yield
    finally:
        for loop in running:
            loop.kill()
            loop.wait()


def commands(folder: Path, effect: float, megabytes: float = MEGABYTES) -> dict[str, str]:
    """Two commands, the second of which has more to do."""
    lines = {}
    for arm, size in (("a", megabytes), ("b", megabytes * (1.0 + effect))):
        path = folder / f"{size}.bin"  # the same file, if the size is the same: where it lies in memory costs time too
        if not path.exists():
            path.write_bytes(os.urandom(int(1e6 * size)))
        lines[arm] = f"sha256sum {path}"
    return lines


def compared(programs: Programs, lines: dict[str, str], metrics: Sequence[str], most: int, seed: int) -> list[float]:
    """Return, for each metric, after which round it is decided that two commands differ."""
    contests = [Contest(Question(("a", "b")), rng=seed) for _ in metrics]
    found, begin = [math.inf] * len(metrics), time.monotonic()
    for n in range(1, most + 1):
        turns = contests[0].ask_round()
        runs = [programs.run(turn.arm, lines[turn.arm]) for turn in turns]
        for turn, run in zip(turns, runs, strict=True):
            contests[0].tell(turn, max(run.value(metrics[0]), 1e-6))
        for contest, metric in zip(contests[1:], metrics[1:], strict=True):
            contest.take({run.arm: max(run.value(metric), 1e-6) for run in runs})
        for i, contest in enumerate(contests):
            if found[i] == math.inf and contest.look().findings[0].standing in ("better", "worse"):
                found[i] = n
        if max(found) < math.inf or time.monotonic() - begin > 0.9 * LONGEST:
            break
    return found


def real(effects: dict[str, tuple[float, str, int]], runs: int) -> None:
    """Print how soon differences are found beside two busy loops."""
    print("| difference | found within | rounds, median | 80 % within |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        for name, (effect, metric, most) in effects.items():
            at = []
            for seed in range(runs):
                with busy():
                    at += compared(programs, commands(Path(folder), effect), [metric], most, seed)
            share = percent([x < math.inf for x in at])
            limit = float(np.quantile(at, 0.8, method="inverted_cdf"))
            print(f"| {name} | {share} within {most} | {np.median(at):g} | {limit:g} |", flush=True)


def busy_hosts(runs: int) -> None:
    """Print how soon 10 % in wall time, and 3 % in user time, are found."""
    real({"10 %, wall": (0.10, "wall", 120), "3 %, user": (0.03, "user", 300), "3 %, cpu": (0.03, "cpu", 300)}, runs)


def lengths(runs: int, most: int = 120) -> None:
    """Print how soon 10 % in wall time are found of programs that compute for 12, 50 and 200 ms, in turn."""
    found: dict[float, list[tuple[float, float]]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        for seed in range(runs):
            for size, each in found.items():
                contest = Contest(Question(("a", "b")), rng=seed)
                with busy():
                    job = Job(commands(Path(folder), 0.10, size))
                    each.append(until_found(Bench(job, {"wall": contest}, programs), most))
                print(f"{seed}, {size:g} MB: {each[-1][0]:g} rounds of {each[-1][1]:.2f} s", flush=True)
    print("| read | found | rounds, median | 80 % within | seconds a round |\n|---|---:|---:|---:|---:|")
    for size, each in found.items():
        at, seconds = zip(*each, strict=True)
        limit = float(np.quantile(at, 0.8, method="inverted_cdf"))
        share = percent([x < math.inf for x in at])
        print(f"| {size:g} MB | {share} | {np.median(at):g} | {limit:g} | {np.median(seconds):.2f} |", flush=True)


def same(runs: int, loops: int = 2, megabytes: float = MEGABYTES, first_seed: int = 0) -> None:
    """Print how often one program is called different from itself."""
    metrics = ("wall", "cpu", "user")
    wrong = []
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        lines = commands(Path(folder), 0.0, megabytes)
        for seed in range(first_seed, first_seed + runs):
            with busy(loops):
                wrong.append([at < math.inf for at in compared(programs, lines, metrics, 30, seed)])
    for metric, each in zip(metrics, zip(*wrong, strict=True), strict=True):
        print(f"{metric}: called different in {percent(list(each))} % of {runs} comparisons of 30 rounds", flush=True)


def little(runs: int) -> None:
    """Print how often a program of about 2 ms is called different from itself; seeds from 100."""
    same(runs, 0, 0.02, 100)


def duets(runs: int, most: int = 200, effects: Sequence[float] = EFFECTS, hosts: Sequence[int] = (0, 2)) -> None:
    """Print how soon a difference in wall time is found one at a time, and both at once on two cores."""
    ways: dict[str, Sequence[int]] = {"one at a time": (), "duet": two_cores()}
    print(f"| host | difference | way | found within {most} | rounds, median | 80 % within | seconds a round |")
    print("|---|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        for loops in hosts:
            for effect in effects:
                lines = commands(Path(folder), effect)
                found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
                for seed in range(runs):
                    for way, cores in ways.items():
                        contest = Contest(Question(("a", "b")), rng=seed)
                        with busy(loops):
                            bench = Bench(Job(lines, cores=cores), {"wall": contest}, programs)
                            found[way].append(until_found(bench, most))
                for way, each in found.items():
                    at, seconds = zip(*each, strict=True)
                    limit = float(np.quantile(at, 0.8, method="inverted_cdf"))
                    share, middle = percent([x < math.inf for x in at]), np.median(at)
                    row = f"| {loops} busy loops | {100 * effect:g} % | {way} | {share} | {middle:g} | {limit:g} |"
                    print(f"{row} {np.median(seconds):.3f} |", flush=True)


def duet_target(runs: int) -> None:
    """Print how soon 10 % in wall time are found beside two busy loops."""
    duets(runs, 120, (0.10,), (2,))


def until_found(bench: Bench, most: int) -> tuple[float, float]:
    """Return after which round the two are called different, and how many seconds a round took."""
    begin, at = time.monotonic(), math.inf
    while len(bench.rounds) < most and time.monotonic() - begin < 0.9 * LONGEST:
        bench.measure()
        if bench.contests["wall"].look().findings[0].standing in ("better", "worse"):
            at = len(bench.rounds)
            break
    return at, (time.monotonic() - begin) / len(bench.rounds)


LOOKS = (10, 15, 20, 40, 80, 160, 320)
"""Rounds after which a forecast is made, if it is not decided yet."""


def forecasts(runs: int, first_seed: int = 1000) -> None:
    """Print how often the range of rounds to come holds: eight noises, 0 to 10 % of difference, a margin of 1 %."""
    question = Question(("a", "b"), margin=0.01)
    held: dict[str, list[bool]] = {}
    factors = []
    for name, drawn in NOISES.items():
        for effect in (0.0, 0.01, *EFFECTS):
            for seed in range(first_seed, first_seed + runs):
                rng = np.random.default_rng([seed, int(1000 * effect), len(name)])
                d = paired(drawn, rng, 3000, math.log1p(effect))
                at = decided_at(d, question.on_scale(question.margin))
                for n in (n for n in LOOKS if n < at):
                    said = forecast(typical(d[:n]), n, question)
                    if said is not None:
                        factors.append(said.high / said.low)
                        for key in ("all", f"{100 * effect:g} %", f"after {n} rounds", name):
                            held.setdefault(key, []).append(said.low <= at - n <= said.high)
    for key, each in held.items():
        print(f"| {key} | {percent(each)} | {len(each)} |", flush=True)
    print(f"high over low, quartiles: {np.quantile(factors, [0.25, 0.5, 0.75]).round(1)}")


def foretold(runs: int, most: int = 400) -> None:
    """Print how often the range held for real programs of about 4 ms, one of which has 10 to 40 % more to do.

    Where nothing is decided in the end, it is counted if the range has ended before, and left out else.
    """
    held: list[bool] = []
    with tempfile.TemporaryDirectory() as folder, Programs(RunOptions(shell=())) as programs:
        for seed in range(runs):
            lines = commands(Path(folder), (0.1, 0.2, 0.4)[seed % 3], 1.5)
            contest = Contest(Question(("a", "b"), margin=0.01), rng=seed)
            bench, said = Bench(Job(lines), {"wall": contest}, programs), dict[int, MoreRounds]()
            while len(bench.rounds) < most and not contest.verdict().decided:
                more = contest.verdict().more
                if len(bench.rounds) in LOOKS and more is not None:
                    said[len(bench.rounds)] = more
                bench.measure()
            at = len(bench.rounds) if contest.verdict().decided else math.inf
            known = [(n, each) for n, each in said.items() if at < math.inf or n + each.high < most]
            held += [each.low <= at - n <= each.high for n, each in known]
            print(f"{seed}: decided after {at}; {', '.join(f'{n}: {each}' for n, each in said.items())}", flush=True)
    print(f"held in {percent(held)} % of {len(held)} forecasts in {runs} comparisons")


def decided_at(d: FloatArray, margin: float) -> float:
    """Return after which round two programs are called different, or the same within a margin."""
    won = [evidence(each, theta) >= 2 / ALPHA for each, theta in ((d, 0.0), (-d, 0.0), (d, -margin), (-d, -margin))]
    return first(won[0] | won[1] | (won[2] & won[3]))


PARTS: dict[str, tuple[Callable[[int], None], int]] = {
    "forecast": (forecasts, 30),
    "foretold": (foretold, 20),
    "lengths": (lengths, 20),
    "duet": (duets, 6),
    "duet10": (duet_target, 20),
    "little": (little, 100),
    "alarms": (alarms, 400),
    "noise": (noise, 100),
    "busy": (busy_hosts, 20),
    "same": (same, 200),
}

if __name__ == "__main__":
    part, usual = PARTS[sys.argv[1]] if sys.argv[1:] else PARTS["alarms"]
    part(int(sys.argv[2]) if len(sys.argv) > 2 else usual)
