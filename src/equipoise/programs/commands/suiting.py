"""Suites: many benchmarks interleaved in one budget, which goes to the most decisive ones.

A round belongs to one benchmark, and each round is in random order, so every benchmark stays exact regardless of
what runs between its rounds. The next round may depend on everything that is known, except for the coins to come.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.cli.common import FailingError
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import Bench, Early
from equipoise.programs.commands.suite_file import Benchmark
from equipoise.programs.comparison_log import Execution, by_arm
from equipoise.programs.family import BenchmarkFamily, Member
from equipoise.programs.findings import Finding
from equipoise.programs.forecasting import FEWEST_ROUNDS
from equipoise.programs.question import Question
from equipoise.programs.rounds import LOOK_AFTER, Contest

FIRST_ROUNDS = 6
"""Rounds of each benchmark before any is preferred: fewer never decide."""

SHORTEST = 1e-3
"""Minimum number of seconds that a round is assumed to take."""

NO_BENCHMARK = "it ran no test with the fixture or the marker `benchmark`"

FAIR_SHARE = 3
"""One round in this number goes to the benchmark with the least time: forecasts may be wrong."""


@dataclass
class Source:
    """A benchmark, or several that one program measures.

    Attributes:
        benchmark: The description of the benchmark.
        bench: The bench that measures it.
        failure: The reason why it cannot be measured.
    """

    benchmark: Benchmark
    bench: Bench
    failure: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it should have revealed benchmarks, and has none."""
        return self.benchmark.discovers is not None and not any(run.numbers for run in self.bench.runs)

    @property
    def seconds(self) -> float:
        """The time spent on it."""
        return sum(map(self.bench.seconds, self.bench.rounds))

    @property
    def each(self) -> float:
        """The typical time of a round."""
        rounds = [*map(self.bench.seconds, self.bench.rounds)]
        return max(statistics.median(rounds), SHORTEST) if rounds else SHORTEST

    def measure(self) -> None:
        """Measure a round; it may reveal further benchmarks."""
        self.bench.measure()
        if self.benchmark.discovers is not None:
            discover(self.bench, self.benchmark.discovers, self.bench.rounds[-1:])

    def recall(self, runs: Sequence[Execution]) -> None:
        """Count a round of an earlier call."""
        self.bench.recall(runs)
        if self.benchmark.discovers is not None:
            discover(self.bench, self.benchmark.discovers, [runs])


def discover(bench: Bench, question: Question, rounds: Sequence[Sequence[Execution]]) -> None:
    """Add the question for each new number that both programs printed."""
    contests = dict(bench.contests)
    for runs in rounds:
        for name in sorted(set.intersection(*(set(run.numbers) for run in runs))):
            if name not in contests and all(run.has(name) for run in runs):
                contests[name] = Contest(question)
                contests[name].take(by_arm(runs, name))
    bench.contests = contests


