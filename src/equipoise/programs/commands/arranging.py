"""The options of `equipoise compare`, turned into questions, a job and run options."""

import math
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from equipoise.programs.calling import SAME_TIME
from equipoise.programs.commands.measuring import Job
from equipoise.programs.commands.metrics import EVENTS, KINDS, Read, has_ratio, kinds, reads
from equipoise.programs.commands.processes import DEFAULT_SHELL, LAST, RunOptions, Site, file_for
from equipoise.programs.question import Question
from equipoise.runners import Revision

SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
DEFAULT_SECONDS, DEFAULT_ROUNDS = 60.0, 10
PERCENTAGE = "a percentage such as 2%"
CORES = Path("/sys/devices/system/cpu")
ALONE_SECONDS = 3.0
"""Minimum seconds for a single command, as in hyperfine."""


def seconds_of(text: str) -> float:
    """Return seconds from a text such as 60s, 500ms, 10m or 1h.

    Example:
        >>> seconds_of("500ms"), seconds_of("2m")
        (0.5, 120.0)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(ms|s|min|m|h|)", text.strip())
    if match is None or float(match[1]) == 0:
        raise ValueError(f"must be a time such as 60s, 10m or 1h, got {text!r}")
    return float(match[1]) * SECONDS[match[2]]


def duration(ctx: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Return seconds from the text of an option."""
    try:
        return None if text is None else seconds_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, option) from None


def budget(name: str, text: str) -> float:
    """Return seconds from a text; refuse an invalid text, with the name of the option."""
    try:
        return seconds_of(text)
    except ValueError as error:
        raise click.UsageError(f"{name} {error}") from None


def named(commands: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return command lines by name, by default their text; a repeated one gets a number.

    Example:
        >>> named(["./a", "./a", "./b"], [])
        {'./a': './a', './a (2)': './a', './b': './b'}
    """
    if len(names) > len(commands):
        raise click.UsageError(
            f"--name must be given at most once for each command, got {len(names)} for {len(commands)}"
        )
    if len(set(names)) < len(names):
        raise click.UsageError("--name must be another one for each command")
    called = list(names)
    for command in commands[len(names) :]:
        number = 1 + sum(each == command or each.startswith(f"{command} (") for each in called)
        called.append(command if number == 1 else f"{command} ({number})")
    return dict(zip(called, commands, strict=True))


def read_options(options: Mapping[str, Any]) -> tuple[tuple[Read, ...], tuple[str, ...]]:
    """Return the numbers to read from the output, and the compared metrics, the first of which alone decides."""
    read = tuple(reads(text) for text in options["read"])
    metrics = options["metric"] or tuple(each.name for each in read[:1]) or ("wall",)
    known = kinds(read)
    if unknown := [metric for metric in metrics if metric not in known]:
        rule = f"one of {', '.join([*KINDS, *EVENTS])}, or the name of a --read"
        raise click.UsageError(f"--metric must be {rule}, got {unknown[0]!r}")
    if len(set(metrics)) < len(metrics) or len({each.name for each in read}) < len(read):
        raise click.UsageError("--metric and --read must name each number once")
    if "reading" in metrics and "reading" not in {each.name for each in read}:
        read = (*read, LAST)
    return read, tuple(metrics)


def questions(arms: Sequence[str], options: Mapping[str, Any], null: str | None) -> dict[str, Question]:
    """Return the questions, by metric: all claims together have the error rate of one alone."""
    read, metrics = read_options(options)
    return {metric: question(arms, metric, read, {**options, "metrics": len(metrics)}, null) for metric in metrics}


def question(
    arms: Sequence[str], metric: str, read: Sequence[Read], options: Mapping[str, Any], null: str | None = None
) -> Question:
    """Return the question about one metric, with its usual scale and margin."""
    kind = kinds(read)[metric]
    scale = options["scale"] or ("ratio" if has_ratio(metric, kind) else "difference")
    margin, limit = (_size(f"--{name}", options[name.replace("-", "_")], scale) for name in ("margin", "fail-above"))
    usual = SAME_TIME if scale == "ratio" else 0.0
    sense = {"higher": options["higher"], "scale": scale, "kind": kind, "null": null}
    claim = {"center": options["center"], "alpha": options["alpha"] / options.get("metrics", 1), "fail_above": limit}
    return Question(tuple(arms), margin=usual if margin is None else margin, **sense, **claim)


def _size(option: str, text: str | None, scale: str) -> float | None:
    """Return a margin or limit: a percentage on the ratio scale, else a number."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(%?)", text.strip())
    if match is None or bool(match[2]) != (scale == "ratio"):
        number = "a number in the unit of the reading, such as 0.5; or a percentage, with the scale `ratio`"
        raise click.UsageError(f"{option} must be {PERCENTAGE if scale == 'ratio' else number}, got {text!r}")
    return float(match[1]) / (100 if match[2] else 1)


