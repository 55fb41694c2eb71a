"""How often intervals that promise 95 % hold: fresh duels, one program against itself, a ranking of judged settings.

    python benchmarks/coverage.py duels [RUNS]          the verified difference, by law of the readings, at every look
    python benchmarks/coverage.py itself [RUNS]         one program against itself, looked at after each round
    python benchmarks/coverage.py effort [RUNS]         duels until a difference is found, normal noise
    python benchmarks/coverage.py ranking [RUNS]        values and ranks of judged settings, ten kinds of judging
    python benchmarks/coverage.py many [RUNS]           the same with 100 names and 60 answers

Seeds are 0, 1, ...; a figure comes with its standard error. Each part takes minutes on one core.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.answer.sequential import Interval, anytime, paired, reach, wealth
from equipoise.programs import Question, verdict_of

Reads = Callable[[Generator, int], FloatArray]
Draws = Callable[[Generator, int], FloatArray]

DUELS, ROUNDS = 24, 60
LARGE = 400_000


def percent(found: list[bool] | FloatArray) -> str:
    """Return a share of runs in percent, with its standard error."""
    share, n = float(np.mean(found)), len(found)
    return f"{100 * share:.1f} ± {100 * math.sqrt(max(share * (1 - share), 1 / n / 4) / n):.1f}"


# --- differences of fresh duels: setting 1 less setting 0, in the order of a coin --------------------------------


def of(first: Reads, second: Reads) -> Draws:
    return lambda rng, n: first(rng, n) - second(rng, n)


def success(chance: float) -> Reads:
    return lambda rng, n: (rng.random(n) < chance).astype(float)


def graded(values: list[float], chances: list[float]) -> Reads:
    return lambda rng, n: rng.choice(values, n, p=chances)


def whole(mean: float, noise: float) -> Reads:
    return lambda rng, n: np.rint(mean + noise * rng.normal(size=n))


def normal(mean: float, noise: float) -> Reads:
    return lambda rng, n: mean + noise * rng.normal(size=n)


def dropping(rng: Generator, n: int) -> FloatArray:
    return 1 + 0.1 * rng.normal(size=n) - 20.0 * (rng.random(n) < 0.03)


def autocorrelated(rng: Generator, n: int) -> FloatArray:
    """Its own offset memory: its change inside a pair has the sign of the coin."""
    change = np.empty(n)
    state = 0.0
    for i in range(n):
        state = 0.9 * state + rng.normal()
        change[i] = state
    return 0.4 + rng.choice([-1.0, 1.0], n) * change + 0.1 * rng.normal(size=n)


def coin(size: float) -> Reads:
    return lambda rng, n: rng.choice([-size, size], n)


GRADES = [0.0, 0.5, 1.0]
LAWS: dict[str, Draws] = {
    "normal noise": of(normal(0.3, 1), normal(0, 1)),
    "linear drift, small noise": lambda rng, n: 0.3 + coin(1)(rng, n) + 0.014 * rng.normal(size=n),
    "success or not, 5 % and 95 %": of(success(0.95), success(0.05)),
    "a sensor with whole numbers, noise 0.1": of(whole(2.62, 0.1), whole(2.38, 0.1)),
    "one setting drops out (-20) in 3 %": of(dropping, normal(0, 0.1)),
    "waiting times, exponential 1 and 2": of(lambda r, n: r.exponential(2, n), lambda r, n: r.exponential(1, n)),
    "success or not, 80 % and 95 %": of(success(0.95), success(0.8)),
    "success or not, 10 % and 50 %": of(success(0.5), success(0.1)),
    "three grades, skewed": of(graded(GRADES, [0.05, 0.05, 0.9]), graded(GRADES, [0.9, 0.05, 0.05])),
    "five grades": of(graded([1, 2, 3, 4, 5], [0.1, 0.1, 0.2, 0.2, 0.4]), graded([1, 2, 3, 4, 5], [0.2] * 5)),
    "a sensor with whole numbers, noise 0.6": of(whole(2.9, 0.6), whole(2.3, 0.6)),
    "counts, Poisson 1 and 4": of(
        lambda r, n: r.poisson(4.0, n).astype(float), lambda r, n: r.poisson(1.0, n).astype(float)
    ),
    "Cauchy": lambda rng, n: 1 + rng.standard_cauchy(n),
    "t of 2 degrees, both settings": of(lambda r, n: 1 + r.standard_t(2, n), lambda r, n: r.standard_t(2, n)),
    "wild in a tenth": lambda rng, n: 1 + rng.normal(size=n) * np.where(rng.random(n) < 0.1, 100, 1),
    "log-normal at both settings": of(lambda r, n: 1 + r.lognormal(size=n), lambda r, n: r.lognormal(size=n)),
    "log-normal at one setting": of(lambda r, n: r.lognormal(size=n), normal(0, 0.01)),
    "two modes at one setting": of(graded([0.0, 1.3], [0.7, 0.3]), normal(0, 0.3)),
    "noise that grows fiftyfold": lambda rng, n: 0.5 + rng.normal(size=n) * np.geomspace(0.1, 5, n),
    "autocorrelated offset": autocorrelated,
}
STEPPED = ("success", "three grades", "five grades", "whole numbers")


def truth(draw: Draws, name: str) -> float:
    """Return what is claimed of a law: the pseudo-median, or the mean of readings in steps."""
    d = draw(np.random.default_rng(10**6), LARGE)
    if any(word in name for word in STEPPED):
        return float(d.mean())
    pairs = np.random.default_rng(10**6 + 1).integers(LARGE, size=(2, LARGE))
    return float(np.median((d[pairs[0]] + d[pairs[1]]) / 2))


def missed(claim: Callable[[FloatArray], Interval], d: FloatArray, true: float) -> bool:
    """Return whether the interval misses the truth at any look from the sixth duel on."""
    looks = (claim(d[:n]) for n in range(6, len(d) + 1))
    return any(not found.low - 1e-9 <= true <= found.high + 1e-9 for found in looks)


def excluded(d: FloatArray, true: float, stepped: bool) -> bool:
    """Return the same of `paired`: quickly, if it is the typical difference, by the bets about the truth."""
    return missed(paired, d, true) if stepped else bool((wealth(d, true) >= 20).any())


def duels(runs: int) -> None:
    """Print how often the interval was wrong at any of the looks, by the t sequence of 0.2.0 and by bets."""
    print(f"wrong at any of {DUELS} looks, percent of {runs} runs\n\n| law | typical or mean | t sequence | bets |")
    for name, draw in LAWS.items():
        true = truth(draw, name)
        d = [draw(np.random.default_rng(seed), DUELS) for seed in range(runs)]
        before = [missed(anytime, each, true) for each in d]
        after = [excluded(each, true, any(word in name for word in STEPPED)) for each in d]
        print(f"| {name} | {true:.2f} | {percent(before)} | {percent(after)} |", flush=True)


def effort(runs: int) -> None:
    """Print how many duels it takes until 0 is excluded, of normal noise."""
    print(f"duels until a difference is found, mean of {runs} runs\n\n| effect | alpha | t sequence | bets |")
    for alpha in (0.05, 0.05 / 3):
        for effect in (0.5, 1.0, 2.0, 4.0):
            d = effect + np.random.default_rng(0).normal(size=(runs, 200))
            n = np.arange(1, 201)
            m = d.cumsum(axis=1) / n
            s = np.sqrt(np.maximum((d**2).cumsum(axis=1) / n - m**2, 0.0))
            half = np.array([reach(int(k), 1.0, alpha) for k in n]) * np.maximum(s, 1e-12)
            before = [int(np.argmax(each)) + 1 if each.any() else 200 for each in np.abs(m) > half]
            won = [wealth(each) >= 1 / alpha for each in d]
            after = [int(np.argmax(each)) + 1 if each.any() else 200 for each in won]
            cells = [f"{np.mean(x):.1f} ± {np.std(x) / math.sqrt(runs):.1f}" for x in (before, after)]
            print(f"| {effect} | {alpha:.3f} | {cells[0]} | {cells[1]} |", flush=True)


# --- one program against itself -----------------------------------------------------------------------------------

ITSELF: dict[str, Reads] = {
    "steady drift": lambda rng, n: np.arange(n, dtype=float),
    "steady drift, noise 1e-9": lambda rng, n: np.arange(n) + 1e-9 * rng.normal(size=n),
    "steady drift, noise 0.1": lambda rng, n: np.arange(n) + 0.1 * rng.normal(size=n),
    "coarse clock": lambda rng, n: np.arange(n, dtype=float) // 2 * 2,
    "passes in half": success(0.5),
    "passes in 95 %": success(0.95),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "random walk": lambda rng, n: rng.normal(size=n).cumsum(),
}


def itself(runs: int) -> None:
    """Print how often one program is called different from itself at any round."""
    print(f"called different from itself at any of {ROUNDS} rounds, percent of {runs} runs\n\n| readings | wrong |")
    question = Question(("a", "b"), scale="difference", kind="reading")
    for name, reads in ITSELF.items():
        wrong = []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            coins = rng.integers(2, size=ROUNDS)
            pairs = reads(rng, 2 * ROUNDS).reshape(ROUNDS, 2)
            rounds = [{"a": pair[c], "b": pair[1 - c]} for pair, c in zip(pairs, coins, strict=True)]
            looks = (verdict_of(question, rounds[:n]).findings[0].standing for n in range(6, ROUNDS + 1))
            wrong.append(any(look in ("better", "worse") for look in looks))
        print(f"| {name} | {percent(wrong)} |", flush=True)


# --- a ranking of judged settings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A kind of judging: how values are drawn, in noises of the judge, and how pairs are chosen and answered.

    Attributes:
        names: How many settings.
        answers: How many pairs are judged.
        values: Draws the true values, shape (names,).
        steps: Of the scale.
        random: Whether pairs are drawn at random; else the default chooses them.
        first: Advantage of the first place.
        judges: Noise of each judge, in turn.
        features: Whether names are combinations of two choices, whose effects add up.
    """

    names: int
    answers: int
    values: Reads
    steps: int = 3
    random: bool = False
    first: float = 0.0
    judges: tuple[float, ...] = (1.0,)
    features: bool = False


