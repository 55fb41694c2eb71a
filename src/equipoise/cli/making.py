"""`equipoise new`: a study from options, or from a TOML file."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from equipoise import _validation as check
from equipoise.cli.common import AS_JSON, STUDY, command, literal, say, text_of
from equipoise.optimizer import Optimizer
from equipoise.spaces import Choice, Context, Domain, Finite, Fixed, Float, Int, Space, parameter_from_dict
from equipoise.study import PARTS

F = TypeVar("F", bound=Callable[..., Any])

KEYS = (*PARTS, "constraint", "seed")
"""The keys of a TOML file besides [parameters]."""


def _options(text: str) -> list[Any]:
    return [literal(option) for option in text.split(",")]


PARAMETERS: dict[str, tuple[str, tuple[type, ...], Callable[..., Any], str]] = {
    "float": ("LOW HIGH", (float, float), Float, "A real number."),
    "log_float": ("LOW HIGH", (float, float), partial(Float, log=True), "A real number, searched by ratios."),
    "step_float": (
        "LOW HIGH STEP",
        (float,) * 3,
        lambda low, high, step: Float(low, high, step=step),
        "A real number in steps, counted from LOW.",
    ),
    "int": ("LOW HIGH", (int, int), Int, "A whole number."),
    "log_int": ("LOW HIGH", (int, int), partial(Int, log=True), "A whole number, searched by ratios."),
    "choice": ("A,B,...", (str,), lambda text: Choice(_options(text)), "One of several options."),
    "context": ("LOW HIGH", (float, float), Context, "A condition, such as a temperature: a number."),
    "context_choice": ("A,B,...", (str,), lambda text: Context(_options(text)), "A condition: one of several options."),
    "fixed": ("VALUE", (str,), lambda text: Fixed(literal(text)), "A constant, part of every setting."),
}
"""For each kind of parameter: its notation after the name, the types of its values, constructor and description."""

NOTATION: dict[str, dict[str, Any]] = {
    "object": {"metavar": "TYPE", "help": " A type, or JSON with its arguments."},
    "number": {"type": float},
    "count": {"type": click.IntRange(min=0)},
    "listed": {"metavar": "any|A,B,..."},
    "flag": {"is_flag": True, "default": None},
    "text": {"metavar": "TEXT"},
    "texts": {"multiple": True, "metavar": "TEXT", "help": " Repeatable."},
    "by name": {"multiple": True, "metavar": "NAME=VALUE", "help": " Repeatable; or several with commas, or as JSON."},
}
"""The notation of an option, by the kind of the part."""

TOML = """
A TOML file has the same settings and more:

\b
  seed = 0
  start = {q1 = 0, rate = 1e-3, gap = 0.5, n = 4, mode = "a", temp = 21, lens = "in"}
  drop = 0.5
  max_step = {q1 = 0.2, gap = 0.1}
  objective = "flux"                             # "-size" makes size small; "flux, -size" is about both
  limits = ["loss <= 3", "size <= start + 1"]
  constraint = ["q1 + n <= 8", "mode != 'b' or rate < 0.01"]
  [parameters]
  q1 = {type = "float", low = -2, high = 2, unit = "mm"}
  rate = {type = "float", low = 1e-4, high = 1e-1, log = true}
  gap = {type = "float", low = 0, high = 1, step = 0.1}
  n = {type = "int", low = 1, high = 8}
  mode = {type = "choice", options = ["a", "b"]}
  temp = {type = "context", low = 0, high = 40}
  lens = "in"
