"""A beam line with three numbers: more flux, with limits on the loss and the spot, although all monitors drift.

Three quadrupole magnets focus a beam through an aperture. A detector behind it reads the flux, a loss monitor reads the
part that hits the pipe, and a camera reads the size of the spot; all three drift. The loss must not rise above the
present one by more than 2 % of the beam, nor the spot by more than 0.3 mm: these limits are relative to the start, so
the drift cancels. There are three studies of the same machine:

- limits that guide the search: the best setting that holds both limits;
- limits that no reading may break (`safe`);
- flux and loss at once, with a limit on the spot: the front, and one compromise on it.

    python examples/beam_line.py                     # about ten seconds
    python examples/beam_line.py --readings 40       # a quick look
"""

import argparse
import warnings
from collections.abc import Sequence

import numpy as np

import equipoise as eq
from equipoise.lab.environments import PlantReadings, RandomWalk, beam_line_with_loss

KNOBS = ("q1", "q2", "q3")
NOISE, WALK = 0.01, 0.03
"""The noise of a reading and the step of its drift, in units of the range of each number."""


def tuned(readings: int, seed: int, objective: str = "flux", safe: bool = False) -> tuple[eq.Optimizer, float, float]:
    """Return a study of the beam line, and the largest loss and spot of any reading."""
    plant = beam_line_with_loss(objective, spot=True)
    space = eq.Space({name: eq.Float(-6, 6, unit="1/m²") for name in KNOBS})
    start = dict.fromkeys(KNOBS, 0.0)
    opt = eq.Optimizer(space, objective=plant.objective, limits=plant.limits, start=start, safe=safe, rng=seed)
    monitors, worst = PlantReadings(plant, RandomWalk(WALK), NOISE, rng=seed), {"loss": 0.0, "spot": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(readings):
            trial = opt.ask()
            x = np.array([trial.x[name] for name in KNOBS])
            worst = {name: max(most, float(plant(x)[name])) for name, most in worst.items()}
            opt.tell(trial, monitors.measure(x))
    return opt, worst["loss"], worst["spot"]


def truth(x: dict[str, float]) -> str:
    """Return the true numbers of a setting."""
    found = beam_line_with_loss(spot=True)(np.array([x[name] for name in KNOBS]))
    return f"flux {float(found['flux']):.1f} %, loss {float(found['loss']):.1f} %, spot {float(found['spot']):.2f} mm"


def main(arguments: Sequence[str] | None = None) -> None:
    """Tune three times and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print(f"The start: {truth(dict.fromkeys(KNOBS, 0.0))}.\n")
    for title, safe in (("Limits that steer", False), ("Never broken on the way", True)):
        opt, loss, spot = tuned(given.readings, given.seed, safe=safe)
        best = opt.recommend()
        print(f"{title}:\n{best}\nTrue values: {truth(best.x)}; on the way at most {loss:.1f} % and {spot:.2f} mm.\n")
    opt, *_ = tuned(given.readings, given.seed, "flux, -loss")
    print("Flux and loss at once:")
    for point in opt.front():
        print(point)
    best = opt.recommend()
    print(f"\nAs much of each:\n{best}\nTrue values: {truth(best.x)}.")


if __name__ == "__main__":
    main()
