"""Rounds of programs: measured one by one, kept in a log, until it is decided or the budget is spent."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from equipoise._typing import Seed
from equipoise.cli.common import FailingError, printable
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.processes import HERE, Programs, Site
from equipoise.programs.comparison_log import ComparisonLog, Execution, by_arm
from equipoise.programs.phrases import told as in_words
from equipoise.programs.rounds import Contest
from equipoise.runners import FailedError, LauncherError

EARLY = 5
"""Rounds in which a program that is no slower than the shell is refused: every second run would seem so by chance."""

LEAST = 0.01
"""Share of the shell's cost that counts as the cost of a later run that seems to take no time. Also the minimum share
of user time, and of system time, in the processor time, if a coarse clock shows none."""

SHORT = 0.005
"""Seconds below which a program is better timed without a shell, as hyperfine says too."""

MOST_LINES, LONGEST_LINE = 10, 400
"""Number of lines of a failed program's standard error that are shown, and maximum length of each."""

Commands = Mapping[str, str]
Early = KeyboardInterrupt | FailingError


@dataclass(frozen=True)
class Job:
    """The job of a session: the programs to run, and the budget.

    Attributes:
        commands: Command lines by arm.
        sites: The sites of arms that do not run here.
        prepare: Command lines to run before each execution, by arm.
        conclude: Command lines to run after each execution, by arm.
        setup: Command lines to run once before all: the option that gave each, the arm, the line.
        cleanup: Command lines to run once after all, likewise.
        warmup: Number of rounds that are not counted.
        min_rounds: Minimum number of rounds, unless all is decided.
        max_rounds: Maximum number of rounds.
        cores: Two cores on which two arms run at once, and then swapped; empty to run one at a time.
        seconds: Maximum duration in seconds, decided or not.
        min_seconds: Minimum duration in seconds.
    """

    commands: Commands
    sites: Mapping[str, Site] = field(default_factory=dict)
    prepare: Commands = field(default_factory=dict)
    conclude: Commands = field(default_factory=dict)
    setup: Sequence[tuple[str, str, str]] = ()
    cleanup: Sequence[tuple[str, str, str]] = ()
    warmup: int = 0
    min_rounds: int = 0
    max_rounds: float = math.inf
    seconds: float = 60.0
    min_seconds: float = 0.0
    cores: Sequence[int] = ()

    def spent(self, rounds: int, elapsed: float) -> bool:
        """Return whether the budget is spent."""
        return rounds >= self.max_rounds or (elapsed >= self.seconds and rounds >= self.min_rounds)

    def enough(self, rounds: int, elapsed: float) -> bool:
        """Return whether the minimum is reached, so that a decision may end the session."""
        return rounds >= self.min_rounds and elapsed >= self.min_seconds

    def site(self, arm: str) -> Site:
        """Return the site of an arm."""
        return self.sites.get(arm, HERE)


class Bench:
    """A bench that measures programs beside each other, round by round.

    Args:
        job: What to run.
        contests: The contests by metric; the first one draws the orders. None for a single program.
        programs: The runner of the programs.
        results: The log of all rounds.
        name: The name of a benchmark of a suite: then all contests take the rounds that are drawn here.
        rng: The seed of the orders.

    Attributes:
        rounds: The executions of each complete round.
    """

    def __init__(
        self,
        job: Job,
        contests: Mapping[str, Contest],
        programs: Programs,
        results: ComparisonLog | None = None,
        name: str = "",
        rng: Seed = None,
    ) -> None:
        self.job, self.contests, self.rounds, self.name = job, contests, list[list[Execution]](), name
        self._programs, self._results = programs, results
        self._rng = np.random.default_rng(rng)

    @property
    def runs(self) -> list[Execution]:
        """All executions, in order."""
        return [run for runs in self.rounds for run in runs]

    def seconds(self, runs: Sequence[Execution]) -> float:
        """Return the seconds of a round, without the time between its runs."""
        return sum(run.wall for run in runs) / (2 if self.job.cores else 1)

    @property
    def decided(self) -> bool:
        """True if all contests are decided."""
        return all(contest.look().decided for contest in self.contests.values())

    def prepare(self) -> None:
        """Run the steps before the first round that counts."""
        self._once(self.job.setup)
        self._programs.calibrate()
        for _ in range(self.job.warmup):
            for arms in self._groups([*self.job.commands]):
                self._run(arms)

    def tidy(self) -> None:
        """Run the steps after the last round."""
        self._once(self.job.cleanup)

    def measure(self) -> None:
        """Measure a round: it counts once it is complete and, if there is a log, on the disk."""
        metric, first = next(iter(() if self.name else self.contests.items()), ("", None))
        turns = [] if first is None else first.ask_round()
        order = [turn.arm for turn in turns] or self._rng.permutation([*self.job.commands]).tolist()
        runs = [run for arms in self._groups(order) for run in self._run(arms)]
        if self._results is not None:
            self._results.add(runs)
        self.rounds.append(runs)
        read = by_arm(runs, metric) if turns else {}
        for turn in turns:
            self.contests[metric].tell(turn, read[turn.arm])
        self._take(runs, [name for name, contest in self.contests.items() if contest is not first])

    def recall(self, runs: Sequence[Execution]) -> None:
        """Count a round of an earlier session."""
        self.rounds.append([*runs])
        self._take(runs, self.contests)

    def _take(self, runs: Sequence[Execution], metrics: Iterable[str]) -> None:
        """Count a round by each metric that all of its runs have."""
        for metric in metrics:
            if all(run.has(metric) for run in runs):
                self.contests[metric].take(by_arm(runs, metric))

    def _groups(self, order: Sequence[str]) -> list[Sequence[str]]:
        """Return the groups of arms that run at once: each alone, or both on two cores, and then swapped."""
        return [order, order[::-1]] if self.job.cores else [[arm] for arm in order]

    def _run(self, arms: Sequence[str]) -> list[Execution]:
        """Measure arms at once; refuse times that are too short."""
        job, found = self.job, []
        for arm in arms:
            self._do("--prepare, before", arm, job.prepare.get(arm))
        sites = [job.site(arm) for arm in arms]
        if job.cores:
            sites = [replace(site, cores=[core]) for site, core in zip(sites, job.cores, strict=True)]
        for arm, ended in self._programs.together({arm: job.commands[arm] for arm in arms}, sites).items():
            with blamed(arm, job.commands[arm]):
                found.append(self._told(ended()))
        for arm in arms:
            self._do("--conclude, after", arm, job.conclude.get(arm))
        return found

    def _told(self, run: Execution) -> Execution:
        """Return an execution without the cost of the shell; refuse a time that is too short."""
        ratios = [name for name, each in self.contests.items() if each.question.scale == "ratio" and run.has(name)]
        return told(replace(run, benchmark=self.name), ratios, self._programs, len(self.rounds) < EARLY)

    def _do(self, what: str, arm: str, command: str | None) -> None:
        if command is not None:
            with blamed(f"{what} {arm},", command):
                self._programs.do(command, self.job.site(arm))

    def _once(self, steps: Sequence[tuple[str, str, str]]) -> None:
        for option, arm, command in steps:
            with blamed(option, command):
                self._programs.do(command, self.job.site(arm))


