"""A beam line whose detector adjusts its own range.

Three quadrupole magnets focus a beam through an aperture, and a detector reads the part that passes. Its display is
narrow: after a reading off the scale it recenters, and then the same beam gives another number. An optimizer that
trusts its readings mistakes each recentering for a better or a worse beam; one that compares does not notice.

Three learners tune the same magnets. They know only the ranges of the knobs:

- GP-UCB measures at the largest upper confidence bound and trusts its readings;
- pure duels learn only from the difference inside each pair, and assume nothing about the offset;
- the default also tracks the offset, and so learns from every reading.

    python examples/detector.py                              # about half a minute on two cores
    python examples/detector.py --readings 60 --seeds 2      # a quick look
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from tqdm import tqdm

import equipoise as eq
from equipoise.lab.environments import Environment, Measurement, RangeAdjustingDetector, beam_line
from equipoise.lab.experiments import run
from equipoise.lab.experiments.charts import STYLE, band, pyplot, save
from equipoise.lab.experiments.demo import Contestant, recommendation_table, regret_table
from equipoise.lab.fleet import Trace
from equipoise.plots.style import METHODS

LEARNERS: Mapping[str, Mapping[str, Any]] = {
    "GP-UCB": {"policy": eq.UCB()},
    "pure duels": {"offset": eq.Arbitrary()},
    "default": {},
}
"""The arguments of each learner besides the space."""

COLORS = {"GP-UCB": METHODS["UCB"], "pure duels": METHODS["two-point"], "default": METHODS["default"]}
DISPLAY = 0.1
"""The detector shows numbers between minus and plus this; the beam's intensity lies between 0 and 0.92."""

NOISE = 0.02
HEADLINE = "A detector that recenters itself: the display says little about the beam, a comparison does"


def take(name: str, seed: int, readings: int) -> tuple[Trace, list[Measurement]]:
    """Let a learner tune the beam line once; the same seed means the same noise for every learner."""
    line = beam_line()
    environment = Environment(line, RangeAdjustingDetector(-DISPLAY, DISPLAY), NOISE, rng=seed)
    optimizer = eq.Optimizer(eq.Box(np.asarray(line.bounds)), rng=seed, **LEARNERS[name])
    return run(optimizer, environment, readings), environment.history


def contest(seeds: int, readings: int, jobs: int) -> list[Contestant]:
    """Let every learner tune the beam line, once for each seed."""
    tasks = [(name, seed) for seed in range(seeds) for name in LEARNERS]
    runs = joblib.Parallel(n_jobs=jobs, return_as="generator")(joblib.delayed(take)(*task, readings) for task in tasks)
    results = dict(zip(tasks, tqdm(runs, total=len(tasks), unit="run"), strict=True))
    return [
        Contestant(name, [results[name, seed][0] for seed in range(seeds)], results[name, 0][1]) for name in LEARNERS
    ]


def verdict(contestants: Sequence[Contestant]) -> str:
    """Return the number of runs in which each learner paid less than the one that trusts its readings."""
    believer, *others = contestants
    paid = believer.regret[:, -1]
    lines = [f"{c.name}: less regret than {believer.name} in {(c.regret[:, -1] < paid).sum()}" for c in others]
    return "\n".join(f"{line} of {len(paid)} runs" for line in lines)


def draw(contestants: Sequence[Contestant], path: Path) -> Path:
    """Draw the regret, the display of the detector, and the true intensity behind the aperture."""
    plt = pyplot()
    with plt.rc_context(dict(STYLE)):
        canvas, (cost, shown, truth) = plt.subplots(1, 3, figsize=(13, 4.1), layout="constrained")
        canvas.suptitle(HEADLINE, fontsize=12.5, fontweight="bold")
        for contestant in contestants:
            color, (runs, n) = COLORS[contestant.name], contestant.regret.shape
            band(cost, np.arange(1, n + 1), contestant.regret, color, contestant.name)
            look = {"s": 9, "color": color, "alpha": 0.7, "linewidths": 0}
            times, values, readings = np.array([(r.time, r.value, r.y) for r in contestant.readings]).T
            shown.scatter(values, readings, **look)
            truth.scatter(times, values, **look)
        cost.set(title="What the search cost", xlabel=f"readings    (mean of {runs} runs ± 2 standard errors)")
        cost.set(ylabel="cumulative regret", xlim=(0, n), ylim=(0, None))
        cost.legend(loc="upper left")
        shown.axhspan(-DISPLAY, DISPLAY, color="#dddddd", zorder=0, linewidth=0)
        shown.set(title="What a reading says of the beam", xlabel="fraction of the beam that passed    (first run)")
        shown.set(ylabel="reading    (gray: the detector's range)", xlim=(0, 1))
        truth.axhline(beam_line().maximum, color="#555555", linewidth=0.9)
        truth.set(title="What passed the aperture", xlabel="readings    (first run; line: the best there is)")
        truth.set(ylabel="fraction of the beam", xlim=(0, n), ylim=(0, 1))
        written = save(canvas, path.with_suffix(""), (path.suffix.removeprefix(".") or "png",))
        plt.close(canvas)
    return written[0]


def main(arguments: Sequence[str] | None = None) -> None:
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=text)
    parser.add_argument("--readings", type=int, default=200, help="readings in each run (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=8, help="runs of each learner (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes to use (default: one for each core)")
    parser.add_argument("--out", type=Path, default=Path("out/detector.png"), help="picture (default: %(default)s)")
    options = parser.parse_args(arguments)
    contestants = contest(options.seeds, options.readings, options.jobs)
    print(f"\n{regret_table(contestants)}\n{recommendation_table(contestants)}\n{verdict(contestants)}")
    print(f"Picture: {draw(contestants, options.out)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; nothing was written.")
