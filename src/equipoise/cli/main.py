"""The command `equipoise`: studies, a demonstration, the paper's figures, and benchmarks."""

import click

from equipoise import __version__
from equipoise.cli.benching import bench
from equipoise.cli.common import EXIT_CODES
from equipoise.cli.comparing import compare
from equipoise.cli.simulating import demo, paper
from equipoise.cli.tuning import tune
from equipoise.cli.working import COMMANDS

START = """\b
Start here:
  equipoise demo                                                a drifting instrument, in seconds
  equipoise new study.jsonl --float q1 -2 2 --float q2 -1 1     a study of your own, kept in one file
  equipoise run study.jsonl --readings 60 -- ./measure.sh       your program measures, as often as needed
  equipoise best study.jsonl                                    the best setting, with a bound

\b
By hand, or from a script of your own:
  equipoise ask study.jsonl                                     prints: 0 q1=0.5 q2=-0.3
  equipoise tell study.jsonl 0 0.83                             trial 0 read 0.83

\b
Programs:
  equipoise compare './old' './new'                             which is faster, on a host that drifts
  equipoise tune './prog --threads {threads=1..64:log}'         its fastest settings, verified

"""

PROGRAMS = [compare, tune]
"""What `equipoise` offers for programs, without a study."""

EXPERIMENTS = [demo, paper, bench]
"""What `equipoise` offers to experiment with."""

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


class _Sections(click.Group):
    """A group whose help lists the commands that work on a study, then the others, each in the order of use."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section each."""
        for title, commands in {"A study": COMMANDS, "Programs": PROGRAMS, "Experiments": EXPERIMENTS}.items():
            with formatter.section(title):
                formatter.write_dl([(command.name or "", command.get_short_help_str(80)) for command in commands])


@click.group(cls=_Sections, context_settings=CONTEXT, epilog=START + EXIT_CODES)
@click.version_option(__version__, prog_name="equipoise")
def main() -> None:
    """Bias-robust Bayesian optimization: tune anything whose measurements drift."""


for _command in (*COMMANDS, *PROGRAMS, *EXPERIMENTS):
    main.add_command(_command)
