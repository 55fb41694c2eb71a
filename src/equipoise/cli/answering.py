"""`equipoise ask`, `tell`, `fail`, `expire`, `note`, and taking back what was told: `correct`, `retract`, `undo`."""

import re
from pathlib import Path
from typing import Any

import click

from equipoise._validation import NUMBER
from equipoise.cli.common import (
    AS_JSON,
    BLOCK,
    CONTEXT,
    STUDY,
    WORKER,
    assignments,
    command,
    context_of,
    opened,
    say,
    setting,
)
from equipoise.likelihoods import SCALES


def number(text: str | float) -> float:
    """Return a number as `equipoise run` takes it from a program; Python also takes 1_000 and foreign digits."""
    if NUMBER.fullmatch(str(text).strip()) is None:
        raise click.BadParameter(f"{text!r} is not a valid float.")
    return float(text)


def count(text: str) -> int:
    """Return a number that counts, by the same rule."""
    if re.fullmatch(r"\d+", text.strip(), re.ASCII) is None:
        raise click.BadParameter(f"{text!r} is not a valid integer from 0 on.")
    return int(text)


def beside_it(text: str) -> tuple[str, float]:
    """Return name and value of a covariate.

    Example:
        >>> beside_it("temperature=21.3")
        ('temperature', 21.3)
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} must be NAME=NUMBER.")
    return name.strip(), number(value)


def told(text: str) -> float | str:
    """Return a reading, or the answer of a judge, in words."""
    return text if any(text in words for words in SCALES.values()) else number(text)


TRIAL = click.argument("trial", type=count)
SIGNED = {"ignore_unknown_options": True}  # -0.5 is a number, not an option


@command(
    "ask",
    """equipoise ask study.jsonl
equipoise ask study.jsonl --worker laser-2 --json
equipoise ask study.jsonl --context temp=21""",
    short_help="What to measure next.",
)
@STUDY
@WORKER
@CONTEXT
@AS_JSON
def ask(study: Path, worker: str | None, context: tuple[str, ...], as_json: bool) -> None:
    """Print what to measure next: the number of the trial, then its settings.

    A trial stays open until it is told, failed or expired. Several may be open at once. Where the study has contexts,
    say what they are; the second half of a pair may go without, and is at that of the first.
    """
    opt = opened(study)
    trial = opt.ask(worker=worker, context=context_of(opt, context))
    data = {"id": trial.id, "x": trial.x} | ({} if worker is None else {"worker": worker})
    say(as_json, data, f"{trial.id} {assignments(trial.x, opt.space)}")


@command(
    "tell",
    """equipoise tell study.jsonl 0 0.83
