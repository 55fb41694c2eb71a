"""The results of a study besides its recommendation: records, differences, ranking, front; and plans that check it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise import _validation as check
from equipoise import log, study

if TYPE_CHECKING:
    from equipoise.answer import Difference, FrontPoint, Rank
    from equipoise.belief import Posterior
    from equipoise.log import Planned
    from equipoise.spaces import Domain
    from equipoise.study import Plan, Recommender, Record, Session, State, Study


class Answerable(ABC):
    """The results of a study: which settings are better, and plans that check its claims."""

    _session: Session

    @property
    def space(self) -> Domain:
        """The space of the settings; `study.set` widens a range."""
        return self._session.space

    @property
    def study(self) -> Study:
        """Less common operations: the log, open trials, notes, settings, the history, the setup."""
        return study.Study(self._session)

    @property
    def posterior(self) -> Posterior:
        """The immutable posterior of f given all data. See `study.belief` for its model."""
        return self._session.state.belief.posterior

    @property
    def readings(self) -> int:
        """The number of readings."""
        return self._session.state.readings

    def records(
        self, *, aside: bool = True, judgements: bool = False, trials: Iterable[int] | None = None
    ) -> list[Record]:
        """Return every trial: first those with a reading, in the order of telling, then failed and open ones.

        Args:
            aside: Mark the readings that the model rejects. Pass False for a listing that needs no model.
            judgements: Return the pairs instead: first the judged ones, in the order of judging, then skipped and open
                ones.
            trials: Only these trials or pairs; all by default.
        """
        return self._session.look(lambda state: study.records(state, aside, judgements, trials))

    def rank(self) -> list[Rank]:
        """Return all settings of a finite space, or the measured or judged ones, from the best to the worst.

        With several outputs they are ordered by the first objective, and each says how probably it holds all limits.
        """
        return self._session.follow(study.Recommender(self.space, self._session.streams).rank)

    def front(self, *, tolerance: float = 0.05, context: Mapping[str, Any] | None = None) -> list[FrontPoint]:
        """Return the best compromises between several objectives, best in the first objective first.

        They were measured and hold all limits with 95 %. No other measured setting is expected to be better in every
        objective, or is better by more than the tolerance with 95 %.

        Args:
            tolerance: A share of the range of each objective over the front; with 0, nearly equal settings exclude each
                other.
            context: As for `recommend`.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), objective="flux, -size", start={"q1": 0}, rng=0)
            >>> for day in range(40):
            ...     trial = opt.ask()
            ...     opt.tell(trial, {"flux": trial.x["q1"] - 0.1 * day, "size": trial.x["q1"] ** 2 + 0.1 * day})
            >>> points = opt.front()
            >>> len(points) > 3, points[0].x["q1"] > 0.9, points[0].against_start["flux"].value > 0.8
            (True, True, True)
        """
        tolerance = check.fraction("tolerance", tolerance)
        return self._session.claim(context, lambda claims, state: study.front_of(claims, state, tolerance))

    def compare(self, first: Any, second: Any, *, context: Mapping[str, Any] | None = None) -> Difference:
        """Return f(first) - f(second) for two settings, free of the offset, with an interval and its basis.

        Args:
            first: One setting.
            second: The other.
            context: The value of each `Context` of the space, if the settings do not contain it.
        """
        space = self.space if context is None else self.space.at(context)
        return study.compare(self._session, (space.encode(first), space.encode(second)))

    def audit(self, duels: int = 24, *, context: Mapping[str, Any] | None = None) -> Plan:
        """Plan an audit: duels that the leader could lose. The next asks belong to it.

        Half of them use points spread over the space, half those that are most promising under a bolder model. After
        the last reading, the recommendation is `audited`. A present audit continues.

        Args:
            duels: How many.
            context: The context of the audit, in a space with contexts: asks at another context do not belong to it,
                and asks without a context use this one. The context of the last ask by default.
        """
        _duels(duels)
        return study.begin(self._session, "audit", context, lambda claims, state: study.auditing(claims, state, duels))

    def verify(
        self,
        duels: int = 24,
        *,
        runners_up: int = 2,
        against: Iterable[Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Plan:
        """Plan a verification: fresh duels of the best setting with its rivals. The next asks belong to it.

        After the last reading, the recommendation is `verified` by an interval of the typical difference, or of the
        mean if readings come in steps, as successes do. The claim that two settings differ needs only the random order
        of the two; its size also needs noise that is alike at both, or symmetric (docs/claims.md).

        Args:
            duels: How many.
            runners_up: How many of the best settings elsewhere are rivals, besides the start.
            against: Your own rivals instead.
            context: The context of the verification, see `audit`.
        """
        _duels(duels)
        check.count("runners_up", runners_up, at_least=0)
        given = None if against is None else list(against)
        if given is not None and not given:
            raise ValueError("`against` must name a setting at least, got none")

        def planned(claims: Recommender, state: State) -> Planned:
            rivals = None if given is None else np.array([claims.space.encode(x) for x in given])
            return study.verifying(claims, state, duels, runners_up, rivals)

        return study.begin(self._session, "verify", context, planned)

    def cancel(self) -> None:
        """Stop the present audit or verification; its answers stay."""
        study.cancel(self._session)

    def __repr__(self) -> str:
        counted = f"{self.readings} reading{'' if self.readings == 1 else 's'}, {len(self.study.open_trials)} open"
        return f"<Optimizer of {self.space!r} by {self.study.setup.policy!r}: {counted}>"


def _duels(number: int) -> None:
    if check.count("duels", number, at_least=2) > log.MAX_PLANNED:
        raise ValueError(f"`duels` must be at most {log.MAX_PLANNED}, got {number}")
