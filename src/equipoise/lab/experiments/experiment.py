"""Experiments: one learner against one environment, all by name, repeated under a seed.

Repetition i of a seed has three random streams, one each for the function, the environment and the learner. They do
not depend on the learner, so two learners meet the same functions and the same noise.
"""

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from equipoise import _validation as check
from equipoise.lab.environments import BIASES, FUNCTIONS, Bias, Environment, Function
from equipoise.lab.experiments.learners import LEARNERS, Factory
from equipoise.lab.experiments.problems import Problem, problem
from equipoise.lab.experiments.runner import run
from equipoise.lab.fleet import Trace
from equipoise.optimizer import Optimizer

ENGINES = ("one-by-one", "fleet")
"""The ways to run repetitions: one by one, through ask and tell, or in step as one array program."""


@dataclass(frozen=True)
class Experiment:
    """One learner against one environment: only names and numbers, so that it can be stored.

    Args:
        learner: A name in `LEARNERS`.
        function: A name in `FUNCTIONS`.
        bias: A name in `BIASES`.
        readings: The number of readings of a repetition.
        seed: The seed of all repetitions.
        noise: The standard deviation of a reading's noise; by default the problem's.
        lengthscale: The lengthscale of the learner's kernel; by default the problem's.
        engine: The way to run the repetitions, a name in `ENGINES`.

    Example:
        >>> Experiment("IDS-two", "linear", "drift", readings=100).label
        'linear_drift_IDS-two'
    """

    learner: str
    function: str
    bias: str = "none"
    readings: int = 200
    seed: int = 0
    noise: float | None = None
    lengthscale: float | None = None
    engine: str = "one-by-one"

    def __post_init__(self) -> None:
        known("learner", self.learner, LEARNERS)
        known("function", self.function, FUNCTIONS)
        known("bias", self.bias, BIASES)
        known("engine", self.engine, ENGINES)
        check.count("readings", self.readings)
        check.count("seed", self.seed, at_least=0)
        if self.noise is not None:
            check.nonnegative("noise", self.noise)
        if self.lengthscale is not None:
            check.positive("lengthscale", self.lengthscale)

    @property
    def label(self) -> str:
        """The function, bias and learner in one word."""
        return f"{self.function}_{self.bias}_{self.learner}"

    @cached_property
    def plan(self) -> "Staging":
        """The experiment with its names looked up."""
        parts = (FUNCTIONS[self.function], BIASES[self.bias](), LEARNERS[self.learner])
        return Staging(self, *parts)

    @cached_property
    def description(self) -> dict[str, Any]:
        """All settings that affect the results, down to the parts of the learner, as plain data."""
        from equipoise import __version__

        optimizer, environment = self.plan.start(0)
        settings = asdict(self) | {"noise": environment.noise, "bias": repr(environment.bias), "version": __version__}
        return settings | {"function": _function(self.function, environment.function), "parts": _parts(optimizer)}

    @cached_property
    def key(self) -> str:
        """Ten letters that change with any setting."""
        canonical = json.dumps(self.description, sort_keys=True).encode()
        return hashlib.sha256(canonical).hexdigest()[:10]

    def __getstate__(self) -> dict[str, Any]:
        return asdict(self)  # without the cached values


@dataclass(frozen=True)
class Staging:
    """An experiment with its names looked up, so that a worker needs no registry: custom entries are sent along too.

    Attributes:
        experiment: The settings.
        function: The function that draws the test function.
        bias: The offset.
        learner: The function that builds the learner.
    """

    experiment: Experiment
    function: Callable[[Generator], Function]
    bias: Bias
    learner: Factory

    def start(self, repetition: int) -> tuple[Optimizer, Environment]:
        """Return the learner and environment of a repetition, before the first reading."""
        function, told = self.task(repetition)
        _, environment_rng, learner_rng = streams(self.experiment.seed, repetition)
        environment = Environment(function, self.bias, told.noise, environment_rng, keep_history=False)
        return self.learner(told, learner_rng), environment

    def task(self, repetition: int) -> tuple[Function, Problem]:
        """Return the function of a repetition, and the learner's prior knowledge of it."""
        settings = self.experiment
        function = self.function(streams(settings.seed, repetition)[0])
        return function, problem(settings.function, function, settings.noise, settings.lengthscale)

    def run(self, repetition: int) -> Trace:
        """Run a repetition."""
        return run(*self.start(repetition), self.experiment.readings)


def streams(seed: int, repetition: int) -> tuple[Generator, Generator, Generator]:
    """Return the streams of function, environment and learner in a repetition.

    Example:
        >>> function, environment, learner = streams(seed=0, repetition=3)
        >>> bool(function.random() == streams(0, 3)[0].random()), bool(learner.random() == environment.random())
        (True, False)
    """
    function, environment, learner = SeedSequence(seed, spawn_key=(repetition,)).spawn(3)
    return default_rng(function), default_rng(environment), default_rng(learner)


def known(what: str, name: str, choices: Collection[str]) -> str:
    """Return `name` if it is among the choices; otherwise raise an error that lists them."""
    if name not in choices:
        raise ValueError(f"`{what}` must be one of {', '.join(choices)}; got {name!r}")
    return name


def _function(name: str, function: Function) -> dict[str, Any]:
    points = None if function.points is None else len(function.points)
    maximum = float(np.format_float_scientific(function.maximum, precision=9))
    return {"name": name, "dimension": function.dimension, "points": points, "maximum": maximum}


def _parts(optimizer: Optimizer) -> dict[str, Any]:
    posterior = optimizer.posterior
    return {
        "policy": repr(optimizer.study.setup.policy),
        "reduction": repr(optimizer.study.setup.reduction),
        "offset": repr(optimizer.study.setup.offset),
        "posterior": type(posterior).__name__,
        "kernel": repr(posterior.kernel),
        "confidence": repr(posterior.confidence),
        "regularizer": posterior.regularizer,
    }
