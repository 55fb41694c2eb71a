"""The part of an optimizer that asks judges which of two settings is better."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise import _validation as check
from equipoise import study
from equipoise.likelihoods import DEFAULT_STEPS
from equipoise.study import number_of

if TYPE_CHECKING:
    from equipoise.likelihoods import Pair
    from equipoise.study import Session


class Judging(ABC):
    """A study that shows pairs of settings to judges."""

    _session: Session

    @property
    def judgements(self) -> int:
        """The number of judgements."""
        return len(self._session.state.ledger.judgements)

    def ask_pair(
        self,
        *,
        judge: str = "",
        steps: int = DEFAULT_STEPS,
        again: Pair | int | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Pair:
        """Return two settings to be judged against each other, in random order.

        Args:
            judge: The judge, if there are several.
            steps: The scale of the answers: 2, 3, 5 or 7 steps; see `Pair.answers`.
            again: A pair to ask again in the other order, to check the judge.
            context: The present value of each `Context` of the space: both settings are there.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(blur=eq.Float(0, 5)), rng=0)
            >>> for _ in range(30):
            ...     pair = opt.ask_pair()
            ...     worse = abs(pair.first["blur"] - 2) - abs(pair.second["blur"] - 2)  # who judges likes it at 2
            ...     opt.tell(pair, "equal" if abs(worse) < 0.1 else "second" if worse > 0 else "first")
            >>> abs(opt.recommend().x["blur"] - 2) < 0.5, opt.judgements
            (True, 30)
        """
        i = None if again is None else number_of(again)
        return study.ask_pair(self._session, context, judge, steps, i)

    def ask_pairs(
        self, n: int, *, judge: str = "", steps: int = DEFAULT_STEPS, context: Mapping[str, Any] | None = None
    ) -> list[Pair]:
        """Return several pairs to judge in any order, all different, also from the judge's open ones.

        Args:
            n: How many.
            judge: As for `ask_pair`.
            steps: As for `ask_pair`.
            context: As for `ask_pair`.
        """
        return [self.ask_pair(judge=judge, steps=steps, context=context) for _ in range(check.count("n", n))]
