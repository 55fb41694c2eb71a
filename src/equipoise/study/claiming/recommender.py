"""The claims of a study: its recommendation, the difference of two settings, the ranking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from equipoise.answer import Difference, Recommendation, Standing, difference, preference, ranking, recommended
from equipoise.belief import contradiction
from equipoise.log import RANKS, RECOMMEND, Set
from equipoise.spaces import printable
from equipoise.study import asking, claiming, outputs
from equipoise.study.ledger import FEW_EQUAL
from equipoise.study.settings_read import feasibility, on_seeds

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.answer import Rank
    from equipoise.log import Streams
    from equipoise.spaces import Domain
    from equipoise.study.session import Session
    from equipoise.study.state import State

Claimed = TypeVar("Claimed", Recommendation, Difference)

JUDGED_UNIT = "noises of the judge"
"""The unit of f if there are judgements only."""


def compare(session: Session, points: tuple[FloatArray, FloatArray]) -> Difference:
    """Return the difference of f at two encoded points."""
    claims = Recommender(session.space.through(points[0]), session.streams)
    found, notices = session.follow(lambda state: (claims.compare(state, *points), claims.notices(state)))
    session.deliver(notices)
    return found


@dataclass(frozen=True)
class Recommender:
    """Makes the claims about a state.

    Attributes:
        space: The space, or the part of it at a context.
        streams: Random numbers of the study.
    """

    space: Domain
    streams: Streams

    def recommend(self, state: State, readings: int) -> Recommendation:
        """Return the best known setting after this many readings, with its claims."""
        several = state.setup.outputs is not None and state.setup.outputs.several
        return claiming.compromise(self, state) if several else self.single(state, readings)

    def single(self, state: State, readings: int) -> Recommendation:
        """Return the best setting for the first objective."""
        best = recommended(self.space, state.belief, self.standing(state), self.streams.at(readings, RECOMMEND))
        judgements = len(state.ledger.judgements)
        unit = JUDGED_UNIT if judgements and not best.readings else _unit(state)
        named = None if state.setup.outputs is None else outputs.named_in(state, self.space)
        kept = None if named is None else named.usability(self.space.encode(best.x))
        ahead = None if state.limited else best.forecast  # no audit goes beyond limits
        found = replace(best, judgements=judgements, unit=unit, notices=self.notices(state), forecast=ahead)
        found = _on_seeds(state, replace(found, readouts=state.setup.readouts))
        return found if kept is None else found.within(kept)

    def notices(self, state: State) -> tuple[Warning, ...]:
        """Return the warnings about all claims."""
        if not contradiction(state.belief):
            return ()
        from equipoise.study.alerts import wrong_unit

        return (wrong_unit(state.belief),)

    def standing(self, state: State) -> Standing:
        """Return the facts besides the belief; they suffice for no bound if the sensor or the unit seems wrong."""
        ledger, setup = state.ledger, state.setup
        ours = ledger.points_read()
        limited = state.limited or setup.outputs is not None
        within, unsure = asking.attainable(state, self.space) if limited else (None, None)
        found = Standing(
            state.readings,
            None if state.unrestricted else feasibility(state),
            ledger.origin(setup.start, self.space),
            theorem=not setup.offset.learns_readings,
            enough=not (_stuck(state) or contradiction(state.belief)),
            attainable=within,
            doubtful=unsure,
            read=np.array(ours) if ours else None,
        )
        if not state.planned:
            return found
        from equipoise.study.plans import with_plans

        return with_plans(state, self.space, found)

    def compare(self, state: State, first: FloatArray, second: FloatArray) -> Difference:
        """Return f(first) - f(second) for two encoded points, in the user's sign."""
        found = _on_seeds(state, difference(state.belief, self.standing(state), first, second))
        found = -found if state.setup.minimize else found
        return replace(found, chosen=preference(state.belief, first, second))

    def rank(self, state: State) -> list[Rank]:
        """Return all settings about which something is known, from the best to the worst in the first objective."""
        named = outputs.named_in(state, self.space)
        surely = named.surely if named is not None and named.limited and not named.unknown else None
        return ranking(self.space, state.belief, self.streams.at(0, RANKS), state.setup.sign, surely)


def _on_seeds(state: State, claim: Claimed) -> Claimed:
    """Return a claim as far as the number of seeds with readings allows it."""
    return claim if state.setup.seeds is None else claim.on_seeds(len(on_seeds(state.ledger, open_too=False)))


def _stuck(state: State) -> bool:
    """Return whether the sensor seems dead."""
    if state.ledger.alike < FEW_EQUAL:
        return False
    from equipoise.study.dead_sensor import stuck

    return stuck(state.ledger)


def _unit(state: State) -> str:
    """Return the unit of f: the scale of the likelihood, else the last unit that was set; empty if none was."""
    if scale := state.setup.likelihood.scale:
        return f"in {scale}"
    events = (stamped.event for stamped in reversed(state.past))
    said = next((event.value for event in events if isinstance(event, Set) and event.name == "unit"), "")
    return printable(said, "") if said else ""
