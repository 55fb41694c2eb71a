"""Batches: the repetitions that one worker runs, one by one or in step as a fleet.

Both engines meet the same functions, noise and offsets. A fleet lets each learner toss the coins it would throw alone,
so its readings are those of the runs one by one, except three things. SemiTS' draws are shared by all repetitions of a
seed, turned by a reflection of each learner's own. BOSE reads its coin along the points that have a weight, whose order
differs. And points that are equally good up to rounding, as on a regular grid, may be told apart otherwise. The law
of a run is the same. The gap bound of a fleet is always the certificate delta_t, where `Optimizer.recommend` has an
estimate if nothing is proven.

A repetition does not depend on those it is run with. So experiments that differ in their bias alone share a batch: what
an array program costs, up to some hundred learners, is its calls.
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
"""A repetition that was run."""

PER_WORKER = 2
"""Batches that each worker should get at least, so that none is left alone with the last one."""

FEWEST = 50
"""Learners of a batch below which halving it saves a worker little: the calls cost as much as before."""

MIXING = 5.0
"""How much more a learner costs that weighs all points against each other than one that proposes one or two."""


@dataclass(frozen=True)
class Batch:
    """Repetitions that are run together, of experiments that differ in their bias at most.

    Args:
        runs: Each experiment with its names looked up, and the number of the repetition; an experiment's together.
        cost: What running them costs, in any unit: a sweep begins with what costs most.

    Example:
        >>> plan = Experiment("IDS-two", "linear", "drift", readings=20, engine="fleet").plan
        >>> [result.repetition for _, result in Batch(((plan, 0), (plan, 1))).run()]
        [0, 1]
    """

    runs: tuple[tuple[Staging, int], ...]
    cost: float = 0.0

    def run(self) -> list[Done]:
        """Run them: what a worker does."""
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
        """Return the blueprint of the learners; one is made of all that are told the same, as on a grid."""
        made: dict[object, Optimizer] = {}
        for (plan, i), each in zip(self.runs, told, strict=True):
            if each.key not in made:
                made[each.key] = plan.learner(each, streams(plan.experiment.seed, i)[2])
        return Blueprint.of([made[each.key] for each in told])


def divided(runs: Sequence[Run], workers: int = 1) -> list[Batch]:
    """Divide repetitions into batches; refuse a learner or a function that the engine cannot run.

    Args:
        runs: What to run, an experiment's repetitions ascending.
        workers: How many will share the work.

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
