"""`equipoise status` and `equipoise replay`: what happened, read from the log itself."""

import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from equipoise.answer.wording import counted
from equipoise.cli.common import AS_JSON, REFUSED, STUDY, assignments, command, dialed, opened, printable, say
from equipoise.cli.proving import plan_data, plan_text
from equipoise.data import Duel
from equipoise.desk.times import lines, times
from equipoise.log.codec import Codec
from equipoise.log.events import (
    Added,
    Asked,
    Begun,
    Canceled,
    Corrected,
    Event,
    Expired,
    Failed,
    Handed,
    Judged,
    Noted,
    Paired,
    Planned,
    Refitted,
    Rejudged,
    Retracted,
    Told,
    unfitted,
)
from equipoise.log.header import Header
from equipoise.log.journal import Log
from equipoise.optimizer import Optimizer
from equipoise.spaces.domain import Domain
from equipoise.spaces.readouts import settings
from equipoise.study import Streams


@command("status", "equipoise status study.jsonl", short_help="How far a study has come.")
@STUDY
@AS_JSON
def status(study: Path, as_json: bool) -> None:
    """Print how far a study has come, and which trials are open: with whom, and for how long."""
    opt, header = opened(study), Header.read(study)
    asked, ended = times(study)
    records = opt.records(judged=False)
    waiting = [
        {"id": r.trial, "worker": r.worker, "x": r.x, "asked": asked[r.trial], "seconds": _age(asked[r.trial])}
        for r in records
        if r.trial in opt.open_trials
    ]
    data = {
        "study": str(study),
        "created": header.content["at"],
        "readings": opt.readings,
        "judgements": opt.judgements,
        "failed": sum(record.failed is not None for record in records),
        "last": max(ended.values(), default=None),
        "plan": None if opt.plan is None else plan_data(opt.plan),
        "open": waiting,
        "minimize": opt.minimize,
        "space": header.content["space"],
    }
    say(as_json, data, _status_text(opt, data))


def _status_text(opt: Optimizer, data: dict[str, Any]) -> str:
    text = [
        f"{data['study']}, begun {data['created']}: {'minimize' if opt.minimize else 'maximize'} over {opt.space!r}"
    ]
    last = "" if data["last"] is None else f", the last one {_age(data['last']):.0f} s ago"
    text.append(
        f"{counted(data['readings'], data['judgements'])}{last}; {data['failed']} failed; {len(data['open'])} open"
    )
    text += [] if opt.plan is None else [plan_text(opt.plan)]
    text += [f"  {judge}" for judge in (opt.judges() if data["judgements"] else ())]  # these need the belief
    for trial in data["open"]:
        who = "" if trial["worker"] is None else f" with {trial['worker']}"
        text.append(f"  trial {trial['id']}{who} for {trial['seconds']:.0f} s: {dialed(trial['x'], opt.space)}")
    return "\n".join(printable(line, keep="") for line in text)


def _age(at: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(at.replace("Z", "+00:00"))).total_seconds()


@command(
    "replay",
    "equipoise replay study.jsonl\nequipoise replay study.jsonl --verify --json",
    short_help="Everything that happened; verify it.",
)
@STUDY
@click.option("--verify", is_flag=True, help="Make every proposal, and every pair, anew from the seed, and compare.")
@AS_JSON
def replay(study: Path, verify: bool, as_json: bool) -> None:
    """Rebuild a study from its log and print everything that happened, one event a line.

    Every checksum and every event is checked on the way. With --verify all proposals are made again from the seed;
    the exit code is 1 where one comes out differently, as it may on another machine or version.
    """
    start = time.perf_counter()
    opt = opened(study)
    seconds = time.perf_counter() - start
    if not as_json:
        _print_events(study, opt.space)
    kinds = Counter(next(iter(event)) for event in lines(study))
    data: dict[str, Any] = {
        "events": dict(kinds),
        "readings": opt.readings,
        "judgements": opt.judgements,
        "seconds": round(seconds, 3),
    }
    different, pairs = differing(study) if verify else ([], [])
    if verify:
        data |= {"different": different} | ({"different_pairs": pairs} if "pair" in kinds else {})
    verdict = "" if not verify else f" Proposals that come out differently: {different or 'none'}."
    verdict += f" Pairs: {pairs or 'none'}." if verify and "pair" in kinds else ""
    told = counted(opt.readings, opt.judgements)
    say(as_json, data, f"{sum(kinds.values())} events, {told}, rebuilt in {seconds:.2f} s.{verdict}")
    if different or pairs:
        raise click.exceptions.Exit(REFUSED)


