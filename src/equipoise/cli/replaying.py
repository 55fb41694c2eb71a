"""`equipoise status` and `equipoise replay`: the history of a study, read from the log itself."""

import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from equipoise.answer import claims, counted, prospects
from equipoise.cli.common import AS_JSON, REFUSED, STUDY, command, dialed, opened, printable, say, spelled
from equipoise.cli.proving import plan_data, plan_text
from equipoise.cli.verifying import verified
from equipoise.data import Preference, Reading
from equipoise.likelihoods import written
from equipoise.log import (
    Added,
    Asked,
    Begun,
    Canceled,
    Codec,
    Corrected,
    Event,
    Expired,
    Failed,
    Handed,
    Header,
    Log,
    Noted,
    Planned,
    Refitted,
    Retracted,
    Set,
    Stamped,
    Told,
    Widened,
)
from equipoise.optimizer import Optimizer
from equipoise.spaces import Domain


@command("status", "equipoise status study.jsonl", short_help="Show the progress of a study.")
@STUDY
@AS_JSON
def status(study: Path, as_json: bool) -> None:
    """Print the progress of a study, and its open trials with their workers and ages."""
    opt, header = opened(study), Header.read(study)
    best = opt.recommend() if opt.readings or opt.judgements else None
    records = opt.records(aside=False)
    ended = [record.ended for record in (*records, *opt.records(judgements=True))]
    waiting = [
        {"id": r.trial, "worker": r.worker, "x": r.x, "asked": r.asked, "seconds": _age(r.asked)}
        | ({} if r.seed is None else {"seed": r.seed})
        for r in records
        if r.trial in opt.study.open_trials
    ]
    data = {
        "study": str(study),
        "created": header.content["at"],
        "readings": opt.readings,
        "judgements": opt.judgements,
        "failed": sum(record.failed is not None for record in records),
        "last": max(filter(None, ended), default=None),
        "plan": None if opt.study.plan is None else plan_data(opt.study.plan),
        "claims": [] if best is None else [*claims(best), *prospects(best)],
        "open": waiting,
        "minimize": opt.study.setup.minimize,
        "space": opt.space.to_dict(),
    }
    say(as_json, data, _status_text(opt, data))


def _status_text(opt: Optimizer, data: dict[str, Any]) -> str:
    goal = "minimize" if opt.study.setup.minimize else "maximize"
    text = [f"{data['study']}, begun {data['created']}: {goal} over {opt.space!r}"]
    last = "" if data["last"] is None else f", the last one {_age(data['last']):.0f} s ago"
    text.append(
        f"{counted(data['readings'], data['judgements'])}{last}; {data['failed']} failed; {len(data['open'])} open"
    )
    text += [] if opt.study.plan is None else [plan_text(opt.study.plan)]
    text += data["claims"]
    text += [f"  {judge}" for judge in (opt.study.judges() if data["judgements"] else ())]  # judges need the belief
    for trial in data["open"]:
        who = "" if trial["worker"] is None else f" with {trial['worker']}"
        long = "" if trial["seconds"] is None else f" for {trial['seconds']:.0f} s"
        seed = f", seed {trial['seed']}" if "seed" in trial else ""
        text.append(f"  trial {trial['id']}{who}{long}: {dialed(trial['x'], opt.space)}{seed}")
    return "\n".join(printable(line, keep="") for line in text)


