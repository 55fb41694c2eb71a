"""Tune a beamline through EPICS: a loop of caput, caget, ask and tell that survives a crash.

    python examples/epics_loop.py [STUDY] [READINGS]

The IOC is simulated here, with a detector that drifts and is re-calibrated, motors that miss their targets and a
shutter that closes. With a real one, take `caget` and `caput` from the package `epics` instead. Stop the script
whenever you like and start it again: it continues.
"""

import math
import sys
import warnings
from pathlib import Path

import numpy as np

import equipoise as eq

KNOBS = {"q1": "BL1:QUAD1", "q2": "BL1:QUAD2", "pitch": "BL1:MIRROR:PITCH"}
LIMITS = {"q1": (-2.0, 2.0), "q2": (-1.0, 1.0), "pitch": (0.0, 10.0)}
SHOTS = 5


class SimulatedIOC:
    """Process variables by name, as a beamline has them; a second passes with every call."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._values = dict.fromkeys(KNOBS.values(), 0.0)
        self._offset = 10.0
        self._seconds = 0.0

    def caput(self, name: str, value: float) -> None:
        """Set a process variable; a motor stops within 0.005 of its target."""
        self._pass_time()
        self._values[name] = value + float(self._rng.uniform(-0.005, 0.005))

    def caget(self, name: str) -> float:
        """Read a process variable."""
        self._pass_time()
        match name:
            case "BL1:SHUTTER:OPEN":
                return float(self._rng.random() > 0.05)
            case "BL1:DIODE":
                return self.transmission() + self._offset + 0.05 * float(self._rng.normal())
        return self._values[name.removesuffix(".RBV")]

    def clock(self) -> float:
        """Return the time in seconds."""
        return self._seconds

    def transmission(self) -> float:
        """Return the reading of the diode without drift and noise: at most 1."""
        q1, q2, pitch = self._values.values()
        return math.exp(-((q1 - 0.7) ** 2) - 2 * (q2 + 0.3) ** 2 - ((pitch - 6.2) / 4) ** 2)

    def _pass_time(self) -> None:
        """Let the diode's offset wander off, and once in a while jump."""
        self._seconds += 1.0
        self._offset += 0.002 + 0.003 * float(self._rng.normal())
        if self._rng.random() < 0.002:
            self._offset += float(self._rng.normal())


IOC = SimulatedIOC(seed=0)
caget, caput, clock = IOC.caget, IOC.caput, IOC.clock  # on a real beamline: those of epics, and time.time


def measure(opt: eq.Optimizer, trial: eq.Trial) -> None:
    """Move, wait and read; return the reading with the true positions, the time and the standard error."""
    for name, variable in KNOBS.items():
        caput(variable, trial.x[name])
    if not caget("BL1:SHUTTER:OPEN"):
        opt.tell(trial, failed="shutter closed")
        return
    executed = {name: float(np.clip(caget(f"{variable}.RBV"), *LIMITS[name])) for name, variable in KNOBS.items()}
    shots = [caget("BL1:DIODE") for _ in range(SHOTS)]
    error = float(np.std(shots, ddof=1)) / math.sqrt(SHOTS)
    opt.tell(trial, float(np.mean(shots)), x=executed, time=clock(), error=error)


def main(path: Path, readings: int) -> None:
    """Tune until there are this many readings."""
    warnings.simplefilter("ignore", eq.DuelGivenUp)  # the log says which trials failed, and why
    if path.exists():
        opt = eq.resume(path)
    else:
        space = eq.Space({name: eq.Float(*limits) for name, limits in LIMITS.items()})
        opt = eq.Optimizer(space, log=path, max_gap=120.0, rng=0)
    for i in opt.study.open_trials:  # trials that the last run left open
        opt.study.expire(i)
    while opt.readings < readings:
        measure(opt, opt.ask())
    best = opt.recommend()
    for name, variable in KNOBS.items():
        caput(variable, best.x[name])
    print(", ".join(f"{KNOBS[name]} = {value:.3f}" for name, value in best.x.items()))
    print(f"{best.overall} That is after {best.readings} readings.")
    print(f"True transmission there: {IOC.transmission():.3f}, of at most 1.")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "epics.jsonl"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 60,
    )
