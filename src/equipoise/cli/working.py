"""Commands on one study file: the best setting, pictures, and tables."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from equipoise.cli.common import (
    AS_JSON,
    AUDIT,
    CONTEXT,
    EPS,
    NOT_YET,
    STUDY,
    best_data,
    command,
    context_of,
    json_line,
    opened,
    printable,
    say,
)
from equipoise.likelihoods import by_name
from equipoise.study import as_csv, timed


@command(
    "best",
    """equipoise best study.jsonl
until equipoise best study.jsonl --eps 0.1; do ./measure_one.sh; done
equipoise best study.jsonl --context temp=21
equipoise best study.jsonl --prefer flux                   of a study with --objective flux,-size""",
    short_help="Print the best setting, with a bound.",
)
@STUDY
@EPS
@AUDIT
@CONTEXT
@click.option("--weight", "weights", multiple=True, metavar="NAME=NUMBER", help="The weight of an objective.")
@click.option("--prefer", metavar="NAME", help="Pick the setting that is best in this objective.")
@AS_JSON
def best(
    study: Path,
    eps: float | None,
    audit: bool,
    context: tuple[str, ...],
    weights: tuple[str, ...],
    prefer: str | None,
    as_json: bool,
) -> None:
    """Print the best known setting, how much better any other may be, and the basis of this claim.

    The basis is an estimate, an audit (see `audit`), fresh duels (see `verify`) or a theorem: docs/claims.md.
    With --eps the exit code is 3 until nothing is better by more than EPS, by an audit or a theorem.
    If the study has contexts, --context selects one, by default that of the last `ask`. With several objectives it is a
    setting of the front (see `front`), by default with equal gains in each objective.
    """
    opt = opened(study)
    found = opt.recommend(
        weights=by_name(" ".join(weights)) if weights else None, prefer=prefer, context=context_of(opt, context)
    )
    say(as_json, best_data(found, eps, audit), str(found))
    if eps is not None and not found.certifies(eps, audit=audit):
        sys.exit(NOT_YET)


@command(
    "plot",
    "equipoise plot study.jsonl\nequipoise plot study.jsonl --what slices --out slices.pdf",
    short_help="Draw pictures of a study.",
)
@STUDY
@click.option(
    "--what",
    type=click.Choice(["overview", "estimate", "slices", "readings", "duels", "certificate", "front"]),
    default="overview",
    show_default=True,
    help="The picture; the overview has four pictures.",
)
@click.option(
    "--along", multiple=True, help="One or two parameters of the estimate or the duels; two objectives of the front."
)
@click.option("--out", type=click.Path(path_type=Path), help="File to write.  [default: the study's name, .png]")
@CONTEXT
@AS_JSON
def plot(
    study: Path, what: str, along: tuple[str, ...], out: Path | None, context: tuple[str, ...], as_json: bool
) -> None:
    """Draw the estimate, the readings with the offset, the duels, and the bound over time (the certificate)."""
    from equipoise import plots

    if along and what not in ("estimate", "duels", "front"):
        raise click.UsageError(f"--along is for --what estimate, duels or front, not for {what}")
    out = study.with_suffix(".png") if out is None else out
    opt = opened(study)
    try:
        drawn = getattr(plots, what)(opt, *along, context=context_of(opt, context))
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    with _writing(out, study):
        plots.style.figure(drawn).savefig(out, dpi=150)
    say(as_json, {"picture": str(out)}, f"Picture: {out}")


@command(
    "export",
    "equipoise export study.jsonl > study.csv\nequipoise export study.jsonl --judgements > judgements.csv",
    short_help="Write all trials, or all judgements, as CSV.",
)
@STUDY
@click.option("--judgements", is_flag=True, help="Write the judged pairs instead of the trials.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write.  [default: standard output]")
@click.option("--json", "as_json", is_flag=True, help="A JSON list instead of CSV.")
def export(study: Path, judgements: bool, out: Path | None, as_json: bool) -> None:
    """Write every trial with its setting, reading, time and worker.

    Trials with a reading come first, in the order of their readings, then failed and open trials. If a parameter has
    the name of another column, such as time, its column gets the prefix `x.`. Control characters are kept in a file and
    escaped on a terminal.

    With --judgements write every pair: the settings in both places, the answer, its scale, the time and the judge;
    `again` is the earlier pair that it repeats in the other order.
    """
    opt = opened(study)
    rows = timed(opt.records(aside=False, judgements=judgements), opt.study.setup.columns)
    text = json_line(rows) + "\n" if as_json else as_csv(rows, opt.space, judgements)
    if out is None:
        click.echo(printable(text) if sys.stdout.isatty() else text, nl=False, color=True)  # else click cuts some
        return
    with _writing(out, study):
        out.write_text(text, encoding="utf-8", newline="")


@contextmanager
def _writing(out: Path, study: Path) -> Iterator[None]:
    """Refuse to overwrite the study, and report clearly if a file cannot be written."""
    try:
        if out.exists() and out.samefile(study):
            raise click.UsageError(f"--out must be another file than the study, got {out}")
        yield
    except OSError as error:
        raise click.ClickException(f"{out} could not be written: {error.strerror or error}") from error
