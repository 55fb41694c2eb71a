"""The pages beside the screen: what is confirmed before it is done, one trial, the logbook entry."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from equipoise.likelihoods import Pair
from equipoise.spaces import printable
from equipoise.web.dials import Dial, dials, told_of
from equipoise.web.known import described
from equipoise.web.pages import MissingError, Pages, must_see, page
from equipoise.web.pair_page import on_button
from equipoise.web.station import RefusedError, Station


@dataclass(frozen=True)
class Confirmation:
    """What is asked before something is done.

    Attributes:
        title: What will be done.
        text: What follows from it.
        button: What to press.
        ask: A field to fill in: its name and what it asks for.
        usual: What stands in it at first.
    """

    title: str
    text: str
    button: str
    ask: tuple[str, str] | None = None
    usual: str = ""


NUMBER_WORDS = ("second", "equal", "first")
"""What is chosen beside a number."""

CONFIRMATIONS = {
    "pause": Confirmation(
        "Pause",
        "No further setting is handed out here, and a program that measures by itself stops after its reading.",
        "Pause",
        ("reason", "Why, for the log (may be left empty)"),
    ),
    "by hand": Confirmation("Measure by hand", "Readings are entered here from now on.", "Go on by hand"),
    "automatic": Confirmation("Measure by program", "The program measures by itself from now on.", "Go on by program"),
    "audit": Confirmation(
        "Audit the best setting",
        "The next pairs try to prove the best setting wrong. Once they are told, the bound is audited.",
        "Plan the audit",
        ("duels", "Pairs, of two readings or one judgement each"),
        "24",
    ),
    "verify": Confirmation(
        "Verify the best setting",
        "The next pairs compare the best setting with the start and the runners-up, without any model.",
        "Plan the verification",
        ("duels", "Pairs, of two readings or one judgement each"),
        "24",
    ),
    "cancel": Confirmation("Cancel what is planned", "What was told for it stays.", "Cancel it"),
    "start": Confirmation("Return to start", "Set the machine to where the study started.", "It is dialed in"),
    "best": Confirmation("Dial in best", "Set the machine to the best setting as far as is known.", "It is dialed in"),
}


MOVES = ("start", "best")
"""What shows a setting before it is done."""


def moves(station: Station, what: str) -> tuple[tuple[Dial, ...], str]:
    """Return what to dial in for a question, against where the machine stands, and by what the form says so."""
    if what not in MOVES:
        return (), ""
    try:
        x = station.target(what)
    except RefusedError as error:
        raise MissingError(str(error)) from error
    return dials(station.opt.space, x, station.stands), told_of(x)


def entry(station: Station) -> str:
    """Return what a logbook should know, as text."""
    known = station.known()
    best = ", ".join(map(str, known.best))
    said = [f"{at} {text}" for at, text in known.notes]
    lines = [
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %Z}, study {station.path.name}, {known.told}",
        f"Best setting: {'hidden' if known.blind else best}",
        *known.claims,
        known.against_start,
        *([known.plan] if known.plan else []),
        *(["Notes:", *(f"  {line}" for line in said)] if said else []),
    ]
    return "\n".join(lines)


def _judged(station: Station, pair: Pair, answer: str | float) -> dict[str, Any]:
    """Return what is shown of a pair that was judged."""
    space = station.opt.space
    both = ("A", dials(space, pair.first, pair.second)), ("B", dials(space, pair.second, pair.first))
    scale = pair.answers if isinstance(answer, str) else NUMBER_WORDS
    words = [(word, on_button(word)) for word in reversed(scale)]
    said: dict[str, Any] = {"pair": pair.id, "said": on_button(answer), "judge": printable(pair.judge, "")}
    chosen = answer if isinstance(answer, str) else NUMBER_WORDS[1 + (answer > 0) - (answer < 0)]
    said |= {"number": None if isinstance(answer, str) else answer, "chosen": chosen}
    return said | {"both": () if station.blind else both, "answers": words, "was": told_of(answer)}


class Beside:
    """Answers what is asked beside the screen.

    Args:
        pages: Those of the screen.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def confirm(self, request: Request) -> Response:
        """Ask before something is done."""
        station, what = await self._pages.found(request), request.path_params["what"]
        question = CONFIRMATIONS.get(what)
        if question is None:
            raise MissingError("There is no such thing to do.")
        if what in MOVES:
            must_see(request, station)
        moved, told = await run_in_threadpool(moves, station, what)
        shown: dict[str, Any] = {"what": what, "question": question, "dials": moved, "shown": told}
        return page("confirm.html", request, name=station.path.name, **shown)

    async def trial(self, request: Request) -> Response:
        """Show one trial, to be corrected or taken back."""
        station, number = await self._pages.found(request), request.path_params["trial"]
        await run_in_threadpool(station.follow)
        records = await run_in_threadpool(station.opt.records)
        record = next((record for record in records if record.trial == number), None)
        judged = next(((pair, answer) for pair, answer in station.opt.study.answers() if pair.id == number), None)
        judge = request.path_params.get("judge")
        if judge is not None and not await run_in_threadpool(station.judged_by, number, judge):
            raise MissingError(f"There is no pair of this number that {judge} has judged.")
        if judged is not None:
            return page("judged.html", request, name=station.path.name, **_judged(station, *judged))
        if record is None:
            raise MissingError("There is no such trial.")
        state, who = (printable(text, "") for text in (described(record), record.worker or ""))
        shown: dict[str, Any] = {"record": record, "state": state, "worker": who, "was": told_of(record.value)}
        shown["dials"] = () if station.blind else dials(station.opt.space, record.x)
        return page("trial.html", request, name=station.path.name, unit=station.unit, **shown)

    async def hidden(self, request: Request) -> Response:
        """Show the way to what is hidden from blind judges, to who asks for it."""
        station = await self._pages.found(request)
        return page("hidden.html", request, name=station.path.name)

    async def logbook(self, request: Request) -> Response:
        """Show the entry for a logbook, to be copied."""
        station = await self._pages.found(request)
        return page("logbook.html", request, name=station.path.name, text=await run_in_threadpool(entry, station))
