"""Batches: the repetitions that one worker runs, one by one or in step as a fleet.

Both engines use the same functions, noise and offsets. In a fleet each learner tosses the coins that it would toss
alone, so its readings are those of the runs one by one, with three exceptions. SemiTS' draws are shared by all
repetitions of a seed, with a separate reflection for each learner. BOSE reads its coin along the points that have a
weight, whose order differs. And ties up to rounding, as on a regular grid, may be broken differently. The
distribution of a run is the same. The gap bound of a fleet is always the certificate delta_t, while
`Optimizer.recommend` gives an estimate if nothing is proven.

A repetition does not depend on the others in its batch. So experiments that differ only in their bias share a
batch: up to a few hundred learners, the cost of an array program is its calls.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from equipoise.lab.experiments.experiment import Experiment, Staging, streams
from equipoise.lab.experiments.problems import Problem
from equipoise.lab.experiments.results import Result
from equipoise.lab.fleet import Blueprint, OwnCoins, Trace, Worlds, batch_size, simulate
from equipoise.log import Streams
from equipoise.optimizer import Optimizer
from equipoise.policies import SemiTS

Run = tuple[Experiment, int]
"""An experiment and the number of a repetition."""

Done = tuple[Experiment, Result]
"""A finished repetition."""

PER_WORKER = 2
"""The least number of batches per worker, so that no worker is left alone with the last one."""

FEWEST = 50
"""The learners of a batch below which halving it saves little time: the calls cost as much as before."""

MIXING = 5.0
"""The cost of a learner that weighs all points against each other, relative to one that proposes one or two."""


@dataclass(frozen=True)
class Batch:
    """Repetitions that run together, of experiments that differ at most in their bias.

    Args:
        runs: Each experiment with its names looked up, and the number of the repetition, grouped by experiment.
        cost: The cost of the batch, in any unit: a sweep starts with the most expensive batches.

    Example:
        >>> plan = Experiment("IDS-two", "linear", "drift", readings=20, engine="fleet").plan
        >>> [result.repetition for _, result in Batch(((plan, 0), (plan, 1))).run()]
        [0, 1]
    """

    runs: tuple[tuple[Staging, int], ...]
    cost: float = 0.0

    def run(self) -> list[Done]:
        """Run all repetitions; this is the task of a worker."""
        together = self.runs[0][0].experiment.engine == "fleet"
        traces = self._together() if together else (plan.run(i) for plan, i in self.runs)
        pairs = zip(self.runs, traces, strict=True)
        return [(plan.experiment, Result.of(trace, i)) for (plan, i), trace in pairs]

    def _together(self) -> list[Trace]:
        """Run all learners in one array program."""
        settings = self.runs[0][0].experiment
        functions, told = zip(*(plan.task(i) for plan, i in self.runs), strict=True)
        rngs = [streams(settings.seed, i) for _, i in self.runs]
        worlds = Worlds(functions, [plan.bias for plan, _ in self.runs], told[0].noise, [rng for _, rng, _ in rngs])
        blueprint = self._blueprint(told)
        common = Streams(settings.seed) if isinstance(blueprint.policy, SemiTS) else None  # own draws cost five times
        coins = OwnCoins([Streams(rng) for _, _, rng in rngs], common)
        return simulate(blueprint, worlds, settings.readings, coins=coins)

    def _blueprint(self, told: Sequence[Problem]) -> Blueprint:
        """Return the blueprint of the learners; one learner is built for all with the same prior, as on a grid."""
        made: dict[object, Optimizer] = {}
        for (plan, i), each in zip(self.runs, told, strict=True):
            if each.key not in made:
                made[each.key] = plan.learner(each, streams(plan.experiment.seed, i)[2])
        return Blueprint.of([made[each.key] for each in told])


def divided(runs: Sequence[Run], workers: int = 1) -> list[Batch]:
    """Divide repetitions into batches; refuse a learner or a function that the engine cannot run.

    Args:
        runs: The repetitions to run, ascending within an experiment.
        workers: The number of workers that share them.

    Example:
        >>> biases = [Experiment("IDS-two", "linear", bias, engine="fleet") for bias in ("none", "drift")]
        >>> runs = [(experiment, i) for experiment in biases for i in range(150)]
        >>> [len(batch.runs) for batch in divided(runs)], [len(batch.runs) for batch in divided(runs, workers=2)]
        ([150, 150], [75, 75, 75, 75])
    """
    share = max(FEWEST, math.ceil(len(runs) / (PER_WORKER * workers)))
    alike: dict[Experiment, list[Run]] = {}
    for experiment, i in runs:
        alike.setdefault(replace(experiment, bias="none"), []).append((experiment, i))
    batches = [batch for each in alike.values() for batch in _of_one_learner(each, share)]
    return sorted(batches, key=lambda batch: (-batch.cost, batch.runs[0][1]))


def _of_one_learner(runs: Sequence[Run], share: int) -> Iterator[Batch]:
    experiment, first = runs[0]
    planned = [(each.plan, i) for each, i in runs]
    if experiment.engine != "fleet":
        yield from (Batch((run,)) for run in planned)
        return
    blueprint = Blueprint.of([experiment.plan.start(first)[0]])
    size = min(share, batch_size(blueprint.points.shape[-2]))
    each = experiment.readings * (MIXING if blueprint.policy.proposal_size is None else 1.0)
    for i in range(0, len(runs), size):
        part = tuple(planned[i : i + size])
        yield Batch(part, each * len(part))
