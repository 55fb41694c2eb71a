"""The commands that work on a study: one file, from the first setting to the last picture."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import (
    AS_JSON,
    EPS,
    NOT_YET,
    STUDY,
    WORKER,
    assignments,
    best_data,
    best_text,
    command,
    json_line,
    opened,
    say,
    settings,
)
from equipoise.cli.making import new
from equipoise.cli.replaying import replay, status, times
from equipoise.cli.running import run
from equipoise.optimizer import Optimizer
from equipoise.study.state import Record

TRIAL = click.argument("trial", type=click.IntRange(min=0))
SIGNED = {"ignore_unknown_options": True}  # -0.5 is a number, not an option


@command(
    "ask",
    "equipoise ask study.jsonl\nequipoise ask study.jsonl --worker laser-2 --json",
    short_help="What to measure next.",
)
@STUDY
@WORKER
@AS_JSON
def ask(study: Path, worker: str | None, as_json: bool) -> None:
    """Print what to measure next: the number of the trial, then its settings.

    A trial stays open until it is told, failed or expired. Several may be open at once.
    """
    trial = opened(study).ask(worker=worker)
    data = {"id": trial.id, "x": trial.x} | ({} if worker is None else {"worker": worker})
    say(as_json, data, f"{trial.id} {assignments(trial.x)}")


@command(
    "tell",
    """equipoise tell study.jsonl 0 0.83
equipoise tell study.jsonl 1 -1.2e-3 --time 1731660000 --error 0.05
equipoise tell study.jsonl 2 0.9 --x '{"q1": 1.98, "q2": 0.5}'""",
    short_help="Report a reading.",
    context_settings=SIGNED,
)
@STUDY
@TRIAL
@click.argument("value", type=float)
@click.option("--x", metavar="JSON", help="Where it was really measured, if that is not where it should have been.")
@click.option("--time", type=float, help="When it was measured, in any unit; compared with the study's max_gap.")
@click.option("--error", type=float, default=0.0, help="The reading's own standard error.")
@AS_JSON
def tell(study: Path, trial: int, value: float, x: str | None, as_json: bool, **more: Any) -> None:
    """Report the reading VALUE of a TRIAL. Telling the same twice is no news; another value is refused."""
    opt = opened(study)
    opt.tell(trial, value, x=None if x is None else _point(x), **more)
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
    opened(study).expire(trial)
    say(as_json, {"id": trial, "expired": True}, f"Trial {trial} waits again.")


@command(
    "best",
    "equipoise best study.jsonl\nuntil equipoise best study.jsonl --eps 0.1; do ./measure_one.sh; done",
    short_help="The best setting, with a bound.",
)
@STUDY
@EPS
@AS_JSON
def best(study: Path, eps: float | None, as_json: bool) -> None:
    """Print the best setting as far as is known, and how much better any other may be.

    With --eps the exit code is 3 until that bound is at most EPS.
    """
    found = opened(study).recommend()
    say(as_json, best_data(found, eps), best_text(found))
    if eps is not None and found.gap_bound > eps:
        sys.exit(NOT_YET)


@command(
    "plot",
    "equipoise plot study.jsonl\nequipoise plot study.jsonl --what slices --out slices.pdf",
    short_help="Draw pictures of a study.",
)
@STUDY
@click.option(
    "--what",
    type=click.Choice(["overview", "estimate", "slices", "readings", "duels", "certificate"]),
    default="overview",
    show_default=True,
    help="Which picture; the overview has four of them.",
)
@click.option("--along", multiple=True, help="Parameters of the estimate or the duels: one, or two.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write.  [default: the study's name, .png]")
@AS_JSON
def plot(study: Path, what: str, along: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Draw the estimate with its leader and bound, the readings with the offset, the duels, the certificate."""
    from equipoise import plots

    if along and what not in ("estimate", "duels"):
        raise click.UsageError(f"--along is for --what estimate or duels, not for {what}")
    out = study.with_suffix(".png") if out is None else out
    try:
        drawn = getattr(plots, what)(opened(study), *along)
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    with _writing(out, study):
        plots.style.figure(drawn).savefig(out, dpi=150)
    say(as_json, {"picture": str(out)}, f"Picture: {out}")


@command("export", "equipoise export study.jsonl > study.csv", short_help="All trials as CSV.")
@STUDY
@click.option("--out", type=click.Path(path_type=Path), help="File to write.  [default: standard output]")
@click.option("--json", "as_json", is_flag=True, help="A JSON list instead of CSV.")
def export(study: Path, out: Path | None, as_json: bool) -> None:
    """Write every trial handed out: where it was measured, what was read, when and by whom.

    Those told come first, in the order of telling, then what failed and what is still open. A parameter that is called
    as another column is, such as time, gets an `x.` before its name.
    """
    opt, (asked, ended) = opened(study), times(study)
    rows = [_row(record, asked[record.trial], ended.get(record.trial)) for record in opt.records()]
    text = json_line(rows) + "\n" if as_json else _csv(rows, opt)
    if out is None:
        click.echo(text, nl=False)
        return
    with _writing(out, study):
        out.write_text(text, encoding="utf-8", newline="")


def _row(record: Record, asked: str, ended: str | None) -> dict[str, Any]:
    """Return what became of a trial, one value for each column."""
    told = {"value": record.value, "error": record.error or None, "time": record.time, "failed": record.failed}
    who = {"trial": record.trial, "duel": record.duel, "worker": record.worker}
    rest = who | told | {"given up": record.void, "asked": asked, "ended": ended}
    where = {f"x.{name}" if name in rest else name: value for name, value in settings(record.x).items()}
    return who | where | rest


def _csv(rows: list[dict[str, Any]], opt: Optimizer) -> str:
    """Return rows as a table; with its header, even if there are none."""
    file = io.StringIO()
    columns = rows[0] if rows else _row(Record(0, 0, None, opt.recommend().x), "", None)
    writer = csv.DictWriter(file, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


@contextmanager
def _writing(out: Path, study: Path) -> Iterator[None]:
    """Refuse to write over the study, and say clearly that a file could not be written."""
    try:
        if out.exists() and out.samefile(study):
            raise click.UsageError(f"--out must be another file than the study, got {out}")
        yield
    except OSError as error:
        raise click.ClickException(f"{out} could not be written: {error.strerror or error}") from error


def _point(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"--x must be JSON, such as '{{\"q1\": 1.98}}', got {text!r}") from error


COMMANDS = [new, ask, tell, fail, expire, best, status, plot, export, replay, run]
"""What `equipoise` offers to work on a study."""
