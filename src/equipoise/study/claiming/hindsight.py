"""Earlier recommendations of a study, and the coin test: both replay the study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from equipoise.answer import coin_test
from equipoise.data import Duel
from equipoise.log import COINS, Asked, Told
from equipoise.study.judged_pairs import levels

if TYPE_CHECKING:
    from equipoise.answer import Recommendation
    from equipoise.data import Question
    from equipoise.log import Streams
    from equipoise.study.claiming.recommender import Recommender
    from equipoise.study.state import State


def history(claims: Recommender, state: State, wanted: set[int]) -> list[Recommendation]:
    """Return the recommendations after the wanted numbers of readings and judgements."""
    past = zip(range(max(wanted, default=-1) + 1), _after_answers(state), strict=False)
    return [claims.recommend(then, n) for n, then in past if n in wanted]


def _after_answers(state: State) -> Iterator[State]:
    """Yield the state before any reading or judgement, then after each: one object, which keeps changing."""
    yield state.fresh()
    for past, event in state.replay():
        if isinstance(event, Told):
            past.apply(event)
            yield past


def coins(state: State, streams: Streams, draws: int) -> float:
    """Return the p-value of the expected winners' wins under coins alone, over all duels of two and all pairs.

    Wins of readings and of answers are each divided by their median size, so that both count alike.
    """
    read, said = _expected(state)
    sizes = [np.array(wins) / (np.median(np.abs(wins)) or 1.0) for wins in (read, said) if wins]
    return coin_test(np.concatenate([np.empty(0), *sizes]), streams.at(0, COINS), draws)


def _expected(state: State) -> tuple[list[float], list[float]]:
    """Return the wins of the expected winner: of each complete duel of two readings, and of each judged pair.

    The belief at the beginning of a duel says who is expected to win, so it does not depend on the coin.
    """
    differences, preferred = _differences(state), levels(state.ledger)
    read, said = [], []
    for past, event in state.replay():
        informed = past.readings or past.ledger.judgements
        if not isinstance(event, Asked) or not informed:
            continue
        if isinstance(event.question, Duel) and event.number in differences:
            read.append(differences[event.number] * _expects(past, event.question))
        elif event.trial in preferred:
            said.append(preferred[event.trial] * _expects(past, event.question))
    return [win for win in read if win], [win for win in said if win]


def _differences(state: State) -> dict[int, float]:
    """Return the first reading minus the second of each complete duel of two, by number, in the sign of f."""
    pairs = [entry for entry in state.ledger.duels if len(entry.ids) == 2 and entry.complete]
    values = {entry.number: [entry.readings[i].outcome for i in entry.ids] for entry in pairs}
    return {number: state.sign * (first - second) for number, (first, second) in values.items()}


def _expects(state: State, question: Question) -> float:
    """Return 1 if the first of two points is expected to win, else -1."""
    mean = state.belief.posterior.mean(question.points)
    return 1.0 if mean[0] >= mean[1] else -1.0
