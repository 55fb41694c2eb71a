"""The offset that does not change with time: what readings have in common is their level, and that of their block."""

from dataclasses import dataclass

from equipoise import _validation as check
from equipoise.offsets.offset import Law


@dataclass(frozen=True)
class Steady(Law):
    """Nothing drifts: the level is not known, and blocks, seeds and covariates move it, but not time.

    The default of a study with seeds: a model that is trained does not age from one trial to the next.

    Args:
        guard: Where the duels contradict the estimate by more than this many standard deviations, trust the duels;
            `None` never does: there is no adversary in a seed.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), seeds=True, rng=0).study.setup.offset
        Steady(guard=None)
    """

    guard: float | None = None

    def __post_init__(self) -> None:
        if self.guard is not None:
            check.positive("guard", self.guard)