def measure(bench: Bench, live: Live) -> Early | None:
    """Measure until all is decided, the budget is spent, the user interrupts or a program fails.

    Returns:
        The reason for an early end.
    """
    job, contest = bench.job, next(iter(bench.contests.values()), None)
    try:
        bench.prepare()
        while not job.spent(len(bench.rounds), live.elapsed):
            bench.measure()
            if contest is not None:
                live.say(lambda: in_words(contest.look()), len(bench.rounds))
            if job.enough(len(bench.rounds), live.elapsed) and bench.decided:
                break
    except (KeyboardInterrupt, FailingError) as early:
        return early
    finally:
        live.clear()
    return None


def told(run: Execution, ratios: Sequence[str], programs: Programs, early: bool) -> Execution:
    """Return an execution without the cost of the shell; refuse a time that is too short, with advice.

    Args:
        run: The execution.
        ratios: Metrics that are compared by their ratio, and must be positive.
        programs: The runner of the program.
        early: Whether this is one of the first rounds.
    """
    for metric in ratios:
        run = _least(run, metric, programs, early)
        if metric == "wall" and run.wall <= 0:
            raise FailedError("it takes no longer than the shell that starts it (advice: --shell none)")
        if metric == "rss" and run.rss is None:
            raise FailedError(f"less memory than {programs.floor / 1e6:.0f} MB cannot be measured")
        if run.value(metric) <= 0:
            what = f"its {metric} time" if metric in ("cpu", "user", "system") else f"its {metric}"
            raise FailedError(f"{what} reads {run.value(metric):g} (advice: --scale difference)")
    return run


def _least(run: Execution, metric: str, programs: Programs, early: bool) -> Execution:
    """Return the execution with a small positive value for a time that is too short for the clock."""
    if metric == "wall" and run.wall <= 0 and not early:
        return replace(run, wall=LEAST * programs.shell_cost["wall"])
    if metric == "user" and run.user <= 0:  # the division into user and system time is often a guess by ticks
        return replace(run, user=LEAST * run.cpu)
    return replace(run, system=LEAST * run.cpu) if metric == "system" and run.system <= 0 else run


@contextmanager
def blamed(what: str, command: str) -> Iterator[None]:
    """Name the failed program in the error."""
    try:
        yield
    except FailedError as error:
        raise FailingError(blame(what, command, error)) from error
    except LauncherError as error:
        raise FailingError(str(error)) from error


def blame(what: str, command: str, error: FailedError) -> str:
    r"""Return a message with the failed program, the reason, and the last lines of its standard error.

    Example:
        >>> print(blame("old", "./old -x", FailedError("exit status 2", "usage: old\n-x is unknown\n")))
        old failed, exit status 2: ./old -x
          usage: old
          -x is unknown
    """
    lines = error.complaints.rstrip().splitlines()[-MOST_LINES:]
    said = [printable(line.rstrip()[-LONGEST_LINE:], keep="\t") for line in lines]
    which = "" if what == command else f": {command}"
    return "\n  ".join([printable(f"{what} failed, {error}{which}", keep=""), *said])
