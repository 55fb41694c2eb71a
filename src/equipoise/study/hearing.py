"""The hearing: which pair a judge is asked next, and what may be said of it, as events."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.likelihoods import JudgeReport, answered, known_scale
from equipoise.log import Failed, Judged, Paired
from equipoise.spaces import Domain
from equipoise.study.gate import Gate
from equipoise.study.proposing import Proposer
from equipoise.study.state import State
from equipoise.study.streams import PAIRS, Streams


@dataclass(frozen=True)
class Hearing:
    """Turns questions to judges and their answers into events, or refuses them.

    Attributes:
        proposer: Says which points to compare.
        streams: Random numbers of the study.
    """

    proposer: Proposer
    streams: Streams

    def asking(self, state: State, part: Domain, judge: Any, steps: Any, again: int | None) -> Paired:
        """Return the event of a pair that is handed out: a new one, or an earlier one in the other order.

        Args:
            state: What happened.
            part: The part of the space at the present context.
            judge: Who will judge.
            steps: The scale.
            again: The earlier pair.
        """
        name = _name(judge)
        if again is not None:
            first, second, scaled = state.docket.swapped(again)
            gate = Gate.of(state, state.setup.space.through(first))
            return gate.paired(np.array([first, second]), scaled, name, again)
        chosen, gate = known_scale(steps), Gate.of(state, part)
        points = self.proposer.at(part).pair(gate, self.streams.at(len(state.docket.cases), PAIRS))
        return gate.paired(points, chosen, name)

    def adding(self, state: State, first: FloatArray, second: FloatArray, judge: Any, steps: Any) -> Paired:
        """Return the event of a pair that was judged elsewhere."""
        return Paired(state.trials, first, second, known_scale(steps), _name(judge), added=True)

    def judging(self, state: State, i: int, answer: Any, judge: Any, skip: str | None) -> Judged | Failed | None:
        """Return the event of an answer, or that there is none, or refuse it; `None` where it is no news."""
        docket = state.docket
        if skip is not None:
            docket.must_be_open(i)
            return Failed(i, str(skip))
        asked = docket.must_be_asked(i).asked
        event = Judged(i, answered(answer, asked.steps), asked.judge if judge is None else _name(judge))
        return None if docket.judgement(event) is None else event

    def reports(self, state: State) -> list[JudgeReport]:
        """Return what is known of each judge."""
        return state.docket.reports(state.judges)


def _name(judge: Any) -> str:
    if not isinstance(judge, str):
        raise TypeError(f"`judge` must be a name, got {judge!r}")
    return judge
