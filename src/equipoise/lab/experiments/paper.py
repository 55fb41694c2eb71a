"""The paper's figures in one command: run, draw, tabulate, and check the paper's statements (METHOD section 8)."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.lab.experiments import checks
from equipoise.lab.experiments.checks import Check
from equipoise.lab.experiments.figures import (
    AUTHORS_CALIBRATION,
    CALIBRATION,
    COMPENSATED,
    DRIFT,
    FIGURES,
    NONE,
    PERIODIC,
    REPEAT,
    SMOOTHER,
    Figure,
    Outcome,
    World,
)
from equipoise.lab.experiments.reports import curves_csv, levels_table
from equipoise.lab.experiments.results import write
from equipoise.lab.experiments.sweep import sweep


@dataclass(frozen=True)
class Report:
    """The results for a figure.

    Attributes:
        figure: The figure.
        repetitions: The number of repetitions.
        outcome: The curves.
        checks: The checks of the paper's statements.
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
        """The final levels next to the reference, in Markdown."""
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
        repetitions: The number of repetitions, 50 in the paper.
        readings: The number of readings, by default as in the paper.
        seed: The seed of all repetitions.
        engine: The way to run the repetitions, a name in `ENGINES`.
        out: The directory for results, in its folder `runs`; stored results are not computed again.
        jobs: The number of processes, -1 for one per core; see `sweep`.
        progress: Show a bar with the remaining time.

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

    Without matplotlib it raises `ImportError`, after it has written table and curves.
    """
    name, folder = report.figure.name, Path(out)
    written = [folder / f"{name}.md", folder / f"{name}.csv"]
    write(written[0], f"# {name.capitalize()}: the levels\n\n{report.markdown()}")
    write(written[1], curves_csv(report.figure, report.outcome))
    from equipoise.lab.experiments.charts import draw

    return written + draw(report.figure, report.outcome, folder / name)


UCB, BOSE, SEMITS, ONE, TWO = "UCB", "BOSE", "SemiTS", "IDS-one", "IDS-two"
ROBUST = (SEMITS, ONE, TWO)


def linear(curves: Outcome) -> list[Check]:
    """Return the statements about Figure 1."""
    return [*_no_bias(curves), *_repeat(curves), *_drift(curves), *_compensated(curves), *_bose(curves)]


def _no_bias(curves: Outcome) -> Iterator[Check]:
    ucb = curves[NONE, UCB]
    yield checks.best(_say(NONE, "UCB is best"), ucb, [curves[NONE, who] for who in (BOSE, *ROBUST)])
    for who in ROBUST:
        yield checks.close(_say(NONE, f"{who} is close to UCB"), curves[NONE, who], ucb)


def _repeat(curves: Outcome) -> Iterator[Check]:
    yield _much_worse(REPEAT, curves)
    others = [curves[REPEAT, who] for who in (UCB, BOSE, SEMITS, ONE)]
    yield checks.ahead(_say(REPEAT, "IDS-two is best"), curves[REPEAT, TWO], others)
    for who in (SEMITS, ONE):
        yield checks.sublinear(_say(REPEAT, f"{who} is sublinear"), curves[REPEAT, who])


def _drift(curves: Outcome) -> Iterator[Check]:
    yield _much_worse(DRIFT, curves)
    for who in (UCB, BOSE, SEMITS, ONE):
        yield checks.linear(_say(DRIFT, f"{who} is linear"), curves[DRIFT, who])
    yield checks.sublinear(_say(DRIFT, "IDS-two is sublinear"), curves[DRIFT, TWO])


def _compensated(curves: Outcome) -> Iterator[Check]:
    yield _much_worse(COMPENSATED, curves)
    yield checks.linear(_say(COMPENSATED, "UCB is linear"), curves[COMPENSATED, UCB])
    for who in (SEMITS, ONE):
        yield checks.sublinear(_say(COMPENSATED, f"{who} is sublinear"), curves[COMPENSATED, who])


def _bose(curves: Outcome) -> Iterator[Check]:
    for world in (NONE, REPEAT, COMPENSATED):
        bose = curves[world, BOSE]
        yield checks.sublinear(_say(world, "BOSE is sublinear"), bose)
        others = [curves[world, who] for who in ROBUST]
        yield checks.behind(_say(world, "BOSE is the slowest robust learner"), bose, others)


def camelback(curves: Outcome) -> list[Check]:
    """Return the statements about Figure 2."""
    return [*_calibration(curves), *_periodic(curves)]


def _calibration(curves: Outcome) -> Iterator[Check]:
    for world in (CALIBRATION, AUTHORS_CALIBRATION, SMOOTHER):
        ucb, one, two = (curves[world, who] for who in (UCB, ONE, TWO))
        yield checks.on_a_par(_say(world, "GP-UCB is on a par with IDS-two"), ucb, two)
        yield checks.behind(_say(world, "IDS-one comes after both"), one, [ucb, two])


def _periodic(curves: Outcome) -> Iterator[Check]:
    yield checks.linear(_say(PERIODIC, "GP-UCB is linear"), curves[PERIODIC, UCB])
    yield checks.linear(_say(PERIODIC, "IDS-one is linear"), curves[PERIODIC, ONE])
    two = curves[PERIODIC, TWO]
    yield checks.sublinear(_say(PERIODIC, "IDS-two is sublinear"), two)
    yield checks.on_a_par(_say(PERIODIC, "IDS-two pays what it pays without bias"), two, curves[NONE, TWO], bias=True)


def _much_worse(world: World, curves: Outcome) -> Check:
    return checks.much_worse(_say(world, "UCB pays much more than without bias"), curves[world, UCB], curves[NONE, UCB])


def _say(world: World, statement: str) -> str:
    return f"{world.title}: {statement}"


STATEMENTS: dict[str, Callable[[Outcome], list[Check]]] = {"linear": linear, "camelback": camelback}
"""The statements about each figure."""
