"""A drifting measurement, optimized by the workers of libEnsemble through the generator standard.

python examples/libensemble_duels.py      # needs: pip install equipoise[gest] libensemble

The two workers measure the halves of a duel at the same time, so an offset that changes with time cancels. If each
worker has its own offset, it does not cancel: then use one worker.
"""

import os
import tempfile
import time
from typing import Any

import numpy as np
from gest_api.vocs import VOCS
from libensemble import Ensemble
from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

from equipoise.integrations.gest import DuelGenerator

READINGS = 60


def measure(point: dict[str, Any]) -> dict[str, float]:
    drift = 3 * np.sin(time.time()) + 0.1 * (time.time() % 1000)
    return {"f": float(-4 * (point["x"] - 0.7) ** 2 - (point["y"] - 0.2) ** 2 + drift)}


def main() -> None:
    vocs = VOCS(variables={"x": [0, 1], "y": [-1, 1]}, objectives={"f": "MAXIMIZE"})
    generator = DuelGenerator(vocs, rng=0)
    ensemble = Ensemble(
        libE_specs=LibeSpecs(gen_on_manager=True, nworkers=2, save_H_and_persis_on_abort=False, disable_log_files=True),
        gen_specs=GenSpecs(generator=generator, batch_size=2, vocs=vocs),
        sim_specs=SimSpecs(simulator=measure, vocs=vocs),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens),
        exit_criteria=ExitCriteria(sim_max=READINGS),
    )
    ensemble.run()
    best = generator.recommend()
    print(f"after {best.readings} readings: x = {best.x['x']:.2f}, y = {best.x['y']:.2f} (best: 0.70, 0.20)")


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())  # libEnsemble leaves files where it runs
    main()