def spread(deviation: float) -> Reads:
    return lambda rng, n: deviation * rng.normal(size=n)


def additive(rng: Generator, n: int) -> FloatArray:
    """Values of 12 times 3 choices: mostly the sum of two effects."""
    f = rng.normal(size=12)[:, None] + 0.4 * rng.normal(size=3) + 0.3 * rng.normal(size=(12, 3))
    return np.asarray(2.0 * (f / f.std()).ravel())


def outstanding(rng: Generator, n: int) -> FloatArray:
    """Two settings that are far better than all others."""
    return rng.normal(size=n) + 4.0 * (rng.permutation(n) < 2)


RANKINGS = {
    "36 names, three steps": Judged(36, 60, spread(2.0)),
    "36 names, three steps, 150 answers": Judged(36, 150, spread(2.0)),
    "36 names, random pairs": Judged(36, 60, spread(2.0), random=True),
    "36 settings of two choices": Judged(36, 60, additive, features=True),
    "12 names, first or second": Judged(12, 40, spread(1.0), steps=2),
    "12 names, five steps": Judged(12, 40, spread(3.0), steps=5),
    "20 names, first place favored": Judged(20, 60, spread(1.5), first=0.7),
    "20 names, two judges": Judged(20, 80, spread(2.0), judges=(1.0, 3.0)),
    "24 names, heavy tails": Judged(24, 60, lambda rng, n: rng.standard_t(3, n)),
    "30 names, two stand out": Judged(30, 60, outstanding),
}
MANY = {
    "judge's noise 1": Judged(100, 60, spread(1.0), steps=2),
    "judge's noise 0.3": Judged(100, 60, spread(1 / 0.3), steps=2),
    "judge's noise 0.1": Judged(100, 60, spread(10.0), steps=2),
}
SCALE = {2: (), 3: (0.4,), 5: (0.4, 1.6)}
WORDS = {2: ("", "first"), 3: ("equal", "first"), 5: ("equal", "first", "much first")}


