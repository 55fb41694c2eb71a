"""A fleet in one file: NumPy's `.npz`, arrays and a line of JSON, nothing that is executed when it is read."""

import json
import os
import uuid
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Saved:
    """All that a fleet is."""

    names: tuple[str, ...]
    blueprint: Blueprint
    minimize: bool
    rng: Generator
    beliefs: Beliefs
    open: OpenDuels
    readings: Indices


def save(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write a fleet under another name, then rename it: a file that is there is whole."""
    blueprint, beliefs, path = saved.blueprint, saved.beliefs, Path(path)
    parts = {name: described(getattr(blueprint, name)) for name in ("kernel", "policy", "reduction", "confidence")}
    numbers = {"regularizer": blueprint.regularizer, "semiparametric": blueprint.semiparametric}
    state = saved.rng.bit_generator.state
    header = {"format": FORMAT, "minimize": saved.minimize, "rng": state, "parts": parts, "numbers": numbers}
    arrays: dict[str, Any] = {"points": blueprint.points, "readings": saved.readings, "names": np.array(saved.names)}
    arrays |= {f"open_{name}": array for name, array in saved.open.arrays().items()}
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


def load(path: str | os.PathLike[str], kernel: Kernel | None) -> Saved:
    """Read a fleet.

    Args:
        path: The file.
        kernel: The kernel, where it is one of the user's own.
    """
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"])) if "header" in arrays else {}
    if header.get("format") != FORMAT:
        raise ValueError(f"`path` must be a file that a fleet saved, got {os.fspath(path)!r}")
    parts = {name: restored(name, text) for name, text in header["parts"].items() if name != "kernel"}
    parts["kernel"] = PARTS["kernel"].again("kernel", header["parts"]["kernel"], kernel, Finite(arrays["points"]))
    blueprint = Blueprint(arrays["points"], **parts, **header["numbers"])
    rng = default_rng()
    rng.bit_generator.state = header["rng"]
    opened = OpenDuels(**{name.removeprefix("open_"): each for name, each in arrays.items() if name[:5] == "open_"})
    names = tuple(arrays["names"].tolist())
    return Saved(names, blueprint, header["minimize"], rng, _beliefs(blueprint, arrays), opened, arrays["readings"])


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
