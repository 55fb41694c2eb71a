"""The parts of a study: what the user gave, checked, and the defaults for the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise.belief import Confidence, Posterior
from equipoise.data import Encoded
from equipoise.kernels import Kernel
from equipoise.offsets import Offset
from equipoise.policies import Policy
from equipoise.reductions import Reduction
from equipoise.spaces import Domain
from equipoise.study.defaults import (
    default_explorer,
    default_offset,
    default_policy,
    default_posterior,
    judging_policy,
    offset_of,
)
from equipoise.study.limits import Limits
from equipoise.study.proposing import Proposer
from equipoise.study.rules import Rules
from equipoise.study.state import State
from equipoise.study.streams import Streams


@dataclass(frozen=True, eq=False)
class Assembly:
    """All parts of a study; see `Optimizer` for what each is.

    Attributes:
        space: Where points lie.
        policy: Chooses what to propose.
        reduction: How a proposal is measured.
        offset: What is assumed of the bias.
        prior: The belief before any data.
        kernel: The kernel that was given; `None` where it is learned.
        own: Whether the belief was given as a whole.
        limits: Where things stand now, and what may be proposed.
        design: Points of the start design that were asked for; `None` for the default.
        minimize: Whether the smallest value is looked for.
        max_gap: The longest time between the readings of a duel.
        max_step: The longest step of each parameter, as it was given.
    """

    space: Domain
    policy: Policy
    reduction: Reduction
    offset: Offset
    prior: Posterior
    kernel: Kernel | None
    own: bool
    limits: Limits
    design: int | None
    minimize: bool
    max_gap: float | None
    max_step: Any

    @classmethod
    def of(
        cls,
        space: Domain,
        *,
        kernel: Kernel | None,
        policy: Policy | None,
        reduction: Reduction | None,
        offset: Offset | None,
        confidence: Confidence | None,
        regularizer: float | None,
        posterior: Posterior | None,
        start: Any,
        drop: float | None,
        max_step: Any,
        design: int | None,
        minimize: bool,
        max_gap: float | None,
    ) -> "Assembly":
        """Return the parts that were given, and defaults for those that were not."""
        _part("space", space, "candidates", "Space(q=Float(0, 1)), Box(bounds) or Finite(points)")
        learned = kernel is None and posterior is None
        chooses: Policy = _part("policy", policy, "scores", "Challenger()") or default_policy(learned)
        measures: Reduction = _part("reduction", reduction, "baseline", "TwoPoint()") or chooses.reduction
        _part("kernel", kernel, "with_gradient", "RBF(0.2)")
        _part("offset", offset, "learns_readings", "Tracked()")
        _part("confidence", confidence, "__call__", "TightConfidence(outcome_noise=0.1)")
        _part("posterior", posterior, "condition", "AnywherePosterior(RBF(0.2))")
        longest = None if max_gap is None else check.positive("max_gap", max_gap)
        size = None if design is None else check.count("design", design, at_least=0)
        limits = _limits(space, start, drop, max_step)
        if posterior is None:
            law = default_offset(measures, kernel) if offset is None else offset
            prior = default_posterior(space, kernel, law, confidence, regularizer)
        elif any(part is not None for part in (kernel, offset, confidence, regularizer)):
            own = "kernel, offset, confidence and regularizer"
            raise ValueError(f"`posterior` has its own {own}: give either it or those")
        else:
            law, prior = offset_of(posterior, measures), posterior
        given = posterior is not None
        return cls(space, chooses, measures, law, prior, kernel, given, limits, size, bool(minimize), longest, max_step)

    def state(self) -> State:
        """Return the state before anything has happened."""
        law, baseline = self.offset, self.reduction.baseline
        return State(Rules(self.space, self.prior, law, baseline, self.limits, self.minimize, self.max_gap))

    def proposer(self, streams: Streams) -> Proposer:
        """Return what proposes duels; it looks around where the model is learned, or where that was asked for."""
        learned = self.kernel is None and not self.own
        explores = learned or bool(self.design)
        explorer = default_explorer(self.space, self.reduction, self.design, streams) if explores else None
        return Proposer(self.space, self.policy, self.reduction, streams, explorer, judging_policy(self.policy))

    def settings(self) -> dict[str, Any]:
        """Return what a log must know to make all of this again: no default is left to a later version."""
        parts = {"policy": self.policy, "reduction": self.reduction, "minimize": self.minimize, "max_gap": self.max_gap}
        parts |= {"design": self.design}
        limits = self.limits
        parts |= {} if limits.start is None else {"start": limits.start.tolist()}
        parts |= {} if limits.drop is None else {"drop": limits.drop}
        parts |= {} if self.max_step is None else {"max_step": _listed(self.max_step)}
        if self.own:
            return parts | {"posterior": self.prior}
        regularizer = None if self.kernel is None else self.prior.regularizer
        learned = {"kernel": self.kernel, "regularizer": regularizer, "confidence": self.prior.confidence}
        return parts | learned | {"offset": self.offset}


def _listed(max_step: Any) -> list[Any]:
    """Return steps as JSON: a list, of names and steps where they have names."""
    named = isinstance(max_step, Mapping)
    return [[name, float(step)] for name, step in max_step.items()] if named else np.asarray(max_step).tolist()


def _limits(space: Domain, start: Any, drop: float | None, max_step: Any) -> Limits:
    for name, limit in {"drop": drop, "max_step": max_step}.items():
        if limit is not None and start is None:
            raise ValueError(f"`{name}` must come with a `start`, from which it is counted, got {limit!r}")
    return Limits(
        start.point if isinstance(start, Encoded) else None if start is None else space.encode(start),
        None if drop is None else check.positive("drop", drop),
        None if max_step is None else space.steps(max_step),
    )


def _part(name: str, part: Any, attribute: str, example: str) -> Any:
    """Return a part that was given, if it is an object of the right kind; `None` where it was not given."""
    if (part is None and name != "space") or (hasattr(part, attribute) and not isinstance(part, type)):
        return part
    raise TypeError(f"`{name}` must be an object such as {example}, got {part!r}")
