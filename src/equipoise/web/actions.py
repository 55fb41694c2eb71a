"""What people do with a study beside measuring: each is refused where it is about something that has changed."""

from typing import Any

from equipoise.web.dials import told_of
from equipoise.web.station import RefusedError, Station


def undo(station: Station, trial: int, judge: str | None = None) -> None:
    """Take back the last step, if it still is the last."""
    with station.turn():
        _must_be_own(station, trial, judge)
        if station.opt.study.last_answered != trial:
            raise RefusedError(f"Trial {trial} is no longer the last answer; look at the list, and retract it there.")
        station.opt.undo()


def correct(station: Station, trial: int, value: float, was: str, judge: str | None = None) -> None:
    """Replace the reading of a trial, if it still is what it was."""
    with station.turn():
        _must_be_own(station, trial, judge)
        _must_be_as_shown(station, trial, was)
        station.opt.correct(trial, value)


def rejudge(station: Station, pair: int, answer: str | float, was: str, judge: str | None = None) -> None:
    """Replace what was said of a pair, if it still is what it was."""
    with station.turn():
        _must_be_own(station, pair, judge)
        _must_be_as_shown(station, pair, was)
        station.opt.correct(pair, answer)


def retract(station: Station, trial: int, was: str, judge: str | None = None) -> None:
    """Take back what was told of a trial, if it still is what it was."""
    with station.turn():
        _must_be_own(station, trial, judge)
        _must_be_as_shown(station, trial, was)
        station.opt.retract(trial)


def expire(station: Station, trial: int, judge: str | None = None) -> None:
    """Take back an open trial whose worker is lost."""
    with station.turn():
        _must_be_own(station, trial, judge)
        if trial not in station.opt.study.open_trials:
            raise RefusedError(f"Trial {trial} is not open any more.")
        station.opt.study.expire(trial)


def dialed(station: Station, where: str, shown: str) -> None:
    """Write down that the machine was moved to the start or to the best setting, if that is what was shown."""
    with station.turn():
        x = station.target(where)
        if shown != told_of(x):
            raise RefusedError(f"What is {where} has changed meanwhile: look again. Nothing was written.")
        station.opt.study.note(f"dialed in: {where}", x=x)


def plan(station: Station, purpose: str, duels: int) -> None:
    """Plan an audit or a verification, or cancel what is under way."""
    with station.turn():
        act = {"audit": station.opt.audit, "verify": station.opt.verify}
        act[purpose](duels)


def cancel(station: Station) -> None:
    """Do not go on with the audit or verification."""
    with station.turn():
        station.opt.cancel()


def _must_be_own(station: Station, trial: int, judge: str | None) -> None:
    """Refuse a judge who has said a name what another judge has said, and readings."""
    if judge is not None and not station.judged_by(trial, judge):
        raise RefusedError(f"Trial {trial} is no pair that {judge} has judged. Nothing was changed.")


def _must_be_as_shown(station: Station, trial: int, was: str) -> None:
    """Refuse to change an answer that is not what its page showed."""
    told: dict[int, Any] = {record.trial: record.value for record in station.opt.records()}
    told |= {pair.id: answer for pair, answer in station.opt.study.answers()}
    if trial in told and was != told_of(told[trial]):
        raise RefusedError(f"What was told of trial {trial} has changed meanwhile: look again.")
