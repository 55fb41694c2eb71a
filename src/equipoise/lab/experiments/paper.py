"""The paper's figures at a command: run, draw, tabulate, and say what came out."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.lab.experiments.checks import Check
from equipoise.lab.experiments.figures import FIGURES, Figure, Outcome
from equipoise.lab.experiments.reports import curves_csv, levels_table
from equipoise.lab.experiments.results import write
from equipoise.lab.experiments.statements import STATEMENTS
from equipoise.lab.experiments.sweep import sweep


@dataclass(frozen=True)
class Report:
    """What came out of a figure.

    Attributes:
        figure: Which one.
        repetitions: How many were run.
        outcome: The curves.
        checks: The paper's statements.
    """

    figure: Figure
    repetitions: int
    outcome: Outcome
    checks: Sequence[Check]

    @property
    def settings(self) -> str:
        """The settings in one line."""
        from equipoise import __version__

        experiment = next(iter(self.outcome.values())).experiment
        numbers = f"{self.repetitions} repetitions of {experiment.readings} readings, seed {experiment.seed}"
        return f"{self.figure.title}. {numbers}, engine {experiment.engine}, equipoise {__version__}."

    @property
    def table(self) -> str:
        """The final levels beside the reference, in Markdown."""
        return levels_table(self.figure, self.outcome)

    def markdown(self) -> str:
        """Return settings, levels and statements as a page."""
        statements = [f"- **{'PASS' if c.passed else 'FAIL'}** {c.statement}: {c.numbers}" for c in self.checks]
        return f"{self.settings}\n\n{self.table}\n" + "\n".join(statements) + "\n"


def reproduce(
    name: str,
    *,
    repetitions: int = 50,
    readings: int | None = None,
    seed: int = 0,
    engine: str = "fleet",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = False,
) -> Report:
    """Run a figure of the paper.

    Args:
        name: "linear" or "camelback".
        repetitions: The paper's are 50.
        readings: By default as many as in the paper.
        seed: Of all repetitions.
        engine: How the repetitions are run, a name in `ENGINES`.
        out: Where results are kept, in the folder `runs`; what is there already is not run again.
        jobs: Processes to use, -1 for one per core; see `sweep`.
        progress: Show a bar with the time left.

    Example:
        >>> report = reproduce("camelback", repetitions=1, readings=20)
        >>> report.table.splitlines()[2].split("|")[1:3]
        [' Calibration                         ', ' GP-UCB  ']
    """
    figure = FIGURES[name]
    count = figure.readings if readings is None else readings
    experiments = figure.experiments(readings=count, seed=seed, engine=engine)
    runs = None if out is None else Path(out) / "runs"
    curves = sweep(list(experiments.values()), repetitions, out=runs, jobs=jobs, progress=progress)
    outcome = dict(zip(experiments, curves, strict=True))
    return Report(figure, repetitions, outcome, STATEMENTS[name](outcome))


def save(report: Report, out: str | os.PathLike[str]) -> list[Path]:
    """Write table, curves and figure; return the files written.

    Without matplotlib there is an `ImportError`, after table and curves were written.
    """
    name, folder = report.figure.name, Path(out)
    written = [folder / f"{name}.md", folder / f"{name}.csv"]
    write(written[0], f"# {name.capitalize()}: the levels\n\n{report.markdown()}")
    write(written[1], curves_csv(report.figure, report.outcome))
    from equipoise.lab.experiments.charts import draw

    return written + draw(report.figure, report.outcome, folder / name)
