"""Batches: the repetitions of an experiment that one worker runs, one by one or in step as a fleet.

Both engines meet the same functions, noise and offsets. A fleet lets each learner throw the coins it would throw alone,
so its readings are those of the runs one by one, but for three things. SemiTS' draws are shared by the learners of a
batch. BOSE reads its coin along the points that have a weight, whose order differs. And points that are equally good
but for rounding, as on a regular grid, may be told apart otherwise. The law of a run is the same. The gap bound of a
fleet is always the certificate delta_t, where `Optimizer.recommend` has an estimate if nothing is proven.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from equipoise.experiments.experiment import Experiment, Staging, streams
from equipoise.experiments.results import Result
from equipoise.experiments.runner import Trace
from equipoise.fleet import Blueprint, Coins, OwnCoins, SharedCoins, Worlds, batch_size, simulate
from equipoise.policies import SemiTS
from equipoise.study.streams import COINS, Streams

Done = tuple[Experiment, Result]
"""A repetition that was run."""


@dataclass(frozen=True)
class Batch:
    """Repetitions of one experiment that are run together.

    Args:
        plan: The experiment with its names looked up.
        repetitions: Their numbers, ascending.

    Example:
        >>> batch = Batch(Experiment("IDS-two", "linear", "drift", readings=20, engine="fleet").plan, (0, 1))
        >>> [result.repetition for _, result in batch.run()]
        [0, 1]
    """

    plan: Staging
    repetitions: tuple[int, ...]

    def run(self) -> list[Done]:
        """Run them: what a worker does."""
        traces = self._together() if self.plan.experiment.engine == "fleet" else map(self.plan.run, self.repetitions)
        results = map(Result.of, traces, self.repetitions)
        return [(self.plan.experiment, result) for result in results]

    def _together(self) -> Iterator[Trace]:
        """Run all learners in one array program."""
        plan, settings = self.plan, self.plan.experiment
        optimizers, environments = zip(*map(plan.start, self.repetitions), strict=True)
        rngs = [streams(settings.seed, repetition) for repetition in self.repetitions]
        noise = environments[0].noise
        worlds = Worlds([each.function for each in environments], plan.bias, noise, [rng for _, rng, _ in rngs])
        blueprint = Blueprint.of(optimizers)
        coins = _coins(blueprint, [Streams(rng) for _, _, rng in rngs])
        for course in simulate(blueprint, worlds, settings.readings, coins=coins):
            yield Trace(course.regrets, course.recommendation, course.recommended_regret, course.cpu_seconds)


def divided(experiment: Experiment, repetitions: Sequence[int]) -> list[Batch]:
    """Divide repetitions into batches; refuse a learner or a function that the engine cannot run.

    Args:
        experiment: What to run.
        repetitions: Their numbers, ascending.

    Example:
        >>> experiment = Experiment("IDS-two", "camelback-grid", engine="fleet")
        >>> [len(batch.repetitions) for batch in divided(experiment, range(20))]
        [9, 9, 2]
    """
    plan, size = experiment.plan, 1
    if repetitions and experiment.engine == "fleet":
        blueprint = Blueprint.of([plan.start(repetitions[0])[0]])
        size = batch_size(blueprint.points.shape[-2])
    return [Batch(plan, tuple(repetitions[i : i + size])) for i in range(0, len(repetitions), size)]


def _coins(blueprint: Blueprint, own: Sequence[Streams]) -> Coins:
    """Return the learners' own coins; shared ones for SemiTS, whose own draws would cost five times as much."""
    if isinstance(blueprint.policy, SemiTS):
        return SharedCoins(own[0].at(0, COINS))
    return OwnCoins(own)