class SuiteRun:
    """A running suite.

    Args:
        sources: The benchmarks.
        alpha: The share of false claims.
        seed: The seed of the choice of the next benchmark.
    """

    def __init__(self, sources: Sequence[Source], alpha: float, seed: int | None) -> None:
        self.sources, self.alpha, self._rng = sources, alpha, np.random.default_rng(seed)
        self._members: dict[str, tuple[int, Member]] = {}
        self._family: BenchmarkFamily | None = None
        self._turns = 0

    @property
    def contests(self) -> dict[str, Contest]:
        """The contest of each benchmark, by name."""
        return {
            source.benchmark.title(metric): contest
            for source in self.sources
            for metric, contest in source.bench.contests.items()
            if contest.differences
        }

    @property
    def metrics(self) -> dict[str, str]:
        """The metric of each benchmark."""
        return {
            source.benchmark.title(metric): "wall" if source.benchmark.discovers else metric
            for source in self.sources
            for metric in source.bench.contests
        }

    @property
    def failing(self) -> dict[str, dict[str, None]]:
        """The tests that have failed, each with the arms in which it has."""
        found: dict[str, dict[str, None]] = {}
        for run in (run for source in self.sources for run in source.bench.runs):
            for name in (name for name, number in run.numbers.items() if number is None):
                found.setdefault(name, {})[run.arm] = None
        return found

    def family(self, anew: bool = False) -> BenchmarkFamily:
        """Return the claims about all benchmarks: computed again after each round of one, or 2 % of its rounds."""
        for name, contest in self.contests.items():
            n, known = len(contest.differences), self._members.get(name)
            if known is None or (n != known[0] if anew else n >= known[0] * (1 + LOOK_AFTER)):
                self._members[name] = n, Member(contest.question, contest.differences)
                self._family = None
        if self._family is None:
            self._family = BenchmarkFamily({name: member for name, (_, member) in self._members.items()}, self.alpha)
        return self._family

    def measure(self, seconds: float, live: Live, show: Callable[[BenchmarkFamily], str]) -> Early | None:
        """Measure until all is decided, the budget is spent or the user interrupts; return the interrupt."""
        try:
            for each in self.sources:
                self._guarded(each, each.bench.prepare)
            while live.elapsed < seconds and (source := self._next()) is not None:
                self._guarded(source, source.measure)
                self._turns += 1
                live.say(lambda: show(self.family()), self._turns)
        except KeyboardInterrupt as early:
            return early
        finally:
            live.clear()
        return None

    def _guarded(self, source: Source, act: Callable[[], None]) -> None:
        """Call a function; a benchmark that cannot be measured does not stop the others."""
        try:
            act()
        except FailingError as error:
            source.failure = error.message

    def _next(self) -> Source | None:
        """Return the source to measure next; `None` if nothing is open."""
        decided = self.family().decided
        able = [source for source in self.sources if not source.failure]
        fresh = [source for source in able if len(source.bench.rounds) < FIRST_ROUNDS]
        if fresh:
            least = min(len(source.bench.rounds) for source in fresh)
            return self._any([source for source in fresh if len(source.bench.rounds) == least])
        waiting = [source for source in able if self._open(source, decided)]
        if not waiting:
            return None
        if self._turns % FAIR_SHARE == 0:
            return min(waiting, key=lambda source: source.seconds)
        costs = [self._cost(source, decided) for source in waiting]
        best = min(costs)
        if math.isinf(best):
            return min(waiting, key=lambda source: source.seconds)
        return self._any([source for source, cost in zip(waiting, costs, strict=True) if cost == best])

    def _any(self, sources: Sequence[Source]) -> Source:
        return sources[int(self._rng.integers(len(sources)))]

    def _open(self, source: Source, decided: frozenset[str]) -> list[str]:
        """Return the undecided benchmarks of a source."""
        names = [source.benchmark.title(metric) for metric in source.bench.contests]
        return [name for name in names if name not in decided]

    def _cost(self, source: Source, decided: frozenset[str]) -> float:
        """Return the forecast seconds until the next decision of a source, or until its first forecast."""
        family, rounds = self.family(), len(source.bench.rounds)
        if rounds < FEWEST_ROUNDS:
            return source.each * (FEWEST_ROUNDS - rounds)
        more = [family.members[name].finding(self.alpha).more for name in self._open(source, decided)]
        return source.each * min((each.middle for each in more if each is not None), default=math.inf)


@dataclass(frozen=True)
class SuiteRow:
    """The report on one benchmark.

    Attributes:
        name: The name of the benchmark.
        metric: The metric that was compared.
        question: The question of the comparison.
        found: The finding; `None` if it could not be measured.
        level: A typical reading of the first arm.
        failure: The reason why it could not be measured.
    """

    name: str
    metric: str
    question: Question | None
    found: Finding | None
    level: float = math.nan
    failure: str = ""


ORDER: Mapping[str, int] = {"worse": 0, "failed": 1, "open": 2, "better": 3, "same": 4}


def rows(run: SuiteRun) -> list[SuiteRow]:
    """Return the report on every benchmark, worse ones first."""
    family, contests, metrics = run.family(anew=True), run.contests, run.metrics
    found = []
    for name, contest in contests.items():
        first = contest.question.arms[0]
        levels = [told[first] for told in contest.told if first in told]
        found.append(SuiteRow(name, metrics[name], contest.question, family.finding(name), statistics.median(levels)))
    failures = {each.benchmark.name: each.failure for each in run.sources if each.failure}
    failures |= {each.benchmark.name: NO_BENCHMARK for each in run.sources if each.bench.rounds and each.is_empty}
    failures |= {
        name: f"it fails in {' and '.join(arms)}" for name, arms in run.failing.items() if name not in contests
    }
    failed = [SuiteRow(name, "", None, None, failure=failure) for name, failure in failures.items()]
    return sorted([*found, *failed], key=lambda row: ORDER["failed" if row.found is None else row.found.standing])
