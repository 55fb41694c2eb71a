"""Benchmarks of a test suite: two functions compared in a test, or all of them against another revision.

    def test_new_is_not_slower(compare):
        assert compare(old, new).leader == "new"

    pytest --compare-base main benchmarks/        # each test with the fixture `benchmark`, or marked `benchmark`

With `--compare-base` every round runs the benchmarks of both revisions in random order, each in a fresh process, which
also gets a new memory layout. A test fails if it is slower; of all failures at most 5 % are due to chance.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from equipoise.programs import Verdict

NAME = "equipoise.integrations.pytest_plugin"
"""The name of this plugin, whether it was installed or named by -p."""

BATCH_SECONDS, MOST_CALLS = 0.002, 10**6
"""Seconds of a batch, and maximum number of its calls: it ends before most others are interrupted."""

ALL_SECONDS, FEWEST_BATCHES = 0.1, 5
"""Seconds of a reading, and minimum number of its batches."""

QUARTILE = 0.25
"""Quantile of batches that gives a reading. At load 20 on two cores it varied for functions of 10 us or 2 ms by 2 to
3 % from process to process, the median of five batches of 20 ms by 24 to 29 %; of one of 40 ms either by 22 %."""

DEFAULT_SECONDS = 5.0
"""Seconds that `compare` measures in a test, unless `seconds` is given."""

RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
"""Exit statuses of runs that were not cut short."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    group = parser.getgroup("equipoise", "comparison of benchmarks")
    group.addoption("--compare-base", metavar="REV", help="Compare benchmarks with those of this revision.")
    group.addoption("--compare-time", metavar="TIME", default="2m", help="Budget of --compare-base, such as 2m.")
    group.addoption(
        "--compare-fail-above", metavar="PERCENT", help="Fail only tests that are slower by more, such as 5%%."
    )
    group.addoption("--compare-once", action="store_true", help="Print the seconds of each benchmark as JSON, once.")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the plugin that an option selects."""
    config.addinivalue_line("markers", "benchmark: a test that is timed by `pytest --compare-base REV`")
    if config.getoption("--compare-once"):
        config.pluginmanager.register(Once(), f"{NAME}.once")
    elif config.getoption("--compare-base"):
        if config.getoption("numprocesses", None):
            raise pytest.UsageError("--compare-base measures one process at a time: remove -n")
        from equipoise.integrations.pytest_comparing import Comparing

        config.pluginmanager.register(Comparing(), f"{NAME}.comparing")


@pytest.fixture
def compare() -> Callable[..., "Verdict"]:
    """Time two functions in rounds of random order; return the verdict, with `.leader`, `.decided` and `.findings`."""

    def compared(old: Callable[[], Any], new: Callable[[], Any], **options: Any) -> "Verdict":
        from equipoise import programs

        given = {"metric": "time", "seconds": DEFAULT_SECONDS, **options}
        return programs.compare({"old": old, "new": new}, **given)

    return compared


def is_benchmark(item: pytest.Item) -> bool:
    """Return whether a test is a benchmark."""
    return "benchmark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("benchmark") is not None


class Once:
    """A plugin that times every benchmark once, and prints the seconds of each as the last line: null if it fails."""

    def __init__(self) -> None:
        self._status: int = pytest.ExitCode.INTERNAL_ERROR
        self._seconds: dict[str, float | None] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect all other tests."""
        config.hook.pytest_deselected(items=[item for item in items if not is_benchmark(item)])
        items[:] = [item for item in items if is_benchmark(item)]

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> "Stopwatch":
        """Time a function, as the fixture of pytest-benchmark does."""
        return Stopwatch(partial(self._seconds.__setitem__, request.node.nodeid))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Time a whole test that is marked and does not use the fixture; drop the time of a test that is skipped."""
        start = time.perf_counter()
        try:
            result = yield
        except BaseException:
            self._seconds.pop(item.nodeid, None)
            raise
        self._seconds.setdefault(item.nodeid, time.perf_counter() - start)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Hide our fixture from pytest-benchmark while it reports: it refuses all but its own."""
        given = getattr(item, "funcargs", {})
        ours = {name: given.pop(name) for name in {"benchmark"} & set(given)}
        result = yield
        given.update(ours)
        return result

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say which file cannot be imported."""
        _complain(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say which benchmark fails."""
        _complain(report)
        if report.failed:
            self._seconds[report.nodeid] = None

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Remember whether the tests could be run."""
        self._status = exitstatus

    def pytest_unconfigure(self) -> None:
        """Print the times, unless the tests could not be run."""
        if self._status in RAN:
            sys.stdout.write("\n" + json.dumps(self._seconds) + "\n")
            sys.stdout.flush()


def _complain(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Write the end of the report on a failure to standard error, where the comparing process reads it."""
    if report.failed:
        last = report.longreprtext.strip().rpartition("\n")[2]
        sys.stderr.write(f"{report.nodeid} failed: {last}\n")
        sys.stderr.flush()


class Stopwatch:
    """The fixture that times a function; it accepts the arguments of the fixture of pytest-benchmark.

    Args:
        tell: Called with the seconds of one call.

    Attributes:
        extra_info: Anything that the test stores; it is not used.
        group: Likewise.
        enabled: False: there are no statistics in `stats`, so a test should check none.
    """

    enabled, disabled, stats = False, True, None

    def __init__(self, tell: Callable[[float], object]) -> None:
        self._tell = tell
        self.extra_info: dict[str, Any] = {}
        self.group: str | None = None

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Time a function by the lower quartile of batches of calls; return its result."""
        call = partial(function, *args, **kwargs)
        result, calls = call(), 1
        while (seconds := _timed(call, calls)) < BATCH_SECONDS and calls < MOST_CALLS:
            calls *= 2
        batches = [seconds]
        while len(batches) < FEWEST_BATCHES or sum(batches) < ALL_SECONDS:
            batches.append(_timed(call, calls))
        self._tell(sorted(batches)[int(QUARTILE * len(batches))] / calls)
        return result

    def pedantic(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Time a function a given number of times, with a setup before each round and a teardown after it.

        Returns:
            The result of the function.
        """
        times, result = [], None
        for number in range(warmup_rounds + rounds):
            words, named = (setup() if setup is not None else None) or (args, kwargs or {})
            call = partial(target, *words, **named)
            start = time.perf_counter()
            for _ in range(iterations):
                result = call()
            if number >= warmup_rounds:
                times.append((time.perf_counter() - start) / iterations)
            if teardown is not None:
                teardown(*words, **named)
        self._tell(median(times))
        return result


def _timed(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start
