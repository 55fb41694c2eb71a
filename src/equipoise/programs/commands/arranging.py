"""From the options of `equipoise compare` to what is asked, what is run, and how."""

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from equipoise.programs.calling import SAME_TIME
from equipoise.programs.commands.measuring import Job
from equipoise.programs.commands.processes import RunOptions, file_for
from equipoise.programs.question import Kind, Question

SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
TIMES = ("wall", "cpu", "user", "system")
KINDS: dict[str, Kind] = {**dict.fromkeys(TIMES, "time"), "rss": "memory", "reading": "reading"}
DEFAULT_SECONDS, DEFAULT_ROUNDS = 60.0, 10


def duration(ctx: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Return seconds from a text such as 60s, 500ms, 10m or 1h."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(ms|s|min|m|h|)", text.strip())
    if match is None or float(match[1]) == 0:
        raise click.BadParameter(f"must be a time such as 60s, 10m or 1h, got {text!r}", ctx, option)
    return float(match[1]) * SECONDS[match[2]]


def named(commands: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return command lines by name: their own, where none is given."""
    if len(names) > len(commands):
        raise click.UsageError(
            f"--name must be given at most once for each command, got {len(names)} for {len(commands)}"
        )
    called = [*names, *commands[len(names) :]]
    if len(set(called)) < len(called):
        raise click.UsageError("each command must have a name of its own: use --name, and --null for a command twice")
    return dict(zip(called, commands, strict=True))


def question(arms: Sequence[str], options: Mapping[str, Any], null: str | None) -> Question:
    """Return what is asked, with the usual scale and margin of the metric."""
    kind = KINDS[options["metric"]]
    scale = options["scale"] or ("difference" if kind == "reading" else "ratio")
    margin, limit = (_size(f"--{name}", options[name.replace("-", "_")], scale) for name in ("margin", "fail-above"))
    usual = SAME_TIME if scale == "ratio" else 0.0
    sense = {"higher": options["higher"], "scale": scale, "kind": kind, "null": null}
    claim = {"center": options["center"], "alpha": options["alpha"], "fail_above": limit}
    return Question(tuple(arms), margin=usual if margin is None else margin, **sense, **claim)


def _size(option: str, text: str | None, scale: str) -> float | None:
    """Return a margin or limit: a percentage where ratios are compared, else a number."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(%?)", text.strip())
    if match is None or bool(match[2]) != (scale == "ratio"):
        rule = "a percentage such as 2%" if scale == "ratio" else "a number in the unit of the reading, such as 0.5"
        raise click.UsageError(f"{option} must be {rule}, got {text!r}")
    return float(match[1]) / (100 if match[2] else 1)


def job(commands: Mapping[str, str], asked: Question, options: Mapping[str, Any]) -> Job:
    """Return what to run."""
    given, arms = options["seconds"], list(commands)
    most = options["max_runs"] or math.inf
    least = min(options["min_runs"] or (DEFAULT_ROUNDS if given is None else 1), most)
    prepare, setup, cleanup = (_each(name, options[name], arms) for name in ("prepare", "setup", "cleanup"))
    if asked.null is not None:
        commands = {**commands, asked.null: commands[arms[0]]}
        prepare |= {asked.null: prepare[arms[0]]} if prepare else {}
    return Job(
        commands,
        options["metric"],
        ratio=asked.scale == "ratio",
        prepare=prepare,
        setup=_first(setup, options["setup"]),
        cleanup=_first(cleanup, options["cleanup"]),
        warmup=options["warmup"],
        min_rounds=int(least),
        max_rounds=most,
        seconds=given or DEFAULT_SECONDS,
    )


def _first(each: dict[str, str], given: Sequence[str]) -> dict[str, str]:
    """Return what is run once: for the first arm alone, where one command line is for all."""
    return dict(list(each.items())[: len(given)])


def _each(name: str, given: Sequence[str], arms: Sequence[str]) -> dict[str, str]:
    """Return a command line for each arm: the one for all, or each its own."""
    if len(given) not in (0, 1, len(arms)):
        raise click.UsageError(f"--{name} must be given once for all, or once for each command, got {len(given)}")
    return dict(zip(arms, [*given] * (len(arms) if len(given) == 1 else 1), strict=False))


def setup(options: Mapping[str, Any]) -> RunOptions:
    """Return how programs are run."""
    none = options["no_shell"] or options["shell"] == "none"
    shell = () if none else ("sh",) if options["shell"] == "default" else tuple(shlex.split(options["shell"]))
    stdin, stdout = file_for(options["stdin"]), options["stdout"]
    if not Path(stdin).exists():
        raise click.UsageError(f"--input must be a file, got {options['stdin']}")
    rest = {"ignore_failure": options["ignore_failure"], "reads": options["metric"] == "reading"}
    return RunOptions(
        shell, stdin, None if stdout == "inherit" else file_for(stdout), options["timeout"] or 0.0, **rest
    )