def judged(kind: Judged, seed: int) -> tuple[FloatArray, list[Any]]:
    """Run a study of judgements; return the true values in the order of the ranking, and the ranking."""
    rng = np.random.default_rng(1000 + seed)
    f = kind.values(rng, kind.names)
    names = [f"n{i}" for i in range(kind.names)]
    space: Any = eq.Finite(names)
    if kind.features:
        space = eq.Space(prompt=eq.Choice([f"p{i}" for i in range(12)]), heat=eq.Choice(["low", "mid", "high"]))

    def value(x: Any) -> float:
        if kind.features:
            return float(f[3 * int(x["prompt"][1:]) + ["low", "mid", "high"].index(x["heat"])])
        return float(f[int(x[1:])])

    policy: dict[str, Any] = {"policy": eq.policies.Random(pairs=True)} if kind.random else {}
    opt = eq.Optimizer(space, rng=seed, **policy)
    for i in range(kind.answers):
        noise = kind.judges[i % len(kind.judges)]
        pair = opt.ask_pair(judge=f"j{i % len(kind.judges)}", steps=kind.steps)
        felt = (value(pair.first) - value(pair.second)) / noise + kind.first + rng.normal()
        step = int(np.searchsorted(SCALE[kind.steps], abs(felt))) + (kind.steps == 2)
        word = WORDS[kind.steps][step]
        opt.tell(pair, word if felt > 0 else word.replace("first", "second"))
    ranking = opt.rank()
    return np.array([value(place.x) for place in ranking]), ranking


