"""The goal of a study: a number of readings, or a bound on what is left to gain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from equipoise.answer import Recommendation
from equipoise.study import Plan, Study


class Claiming(Protocol):
    """What a goal needs of an `Optimizer`."""

    @property
    def readings(self) -> int:
        """How many readings were told."""
        ...

    @property
    def judgements(self) -> int:
        """How many judgements were told."""
        ...

    @property
    def study(self) -> Study:
        """What is looked at less often."""
        ...

    def recommend(self, *, context: Mapping[str, Any] | None = None) -> Recommendation:
        """Return the best setting as far as is known."""
        ...

    def audit(self, duels: int = 24, *, context: Mapping[str, Any] | None = None) -> Plan:
        """Plan an audit."""
        ...


@dataclass(frozen=True)
class Goal:
    """When there is enough.

    Attributes:
        readings: The budget: readings, or judgements where pairs are judged; `None` for no end.
        eps: The bound on what is left to gain; `None` for any.
        audit: Whether that bound must be audited, or an estimate will do.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
        >>> Goal(readings=1).spent(opt)
        False
        >>> opt.tell(opt.ask(), 0.5)
        >>> Goal(readings=1).spent(opt), Goal(eps=0.1).certified(opt)
        (True, False)
    """

    readings: int | None = None
    eps: float | None = None
    audit: bool = True

    def spent(self, opt: Claiming) -> bool:
        """Return whether the budget is spent."""
        return self.readings is not None and opt.readings + opt.judgements >= self.readings

    def certified(
        self,
        opt: Claiming,
        context: Mapping[str, Any] | None = None,
        say: Callable[[str], object] = lambda text: None,
    ) -> bool:
        """Return whether the bound is reached; if it is, but only by estimate, plan the audit it still needs.

        Args:
            opt: The study.
            context: Where, in a space with contexts.
            say: Called with what was planned.
        """
        if self.eps is None or opt.study.plan is not None:
            return False
        best = opt.recommend(context=context)
        if self.audit and best.overall.kind == "estimate" and best.overall.bound <= self.eps:
            plan = opt.audit(context=context)
            say(f"The bound is reached by estimate: an audit of {plan.duels} duels follows.")
            return False
        return best.certifies(self.eps, audit=self.audit)