def job(commands: Mapping[str, str], null: str | None, options: Mapping[str, Any]) -> Job:
    """Return the job."""
    given, arms = options["seconds"], list(commands)
    exact = options["runs"]
    most = exact or options["max_runs"] or math.inf
    least = min(exact or options["min_runs"] or (DEFAULT_ROUNDS if given is None else 1), most)
    prepare, conclude, setup, cleanup = (
        _each(name, options[name], arms) for name in ("prepare", "conclude", "setup", "cleanup")
    )
    if null is not None:
        first = arms[0]
        commands = {**commands, null: commands[first]}
        prepare, conclude = ({**each, null: each[first]} if each else {} for each in (prepare, conclude))
    alone = (given or ALONE_SECONDS) if len(commands) == 1 and not math.isfinite(most) else 0.0
    return Job(
        commands,
        prepare=prepare,
        conclude=conclude,
        setup=_once("--setup", setup, options["setup"]),
        cleanup=_once("--cleanup", cleanup, options["cleanup"]),
        warmup=options["warmup"],
        min_rounds=int(least),
        max_rounds=most,
        seconds=given or DEFAULT_SECONDS,
        min_seconds=options["min_seconds"] or alone,
        cores=two_cores(len(commands)) if options["duet"] else (),
    )


def two_cores(arms: int = 2) -> tuple[int, ...]:
    """Return two cores for a duet: not two threads of one core, if possible."""
    if arms != 2:
        raise click.UsageError(f"--duet must be with two commands, and without --null, got {arms}")
    if not hasattr(os, "sched_getaffinity"):
        raise click.UsageError(f"--duet pins programs to cores, which {sys.platform} does not let it: it needs Linux")
    *others, last = sorted(os.sched_getaffinity(0))  # the first core handles more interrupts
    if not others:
        raise click.UsageError("--duet must have two cores, and this process may use 1")
    shared = CORES / f"cpu{last}/topology/thread_siblings_list"
    threads = set(re.findall(r"\d+", shared.read_text())) if shared.exists() else set()
    return last, next((core for core in reversed(others) if str(core) not in threads), others[-1])


def in_revisions(todo: Job, found: Mapping[str, Revision], null: str | None, build: str | None) -> Job:
    """Return the job with each arm in the folder of its revision, which is built first."""
    places = sites(found)
    if null is not None:
        places[null] = next(iter(places.values()))
    arms = [arm for arm in found if arm != null]
    setup = [(option, each, line) for option, _, line in todo.setup for each in arms]
    cleanup = [(option, each, line) for option, _, line in todo.cleanup for each in arms]
    built = [] if build is None else [(f"--build, in {arm},", arm, build) for arm in arms]
    return replace(todo, sites=places, setup=[*built, *setup], cleanup=cleanup)


def sites(found: Mapping[str, Revision]) -> dict[str, Site]:
    """Return the site of each revision."""
    return {arm: Site(str(each.folder)) for arm, each in found.items()}


def _once(option: str, each: Mapping[str, str], given: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the command lines to run once: for the first arm alone, if all arms share one line."""
    return [(option, arm, line) for arm, line in list(each.items())[: len(given)]]


def _each(name: str, given: Sequence[str], arms: Sequence[str]) -> dict[str, str]:
    """Return a command line for each arm: a common one, or one each."""
    if len(given) not in (0, 1, len(arms)):
        raise click.UsageError(f"--{name} must be given once for all, or once for each command, got {len(given)}")
    return dict(zip(arms, [*given] * (len(arms) if len(given) == 1 else 1), strict=False))


def setup(options: Mapping[str, Any], read: tuple[Read, ...] = (), events: Sequence[str] = ()) -> RunOptions:
    """Return the options for running programs."""
    none = options["no_shell"] or options["shell"] == "none"
    shell = () if none else DEFAULT_SHELL if options["shell"] == "default" else tuple(shlex.split(options["shell"]))
    stdin, stdout = file_for(options["stdin"]), options["stdout"]
    if not Path(stdin).exists():
        raise click.UsageError(f"--input must be a file, got {options['stdin']}")
    rest = {"ignore_failure": options.get("ignore_failure", False), "reads": read, "events": tuple(events)}
    rest["piped"] = stdout == "pipe"
    stdout = None if stdout == "inherit" else file_for("null" if stdout == "pipe" else stdout)
    return RunOptions(shell, stdin, stdout, options["timeout"] or 0.0, **rest)
