"""Many independent learners as one array program: simulated by the thousand, or live and by name.

Examples:
    >>> import equipoise as eq
    >>> from equipoise.lab.environments import Drift, linear
    >>> from equipoise.lab.fleet import Blueprint, Worlds, simulate
    >>> f = linear(rng=0)
    >>> blueprint = Blueprint(f.points, eq.Linear(), eq.IDS(), confidence=eq.PaperConfidence())
    >>> traces = simulate(blueprint, Worlds([f] * 100, Drift(), noise=1.0, rngs=range(100)), readings=100, rng=0)
    >>> len(traces), traces[0].regrets.shape
    (100, (100,))
"""

from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.blueprint import Blueprint
from equipoise.lab.fleet.choices import chooser as chooser
from equipoise.lab.fleet.covariances import PointCovariances as PointCovariances
from equipoise.lab.fleet.own_coins import OwnCoins
from equipoise.lab.fleet.roster import Fleet, resume
from equipoise.lab.fleet.simulation import Trace, batch_size, simulate
from equipoise.lab.fleet.throwing import Coins, SharedCoins, Throws
from equipoise.lab.fleet.worlds import Worlds

__all__ = [
    "Beliefs",
    "Blueprint",
    "Coins",
    "Fleet",
    "OwnCoins",
    "SharedCoins",
    "Throws",
    "Trace",
    "Worlds",
    "batch_size",
    "resume",
    "simulate",
]
