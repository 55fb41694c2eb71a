"""The learners of the board by name: the packages they need and the tasks they refuse."""

import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from equipoise.lab.board.botorch import BoTorch
from equipoise.lab.board.entrants import AtRandom, Entrant, Maker, Seated
from equipoise.lab.board.platforms import Ax, Smac, WDbo, Xopt
from equipoise.lab.board.turbo import Turbo
from equipoise.lab.experiments.real import Cma, Optuna
from equipoise.optimizer import Optimizer
from equipoise.policies import UCB
from equipoise.spaces import Float, Space

DISTRIBUTIONS: Mapping[str, str] = {"ax": "ax-platform", "wdbo_algo": "wdbo-algo"}
"""The distributions that are not named like their modules."""


@dataclass(frozen=True)
class Listed:
    """A learner of the board.

    Attributes:
        make: The function that makes it.
        package: The distribution that it needs, such as "optuna"; empty for our own.
        modules: The modules that must be importable.
        takes: Returns True for a space that it accepts.
        why: The reason why it refuses the other spaces.
    """

    make: Maker
    package: str | None = None
    modules: tuple[str, ...] = ()
    takes: Callable[[Space], bool] = lambda space: True
    why: str = ""

    @property
    def missing(self) -> str | None:
        """The missing packages; `None` if everything is installed."""
        absent = [name for name in self.modules if importlib.util.find_spec(name) is None]
        wanted = " ".join(DISTRIBUTIONS.get(name, name) for name in absent)
        return f"needs {', '.join(absent)}: pip install {wanted}" if absent else None

    @property
    def version(self) -> str:
        """The package and its version; empty for our own."""
        return "" if self.package is None else f"{self.package} {importlib.metadata.version(self.package)}"

    def refuses(self, space: Space) -> str | None:
        """Return why it cannot use a space; `None` if it can."""
        return None if self.takes(space) else self.why


def _ours(space: Space, readings: int, seed: int, **parts: Any) -> Entrant:
    return Seated(Optimizer(space, rng=seed, **parts))


def _optuna(space: Space, readings: int, seed: int, **settings: Any) -> Entrant:
    return Seated(Optuna(space, seed, **settings))


def _cma(space: Space, readings: int, seed: int) -> Entrant:
    return Seated(Cma(space, seed))


def _unconstrained(space: Space) -> bool:
    return space.constraint is None


def _of_floats(space: Space) -> bool:
    return _unconstrained(space) and all(isinstance(each, Float) for each in space.parameters.values())


CONSTRAINED, FLOATS = "it takes no constraint that is a function", "it takes numbers only"

LISTED: Mapping[str, Listed] = {
    "default": Listed(_ours),
    "UCB": Listed(partial(_ours, policy=UCB())),
    "random": Listed(AtRandom),
    "TPE": Listed(_optuna, "optuna", ("optuna",)),
    "GPSampler": Listed(partial(_optuna, sampler="GPSampler"), "optuna", ("optuna", "torch")),
    "CMA": Listed(_cma, "cma", ("cma",), _unconstrained, CONSTRAINED),
    "BoTorch-UCB": Listed(BoTorch, "botorch", ("botorch",)),
    "BoTorch-qLogNEI": Listed(partial(BoTorch, acquisition="qLogNEI"), "botorch", ("botorch",)),
    "TuRBO": Listed(Turbo, "botorch", ("botorch",), _of_floats, FLOATS),
    "Xopt-TD": Listed(Xopt, "xopt", ("xopt", "pandas"), _of_floats, FLOATS),
    "W-DBO": Listed(WDbo, "wdbo-algo", ("wdbo_algo",), _of_floats, FLOATS),
    "Ax": Listed(Ax, "ax-platform", ("ax",), _unconstrained, CONSTRAINED),
    "SMAC": Listed(Smac, "smac", ("smac",), _unconstrained, CONSTRAINED),
}
"""All learners on the board."""

ABSENT: Mapping[str, str] = {
    "HEBO": "HEBO 0.3.6 did not install with the others",
}
"""Optimizers that were considered but cannot take part, with the reason."""


def listed(name: str) -> Listed:
    """Return a learner by name; "module:Class" names your own, in a module of this folder or an installed one.

    Example:
        >>> listed("random").missing is None
        True
    """
    if name in LISTED:
        return LISTED[name]
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        known = ", ".join(LISTED)
        raise ValueError(f'`learner` must be one of {known}, or your own as "module:Class", got {name!r}')
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        make = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module of yours may raise any error
        raise ValueError(f"`learner` must be found by Python, got {name!r}: {type(error).__name__}: {error}") from error
    return Listed(make)
