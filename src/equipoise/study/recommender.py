"""What a study claims: its recommendation, the difference of two settings, the test of its coins."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.answer import (
    Difference,
    FrontPoint,
    Rank,
    Recommendation,
    Standing,
    coin_test,
    difference,
    finalists,
    preference,
    ranking,
    recommended,
)
from equipoise.data import Duel
from equipoise.log import COINS, FRONT, RANKS, RECOMMEND, Asked, Planned, Streams
from equipoise.spaces import Domain
from equipoise.study.alerts import wrong_unit
from equipoise.study.gate import Checkpoint
from equipoise.study.outputs import TOLERANCE, compromised, front, wanted
from equipoise.study.state import State
from equipoise.study.views import on_seeds, unit_of

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

    def at(self, space: Domain) -> "Recommender":
        """Return what says what is claimed in a part of the space."""
        return self if space is self.space else replace(self, space=space)

    def recommend(self, state: State, readings: int) -> Recommendation:
        """Return the best setting as far as is known after this many readings, and what is claimed of it."""
        several = state.setup.outputs is not None and state.setup.outputs.several
        return self.compromise(state) if several else self._single(state, readings)

    def _single(self, state: State, readings: int) -> Recommendation:
        """Return the best setting for the first objective."""
        standing = _standing(state, self.space)
        best = recommended(self.space, state.belief, standing, self.streams.at(readings, RECOMMEND))
        judgements = len(state.ledger.judgements)
        scale = state.setup.likelihood.scale
        unit = f"in {scale}" if scale else unit_of(state.settings)
        unit = JUDGED_UNIT if judgements and not best.readings else unit
        named = state.named(self.space)
        kept = None if named is None else named.usability(self.space.encode(best.x))
        seeds = None if state.setup.seeds is None else len(on_seeds(state.ledger, open_too=False))
        found = replace(best, judgements=judgements, unit=unit, notices=self.notices(state), usability=kept)
        return replace(found, seeds=seeds)

    def front(self, state: State, tolerance: float = TOLERANCE, sure: bool = True) -> list[FrontPoint]:
        """Return the settings that are not dominated; of a study with several objectives.

        Args:
            state: The state.
            tolerance: By which share of the range of each objective a setting must be beaten.
            sure: Whether to leave out those that may be dominated with more than 5 %.
        """
        named = state.named(self.space)
        if named is None or not named.outputs.several:
            raise RuntimeError("a front is of several objectives, such as objective='flux, -size', and there is one")
        standing = state.standing(self.space)
        part = self.space if standing.attainable is None else standing.attainable
        return front(named, part, standing, self.streams.at(state.readings, FRONT), tolerance, sure)

    def compromise(
        self, state: State, weights: Mapping[str, float] | None = None, prefer: str | None = None
    ) -> Recommendation:
        """Return the setting of the front that gains most, in the proportion of the weights.

        Args:
            state: The state.
            weights: How much is wanted of each objective, by name; as much of each by default.
            prefer: The one objective that counts, instead.
        """
        outputs = state.setup.outputs
        if outputs is None or not outputs.several:
            raise ValueError("`weights` and `prefer` choose among several objectives, and there is one")
        share = wanted(outputs, weights, prefer)
        best = self._single(state, state.readings)
        points, named = self.front(state) or self.front(state, sure=False), state.named(self.space)
        return best if named is None else compromised(best, points, named, self.space, share)

    def notices(self, state: State) -> tuple[Warning, ...]:
        """Return what the user should know of all claims."""
        notice = wrong_unit(state.belief)
        return () if notice is None else (notice,)

    def compare(self, state: State, first: FloatArray, second: FloatArray) -> Difference:
        """Return f(first) - f(second) for two encoded points, in the user's sign."""
        found = difference(state.belief, _standing(state, self.space), first, second)
        found = -found if state.setup.minimize else found
        return replace(found, chosen=preference(state.belief, first, second))

    def rank(self, state: State) -> list[Rank]:
        """Return all settings that something is known of, from the best to the worst."""
        return ranking(self.space, state.belief, self.streams.at(0, RANKS), state.setup.sign)

    def auditing(self, state: State, number: int, duels: int) -> Planned:
        """Return the event of an audit; in a part of the space it says by the leader which part that is."""
        if self.space is state.setup.space:
            return Planned(number, "audit", duels)
        best = self.space.encode(self.recommend(state, state.readings).x)
        return Planned(number, "audit", duels, best[None])

    def verifying(self, state: State, number: int, duels: int, runners_up: int, against: FloatArray | None) -> Planned:
        """Return the event of a verification of what is recommended now, or refuse it.

        Args:
            state: The state.
            number: Of the plan.
            duels: How many fresh duels there are to be.
            runners_up: How many of the best other points are rivals, beside the start.
            against: Rivals that are given, encoded, shape (k, d), instead.
        """
        if state.setup.caution.max_step is not None:
            raise RuntimeError("a verification goes to and fro between settings, which `max_step` forbids")
        best = self.space.encode(self.recommend(state, state.readings).x)
        if against is None:
            start = state.standing(self.space).start
            allowed, posterior = Checkpoint.of(state, self.space).allowed, state.belief.posterior
            points = finalists(allowed, posterior, best, start, runners_up)
        else:
            points = against[_linalg.firsts(against)]
            points = np.concatenate((best[None], points[(points != best).any(axis=1)]))
        seeds, read = state.setup.seeds, len(on_seeds(state.ledger))
        if seeds is not None and seeds.values is not None and duels > len(seeds.values) - read:
            left = f"the {len(seeds.values) - read} seeds that were never read"
            raise ValueError(f"`duels` must be at most {left}, for the same seed gives the same number, got {duels}")
        if len(points) < 2:
            raise RuntimeError(
                "there is nothing yet to verify the best setting against: measure more, or say `against`"
            )
        return Planned(number, "verify", duels, points)

    def coin_test(self, state: State, draws: int) -> float:
        """Return how likely coins alone explain that what was expected to win did: of all duels of two and all pairs.

        The size of what was read or said is no matter of the coins: readings and answers count for as much each, in
        the median.
        """
        read, said = _expected(state)
        sizes = [np.array(wins) / (np.median(np.abs(wins)) or 1.0) for wins in (read, said) if wins]
        return coin_test(np.concatenate([np.empty(0), *sizes]), self.streams.at(0, COINS), draws)


def _standing(state: State, space: Domain) -> Standing:
    """Return what is known besides the belief; there is not enough for a bound where the unit is contradicted."""
    standing = state.standing(space)
    return standing if wrong_unit(state.belief) is None else replace(standing, enough=False)


def _expected(state: State) -> tuple[list[float], list[float]]:
    """Return by how much what was expected to win did: of each complete duel of two readings, of each pair judged.

    What is expected must be known before the coin is thrown: it is what was believed when the duel was begun.
    """
    differences, levels = state.differences(), state.ledger.levels()
    read, said = [], []
    for past, event in state.replay():
        informed = past.readings or past.ledger.judgements
        if not isinstance(event, Asked) or not informed:
            continue
        if isinstance(event.question, Duel) and event.number in differences:
            read.append(differences[event.number] * _expects(past, event.question.points))
        elif event.trial in levels:
            said.append(levels[event.trial] * _expects(past, event.question.points))
    return [win for win in read if win], [win for win in said if win]


def _expects(state: State, points: FloatArray) -> float:
    """Return 1 where the first of two points is expected to win, else -1."""
    mean = state.belief.posterior.mean(points)
    return 1.0 if mean[0] >= mean[1] else -1.0
