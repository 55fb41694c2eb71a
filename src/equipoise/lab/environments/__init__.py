"""Simulated environments for tests: functions to maximize and biases, combined with noise.

Examples:
    >>> from equipoise.lab.environments import CompensatedDrift, Environment, linear
    >>> environment = Environment(linear(rng=0), CompensatedDrift(), noise=1.0, rng=1)
    >>> y = environment.measure(environment.function.points[0])
"""

from equipoise.lab.environments.adversary import Adversary
from equipoise.lab.environments.beamline import beam_line
from equipoise.lab.environments.beamline import intensity as intensity
from equipoise.lab.environments.bias import BIASES
from equipoise.lab.environments.drifts import BlockOffsets, Drift, Jumps, NoBias, PeriodicDrift, RandomWalk
from equipoise.lab.environments.environment import Environment
from equipoise.lab.environments.feedback import (
    Calibration,
    CompensatedDrift,
    NegativeRepeat,
    RangeAdjustingDetector,
    authors_calibration,
)
from equipoise.lab.environments.function import Function
from equipoise.lab.environments.functions import (
    FUNCTIONS,
    ackley,
    branin,
    camelback,
    hartmann3,
    hartmann6,
    levy,
    rosenbrock,
    styblinski_tang,
)
from equipoise.lab.environments.plants import (
    Plant,
    PlantReadings,
    beam_line_with_loss,
    branin_in_a_disk,
    dtlz2,
    gp_plant,
    townsend,
    zdt1,
)
from equipoise.lab.environments.random_functions import Bumps as Bumps
from equipoise.lab.environments.random_functions import additive, gp_draw, linear, peak, two_bumps
from equipoise.lab.environments.random_functions import waves as waves
from equipoise.lab.environments.reading import Bias, BiasProcess, Measurement
from equipoise.lab.environments.simulator import Simulator

__all__ = [
    "BIASES",
    "FUNCTIONS",
    "Adversary",
    "Bias",
    "BiasProcess",
    "BlockOffsets",
    "Calibration",
    "CompensatedDrift",
    "Drift",
    "Environment",
    "Function",
    "Jumps",
    "Measurement",
    "NegativeRepeat",
    "NoBias",
    "PeriodicDrift",
    "Plant",
    "PlantReadings",
    "RandomWalk",
    "RangeAdjustingDetector",
    "Simulator",
    "ackley",
    "additive",
    "authors_calibration",
    "beam_line",
    "beam_line_with_loss",
    "branin",
    "branin_in_a_disk",
    "camelback",
    "dtlz2",
    "gp_draw",
    "gp_plant",
    "hartmann3",
    "hartmann6",
    "levy",
    "linear",
    "peak",
    "rosenbrock",
    "styblinski_tang",
    "townsend",
    "two_bumps",
    "zdt1",
]
