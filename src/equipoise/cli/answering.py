"""`equipoise ask`, `tell`, `fail`, `expire`, `note`, and edits of answers: `correct`, `retract`, `undo`."""

import re
from typing import Any

import click

from equipoise._validation import NUMBER
from equipoise.cli.common import BLOCK, CONTEXT, WORKER, Said, assignments, context_of, setting, study_command
from equipoise.likelihoods import SCALES, parsed, written
from equipoise.optimizer import Optimizer


def number(text: str | float) -> float:
    """Return a number by the rules of `equipoise run`; Python alone would also accept 1_000 and foreign digits."""
    if NUMBER.fullmatch(str(text).strip()) is None:
        raise click.BadParameter(f"{text!r} is not a valid float.")
    return float(text)


def count(text: str) -> int:
    """Return a nonnegative integer, by the same rules."""
    if re.fullmatch(r"\d+", text.strip(), re.ASCII) is None:
        raise click.BadParameter(f"{text!r} is not a valid integer from 0 on.")
    return int(text)


def beside_it(text: str) -> tuple[str, float]:
    """Return the name and the value of a covariate.

    Example:
        >>> beside_it("temperature=21.3")
        ('temperature', 21.3)
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} must be NAME=NUMBER.")
    return name.strip(), number(value)


def reading(words: tuple[str, ...]) -> Any:
    """Return a reading: a number, successes and trials, or numbers by name.

    Example:
        >>> reading(("0.83",)), reading(("flux=3.1", "loss=0.4"))
        (0.83, {'flux': 3.1, 'loss': 0.4})
    """
    text = " ".join(words)
    try:
        return parsed(text)
    except ValueError:
        valid = "a number such as 0.83, a share such as 17/200, or numbers by name such as flux=3.1 loss=0.4"
        raise click.BadParameter(f"{text!r} is not a valid reading, which is {valid}.") from None


def told(words: tuple[str, ...]) -> Any:
    """Return a reading, or a judgement in words."""
    text = " ".join(words)
    return text if any(text in scale for scale in SCALES.values()) else reading(words)


VALUE = click.argument("value", nargs=-1, required=True)
MISSING = click.option(
    "--missing", multiple=True, metavar="NAME", help="A number that is missing this time; repeatable."
)
TRIAL = click.argument("trial", type=count)
SIGNED = {"ignore_unknown_options": True}  # -0.5 is a number, not an option


@study_command(
    "ask",
    """equipoise ask study.jsonl
equipoise ask study.jsonl --worker laser-2 --json
equipoise ask study.jsonl --context temp=21""",
    short_help="Print what to measure next.",
)
@WORKER
@CONTEXT
def ask(opt: Optimizer, worker: str | None, context: tuple[str, ...]) -> Said:
    """Print what to measure next: the number of the trial, then its settings.

    A trial stays open until you tell its reading or its failure, or until it expires. Several trials may be open at
    once. If the study has contexts, give their values; without them, the second half of a pair gets the context of the
    first.
    """
    trial = opt.ask(worker=worker, context=context_of(opt, context))
    data = {"id": trial.id, "x": trial.x} | ({} if worker is None else {"worker": worker})
    data |= {} if trial.seed is None else {"seed": trial.seed}
    seed = "" if trial.seed is None else f" seed={trial.seed}"
    return data, f"{trial.id} {assignments(trial.x, opt.space)}{seed}"


@study_command(
    "tell",
    """equipoise tell study.jsonl 0 0.83
