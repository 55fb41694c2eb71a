"""Short studies with a custom part: they run, and they resume to the same belief."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.optimizer import Optimizer, resume
from equipoise.policies import Policy
from equipoise.reductions import Reduction
from equipoise.spaces import Box, Domain, Finite
from equipoise.testing.rule import require

READINGS = 14
"""The readings of a rehearsal: more than the 6 before the first fit and the 12 before the search for jumps."""

DRIFT = 0.5
"""The drift from one reading of a rehearsal to the next: more than the whole range of f."""


def finite(points: int = 9) -> Finite:
    """Return a small set of points of the plane.

    Example:
        >>> finite()
        Finite(9 points in 2 dimensions)
    """
    return Finite(np.random.default_rng(0).uniform(-1, 1, (points, 2)))


def box() -> Box:
    """Return a box with few candidates.

    Example:
        >>> box()
        Box([[-2.0, 2.0], [0.0, 1.0]], candidates=16)
    """
    return Box([(-2, 2), (0, 1)], candidates=16)


def rehearse(opt: Optimizer, readings: int = READINGS) -> Optimizer:
    """Ask and tell with a smooth function of the encoded point plus a drift; then recommend.

    Example:
        >>> rehearse(Optimizer(finite(), rng=0)).readings
        14
    """
    space, context = opt.space, some_context(opt.space)
    for t in range(readings):
        trial = opt.ask(context=context)
        point = space.encode(trial.x)
        require(space.valid(point[None]).all(), f"`ask` gave {trial.x}, which is not valid")
        opt.tell(trial, float(np.cos(point - 0.3).sum()) + DRIFT * t)
    best = space.encode(opt.recommend().x)
    require(space.valid(best[None]).all(), f"`recommend` gave {space.decode(best)}, which is not valid")
    mean = opt.posterior.at(_looked_at(space)).mean
    require(np.isfinite(mean).all(), f"the belief is not finite: {mean}")
    return opt


def some_context(space: Domain) -> dict[str, Any] | None:
    """Return a context of a space; `None` if it has none.

    Example:
        >>> some_context(box()) is None
        True
    """
    x = space.decode(space.candidates(np.random.default_rng(0))[0])
    return {name: x[name] for name in space.contexts} or None


def must_resume(space: Domain, readings: int = READINGS, **parts: Any) -> None:
    """Fail unless a logged study with these parts resumes to the same belief and continues in the same way.

    Example:
        >>> import equipoise as eq
        >>> must_resume(finite(), readings=4, policy=eq.IDS())
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        opt = rehearse(Optimizer(space, log=path, rng=0, **parts), readings)
        again = resume(path, space=space, **parts)
        before, after = (each.posterior.at(_looked_at(space)) for each in (opt, again))
        same = before.mean.tobytes() == after.mean.tobytes() and before.variance.tobytes() == after.variance.tobytes()
        require(same, "the belief of the resumed study differs")
        context = some_context(space)
        asked, anew = opt.study.propose(context=context), again.study.propose(context=context)
        plans = [(each.points.tolist(), each.signs, each.baseline) for each in (asked, anew)]
        require(plans[0] == plans[1], f"the resumed study continues with {plans[1]} instead of {plans[0]}")


def must_fit(policy: Policy, reduction: Reduction) -> None:
    """Fail unless a reduction can measure the proposals of a policy.

    Example:
        >>> import equipoise as eq
        >>> must_fit(eq.UCB(), eq.TwoPoint())
        Traceback (most recent call last):
        AssertionError: UCB() proposes single points, which TwoPoint() cannot compare
    """
    offered, needed = policy.proposal_size, reduction.proposal_size
    single = offered == 1 and not reduction.offset.believed
    require(not single, f"{policy!r} proposes single points, which {reduction!r} cannot compare")
    require(needed in (None, offered), f"{reduction!r} needs {needed} points, {policy!r} proposes {offered or 'any'}")


def _looked_at(space: Domain) -> Any:
    return space.candidates(np.random.default_rng(0))
