"""Parameters of command lines that take each of several values: `-L threads 1,2,4`, `-P size 10 50 -D 10`."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import click

HOOKS = ("prepare", "conclude", "setup", "cleanup")
MOST_VALUES = 1000
"""Of one parameter: more are a mistake."""

Setting = Mapping[str, str]


def settings(
    lists: Sequence[tuple[str, str]], scans: Sequence[tuple[str, str, str]], steps: Sequence[str]
) -> list[Setting]:
    """Return every combination of values, by name; one without a name where no parameter is given.

    Example:
        >>> settings([("mode", "fast,safe")], [("n", "1", "2")], [])
        [{'mode': 'fast', 'n': '1'}, {'mode': 'fast', 'n': '2'}, {'mode': 'safe', 'n': '1'}, {'mode': 'safe', 'n': '2'}]
    """
    if len(steps) > len(scans):
        raise click.UsageError(f"-D must be given at most once for each -P, got {len(steps)} for {len(scans)}")
    values = {name: each.split(",") for name, each in lists}
    for number, (name, low, high) in enumerate(scans):
        values[name] = list(_range(name, low, high, steps[number] if number < len(steps) else None))
    if len(values) < len(lists) + len(scans):
        raise click.UsageError("-L and -P must name each parameter once")
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def _range(name: str, low: str, high: str, step: str | None) -> Iterator[str]:
    """Return the numbers from one to another."""
    try:
        first, last, by = Decimal(low), Decimal(high), Decimal(step or 1)
    except InvalidOperation:
        raise click.UsageError(f"-P must be NAME MIN MAX with numbers, got {name} {low} {high}") from None
    if step is None and first % 1:
        raise click.UsageError(f"-P {name} must have a step if it begins at {low}: add -D, such as -D 0.5")
    if not 0 <= last - first <= by * MOST_VALUES or by <= 0:
        raise click.UsageError(f"-P {name} must go up, in at most {MOST_VALUES} steps, got {low} to {high} by {by}")
    while first <= last:
        yield str(first)
        first += by


def scanned(
    commands: Sequence[str], names: Sequence[str], given: Sequence[Setting], options: Mapping[str, Any]
) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return command lines, names and options in which each parameter has each of its values.

    Raises:
        click.UsageError: A parameter stands nowhere.
    """
    text = " ".join([*commands, *names, *(line for hook in HOOKS for line in options[hook])])
    for name in given[0]:
        if f"{{{name}}}" not in text:
            raise click.UsageError(f"{{{name}}} must stand in a command: -L and -P give it its values")
    hooks = {hook: _each(options[hook], len(commands), given) for hook in HOOKS}
    return _filled(commands, given), _filled(names, given), {**options, **hooks}


def _each(lines: Sequence[str], commands: int, given: Sequence[Setting]) -> list[str]:
    """Return a hook for every command with every setting; or as it is, if it has no parameter."""
    if not any(f"{{{name}}}" in line for line in lines for name in given[0]):
        return [*lines] if len(lines) < 2 else [line for line in lines for _ in given]
    return _filled([*lines] * (commands if len(lines) == 1 else 1), given)


def _filled(lines: Sequence[str], given: Sequence[Setting]) -> list[str]:
    return [_with(line, setting) for line in lines for setting in given]


def _with(line: str, setting: Setting) -> str:
    for name, value in setting.items():
        line = line.replace(f"{{{name}}}", value)
    return line
