"""`equipoise serve`: the operator's page."""

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from equipoise.cli.common import AUDIT, CONTEXT, EPS, command, context_of, noted, opened
from equipoise.cli.interrupting import interruptible
from equipoise.likelihoods import CHECK_EVERY
from equipoise.runners import Launcher, Program

PATIENCE = 60.0
"""Seconds after which the program of --on-event is stopped."""

DEMO_READINGS = 60
"""Readings after which the demonstration pauses and shows the truth."""

EXAMPLES = """equipoise serve study.jsonl                         readings are entered in a browser
equipoise serve study.jsonl -- ./measure.sh         a program measures, people watch and take over
equipoise serve studies/                            a folder of studies
equipoise serve study.jsonl --judges --blind        people judge pairs, each under their own name
equipoise serve --demo                              a simulated instrument that drifts"""


@command("serve", EXAMPLES, short_help="Serve the operator's page in a browser.")
@click.argument("study", type=click.Path(path_type=Path), required=False)
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
@click.option("--demo", is_flag=True, help="Serve a simulated instrument.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0: any free one.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="Another name of this server.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the tokens in this file, for the next start.",
)
@click.option("--unit", help="Unit of a reading; written into the study.")
@click.option(
    "--worker", default="page", show_default=True, help="Name of the worker here; another name for each machine."
)
@CONTEXT
@click.option("--readings", type=click.IntRange(min=1), help="Planned readings; the page shows the progress.")
@EPS
@AUDIT
@click.option("--judge", metavar="NAME", help="Judge pairs instead of entering readings, as NAME.")
@click.option("--judges", is_flag=True, help="Let any number of people judge pairs; each enters a name on the page.")
@click.option(
    "--steps",
    type=click.Choice(["2", "3", "5", "7"]),
    default="5",
    show_default=True,
    help="The number of possible answers.",
)
@click.option("--numbers", is_flag=True, help="Ask for a number: how much better.")
@click.option(
    "--check-every",
    type=click.IntRange(min=0),
    default=CHECK_EVERY,
    show_default=True,
    help="After this number of new pairs, ask a judge an earlier one in the other order; 0: never.",
)
@click.option("--blind", is_flag=True, help="Hide the settings of a pair everywhere.")
@click.option("--show", metavar="TEMPLATE", help="The file that shows a setting, such as 'pictures/{gain}.png'.")
@click.option(
    "--say",
    metavar="COMMAND",
    help="Instead of --show: a program that prints text, Markdown or JSON for a setting, or a file in --folder.",
)
@click.option("--folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Files that --say names.")
@click.option(
    "--set",
    "setting",
    metavar="COMMAND",
    help="A program that sets the machine, called like PROGRAM, for each trial, the best setting and the start.",
)
@click.option(
    "--on-event",
    metavar="COMMAND",
    help="Called when a trial fails, the study pauses or ends, or a reading is overdue, as COMMAND EVENT STUDY TEXT.",
)
@click.option(
    "--overdue", type=click.FloatRange(min=0, min_open=True), help="Seconds after which a reading is overdue."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a reading of PROGRAM may take.")
@click.option("--stdin", is_flag=True, help="Settings for PROGRAM as JSON on standard input, not as arguments.")
def serve(study: Path | None, program: tuple[str, ...], demo: bool, token_file: Path | None, **options: Any) -> None:
    """Serve the page of a STUDY, or of a folder of studies, until Ctrl-C. You may begin a new study on the page.

    The command prints two addresses: with the first people can measure, with the second only watch. Only this machine
    can reach the page, unless you set --host. The page calls PROGRAM as `equipoise run` does, for every trial, until
    somebody pauses it.
    """
    if demo == (study is not None):
        raise click.UsageError("give a STUDY or a folder, or --demo")
    if demo:
        with tempfile.TemporaryDirectory(prefix="equipoise-") as folder:
            _serve(Path(folder) / "demo.jsonl", program, demo, token_file, **options)
    elif study is not None:
        _serve(study, program, demo, token_file, **options)


def _serve(study: Path, program: tuple[str, ...], demo: bool, token_file: Path | None, **options: Any) -> None:
    try:
        from equipoise.web import Binding, Server, Studies, Tokens, begin_demo, measuring
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    if program and not study.is_file():
        raise click.UsageError(f"a PROGRAM measures one study, and {study} is not one: see `equipoise new`")
    measure = simulator = None
    if demo:
        from equipoise.lab.environments import Simulator

        begin_demo(study)
        simulator = Simulator()
        measure = measuring(simulator)
        options["readings"] = options["readings"] or DEMO_READINGS
    started = _program(program, options["timeout"], options["stdin"], explains=True) if program else None
    measure = measure if started is None else started.measure
    present = context_of(opened(study), options["context"]) if options["context"] else None
    sitting = _sitting(measure is not None, **options)
    setter, means = _means(None if simulator is None else simulator.truth, **options)
    studies = Studies(study, options["worker"], measure is not None, present, sitting, means)
    try:
        station = None if studies.only is None else studies.station(studies.only)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    if options["unit"] is not None and station is not None:
        station.opt.study.set("unit", options["unit"])
    tokens = Tokens.fresh() if token_file is None else Tokens.kept(token_file)
    binding = Binding(options["host"], options["port"], options["names"])
    try:
        server = Server(studies, binding, tokens, measure, partial(_stop, started, setter))
    except OSError as error:
        where = f"{binding.host}:{binding.port}"
        raise click.ClickException(f"cannot listen at {where}: {error.strerror or error}") from error
    _announce(server, binding, study, sitting is not None)
    try:
        with interruptible():
            server.run()
    except KeyboardInterrupt:
        left = "" if server.ended is None else f" The program was ended too: trial {server.ended} waits to be measured."
        click.echo(f"\nEnded; every reading that was acknowledged is in the study.{left}", err=True)


def _sitting(
    measured: bool,
    judge: str | None,
    judges: bool,
    steps: str,
    blind: bool,
    show: str | None,
    numbers: bool,
    check_every: int,
    say: str | None,
    folder: Path | None,
    timeout: float | None,
    stdin: bool,
    **others: Any,
) -> Any:
    """Return how pairs are judged; `None` if they are not."""
    from equipoise.web import Sitting

    if judge is not None and judges:
        raise click.UsageError("give either --judge or --judges")
    judging = judges or judge is not None
    if judging and measured:
        raise click.UsageError("--judge is for people; a PROGRAM measures")
    if not judging and (blind or numbers or show is not None or say is not None):
        raise click.UsageError("--blind, --numbers, --show and --say are for --judge and --judges")
    if show is not None and say is not None:
        raise click.UsageError("give either --show or --say")
    program = None if say is None else _program(_words("--say", say), timeout, stdin).output
    return Sitting(judge, int(steps), blind, show, numbers, check_every, program, folder) if judging else None


def _means(
    truth: Any,
    setting: str | None,
    on_event: str | None,
    overdue: float | None,
    readings: int | None,
    eps: float | None,
    audit: bool,
    timeout: float | None,
    stdin: bool,
    **others: Any,
) -> tuple[Program | None, Any]:
    """Return the program that sets the machine, if there is one, and the means of the server."""
    from equipoise.web import Means, Target

    setter = None if setting is None else _program(_words("--set", setting), timeout, stdin)
    herald = None if on_event is None else _program(_words("--on-event", on_event), PATIENCE, True)
    put, tell = None if setter is None else setter.apply, None if herald is None else partial(_tell, herald)
    return setter, Means(Target(readings, eps, audit, truth), put, tell, overdue)


def _program(words: Sequence[str], timeout: float | None, stdin: bool, explains: bool = False) -> Program:
    return Program(words, stdin, timeout, Launcher(noted), explains)


def _tell(program: Program, event: Mapping[str, Any]) -> None:
    """Notify a program of an event."""
    program.inform(event["event"], event["study"], event["text"], data=event)


def _words(option: str, line: str) -> list[str]:
    """Return the words of an option that is a command line."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise click.UsageError(f"{option} must be a command line: {error}") from error
    if not words:
        raise click.UsageError(f"{option} must name a program, got nothing")
    return words


def _stop(*programs: Program | None) -> None:
    for program in programs:
        if program is not None:
            program.stop()


def _announce(server: Any, binding: Any, study: Path, judging: bool) -> None:
    click.echo(f"Open one of these in a browser; Ctrl-C ends.\n  to measure  {server.address(server.tokens.operator)}")
    click.echo(f"  to watch    {server.address(server.tokens.watcher)}")
    if judging:
        click.echo(f"  to judge    {server.address(server.tokens.judge)}")
    if not binding.loopback:
        click.echo(
            "Note: other machines can reach this page without encryption. Anyone with the first address"
            " can change the study. An SSH tunnel is safer: ssh -L 8765:localhost:8765 THIS-MACHINE",
            err=True,
        )