equipoise tell study.jsonl 1 -1.2e-3 --time 1731660000 --error 0.05
equipoise tell study.jsonl 2 0.9 --x '{"q1": 1.98, "q2": 0.5}'
equipoise tell study.jsonl 3 0.7 --block tuesday --covariate temperature=21.3""",
    short_help="Report a reading.",
    context_settings=SIGNED,
)
@STUDY
@TRIAL
@click.argument("value", type=number)
@click.option("--x", metavar="JSON", help="Where it was really measured, if that is not where it should have been.")
@click.option("--time", type=number, help="When it was measured, in any unit; compared with the study's max_gap.")
@click.option("--error", type=number, default=0.0, help="The reading's own standard error.")
@BLOCK
@click.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="NAME=NUMBER",
    help="What was measured beside it, such as temperature=21.3; repeatable.",
)
@AS_JSON
def tell(
    study: Path,
    trial: int,
    value: float,
    x: str | None,
    block: str | None,
    covariates: tuple[str, ...],
    as_json: bool,
    **more: Any,
) -> None:
    """Report the reading VALUE of a TRIAL. Telling the same twice changes nothing; another value is refused."""
    opt = opened(study)
    if block is not None:
        opt.begin_block(block)
    beside = dict(map(beside_it, covariates))
    opt.tell(trial, value, x=None if x is None else setting("--x", x), covariates=beside, **more)
    say(
        as_json,
        {"id": trial, "value": value, "readings": opt.readings},
        f"Trial {trial} is told: reading {opt.readings}.",
    )


@command("fail", "equipoise fail study.jsonl 3 shutter closed", short_help="Report that there is no reading.")
@STUDY
@TRIAL
@click.argument("reason", nargs=-1, required=True)
@AS_JSON
def fail(study: Path, trial: int, reason: tuple[str, ...], as_json: bool) -> None:
    """Report that a TRIAL has no reading, and the REASON. Its pair is given up; everything learned before stays."""
    opened(study).tell(trial, failed=" ".join(reason))
    say(as_json, {"id": trial, "failed": " ".join(reason)}, f"Trial {trial} has failed; its pair is given up.")


@command("expire", "equipoise expire study.jsonl 3", short_help="Take back a trial whose worker is lost.")
@STUDY
@TRIAL
@AS_JSON
def expire(study: Path, trial: int, as_json: bool) -> None:
    """Take back an open TRIAL: the next `ask` of its worker hands it out again."""
    opened(study).study.expire(trial)
    say(as_json, {"id": trial, "expired": True}, f"Trial {trial} waits again.")


@command(
    "correct",
    "equipoise correct study.jsonl 3 0.84\nequipoise correct study.jsonl 3 0.84 --error 0.05\n"
    "equipoise correct study.jsonl 7 second",
    short_help="Replace a reading or judgement that was wrong.",
    context_settings=SIGNED,
)
@STUDY
@TRIAL
@click.argument("value", type=told)
@click.option("--x", metavar="JSON", help="Where it was really measured.  [default: as told before]")
@click.option("--time", type=number, help="When it was measured.  [default: as told before]")
@click.option("--error", type=number, help="The reading's own standard error.  [default: as told before]")
@AS_JSON
def correct(study: Path, trial: int, value: float | str, x: str | None, as_json: bool, **more: Any) -> None:
    """Replace the reading of a TRIAL, or the answer to a pair, by VALUE, as if it had been told. The log keeps both."""
    opened(study).correct(trial, value, x=None if x is None else setting("--x", x), **more)
    shown = value if isinstance(value, str) else f"{value:g}"
    say(as_json, {"id": trial, "value": value}, f"Trial {trial} is corrected to {shown}.")


@command("retract", "equipoise retract study.jsonl 3", short_help="Take a reading or a failure back.")
@STUDY
@TRIAL
@AS_JSON
def retract(study: Path, trial: int, as_json: bool) -> None:
    """Take back what was told of a TRIAL, as if it had not been: it is open again. The log keeps it."""
    opened(study).retract(trial)
    say(as_json, {"id": trial, "retracted": True}, f"Trial {trial} is open again.")


@command("undo", "equipoise undo study.jsonl", short_help="Take the last step back.")
@STUDY
@AS_JSON
def undo(study: Path, as_json: bool) -> None:
    """Take back the last step, and nothing else.

    A reading, a failure or an answer that was told: its trial is open again. A correction: what was told before it
    stands again. A retraction: what was taken back is told again.
    """
    opt = opened(study)
    trial = opt.undo()
    now: dict[int, Any] = {record.trial: record.value for record in opt.records(aside=False)}
    now |= {pair.id: answer for pair, answer in opt.study.answers()}
    value = now.get(trial)
    if value is not None:
        say(as_json, {"id": trial, "retracted": False, "value": value}, f"Trial {trial} is at {value} again.")
        return
    say(as_json, {"id": trial, "retracted": True}, f"Trial {trial} is open again.")


@command(
    "note",
    "equipoise note study.jsonl shift the beam is back after 20 minutes\n"
    'equipoise note study.jsonl best dialed in for the night --x \'{"q1": 0.7, "q2": 0}\'',
    short_help="Write something down that others should know.",
)
@STUDY
@click.argument("topic")
@click.argument("text", nargs=-1)
@click.option("--x", metavar="JSON", help="The setting to which the machine was moved, if it was.")
@AS_JSON
def note(study: Path, topic: str, text: tuple[str, ...], x: str | None, as_json: bool) -> None:
    """Write a note into the study: a TOPIC in one word, and a TEXT. Nothing is learned from it.

    The page of `serve` shows notes.
    """
    opened(study).study.note(topic, " ".join(text), x=None if x is None else setting("--x", x))
    say(as_json, {"topic": topic, "text": " ".join(text)}, f"Noted: {topic}.")


@command(
    "set",
    "equipoise set study.jsonl unit mW\nequipoise set study.jsonl mode pause lunch\n"
    'equipoise set study.jsonl mode "by hand"',
    short_help="Set the unit of a reading, or who measures.",
)
@STUDY
@click.argument("name", type=click.Choice(["unit", "mode"]))
@click.argument("value")
@click.argument("why", nargs=-1)
@AS_JSON
def set_(study: Path, name: str, value: str, why: tuple[str, ...], as_json: bool) -> None:
    """Set the unit of a reading, or the mode of the page of `serve`, and say WHY if you like.

    The mode "pause" pauses the study there, "by hand" and "automatic" let it go on. Nothing is learned from it.
    """
    opened(study).study.set(name, value, " ".join(why))
    say(as_json, {"set": name, "value": value, "why": " ".join(why)}, f"Set: {name} is {value}.")
