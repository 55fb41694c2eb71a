"""The cost of hard offsets, compared with no offset and with a study that is told the law.

    python benchmarks/weather.py --first 40 --seeds 3 --out weather.jsonl

Six functions of the board, 200 readings, levels that last 3, 5 and 7 readings, waves of 7 and 12 readings, and a level
for each pair of three sizes. The study that knows the law has `offset=eq.offsets.Blocks(length)`; none knows a wave.
Printed: cumulative regret over that without an offset, and over that of the study told the law, on the same seeds, as
geometric mean, standard error of its logarithm, and the worst function. A run takes a second; a second call prints what
is in the file and runs only what is not.
"""

import argparse
import json
import os
import zlib
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import equipoise as eq
from equipoise.lab.board import WEATHER
from equipoise.lab.board.instruments import OfFunction
from equipoise.lab.environments import BlockOffsets

FUNCTIONS = ("camel2", "branin2", "hartmann3", "gp3", "levy4", "hartmann6")
PAIRS = {"pair sd 1": 0.4, "pair sd 3": 1.2, "pair sd 10": 4.0}
"""The levels of pairs, in units of what a random setting loses: 2.5 on camel2, whence the names."""

OFFSETS = {**WEATHER, **{name: BlockOffsets(2, size) for name, size in PAIRS.items()}}
LENGTHS = {"runs of 3": 3, "runs of 5": 5, "runs of 7": 7} | dict.fromkeys(PAIRS, 2)
NAMES = ("none", "runs of 3", "runs of 5", "runs of 7", "season of 7", "season of 12", *PAIRS)
READINGS = 200


def run(function: str, weather: str, told: bool, seed: int) -> float:
    """Return the cumulative regret of a study, told the law or not."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{function}, {weather}".encode())])
    instrument = OfFunction(function, OFFSETS[weather], rng)
    law = eq.offsets.Blocks(LENGTHS[weather]) if told else None
    opt, paid = eq.Optimizer(instrument.space, offset=law, rng=seed), 0.0
    for _ in range(READINGS):
        trial = opt.ask()
        paid += instrument.regret(trial.x)
        opt.tell(trial, instrument.read(trial.x))
    return paid


def ratio(some: dict[tuple[str, int], float], others: dict[tuple[str, int], float]) -> str:
    """Return a cell of the table; empty without runs in common."""
    logs: dict[str, list[float]] = defaultdict(list)
    for key in some.keys() & others.keys():
        logs[key[0]].append(float(np.log(some[key] / others[key])))
    if not logs:
        return ""
    values = np.concatenate(list(logs.values()))
    worst = max(logs, key=lambda name: float(np.mean(logs[name])))
    error = values.std(ddof=1) / len(values) ** 0.5
    return f"{np.exp(values.mean()):.2f} ± {error:.2f} ({worst} {np.exp(np.mean(logs[worst])):.1f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("out/weather.jsonl"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    known = {(row["f"], row["w"], row["who"], row["seed"]): row["cum"] for row in map(json.loads, lines)}
    seeds = range(given.first, given.first + given.seeds)
    who = {w: ("ours", "law") if w in LENGTHS else ("ours",) for w in NAMES}
    jobs = [(f, w, each, seed) for seed in seeds for w in NAMES for f in FUNCTIONS for each in who[w]]
    for f, w, each, seed in jobs:
        if (f, w, each, seed) not in known:
            known[f, w, each, seed] = round(run(f, w, each == "law", seed), 3)
            with given.out.open("a") as file:
                file.write(
                    json.dumps({"f": f, "w": w, "who": each, "seed": seed, "cum": known[f, w, each, seed]}) + "\n"
                )
    paid: dict[tuple[str, str], dict[tuple[str, int], float]] = defaultdict(dict)
    for f, w, each, seed in jobs:
        paid[w, each][f, seed] = known[f, w, each, seed]
    print("| offset | over none | told the law, over none | over told the law |\n|---|---|---|---|")
    for w in NAMES[1:]:
        cells = ratio(paid[w, "ours"], paid["none", "ours"]), ratio(paid[w, "law"], paid["none", "ours"])
        print(f"| {w} | {cells[0]} | {cells[1]} | {ratio(paid[w, 'ours'], paid[w, 'law'])} |")
