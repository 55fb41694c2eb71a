"""What the study commands share: opening a study, saying things to people and to scripts, exit codes."""

import json
import math
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np

from equipoise.answer.recommendation import Recommendation
from equipoise.log.jsonl import LogError
from equipoise.optimizer import Optimizer, resume
from equipoise.study.ledger import DuelGivenUp

REFUSED, NOT_YET, FAILING, INTERRUPTED = 1, 3, 4, 130
EXIT_CODES = """\b
Exit codes:
  0    done
  1    refused: no such trial, a damaged log, a full disk; the message says why, and nothing has changed
  2    wrong usage
  3    the bound asked for with --eps is not reached (yet)
  4    run: the program failed too often in a row
  130  interrupted; nothing is lost, the same command continues
"""

STUDY = click.argument("study", type=click.Path(path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
WORKER = click.option("--worker", help="Who measures. Both halves of a pair go to one worker.")
EPS = click.option("--eps", type=click.FloatRange(min=0, min_open=True), help="The bound to reach: see `best`.")


def command(name: str, examples: str, **options: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Make a click command whose help ends with examples and whose refusals are errors without a traceback."""
    epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines())

    def make(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def polite(**arguments: Any) -> None:
            with explained():
                function(**arguments)

        return click.command(name, cls=click.Command, epilog=epilog, **options)(polite)

    return make


@contextmanager
def explained() -> Iterator[None]:
    """Say what the library warns of on standard error, and what it refuses as an error of the command."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (LogError, RuntimeError, ValueError, TypeError) as error:
            raise click.ClickException(str(error)) from error
        finally:
            for warning in caught:
                if issubclass(warning.category, UserWarning) and warning.category is not DuelGivenUp:
                    click.echo(f"Note: {warning.message}", err=True)


def opened(study: Path) -> Optimizer:
    """Return a study, or say how to make one."""
    if not study.exists():
        raise click.ClickException(f"{study} does not exist: `equipoise new {study} ...` makes a study")
    return resume(study)


def say(as_json: bool, data: Any, text: str) -> None:
    """Print an answer, for scripts or for people."""
    click.echo(json_line(data) if as_json else text)


def json_line(data: Any) -> str:
    """Return data as a line of JSON."""
    return json.dumps(data, ensure_ascii=False, default=_plain, allow_nan=False)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)


def settings(x: Any) -> dict[str, Any]:
    """Return a point by name; the coordinates of a point without names are called x[0], x[1] and so on.

    Example:
        >>> settings(np.array([0.5, 1.0]))
        {'x[0]': 0.5, 'x[1]': 1.0}
    """
    return dict(x) if isinstance(x, Mapping) else {f"x[{i}]": value for i, value in enumerate(x.tolist())}


def assignments(x: Any) -> str:
    """Return a point as a shell would write it.

    Example:
        >>> assignments({"q1": 0.25, "mode": "very slow"})
        "q1=0.25 mode='very slow'"
    """
    name_of = shlex.quote if isinstance(x, Mapping) else str
    return " ".join(f"{name_of(name)}={shlex.quote(str(value))}" for name, value in settings(x).items())


def counted(readings: int) -> str:
    """Return how many readings there are, in words."""
    return f"{readings} reading{'' if readings == 1 else 's'}"


def best_data(best: Recommendation, eps: float | None) -> dict[str, Any]:
    """Return a recommendation for scripts; JSON has no infinity, so a bound that is not known yet is null."""
    bound = best.gap_bound if math.isfinite(best.gap_bound) else None
    reached = {} if eps is None else {"certified": best.gap_bound <= eps}
    return {"x": best.x, "gap_bound": bound, "readings": best.readings} | reached


def best_text(best: Recommendation) -> str:
    """Return a recommendation for people."""
    after = f"after {counted(best.readings)}"
    if math.isinf(best.gap_bound):
        return f"{assignments(best.x)}\nA guess: there is no bound yet, {after}."
    return f"{assignments(best.x)}\nNothing is better by more than {best.gap_bound:.4g}, {after}."
