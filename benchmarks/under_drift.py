"""Five common tools under drift, each beside ours: the pictures docs/images/drift-NAME.png.

    python benchmarks/under_drift.py optuna      TPE on a drifting function            (needs optuna)
    python benchmarks/under_drift.py botorch     BoTorch's UCB on the same             (needs torch and botorch)
    python benchmarks/under_drift.py hyperfine   one program against itself on a host that slows down, simulated
    python benchmarks/under_drift.py pruner      WilcoxonPruner and trials that are as good as the best (needs optuna)
    python benchmarks/under_drift.py loop        a loop that keeps the best result so far

Each prints what it draws. `--seeds` makes it smaller or larger.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from loops import IdeaWorld, gated, greedy
from numpy.random import Generator
from racing import stopped
from scipy import stats

from equipoise._typing import FloatArray
from equipoise.answer.sequential import typical
from equipoise.lab.board import Score, play
from equipoise.plots.style import BLUE, GRAY, ORANGE, axes, pyplot

ROUNDS, RUN = 30, 0.03
"""Runs of each program, and the scatter of one run, in parts of its time."""

SLOWED = (0.0, 0.02, 0.05, 0.1, 0.2)
"""By how much the host is slower at the end, in parts of the time of a run."""

EFFECTS = (-1.0, -0.5, -0.25, 0.0, 0.1, 0.25, 0.5)
"""By how much the new trial is better, in standard deviations of a paired difference."""


def panels(left: str, right: str) -> tuple[Any, tuple[Any, Any]]:
    """Return a figure with two panels of equal size."""
    figure, pair = pyplot().subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    for ax, title in zip(pair, (left, right), strict=True):
        axes(ax).set_title(title, fontsize=10)
    return figure, pair


def course(ax: Any, runs: Sequence[Score], label: str, color: str) -> None:
    """Draw the regret paid on the way: the mean, and twice its standard error."""
    paid = np.array([run.paid for run in runs])
    readings = np.linspace(0, runs[0].readings, paid.shape[1] + 1)[1:]
    error = 2 * paid.std(0, ddof=1) / np.sqrt(len(runs))
    ax.plot(readings, paid.mean(0), color=color, label=label)
    ax.fill_between(readings, paid.mean(0) - error, paid.mean(0) + error, color=color, alpha=0.2, lw=0)


def beside(name: str, label: str, seeds: int) -> Any:
    """Draw a learner of the board beside ours: what it pays under drift, and what it recommends in the end."""
    figure, (paid, final) = panels("Under jumps of the offset", "Regret of the final recommendation, each run")
    for i, (learner, said, color) in enumerate(((name, label, ORANGE), ("default", "eq.Optimizer(space)", BLUE))):
        for j, weather in enumerate(("none", "jumps")):
            runs = [play((f"camel2, {weather}", learner, seed)) for seed in range(seeds)]
            ends = np.array([run.final for run in runs])
            final.plot(2.5 * j + i + np.linspace(-0.25, 0.25, seeds), ends, "o", color=color, ms=5, alpha=0.7)
            total = np.array([run.cumulative for run in runs])
            error = total.std(ddof=1) / np.sqrt(seeds)
            print(f"{said}, {weather}: pays {total.mean():.0f} ± {error:.0f}, recommends {np.median(ends):.3f}")
        course(paid, runs, said, color)
    paid.set(xlabel="readings", ylabel="regret paid so far")
    paid.legend(fontsize=8)
    final.set(xticks=[0.5, 3.0], xticklabels=["no drift", "jumps"], ylabel="regret")
    return figure


def optuna(seeds: int) -> Any:
    """Optuna's TPE, which believes each reading."""
    return beside("TPE", "Optuna TPE", seeds)


def botorch(seeds: int) -> Any:
    """BoTorch's UCB on a `SingleTaskGP`, which believes each reading."""
    return beside("BoTorch-UCB", "BoTorch UCB", seeds)


def times(rng: Generator, slower: float) -> FloatArray:
    """Return relative times of 2 * ROUNDS runs of one program, in the order of measuring."""
    return 1 + slower * np.linspace(0, 1, 2 * ROUNDS) + RUN * rng.standard_normal(2 * ROUNDS)


def called_different(slower: float, rng: Generator) -> tuple[bool, bool]:
    """Return whether one program differs from itself: all of a and then all of b; in rounds of random order."""
    y = np.log(times(rng, slower))
    in_turn = stats.ttest_ind(y[:ROUNDS], y[ROUNDS:], equal_var=False).pvalue < 0.05
    rounds, signs = y.reshape(ROUNDS, 2), rng.choice((-1, 1), ROUNDS)
    differences = signs * (rounds[:, 1] - rounds[:, 0])
    looks = (typical(differences[:n]) for n in range(7, ROUNDS + 1))  # after each round, stop at the first verdict
    return bool(in_turn), any(each.low > 0 or each.high < 0 for each in looks)