def differing(path: Path) -> tuple[list[int], list[int]]:
    """Return the duels, and the pairs to be judged, that come out differently when made anew from the study's seed.

    None, on the machine and the version that made them. Takes as long as the study did, but for the measuring.
    """
    header = Header.read(path)
    space = header.space()
    opt = Optimizer(space, **header.parts({}), **header.encoded_start(space), rng=Streams(key=header.key))
    different: list[int] = []
    pairs: list[int] = []

    def check(event: Event) -> None:
        if isinstance(event, Asked) and not _same(opt.propose(), event.duel):
            different.append(event.number)
        if isinstance(event, Paired) and not event.added and not _alike(opt, event):
            pairs.append(event.trial)
        opt.replay(unfitted(event))  # what was fitted is proven too

    Log(path, space).follow(check)
    return different, pairs


def _alike(opt: Optimizer, asked: Paired) -> bool:
    """Return whether the same two settings would be handed out in the same order."""
    pair = opt.propose_pair(judge=asked.judge, steps=asked.steps, again=asked.again)
    shown = (opt.space.decode(asked.first), opt.space.decode(asked.second))
    return settings(pair.first) == settings(shown[0]) and settings(pair.second) == settings(shown[1])


def _same(a: Duel, b: Duel) -> bool:
    return a.points.tobytes() == b.points.tobytes() and a.signs == b.signs and a.baseline == b.baseline


def _print_events(study: Path, space: Domain) -> None:
    codec = Codec(space)
    where: dict[int, str] = {}
    for content in lines(study):
        event = codec.from_json(content)
        if isinstance(event, Asked):
            where |= {event.trial + k: assignments(space.decode(point)) for k, point in enumerate(event.duel.points)}
        click.echo(printable(f"{content['at']}  {_told(event, where, space)}", keep=""))


def _told(event: Event, where: dict[int, str], space: Domain) -> str:
    """Return an event as a line for people."""
    match event:
        case Asked(trial=trial, worker=worker) | Handed(trial=trial, worker=worker):
            return f"ask    {trial:5}  {where[trial]}" + ("" if worker is None else f" [{worker}]")
        case Told(trial, reading):
            moved = "" if reading.point is None else f" at {assignments(space.decode(reading.point))}"
            return f"tell   {trial:5}  {reading.value!r}{moved}"
        case Added(trial, _, reading):
            assert reading.point is not None  # the codec refuses one without
            return f"add    {trial:5}  {reading.value!r} at {assignments(space.decode(reading.point))}"
        case Begun(block):
            return f"begin         {block}"
        case Refitted(lessons):
            return f"refit  {lessons:5}  lessons"
        case Failed(trial, reason):
            return f"fail   {trial:5}  {reason}"
        case Expired(trial):
            return f"expire {trial:5}"
        case Corrected(trial, reading):
            return f"correct{trial:5}  {reading.value!r}"
        case Retracted(trial):
            return f"retract{trial:5}"
        case Planned(number, purpose, duels):
            return f"plan   {number:5}  {purpose}, {duels} duels"
        case Canceled(number):
            return f"cancel {number:5}"
        case Noted(number, topic, text, point):
            moved = "" if point is None else f" at {assignments(space.decode(point))}"
            return f"note   {number:5}  {topic}{': ' * bool(text)}{text}{moved}"
        case Paired(trial, first, second):
            return f"pair   {trial:5}  " + " | ".join(assignments(space.decode(point)) for point in (first, second))
        case Judged(trial, answer, judge):
            return f"judge  {trial:5}  {answer}{f' [{judge}]' if judge else ''}"
        case Rejudged(trial, answer):
            return f"correct{trial:5}  {answer}"
