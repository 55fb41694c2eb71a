"""The command `equipoise`: studies, a demonstration, the paper's figures, and benchmarks."""

import builtins
import errno
import sys
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from equipoise import __version__
from equipoise.cli.common import EXIT_CODES, INTERRUPTED, harmless, printable
from equipoise.cli.interrupting import discard_unwritten, open_streams

START = """\b
Start here:
  equipoise demo                                                a drifting instrument, in seconds
  equipoise new study.jsonl --float q1 -2 2 --float q2 -1 1     your own study, kept in one file
  equipoise run study.jsonl --readings 60 -- ./measure.sh       your program measures, as often as needed
  equipoise best study.jsonl                                    the best setting, with a bound

\b
By hand, or from your own script:
  equipoise ask study.jsonl                                     prints: 0 q1=0.5 q2=-0.3
  equipoise tell study.jsonl 0 0.83                             trial 0 read 0.83

\b
Programs:
  equipoise compare './old' './new'                             which is faster, on a host that drifts
  equipoise tune './prog --threads {threads=1..64:log}'         its fastest settings, verified
  equipoise gate try                                            keep this change, or discard it?

"""

SECTIONS = {
    "A study": {
        "new": "cli.making",
        **dict.fromkeys(
            ("ask", "tell", "fail", "expire", "correct", "retract", "undo", "note", "set"), "cli.answering"
        ),
        "best": "cli.working",
        "rank": "cli.ranking",
        "front": "cli.ranking",
        **dict.fromkeys(("audit", "verify", "cancel"), "cli.proving"),
        "judge": "cli.preferring",
        "status": "cli.replaying",
        "plot": "cli.working",
        "import": "cli.importing",
        "export": "cli.working",
        "replay": "cli.replaying",
        "run": "cli.running",
        "serve": "cli.serving",
    },
    "Programs": {
        "compare": "programs.commands.comparing",
        "tune": "programs.commands.tuning",
        "gate": "programs.commands.gate_keeping",
        "items": "programs.commands.itemizing",
    },
    "Experiments": {"demo": "cli.simulating", "paper": "cli.simulating", "bench": "cli.benching"},
}
"""All commands in the order of use, with their modules, which are imported for a call or for the help."""

MODULES = {name: module for commands in SECTIONS.values() for name, module in commands.items()}

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


class _Sections(click.Group):
    """A group whose help lists the study commands first, then the others, each in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; `None` if no command has that name."""
        if cmd_name not in MODULES:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) or hasattr(builtins, cmd_name) else cmd_name
        command: click.Command = getattr(import_module(f"equipoise.{MODULES[cmd_name]}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; suggest the ones with a similar name if there is none."""
        near = [] if args[0] in MODULES else get_close_matches(args[0], MODULES)
        if near:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(near)}?")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the whole program, even if some standard streams are closed."""
        open_streams()
        return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; escape control characters in errors, and give every interrupt its exit code."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            raise harmless(error) from error.__cause__
        except OSError as error:
            if error.errno == errno.EPIPE:  # `| head` stopped reading: click exits silently
                raise
            discard_unwritten()
            unnamed = "the answer could not be printed" if error.errno is not None else type(error).__name__
            raise click.ClickException(printable(f"{error.filename or unnamed}: {error.strerror or error}")) from error
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections of the help."""
        for title, commands in SECTIONS.items():
            found = {name: self.get_command(ctx, name) for name in commands}
            with formatter.section(title):
                formatter.write_dl([(name, each.get_short_help_str(80)) for name, each in found.items() if each])


@click.group(cls=_Sections, context_settings=CONTEXT, epilog=START + EXIT_CODES)
@click.version_option(__version__, prog_name="equipoise")
def main() -> None:
    """Bias-robust Bayesian optimization: tune anything whose measurements drift."""
