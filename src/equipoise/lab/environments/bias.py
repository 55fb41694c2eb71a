"""A registry of all biases by name."""

from collections.abc import Callable

from equipoise.lab.environments.adversary import Adversary
from equipoise.lab.environments.drifts import BlockOffsets, Drift, Jumps, NoBias, PeriodicDrift, RandomWalk
from equipoise.lab.environments.feedback import (
    Calibration,
    CompensatedDrift,
    NegativeRepeat,
    RangeAdjustingDetector,
    authors_calibration,
)
from equipoise.lab.environments.reading import Bias

BIASES: dict[str, Callable[[], Bias]] = {
    "none": NoBias,
    "negative-repeat": NegativeRepeat,
    "negative-repeat-reading": lambda: NegativeRepeat(of="reading"),
    "drift": Drift,
    "compensated-drift": CompensatedDrift,
    "periodic": PeriodicDrift,
    "calibration": Calibration,
    "calibration-authors": authors_calibration,
    "jumps": Jumps,
    "random-walk": RandomWalk,
    "blocks": BlockOffsets,
    "detector": RangeAdjustingDetector,
    "adversary": Adversary,
}
"""Every bias by its name on the command line, with its default settings."""
