"""Rounds of programs: measured one by one, kept in a log, until it is decided or the budget is spent."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from equipoise.cli.common import FailingError, printable
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.processes import Programs, RunOptions
from equipoise.programs.comparison_log import ComparisonLog, Execution
from equipoise.programs.rounds import Contest
from equipoise.runners import FailedError, LauncherError

EARLY = 5
"""Rounds in which a program is refused that takes no longer than the shell: one in two of its runs seems to."""

LEAST = 0.01
"""Of what the shell costs: a run that seems to take nothing, later, is taken to have cost this."""

SHORT = 0.005
"""Seconds: what takes less is better timed without a shell, as hyperfine says too."""

MOST_LINES, LONGEST_LINE = 10, 400
"""How many lines of what a program that failed printed to standard error are shown, and how much of each."""


@dataclass(frozen=True)
class Job:
    """What to run, and for how long.

    Attributes:
        commands: Command lines by arm.
        metric: Which number of an execution is compared.
        ratio: Whether it is compared by its ratio, and must be positive.
        prepare: Command lines to run before each execution, by arm.
        setup: Command lines to run once before all, by arm.
        cleanup: Command lines to run once after all, by arm.
        warmup: How many rounds are not counted.
        min_rounds: How many rounds there are at least, unless it is decided.
        max_rounds: How many there are at most.
        seconds: When to stop, decided or not.
    """

    commands: Mapping[str, str]
    metric: str = "wall"
    ratio: bool = True
    prepare: Mapping[str, str] = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    cleanup: Mapping[str, str] = field(default_factory=dict)
    warmup: int = 0
    min_rounds: int = 0
    max_rounds: float = math.inf
    seconds: float = 60.0

    def spent(self, rounds: int, elapsed: float) -> bool:
        """Return whether the budget is spent."""
        return rounds >= self.max_rounds or (elapsed >= self.seconds and rounds >= self.min_rounds)


def measure(
    contest: Contest, programs: Programs, job: Job, results: ComparisonLog | None, live: Live
) -> tuple[list[list[Execution]], KeyboardInterrupt | FailingError | None]:
    """Measure until it is decided, the budget is spent, somebody interrupts or a program fails.

    Returns:
        The executions of each round that is complete, and what ended it too early.
    """
    rounds: list[list[Execution]] = []
    try:
        _warm(programs, job)
        while not job.spent(len(rounds), live.elapsed):
            rounds.append(_round(contest, programs, job, results, len(rounds) < EARLY))
            live.show(contest.look(), len(rounds))
            if contest.look().decided and len(rounds) >= job.min_rounds:
                break
    except (KeyboardInterrupt, FailingError) as early:
        return rounds, early
    finally:
        live.clear()
    return rounds, None


def _warm(programs: Programs, job: Job) -> None:
    """Do what comes before the first round that counts."""
    _once(programs, job.setup, "--setup")
    programs.calibrate()
    for _ in range(job.warmup):
        for arm in job.commands:
            _run(programs, job, arm, early=True)


def tidy(how: RunOptions, job: Job) -> None:
    """Run what is to be run after all, interrupted or not."""
    with Programs(how) as programs:
        _once(programs, job.cleanup, "--cleanup")


def _once(programs: Programs, commands: Mapping[str, str], option: str) -> None:
    for command in commands.values():
        with _blamed(option, command):
            programs.do(command)


def _round(
    contest: Contest, programs: Programs, job: Job, results: ComparisonLog | None, early: bool
) -> list[Execution]:
    """Measure a round: it counts once it is complete and, where there is a log, on the disk."""
    turns = contest.ask_round()
    runs = [_run(programs, job, turn.arm, early) for turn in turns]
    if results is not None:
        results.add(runs)
    for turn, run in zip(turns, runs, strict=True):
        contest.tell(turn, run.value(job.metric))
    return runs


def _run(programs: Programs, job: Job, arm: str, early: bool) -> Execution:
    """Measure an arm once; refuse what cannot be told."""
    if arm in job.prepare:
        with _blamed(f"--prepare, before {arm},", job.prepare[arm]):
            programs.do(job.prepare[arm])
    with _blamed(arm, job.commands[arm]):
        run = programs.run(arm, job.commands[arm])
        if not early and run.wall <= 0:
            run = replace(run, wall=LEAST * programs.shell_cost["wall"])
        _must_be_told(run, job, programs)
    return run


def _must_be_told(run: Execution, job: Job, programs: Programs) -> None:
    """Refuse what is too small to be measured, with advice."""
    if job.metric == "wall" and run.wall <= 0:
        raise FailedError("it takes no longer than the shell that starts it (advice: --shell none)")
    if job.metric in ("cpu", "user", "system") and job.ratio and run.value(job.metric) <= 0:
        raise FailedError(f"its {job.metric} time reads 0 (advice: --scale difference)")
    if job.metric == "rss" and run.rss is None:
        raise FailedError(f"less memory than {programs.floor / 1e6:.0f} MB cannot be told")


@contextmanager
def _blamed(what: str, command: str) -> Iterator[None]:
    """Say which program has failed."""
    try:
        yield
    except FailedError as error:
        raise FailingError(blame(what, command, error)) from error
    except LauncherError as error:
        raise FailingError(str(error)) from error


def blame(what: str, command: str, error: FailedError) -> str:
    r"""Return what has failed, why, and the last lines it printed to standard error.

    Example:
        >>> print(blame("old", "./old -x", FailedError("exit status 2", "usage: old\n-x is unknown\n")))
        old failed, exit status 2: ./old -x
          usage: old
          -x is unknown
    """
    lines = error.complaints.rstrip().splitlines()[-MOST_LINES:]
    said = [printable(line.rstrip()[-LONGEST_LINE:], keep="\t") for line in lines]
    return "\n  ".join([printable(f"{what} failed, {error}: {command}", keep=""), *said])
