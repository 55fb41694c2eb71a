"""Shared parts of the study commands: opening a study, output for people and for scripts, exit codes."""

import json
import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from equipoise.answer import FrontPoint, Recommendation
from equipoise.log import LogError
from equipoise.optimizer import Optimizer, resume
from equipoise.runners import FailedError, LauncherError
from equipoise.runners import json_line as json_line
from equipoise.spaces import Domain, dials, readouts_of
from equipoise.spaces import printable as printable
from equipoise.spaces import settings as settings
from equipoise.study import DuelGivenUp

REFUSED, NOT_YET, FAILING, INTERRUPTED = 1, 3, 4, 130
EXIT_CODES = """\b
Exit codes:
  0    done
  1    refused, such as an unknown trial, a damaged log or a full disk; nothing has changed
  2    wrong usage
  3    the bound asked for with --eps is not reached (yet), or not audited
  4    run, tune: the program failed too often in a row, or could not be run
  130  interrupted; nothing is lost, the same command continues
"""


class FailingError(click.ClickException):
    """A program failed, or cannot be measured."""

    exit_code = FAILING


BARE = re.compile(r"-?(\d+\.|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number without a digit before or after its point, which is no JSON."""

STUDY = click.argument("study", type=click.Path(path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
WORKER = click.option("--worker", help="Name of the worker. Both halves of a pair go to one worker.")
BLOCK = click.option("--block", help="The day, batch or shift that begins now, if it is another one.")
CONTEXT = click.option(
    "--context", multiple=True, metavar="NAME=VALUE", help="The present value of a context; once for each of them."
)
EPS = click.option(
    "--eps", type=click.FloatRange(min=0, min_open=True), help="The bound to reach: nothing is better by more."
)
AUDIT = click.option(
    "--audit/--no-audit", default=True, help="Require an audited bound for --eps, or accept an estimate."
)


def command(
    name: str, examples: str, cls: type[click.Command] = click.Command, **options: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a click command whose help ends with examples and whose refusals are errors without a traceback."""
    epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines())

    def make(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def polite(**arguments: Any) -> None:
            with explained():
                function(**arguments)

        return click.command(name, cls=cls, epilog=epilog, **options)(polite)

    return make


Said = tuple[Any, str]
"""The output of a command: data for scripts, which --json prints, and a text for people."""


def study_command(name: str, examples: str, **options: Any) -> Callable[[Callable[..., Said]], click.Command]:
    """Make a command that works on a study: its function takes the optimizer and returns the output."""

    def make(function: Callable[..., Said]) -> click.Command:
        @wraps(function)
        def opening(study: Path, as_json: bool, **arguments: Any) -> None:
            say(as_json, *function(opened(study), **arguments))

        made = STUDY(command(name, examples, **options)(opening))
        made.params.insert(0, made.params.pop())  # the study is the first argument, --json the last option
        return AS_JSON(made)

    return make


@contextmanager
def explained() -> Iterator[None]:
    """Turn refusals of the library into errors of the command."""
    try:
        yield
    except click.exceptions.Exit:  # Exit is a RuntimeError too
        raise
    except KeyboardInterrupt:
        click.echo("\nInterrupted.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (FailedError, LauncherError) as error:
        raise FailingError(printable(str(error))) from error
    except (LogError, RuntimeError, ValueError, TypeError) as error:
        raise click.ClickException(printable(str(error))) from error


def noted(notice: Warning) -> None:
    """Print a notice on standard error; a command that abandons a duel reports that itself."""
    if not isinstance(notice, DuelGivenUp):
        click.echo(printable(f"Note: {notice}"), err=True)


def harmless(error: click.ClickException) -> click.ClickException:
    """Return an error whose message contains no control characters, even if the command line does."""
    vars(error)["message"] = printable(error.message)
    return error


def literal(text: str) -> Any:
    """Return the number, true, false or null that a text denotes; otherwise the text.

    Example:
        >>> [literal(text) for text in ("4", "0.5", ".5", "true", "slow", "NaN")]
        [4, 0.5, 0.5, True, 'slow', 'NaN']
    """
    try:
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return float(text) if BARE.fullmatch(text) else text
    return text if isinstance(value, (dict, list)) else value


def context_of(opt: Optimizer, given: Sequence[str]) -> dict[str, Any] | None:
    """Return the context from options of the form NAME=VALUE; `None` if there are none."""
    if wrong := [word for word in given if "=" not in word]:
        raise click.UsageError(f"--context must be NAME=VALUE, such as temp=21, got {wrong[0]}")
    pairs = dict(word.split("=", 1) for word in given)
    if len(pairs) < len(given):
        raise click.UsageError(f"--context must be given once for each name, got {', '.join(given)}")
    return {name: _meant(opt, name, text) for name, text in pairs.items()} or None


def _meant(opt: Optimizer, name: str, text: str) -> Any:
    """Return the value of a context: the option with this spelling, else the literal value of the text."""
    parameter = getattr(opt.space, "parameters", {}).get(name)
    options = getattr(getattr(parameter, "values", None), "options", ())
    return next((option for option in options if str(option) == text), literal(text))


def opened(study: Path) -> Optimizer:
    """Return a study; if it does not exist, explain how to make one."""
    if not study.exists():
        raise click.ClickException(f"{study} does not exist: `equipoise new {study} ...` makes a study")
    return resume(study, notify=noted)


def say(as_json: bool, data: Any, text: str) -> None:
    """Print an answer, for scripts or for people."""
    click.echo(json_line(data) if as_json else printable(text))


SHELL_WORDS = frozenset(
    {"aliases", "argv", "builtins", "cdpath", "commands", "dirstack", "fignore", "fpath", "funcstack", "functions"}
    | {"histchars", "history", "keymaps", "mailpath", "manpath", "module_path", "options", "parameters", "path"}
    | {"pipestatus", "prompt", "psvar", "signals", "status", "watch"}
    | {"all_proxy", "ftp_proxy", "http_proxy", "https_proxy", "no_proxy"}
)
"""Lowercase variables with a special meaning in a shell, mostly zsh, or in a program."""


def shell_name(name: str) -> str:
    """Return the shell variable of a parameter, which has no special meaning to a shell or a program.

    Example:
        >>> [shell_name(name) for name in ("q1", "T", "PATH", "IFS", "pump power", "path")]
        ['q1', 'T', 'x_PATH', 'x_IFS', 'x_pump_power', 'x_path']
    """
    plain = re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) is not None and (len(name) <= 2 or name != name.upper())
    if plain and name not in SHELL_WORDS and name not in os.environ:
        return name
    return "x_" + re.sub(r"\W", "_", name, flags=re.ASCII)


def assignments(x: Any, space: Domain | None = None) -> str:
    """Return a point in shell syntax; a name with a special meaning to a shell gets the prefix `x_`.

    Args:
        x: The point.
        space: The space of the point, to round numbers to the digits that can be set; exact by default.

    Example:
        >>> assignments({"q1": 0.25, "mode": "very slow", "PATH": "/tmp"})
        "q1=0.25 mode='very slow' x_PATH=/tmp"
    """
    words: dict[str, str] = {}
    known = None if space is None else readouts_of(space)
    for name, value in settings(x).items():
        word = shell_name(name) if isinstance(x, Mapping) else name
        while word in words:
            word += "_"
        shown = known[name].text(value) if known is not None and isinstance(value, float) and name in known else value
        words[word] = shlex.quote(str(shown))
    return " ".join(f"{name}={value}" for name, value in words.items())


def spelled(x: Any) -> str:
    """Return a point for people, with exact numbers and names, unlike `assignments`, which a shell may evaluate.

    Example:
        >>> spelled({"q1": 0.25, "prompt": "be brief"})
        "q1=0.25 prompt='be brief'"
    """
    return " ".join(f"{name}={shlex.quote(str(value))}" for name, value in settings(x).items())


def dialed(x: Any, space: Domain) -> str:
    """Return a point for people, with units, rounded to the digits that can be set.

    Example:
        >>> import equipoise as eq
        >>> dialed({"q1": 1 / 3, "lens": "in"}, eq.Space(q1=eq.Float(0, 1, unit="A"), lens=eq.Choice(["in", "out"])))
        'q1 = 0.3333 A, lens = in'
    """
    return ", ".join(map(str, dials(readouts_of(space), x)))


def text_of(file: Path) -> str:
    """Return the text of a file in UTF-8, as it is, but without a byte order mark."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be a text in UTF-8: {error}") from error


def setting(option: str, text: str) -> Any:
    """Return a setting from an option in JSON; refuse an invalid one."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{option} must be JSON, such as '{{\"q1\": 1.98}}', got {text!r}") from error


def best_data(best: Recommendation, eps: float | None = None, audit: bool = True) -> dict[str, Any]:
    """Return a recommendation for scripts; JSON has no infinity, so a bound that is not yet known is null."""
    claims = [
        {"kind": claim.kind, "bound": _finite(claim.bound), "scope": claim.scope}
        | ({"narrow": True} if claim.narrow else {})
        | ({"missing": claim.missing} if claim.missing else {})
        for claim in best.claims
    ]
    start = best.against_start
    against = (
        None
        if start is None
        else {"value": start.value, "low": _finite(start.low), "high": _finite(start.high), "kind": start.kind}
    )
    said = {"x": best.x, "gap_bound": _finite(best.gap_bound), "kind": best.kind, "readings": best.readings}
    said |= {"against_start": against, "claims": claims} | ({"judgements": best.judgements} if best.judgements else {})
    if best.forecast is not None:
        said["forecast"] = {"duels": best.forecast.duels, "bound": best.forecast.bound}
    if best.usability is not None:
        limits = [{"limit": x.limit, "value": x.value, "low": x.low, "high": x.high} for x in best.usability.limits]
        said |= {"holds": best.usability.probability, "limits": [_plain(each) for each in limits]}
    if best.compromise is not None:
        said["objectives"] = gains_data(best.compromise)
    if best.preferred:
        said["preferred"] = [
            {"to": x, "share": share.value, "low": share.low, "high": share.high, "judgements": share.judgements}
            for x, share in best.preferred
        ]
    return said if eps is None else said | {"certified": best.certifies(eps, audit=audit)}


def gains_data(point: FrontPoint) -> dict[str, Any]:
    """Return the gain of each objective over the start, for scripts."""
    found = point.against_start.items()
    return {name: _plain({"value": d.value, "low": d.low, "high": d.high}) for name, d in found}


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _finite(value) if isinstance(value, float) else value for name, value in said.items()}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