"""


def _parameter_options(function: F) -> F:
    """Add an option for each kind of parameter to a command."""
    for kind, (form, types, _, about) in reversed(PARAMETERS.items()):  # click reverses the order
        function = click.option(_option(kind), type=(str, *types), multiple=True, metavar=f"NAME {form}", help=about)(
            function
        )
    return function


def _part_options(function: F) -> F:
    """Add an option for each part of a study to a command, the most common ones first."""
    for name, part in sorted(PARTS.items(), key=lambda row: row[1].rare)[::-1]:  # click reverses the order
        form = NOTATION[part.kind]
        said = form | {"help": part.help + form.get("help", "")}
        function = click.option(_option(name, part.kind), name, **said)(function)
    return function


def _option(name: str, kind: str = "") -> str:
    return f"--{(name.removesuffix('s') if kind == 'texts' else name).replace('_', '-')}"


@command(
    "new",
    """equipoise new study.jsonl --float q1 -2 2 --float q2 -1 1 --minimize
equipoise new study.jsonl --log-float rate 1e-4 1e-1 --int n 1 8 --choice mode a,b --fixed lens in
equipoise new study.jsonl --float q1 0 1 --float q2 0 1 --constraint 'q1 + q2 <= 1'
equipoise new study.jsonl --float q1 -2 2 --step-float gap 0 1 0.1 --context temp 0 40
equipoise new study.jsonl --float q1 -2 2 --float q2 -1 1 --start q1=0 --start q2=0 --drop 0.5 --max-step q1=0.2
equipoise new study.jsonl --float q1 -2 2 --start q1=0 --objective flux --limit 'loss <= 3' --limit 'size <= start + 1'
equipoise new prompts.jsonl --names prompts.txt
equipoise new study.jsonl --config study.toml""",
    short_help="Start a study.",
    help="Start a study in a new file.\n\n" + TOML.strip("\n"),
)
@STUDY
@_parameter_options
@click.option(
    "--config", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A TOML file; options win."
)
@click.option("--constraint", multiple=True, metavar="TEXT", help="A constraint, such as 'q1 + q2 <= 1'; repeatable.")
@click.option(
    "--names",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file of names, one per line, instead of parameters: a ranking by judges, see `judge` and `rank`.",
)
@click.option("--unit", "units", type=(str, str), multiple=True, metavar="NAME UNIT", help="Unit of a number.")
@_part_options
@click.option("--seed", type=click.IntRange(min=0), help="The same seed and the same readings give the same study.")
@AS_JSON
def new(study: Path, config: Path | None, names: Path | None, as_json: bool, **given: Any) -> None:
    """Start a study; the help text is above."""
    table = _read(config)
    parameters = {name: _parameter(name, value) for name, value in table.pop("parameters", {}).items()}
    parameters |= _parameters(given)
    for name, unit in given["units"]:
        parameters[name] = _measured_in(unit, name, parameters.get(name))
    said = {name: given[name] for name in KEYS if given[name] not in (None, ())}
    by_name = [name for name in said if name in PARTS and PARTS[name].kind == "by name"]
    options = table | said | {name: named_values(_option(name), said[name]) for name in by_name}
    if unknown := sorted(set(options) - set(KEYS)):
        raise ValueError(f"{config} may hold [parameters] and {', '.join(KEYS)}, got {', '.join(unknown)}")
    if not parameters and names is None:
        raise click.UsageError("give at least one parameter: --float, --int or --choice, or a --config with some")
    seed = check.count("seed", options.pop("seed"), at_least=0) if "seed" in options else None
    space = _space(parameters, options.pop("constraint", None), names)
    if isinstance(space, Space):
        must_say_all(space, options)
    parts = {name: PARTS[name].written(name, value) for name, value in options.items()}
    opt = Optimizer(space, log=study, rng=seed, **parts)
    data = {"study": str(study), "space": opt.space.to_dict()}
    other = f"run {study} -- COMMAND" if names is None else f"judge {study}"
    say(as_json, data, f"{study}: {opt.space!r}\nNext: equipoise ask {study}, or equipoise {other}")


def _space(parameters: Mapping[str, Any], constraint: Any, names: Path | None) -> Domain:
    """Return the space of the given parameters, or of the names in a file."""
    if names is None:
        return Space(parameters, constraint=constraint)
    if parameters or constraint:
        raise click.UsageError("--names takes no parameters and no --constraint")
    found = [" ".join(line.split()) for line in text_of(names).splitlines() if line.strip()]
    if not found:
        raise click.UsageError("--names must be a file of names, got an empty one")
    return Finite(found)


def named_values(option: str, given: Sequence[str]) -> dict[str, Any]:
    """Return values by name from texts such as `q1=0`, `q1=0, lens=in` or `{"q1": 0}`.

    Example:
        >>> named_values("--start", ["q1=0", "q2=0.5,lens=in", '{"pump power": 3}'])
        {'q1': 0, 'q2': 0.5, 'lens': 'in', 'pump power': 3}
    """
    found: dict[str, Any] = {}
    for text in given:
        for name, value in _assigned(text):
            if not name or name in found:
                rule = f"{option} must be NAME=VALUE, such as q1=0.5, once for each name, or JSON"
                raise click.UsageError(f"{rule}, got {text!r}")
            found[name] = value
    return found


def _assigned(text: str) -> list[tuple[str, Any]]:
    """Return the names and values in a text; the name is empty if the text has none."""
    if text.lstrip().startswith("{"):
        try:
            return list(json.loads(text).items())
        except ValueError:
            return [("", text)]
    words = [word.partition("=") for word in re.split(r"\s*,\s*|\s+(?=[^\s=,]+=)", text.strip())]
    return [(name.strip() if equals else "", literal(value.strip())) for name, equals, value in words]


def must_say_all(space: Space, options: Mapping[str, Any]) -> None:
    """Refuse a part that omits a parameter, if it must name all of them."""
    needed = [name for name, parameter in space.parameters.items() if not isinstance(parameter, Fixed)]
    for name, value in options.items():
        named = value if PARTS[name].complete and isinstance(value, Mapping) else needed
        if missing := [parameter for parameter in needed if parameter not in named]:
            raise ValueError(f"`{name}` must give every parameter, got none for {', '.join(missing)}")


def _read(config: Path | None) -> dict[str, Any]:
    if config is None:
        return {}
    try:
        return tomllib.loads(text_of(config))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{config} must be a TOML file: {error}") from error


def _parameter(name: str, value: Any) -> Any:
    """Return a parameter from a TOML file: a table describes it, or it is a constant."""
    if name == "constraint" and isinstance(value, (str, list)):
        raise ValueError(f"`constraint` must stand above [parameters], or it is one of them, got {value!r}")
    if not isinstance(value, Mapping):
        return Fixed(value)
    try:
        return _named(name, parameter_from_dict, name, value)
    except (KeyError, TypeError) as error:
        wrong = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"parameter {name!r} must be like {{type = 'float', low = 0, high = 1}}: {wrong}") from error


def _parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters from options."""
    rows = ((make, row) for kind, (_, _, make, _) in PARAMETERS.items() for row in given[kind])
    pairs = [(name, _named(name, make, *values)) for make, (name, *values) in rows]
    if twice := [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]:
        raise click.UsageError(f"a parameter must be given once, got {', '.join(twice)} more often")
    return dict(pairs)


def _named(name: str, make: Callable[..., Any], *values: Any) -> Any:
    """Return the parameter that `make` makes; an error about its values names the parameter."""
    try:
        return make(*values)
    except ValueError as error:
        if repr(name) in str(error):
            raise
        raise ValueError(f"parameter {name!r}: {error}") from error


def _measured_in(unit: str, name: str, parameter: Any) -> Float | Int | Context:
    """Return a numeric parameter or context with its unit."""
    if isinstance(parameter, Context) and isinstance(number := parameter.values, Float):
        return Context(number.low, number.high, number.log, number.step, unit=unit)
    if not isinstance(parameter, (Float, Int)):
        raise click.UsageError(f"--unit must name a number of the study, got {name}")
    return replace(parameter, unit=unit)
