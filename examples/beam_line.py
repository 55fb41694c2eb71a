"""A beam line with two numbers: more flux, with the loss within a limit, though both monitors drift.

Three quadrupole magnets focus a beam through an aperture. A detector reads the flux behind it, and a loss monitor reads
what hits the pipe; both drift. The loss must not rise by more than 2 % of the beam above that of today: a limit against
the start, in which the drift of the monitor cancels. Three studies of the same machine:

- limits that steer: the best setting that holds the limit;
- limits that are never broken on the way (`safe`);
- flux and loss at once: the front, and one compromise of it.

    python examples/beam_line.py                     # about ten seconds
    python examples/beam_line.py --readings 40       # a quick look
"""

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import equipoise as eq
from equipoise.lab.environments import PlantReadings, RandomWalk, beam_line_with_loss

KNOBS = ("q1", "q2", "q3")
NOISE, WALK = 0.01, 0.03
"""In units of the range of each number."""


def tuned(readings: int, seed: int, objective: str = "flux", **parts: Any) -> tuple[eq.Optimizer, float]:
    """Return a study of the beam line, and the largest loss that it met on its way."""
    plant = beam_line_with_loss(objective)
    space = eq.Space({name: eq.Float(-6, 6, unit="1/m²") for name in KNOBS})
    opt = eq.Optimizer(space, objective=plant.objective, start=dict.fromkeys(KNOBS, 0.0), rng=seed, **parts)
    monitors, lost = PlantReadings(plant, RandomWalk(WALK), NOISE, rng=seed), 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(readings):
            trial = opt.ask()
            x = np.array([trial.x[name] for name in KNOBS])
            lost = max(lost, float(plant(x)["loss"]))
            opt.tell(trial, monitors.measure(x))
    return opt, lost


def truth(best: eq.Recommendation) -> str:
    """Return what a setting really gives."""
    found = beam_line_with_loss()(np.array([best.x[name] for name in KNOBS]))
    return f"flux {float(found['flux']):.1f} %, loss {float(found['loss']):.1f} %"


def main(arguments: Sequence[str] | None = None) -> None:
    """Tune three times and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    limits = beam_line_with_loss().limits
    print(f"The start: {truth(eq.Recommendation(dict.fromkeys(KNOBS, 0.0), 0.0, 0))}.\n")
    for title, safe in (("Limits that steer", False), ("Never broken on the way", True)):
        opt, lost = tuned(given.readings, given.seed, limits=limits, safe=safe)
        best = opt.recommend()
        print(f"{title}:\n{best}\nIn truth: {truth(best)}; on the way at most {lost:.1f} % was lost.\n")
    opt, _ = tuned(given.readings, given.seed, "flux, -loss")
    print("Flux and loss at once:")
    for point in opt.front():
        print(point)
    print(f"\nAs much of each:\n{opt.recommend()}\nIn truth: {truth(opt.recommend())}.")


if __name__ == "__main__":
    main()