def rankings(kinds: dict[str, Judged], runs: int) -> None:
    """Print how often the values and ranks of a ranking hold."""
    print(f"{runs} runs; percent of settings whose value or rank lies where it is said to\n")
    print("| judging | values | the leader's | ranks | the leader's | width | worst rank of the leader |")
    for name, kind in kinds.items():
        rows = []
        for seed in range(runs):
            f, ranking = judged(kind, seed)
            g, rank = f - f.mean(), 1 + (f[:, None] < f).sum(axis=1)
            value = np.array([place.low <= true <= place.high for place, true in zip(ranking, g, strict=True)])
            held = np.array([a.ranks[0] <= true <= a.ranks[1] for a, true in zip(ranking, rank, strict=True)])
            width = np.mean([place.high - place.low for place in ranking])
            rows.append([value.mean(), value[0], held.mean(), held[0], width, ranking[0].ranks[1]])
        found = np.array(rows, dtype=float)
        cells = [f"{100 * m:.1f} ± {100 * e:.1f}" for m, e in zip(*spread_of(found[:, :4]), strict=True)]
        print(f"| {name} | {' | '.join(cells)} | {found[:, 4].mean():.1f} | {np.median(found[:, 5]):.0f} |", flush=True)


def spread_of(found: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean over runs, and its standard error, of each column."""
    return found.mean(axis=0), found.std(axis=0) / math.sqrt(len(found))


def ranking(runs: int) -> None:
    """Print the ten kinds of judging."""
    rankings(RANKINGS, runs)


def many(runs: int) -> None:
    """Print 100 names and 60 answers."""
    rankings(MANY, runs)


PARTS = {
    "duels": (duels, 400),
    "itself": (itself, 200),
    "effort": (effort, 400),
    "ranking": (ranking, 40),
    "many": (many, 60),
}

if __name__ == "__main__":
    part, usual = PARTS[sys.argv[1]] if sys.argv[1:] else PARTS["duels"]
    part(int(sys.argv[2]) if len(sys.argv) > 2 else usual)