def _age(at: str | None) -> float | None:
    return None if at is None else (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()


@command(
    "replay",
    "equipoise replay study.jsonl\nequipoise replay study.jsonl --verify --json",
    short_help="Print or verify every event of a study.",
)
@STUDY
@click.option("--verify", is_flag=True, help="Make every proposal and every pair again from the seed, and compare.")
@AS_JSON
def replay(study: Path, verify: bool, as_json: bool) -> None:
    """Rebuild a study from its log and print each event on a line.

    The command checks every checksum and every event. With --verify it makes all proposals again from the seed; the
    exit code is 1 if one differs, as it may with another version. On another processor a proposal may differ from the
    log although both are equally good. It then "differs within rounding", which counts as the same.
    """
    start = time.perf_counter()
    opt = opened(study)
    seconds = time.perf_counter() - start
    events: list[Stamped] = []
    codec, kinds = Codec(Header.read(study).space()), Counter[str]()
    Log(study, codec.space).follow(events.append)
    where: dict[int, str] = {}
    for stamped in events:
        kinds[next(iter(codec.to_json(stamped.event)))] += 1
        if not as_json:
            _print_event(stamped, codec.space, where)
        codec = codec.after(stamped)
    data: dict[str, Any] = {
        "events": dict(kinds),
        "readings": opt.readings,
        "judgements": opt.judgements,
        "seconds": round(seconds, 3),
    }
    found = verified(study) if verify else None
    data |= {} if found is None else found.data()
    text = "" if found is None else found.text()
    told = counted(opt.readings, opt.judgements)
    say(as_json, data, f"{sum(kinds.values())} events, {told}, rebuilt in {seconds:.2f} s.{text}")
    if found is not None and not found.holds:
        raise click.exceptions.Exit(REFUSED)


def _print_event(stamped: Stamped, space: Domain, where: dict[int, str]) -> None:
    event = stamped.event
    if isinstance(event, Asked):
        where |= _places(event, space)
    click.echo(printable(f"{stamped.at or '-'}  {_told(event, where, space)}", keep=""))


def _places(event: Asked, space: Domain) -> dict[int, str]:
    """Return the setting of each trial of a question, or both settings of a pair."""
    points = [spelled(space.decode(point)) for point in event.question.points]
    return {event.trial: " | ".join(points)} if event.number is None else dict(enumerate(points, event.trial))


def _numbers(reading: Reading) -> str:
    said = reading.said
    return written(*said) if isinstance(said, tuple) else repr(said) if isinstance(said, float) else written(said)


def _told(event: Event, where: dict[int, str], space: Domain) -> str:
    """Return an event as a line for people."""
    match event:
        case Asked(trial, number=None):
            return f"pair   {trial:5}  {where[trial]}"
        case Asked(trial=trial, worker=worker) | Handed(trial=trial, worker=worker):
            return f"ask    {trial:5}  {where[trial]}" + ("" if worker is None else f" [{worker}]")
        case Told(trial, Preference(answer, judge)):
            return f"judge  {trial:5}  {answer}{f' [{judge}]' if judge else ''}"
        case Told(trial, Reading(point=point) as reading):
            moved = "" if point is None else f" at {spelled(space.decode(point))}"
            return f"tell   {trial:5}  {_numbers(reading)}{moved}"
        case Added(trial, _, reading):
            assert reading.point is not None  # the codec refuses a reading without a point
            return f"add    {trial:5}  {_numbers(reading)} at {spelled(space.decode(reading.point))}"
        case Begun(block):
            return f"begin         {block}"
        case Refitted(lessons):
            return f"refit  {lessons:5}  lessons"
        case Failed(trial, reason):
            return f"fail   {trial:5}  {reason}"
        case Expired(trial):
            return f"expire {trial:5}"
        case Corrected(trial, Preference(answer)):
            return f"correct{trial:5}  {answer}"
        case Corrected(trial, Reading() as reading):
            return f"correct{trial:5}  {_numbers(reading)}"
        case Retracted(trial):
            return f"retract{trial:5}"
        case Planned(number, purpose, duels):
            return f"plan   {number:5}  {purpose}, {duels} duels"
        case Canceled(number):
            return f"cancel {number:5}"
        case Noted(number, topic, text, point):
            moved = "" if point is None else f" at {spelled(space.decode(point))}"
            return f"note   {number:5}  {topic}{': ' * bool(text)}{text}{moved}"
        case Widened(name, low, high, why):
            return f"set           {name}: {low:g} to {high:g}{f' ({why})' if why else ''}"
        case Set(name, value, why):
            return f"set           {name}: {value}{f' ({why})' if why else ''}"
    raise AssertionError(f"{event!r} is not an event")