equipoise tell study.jsonl 1 -1.2e-3 --time 1731660000 --error 0.05
equipoise tell study.jsonl 2 0.9 --x '{"q1": 1.98, "q2": 0.5}'
equipoise tell study.jsonl 3 0.7 --block tuesday --covariate temperature=21.3
equipoise tell study.jsonl 4 17/200                        of a study begun with --likelihood Binomial
equipoise tell study.jsonl 5 flux=3.1 loss=0.4             of a study begun with --objective and --limit""",
    short_help="Report a reading.",
    context_settings=SIGNED,
)
@TRIAL
@VALUE
@MISSING
@click.option("--x", metavar="JSON", help="The setting that was measured, if it is not the one asked for.")
@click.option("--time", type=number, help="When it was measured, in any unit; compared with the study's max_gap.")
@click.option("--error", type=number, default=0.0, help="The reading's own standard error.")
@BLOCK
@click.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="NAME=NUMBER",
    help="A covariate, such as temperature=21.3; repeatable.",
)
def tell(
    opt: Optimizer,
    trial: int,
    value: tuple[str, ...],
    x: str | None,
    block: str | None,
    covariates: tuple[str, ...],
    **more: Any,
) -> Said:
    """Report the reading VALUE of a TRIAL.

    If you report the same reading again, nothing changes; the study refuses another value.

    VALUE is a number. If the study has an objective and limits by name, give all of them, such as flux=3.1 loss=0.4.
    """
    read, beside = reading(value), dict(map(beside_it, covariates))
    opt.tell(trial, read, x=None if x is None else setting("--x", x), block=block, covariates=beside, **more)
    if block is not None:
        opt.begin_block(block)  # later readings belong to the block too; a refused one begins none
    data = {"id": trial, "value": read, "readings": opt.readings}
    return data, f"Trial {trial} is told: reading {opt.readings}."


@study_command("fail", "equipoise fail study.jsonl 3 shutter closed", short_help="Report that there is no reading.")
@TRIAL
@click.argument("reason", nargs=-1, required=True)
def fail(opt: Optimizer, trial: int, reason: tuple[str, ...]) -> Said:
    """Report that a TRIAL has no reading, and the REASON. The study does not use its pair."""
    opt.tell(trial, failed=" ".join(reason))
    return {"id": trial, "failed": " ".join(reason)}, f"Trial {trial} has failed; its pair is given up."


@study_command("expire", "equipoise expire study.jsonl 3", short_help="Take back a trial whose worker is lost.")
@TRIAL
def expire(opt: Optimizer, trial: int) -> Said:
    """Take back an open TRIAL: the next `ask` of its worker hands it out again."""
    opt.study.expire(trial)
    return {"id": trial, "expired": True}, f"Trial {trial} waits again."


@study_command(
    "correct",
    "equipoise correct study.jsonl 3 0.84\nequipoise correct study.jsonl 3 0.84 --error 0.05\n"
    "equipoise correct study.jsonl 7 second",
    short_help="Replace a wrong reading or judgement.",
    context_settings=SIGNED,
)
@TRIAL
@VALUE
@MISSING
@click.option("--x", metavar="JSON", help="The setting that was really measured.  [default: as before]")
@click.option("--time", type=number, help="The time of the measurement.  [default: as before]")
@click.option("--error", type=number, help="The reading's own standard error.  [default: as told before]")
def correct(opt: Optimizer, trial: int, value: tuple[str, ...], x: str | None, **more: Any) -> Said:
    """Replace the reading of a TRIAL, or the answer to a pair, by VALUE. The log keeps both."""
    now = told(value)
    opt.correct(trial, now, x=None if x is None else setting("--x", x), **more)
    shown = now if isinstance(now, str) else written(*now) if isinstance(now, tuple) else written(now)
    return {"id": trial, "value": now}, f"Trial {trial} is corrected to {shown}."


@study_command("retract", "equipoise retract study.jsonl 3", short_help="Withdraw a reading or a failure.")
@TRIAL
def retract(opt: Optimizer, trial: int) -> Said:
    """Withdraw the reading or failure of a TRIAL: the trial is open again. The log keeps what was told."""
    opt.retract(trial)
    return {"id": trial, "retracted": True}, f"Trial {trial} is open again."


@study_command("undo", "equipoise undo study.jsonl", short_help="Take back the last step.")
def undo(opt: Optimizer) -> Said:
    """Take back the last step, and nothing else.

    After a reading, a failure or an answer, its trial is open again. After a correction, the earlier value is valid
    again. After a retraction, the withdrawn value is valid again.
    """
    trial = opt.undo()
    read = [record for record in opt.records(aside=False, trials=[trial]) if record.value is not None]
    now: dict[int, Any] = {record.trial: (record.told, record.said) for record in read}
    now |= {pair.id: (answer, answer) for pair, answer in opt.study.answers()}
    if trial in now:
        value, said = now[trial]
        return {"id": trial, "retracted": False, "value": value}, f"Trial {trial} is at {said} again."
    return {"id": trial, "retracted": True}, f"Trial {trial} is open again."


@study_command(
    "note",
    "equipoise note study.jsonl shift the beam is back after 20 minutes\n"
    'equipoise note study.jsonl best dialed in for the night --x \'{"q1": 0.7, "q2": 0}\'',
    short_help="Add a note for other people.",
)
@click.argument("topic")
@click.argument("text", nargs=-1)
@click.option("--x", metavar="JSON", help="The setting to which the machine was moved, if it was.")
def note(opt: Optimizer, topic: str, text: tuple[str, ...], x: str | None) -> Said:
    """Write a note into the study: a TOPIC in one word, and a TEXT. The study learns nothing from it.

    The page of `serve` shows notes.
    """
    opt.study.note(topic, " ".join(text), x=None if x is None else setting("--x", x))
    return {"topic": topic, "text": " ".join(text)}, f"Noted: {topic}."


@study_command(
    "set",
    "equipoise set study.jsonl unit mW\nequipoise set study.jsonl mode pause lunch\n"
    'equipoise set study.jsonl mode "by hand"\nequipoise set study.jsonl q1 -4:2',
    short_help="Set the unit or the mode; widen a range.",
    context_settings=SIGNED,
)
@click.argument("name")
@click.argument("value")
@click.argument("why", nargs=-1)
def set_(opt: Optimizer, name: str, value: str, why: tuple[str, ...]) -> Said:
    """Set the unit of a reading, the mode of the page of `serve`, or the range of a number; WHY is optional.

    The mode "pause" pauses the page, "by hand" and "automatic" let it continue. With the NAME of a number, VALUE is its
    new range LOW:HIGH. A range only grows: the study learns all data again, and its claims are then about the wider
    space.
    """
    low, colon, high = value.partition(":")
    is_range = name not in ("unit", "mode")
    if is_range and not colon:
        raise ValueError(
            f"`value` must be a range LOW:HIGH, such as -4:2, unless `name` is unit or mode, got {value!r}"
        )
    opt.study.set(name, (number(low), number(high)) if is_range else value, " ".join(why))
    return {"set": name, "value": value, "why": " ".join(why)}, f"Set: {name} is {value}."
