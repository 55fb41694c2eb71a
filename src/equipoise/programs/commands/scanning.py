"""Parameters of command lines that take each of several values: `-L threads 1,2,4`, `-P size 10 50 -D 10`."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import click

HOOKS = ("prepare", "conclude", "setup", "cleanup")
MOST_VALUES = 1000
"""Values of one parameter; more are a mistake."""

Setting = Mapping[str, str]


def settings(
    lists: Sequence[tuple[str, str]], scans: Sequence[tuple[str, str, str]], steps: Sequence[str]
) -> list[Setting]:
    """Return every combination of values, by name; one without a name if no parameter is given.

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
) -> tuple[list[str], list[str], list[Setting], dict[str, Any]]:
    """Return command lines, names, what stands in each, and options, with each value of each parameter.

    A command with none of the parameters is run once, unless they stand in its name or a hook.

    Raises:
        click.UsageError: A parameter stands nowhere, or a number of names or hooks fits nothing.
    """
    hooks = {hook: [*options[hook]] for hook in HOOKS}
    if not given[0]:
        return [*commands], [*names], [{} for _ in commands], {**options, **hooks}
    shared = " ".join(itertools.chain(*hooks.values()))
    for name in given[0]:
        if f"{{{name}}}" not in " ".join([*commands, *names, shared]):
            raise click.UsageError(f"{{{name}}} must stand in a command: -L and -P give it its values")
    each = [
        (number, setting)
        for number, line in enumerate(commands)
        for setting in (given if _taken(" ".join([line, *names[number : number + 1], shared]), given[0]) else [{}])
    ]
    lines = [_with(commands[number], setting) for number, setting in each]
    if len(names) > len(commands) and len(names) != len(each):
        raise click.UsageError(f"--name must be given for each of {len(each)} commands, got {len(names)}")
    if len(names) == len(each):
        called = [_with(name, setting) for name, (_, setting) in zip(names, each, strict=True)]
    else:
        base = [*names, *commands[len(names) :]]
        called = [_with(base[number], setting) + _unseen(base[number], setting) for number, setting in each]
    filled = {hook: _spread(hook, given_lines, len(commands), each) for hook, given_lines in hooks.items()}
    return lines, called, [setting for _, setting in each], {**options, **filled}


def _spread(hook: str, lines: Sequence[str], commands: int, each: Sequence[tuple[int, Setting]]) -> list[str]:
    """Return a hook for every command with every setting; or as it is, if it is for all and has no parameter."""
    if not lines or (len(lines) == 1 and not _taken(lines[0], each[-1][1])):
        return [*lines]
    if len(lines) == len(each):
        return [_with(line, setting) for line, (_, setting) in zip(lines, each, strict=True)]
    if len(lines) not in (1, commands):
        raise click.UsageError(f"--{hook} must be given once for all, or once for each command, got {len(lines)}")
    return [_with(lines[number if len(lines) > 1 else 0], setting) for number, setting in each]


def _unseen(line: str, setting: Setting) -> str:
    """Return the values that do not stand in a command line, as hyperfine does."""
    left = [f"{name} = {value}" for name, value in setting.items() if f"{{{name}}}" not in line]
    return f" ({', '.join(left)})" if left else ""


def _taken(line: str, setting: Setting) -> bool:
    return any(f"{{{name}}}" in line for name in setting)


def _with(line: str, setting: Setting) -> str:
    for name, value in setting.items():
        line = line.replace(f"{{{name}}}", value)
    return line
