"""What a study claims: its recommendation, the difference of two settings, the ranking."""

from dataclasses import dataclass, replace
from typing import TypeVar

from equipoise._typing import FloatArray
from equipoise.answer import (
    Difference,
    Rank,
    Recommendation,
    Standing,
    difference,
    preference,
    ranking,
    recommended,
)
from equipoise.log import RANKS, RECOMMEND, Set, Streams
from equipoise.spaces import Domain, printable
from equipoise.study.alerts import wrong_unit
from equipoise.study.claiming.compromises import compromise
from equipoise.study.standing import on_seeds, standing
from equipoise.study.state import State

Claimed = TypeVar("Claimed", Recommendation, Difference)

JUDGED_UNIT = "noises of the judge"
"""The unit of f if there are judgements only."""


@dataclass(frozen=True)
class Recommender:
    """Says what is claimed of a state.

    Attributes:
        space: Where points lie.
        streams: Random numbers of the study.
    """

    space: Domain
    streams: Streams

    def recommend(self, state: State, readings: int) -> Recommendation:
        """Return the best setting as far as is known after this many readings, and what is claimed of it."""
        several = state.setup.outputs is not None and state.setup.outputs.several
        return compromise(self, state) if several else self.single(state, readings)

    def single(self, state: State, readings: int) -> Recommendation:
        """Return the best setting for the first objective."""
        best = recommended(self.space, state.belief, _standing(state, self.space), self.streams.at(readings, RECOMMEND))
        judgements = len(state.ledger.judgements)
        unit = JUDGED_UNIT if judgements and not best.readings else _unit(state)
        named = state.named(self.space)
        kept = None if named is None else named.usability(self.space.encode(best.x))
        found = replace(best, judgements=judgements, unit=unit, notices=self.notices(state), usability=kept)
        return _on_seeds(state, replace(found, readouts=state.setup.readouts))

    def notices(self, state: State) -> tuple[Warning, ...]:
        """Return what the user should know of all claims."""
        notice = wrong_unit(state.belief)
        return () if notice is None else (notice,)

    def compare(self, state: State, first: FloatArray, second: FloatArray) -> Difference:
        """Return f(first) - f(second) for two encoded points, in the user's sign."""
        found = _on_seeds(state, difference(state.belief, _standing(state, self.space), first, second))
        found = -found if state.setup.minimize else found
        return replace(found, chosen=preference(state.belief, first, second))

    def rank(self, state: State) -> list[Rank]:
        """Return all settings that something is known of, from the best to the worst."""
        return ranking(self.space, state.belief, self.streams.at(0, RANKS), state.setup.sign)


def _on_seeds(state: State, claim: Claimed) -> Claimed:
    """Return a claim as far as the number of seeds on which anything was read allows it."""
    return claim if state.setup.seeds is None else claim.on_seeds(len(on_seeds(state.ledger, open_too=False)))


def _unit(state: State) -> str:
    """Return the unit of a reading: of the scale on which f is, else the last one that was set; empty if none was."""
    if scale := state.setup.likelihood.scale:
        return f"in {scale}"
    events = (stamped.event for stamped in reversed(state.past))
    said = next((event.value for event in events if isinstance(event, Set) and event.name == "unit"), "")
    return printable(said, "") if said else ""


def _standing(state: State, space: Domain) -> Standing:
    """Return what is known besides the belief; there is not enough for a bound where the unit is contradicted."""
    found = standing(state, space)
    return found if wrong_unit(state.belief) is None else replace(found, enough=False)
