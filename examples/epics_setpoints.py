"""Set and read a machine through EPICS from the operator's page, with Channel Access by caproto.

    python examples/epics_setpoints.py [STUDY]                  # the page; the diode is read automatically
    equipoise serve study.jsonl --set 'python examples/epics_setpoints.py --set'   # only sets; readings by hand

The environment variable EPICS_PREFIX is the prefix of the names of the process variables. `ioc` simulates a small
machine to try it with: `python -c "import epics_setpoints; epics_setpoints.ioc()"` in this folder.
"""

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import equipoise as eq

PREFIX = os.environ.get("EPICS_PREFIX", "EQUIPOISE:")
KNOBS = {"q1": (-2.0, 2.0), "q2": (-1.0, 1.0)}
TIMEOUT = 10.0
"""Seconds after which a process variable that does not answer is a failure."""


def put(x: Mapping[str, float]) -> None:
    """Set the machine, and check its position: a clipped setpoint is a failure."""
    from caproto.sync.client import read, write

    for name, value in x.items():
        write(f"{PREFIX}{name}", value, notify=True, timeout=TIMEOUT, repeater=False)
        stands = float(read(f"{PREFIX}{name}", timeout=TIMEOUT, repeater=False).data[0])
        if not math.isclose(stands, value, abs_tol=1e-6):
            raise RuntimeError(f"{PREFIX}{name} stands at {stands:g} instead of {value:g}")


def diode(x: Mapping[str, float]) -> float:
    """Read the diode; `put` was called before."""
    from caproto.sync.client import read

    return float(read(f"{PREFIX}diode", timeout=TIMEOUT, repeater=False).data[0])


def ioc() -> None:
    """Serve a small machine: two magnets, and a diode whose offset drifts with every reading."""
    from caproto.server import PVGroup, pvproperty, run

    class Machine(PVGroup):  # type: ignore[misc]
        q1 = pvproperty(value=0.0, upper_ctrl_limit=1.5, lower_ctrl_limit=-1.5)
        q2 = pvproperty(value=0.0)
        diode = pvproperty(value=0.0, read_only=True)
        drift = 0.0

        @diode.getter  # type: ignore[no-redef,untyped-decorator]
        async def diode(self, instance: object) -> float:
            self.drift += 0.02
            return math.exp(-((self.q1.value - 0.7) ** 2) - 2 * (self.q2.value + 0.3) ** 2) + self.drift

    run(Machine(prefix=PREFIX).pvdb, interfaces=["127.0.0.1"])


def main(path: Path) -> None:
    """Serve the page of a study that sets and reads the machine by itself."""
    if not path.exists():
        space = eq.Space({name: eq.Float(*limits, unit="A") for name, limits in KNOBS.items()})
        eq.Optimizer(space, start=dict.fromkeys(KNOBS, 0.0), max_step={"q1": 0.5}, log=path)
    eq.web.serve(path, diode, means=eq.web.Means(set=put))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--set"]:
        pairs = (word.removeprefix("--").split("=", 1) for word in sys.argv[2:])
        put({name: float(value) for name, value in pairs})
    else:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "epics.jsonl"))
