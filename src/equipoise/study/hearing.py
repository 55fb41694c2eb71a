"""The hearing: which pair a judge is asked next, and what may be said of it, as events."""

from dataclasses import dataclass
from typing import Any

from equipoise.judging import JudgeReport, answered, known_scale
from equipoise.log.events import Failed, Judged, Paired
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

    def asking(self, state: State, judge: Any, steps: Any, again: int | None) -> Paired:
        """Return the event of a pair that is handed out: a new one, or an earlier one in the other order."""
        name, i = _name(judge), state.trials
        if again is not None:
            first, second, scaled = state.docket.swapped(again)
            return Paired(i, first, second, scaled, name, None, again)
        chosen = known_scale(steps)
        first, second = self.proposer.pair(state, self.streams.at(len(state.docket.cases), PAIRS))
        serves = state.serves(self.proposer.space)
        plan = len(state.plans) - 1 if serves is not None and serves.purpose == "audit" else None
        return Paired(i, first, second, chosen, name, plan)

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