def hyperfine(seeds: int) -> Any:
    """All runs of one program, then all of the other, and Welch's test; rounds in random order, looked at each time."""
    figure, (shown, share) = panels("One program twice, 10 % slower at the end", "Called different, in percent")
    rng = np.random.default_rng(0)
    y = times(rng, 0.1)
    shown.plot(np.arange(ROUNDS), y[:ROUNDS], "o", color=ORANGE, ms=4, label="first, 30 runs")
    shown.plot(np.arange(ROUNDS, 2 * ROUNDS), y[ROUNDS:], "o", color=GRAY, ms=4, label="then the other")
    shown.set(xlabel="run", ylabel="time of a run")
    shown.legend(fontsize=8)
    found = np.array([[called_different(slower, rng) for _ in range(50 * seeds)] for slower in SLOWED]).mean(1)
    percent = 100 * np.array(SLOWED)
    share.plot(percent, 100 * found[:, 0], "o-", color=ORANGE, label="in turn, Welch's test, as with hyperfine")
    share.plot(percent, 100 * found[:, 1], "o-", color=BLUE, label="equipoise compare, looked at each round")
    share.axhline(5, color=GRAY, lw=0.8, ls=":")
    share.set(xlabel="slowdown of the host over all runs, %", ylim=(-3, 103))
    share.legend(fontsize=8)
    for slower, (theirs, ours) in zip(SLOWED, found, strict=True):
        print(f"slower by {slower:.0%}: in turn {theirs:.1%}, rounds {ours:.1%} of {50 * seeds}")
    return figure


def pruner(seeds: int) -> Any:
    """Pruners beside the best of 30 equal trials."""
    from optuna import logging
    from optuna.pruners import WilcoxonPruner

    from equipoise.integrations.optuna import RacePruner

    logging.set_verbosity(logging.ERROR)
    figure, (share, pieces) = panels("New trials that are stopped, in percent", "Pieces measured of 60, median")
    for make, label, color in ((WilcoxonPruner, "WilcoxonPruner", ORANGE), (RacePruner, "RacePruner", BLUE)):
        found = np.array([[stopped(make(), effect, seed) for seed in range(10 * seeds)] for effect in EFFECTS])
        halted = np.isfinite(found).mean(1)
        share.plot(EFFECTS, 100 * halted, "o-", color=color, label=label)
        pieces.plot(EFFECTS, np.median(np.minimum(found, 60), 1), "o-", color=color, label=label)
        shown = ", ".join(f"{effect:g}: {each:.0%}" for effect, each in zip(EFFECTS, halted, strict=True))
        print(f"{label} stops, by effect: {shown} of {10 * seeds}")
    for ax in (share, pieces):
        ax.set(xlabel="better than the best trial, in sd of a difference")
        ax.axvline(0, color=GRAY, lw=0.8, ls=":")
        ax.legend(fontsize=8)
    return figure


def loop(seeds: int) -> Any:
    """Keep the best result so far, and the gate: gain that is believed against gain that is true."""
    figure, both = panels("Keep the best result", "equipoise gate")
    world = IdeaWorld(share=0.8, drift=0.1)
    runs = (greedy(world, 100, 10 * seeds, 0), gated(world, 100, 10 * seeds, 0, 10**9))
    for ax, found, label, color in zip(both, runs, ("greedy", "gate"), (ORANGE, BLUE), strict=True):
        ax.plot(found.gain, found.believed, "o", color=color, ms=4, alpha=0.6)
        ends = [min(run.gain.min() for run in runs) - 0.2, max(run.believed.max() for run in runs) + 0.2]
        ax.plot(ends, ends, color=GRAY, lw=0.8)
        ax.set(xlabel="true gain, in sd of a reading", ylabel="gain the loop believes in", xlim=ends, ylim=ends)
        worse = (found.gain < 0).mean()
        print(f"{label}: true {found.gain.mean():.2f}, believed {found.believed.mean():.2f}, worse {worse:.0%}")
    return figure


TOOLS: dict[str, Callable[[int], Any]] = {each.__name__: each for each in (optuna, botorch, hyperfine, pruner, loop)}


def main() -> None:
    """Draw one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--out", help="The picture.  [default: docs/images/drift-TOOL.png]")
    options = parser.parse_args()
    figure = TOOLS[options.tool](options.seeds)
    figure.savefig(options.out or f"docs/images/drift-{options.tool}.png", dpi=110)


if __name__ == "__main__":
    main()
