"""A fleet in one file: NumPy's `.npz` with arrays and a line of JSON; loading it executes no code."""

import json
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from equipoise.belief import Indices
from equipoise.kernels import Kernel
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.blueprint import Blueprint
from equipoise.lab.fleet.covariances import Covariances, FeatureCovariances, PointCovariances
from equipoise.lab.fleet.openings import OpenDuels
from equipoise.log import described, restored
from equipoise.spaces import Finite
from equipoise.study import PARTS

FORMAT = "equipoise fleet 1"


State = tuple[Generator, Beliefs, OpenDuels, Indices]
"""The coins of a fleet, its beliefs, its open duels and its numbers of readings."""


def save(path: Path, names: tuple[str, ...], blueprint: Blueprint, minimize: bool, fleet: State) -> None:
    """Write a fleet under another name, then rename it: a file that exists is complete."""
    rng, beliefs, opened, readings = fleet
    parts = {name: described(getattr(blueprint, name)) for name in ("kernel", "policy", "reduction", "confidence")}
    numbers = {"regularizer": blueprint.regularizer, "semiparametric": blueprint.semiparametric}
    state = rng.bit_generator.state
    header = {"format": FORMAT, "minimize": minimize, "rng": state, "parts": parts, "numbers": numbers}
    arrays: dict[str, Any] = {"points": blueprint.points, "readings": readings, "names": np.array(names)}
    arrays |= {f"open_{name}": array for name, array in opened.arrays().items()}
    arrays |= {name: getattr(beliefs, name) for name in ("mean", "variance", "log_det", "comparisons")}
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with temporary.open("wb") as file:
            np.savez(file, header=json.dumps(header), covariance=_matrix(beliefs.covariances), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load(path: Path, kernel: Kernel | None) -> tuple[tuple[str, ...], Blueprint, bool, State]:
    """Read a file written by `save`; `kernel` is the kernel if it is a custom one."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"])) if "header" in arrays else {}
    if header.get("format") != FORMAT:
        raise ValueError(f"`path` must be a file saved by a fleet, got {str(path)!r}")
    parts = {name: restored(name, text) for name, text in header["parts"].items() if name != "kernel"}
    parts["kernel"] = PARTS["kernel"].again("kernel", header["parts"]["kernel"], kernel, Finite(arrays["points"]))
    blueprint = Blueprint(arrays["points"], **parts, **header["numbers"])
    rng = default_rng()
    rng.bit_generator.state = header["rng"]
    opened = OpenDuels(**{name.removeprefix("open_"): each for name, each in arrays.items() if name[:5] == "open_"})
    names = tuple(arrays["names"].tolist())
    state = rng, _beliefs(blueprint, arrays), opened, arrays["readings"]
    return names, blueprint, header["minimize"], state


def _beliefs(blueprint: Blueprint, arrays: dict[str, Any]) -> Beliefs:
    C, linear = arrays["covariance"], blueprint.linear
    return Beliefs(
        arrays["mean"],
        arrays["variance"],
        FeatureCovariances(blueprint.points, C) if linear else PointCovariances(C, C[:, :0, :]),
        arrays["log_det"],
        arrays["comparisons"],
        blueprint.regularizer,
        blueprint.confidence,
        blueprint.points.shape[-1],
    )


def _matrix(covariances: Covariances) -> Any:
    return covariances.C if isinstance(covariances, FeatureCovariances) else covariances.full()
