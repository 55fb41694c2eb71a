"""Racing: a trial is measured piece by piece on the pieces of the incumbent, and stopped once it is shown to be worse.

It works with any sampler of Optuna.
"""

from equipoise.integrations.optuna.racing.instances import raced
from equipoise.integrations.optuna.racing.pruner import RacePruner
from equipoise.integrations.optuna.racing.race import differences, race, worse

__all__ = ["RacePruner", "differences", "race", "raced", "worse"]
