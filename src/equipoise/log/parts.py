"""The parts of an optimizer as JSON and back, for the first line of a log.

The log has the type and the arguments of each part of this library. Of your own part it has only the representation:
give such a part again when you resume the study.
"""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from types import GenericAlias, NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from equipoise import belief, kernels, likelihoods, offsets, policies, reductions
from equipoise.belief import (
    FOLDING,
    AnywherePosterior,
    Confidence,
    CredibleConfidence,
    FinitePosterior,
    Folding,
    Form,
    LearnedModel,
    Posterior,
    Schedule,
)
from equipoise.offsets import OffsetModel, Tracked

PACKAGES = (kernels, policies, reductions, belief, offsets, likelihoods)


def _former_offset_kernel(
    walk: float, wave: float, duration: float, jumps: tuple[tuple[float, float], ...] = (), **_: float
) -> OffsetModel:
    """Return what version 0.1.0 called an OffsetKernel: a tracked offset with its hyperparameters known."""
    return Tracked().known(walk=walk, wave=wave, duration=duration).jumping(*jumps)


def _former_learned(
    form: Form,
    confidence: Confidence | None = None,
    schedule: Schedule | None = None,
    jump: float = 4.5,
    folding: Folding | None = FOLDING,
) -> LearnedModel:
    """Return the former LearnedPosterior, without data."""
    confidence = CredibleConfidence() if confidence is None else confidence
    return LearnedModel(form, confidence, Schedule() if schedule is None else schedule, jump, folding)


def _former_guarded(modeled: LearnedModel, guard: float = 3.0) -> LearnedModel:
    """Return the former GuardedPosterior, without data."""
    return replace(modeled, guard=guard)


def _former_judged(base: Posterior | LearnedModel) -> Posterior | LearnedModel:
    """Return the former JudgedPosterior, without data: any belief learns from judgements."""
    return base


FORMER: dict[str, Any] = {
    "CovariancePosterior": FinitePosterior,
    "DualPosterior": AnywherePosterior,
    "GuardedPosterior": _former_guarded,
    "JudgedPosterior": _former_judged,
    "LearnedPosterior": _former_learned,
    "OffsetKernel": _former_offset_kernel,
}
"""The names of parts in earlier versions, whose logs stay readable."""


def known_part(kind: str) -> type | None:
    """Return the class of this name that a package of parts exports: whatever is exported can be logged."""
    home = next((package for package in PACKAGES if kind in package.__all__), None)
    found = None if home is None else getattr(home, kind)
    return found if inspect.isclass(found) else None


def _near(kind: Any) -> str:
    """Return a question about the part with the most similar name, if one is similar."""
    from difflib import get_close_matches  # needed by an error only

    names = {name.lower(): name for package in PACKAGES for name in package.__all__}
    near = get_close_matches(str(kind).lower(), names, 1)
    return f"; did you mean {names[near[0]]}?" if near else ""


class GivenAgainError(ValueError):
    """The user must give a part again, which the log only notes."""


class _UnknownError(Exception):
    """JSON cannot hold this."""


def described(part: Any) -> Any:
    """Return a part as JSON, or only its representation if JSON cannot hold it.

    Example:
        >>> import equipoise as eq
        >>> described(eq.OnePoint(eq.reductions.ExponentialAverage(0.2)))
        {'type': 'OnePoint', 'baseline': {'type': 'ExponentialAverage', 'rate': 0.2, 'level': 0.0, 'readings': 0}}
        >>> described(lambda: 0)
        {'repr': '<function <lambda> at ...>'}
    """
    try:
        return _described(part)
    except _UnknownError:
        return {"repr": repr(part)}


def restored(name: str, description: Any) -> Any:
    """Return the part that was described; `name` is for the error message.

    Example:
        >>> restored("kernel", {"type": "RBF", "lengthscale": 0.2})
        RBF(lengthscale=0.2)
    """
    match description:
        case {"repr": shown}:
            raise GivenAgainError(f"`{name}` must be given again, as `{name}=`: the log only notes it, as {shown}")
        case {"type": kind}:
            make = known_part(kind) or FORMER.get(kind)
            if make is None:
                raise ValueError(f"`{name}` is of a type that equipoise does not know: {kind!r}{_near(kind)}")
            fields = {key: restored(name, value) for key, value in description.items() if key != "type"}
            _must_fit(name, make, fields)
            return make(**fields)
        case list():
            return tuple(restored(name, value) for value in description)
    return description


def _described(part: Any) -> Any:
    if isinstance(part, (np.generic, np.ndarray)):
        return part.tolist()
    if part is None or isinstance(part, (bool, int, float, str)):
        return part
    if isinstance(part, (tuple, list)):
        return [_described(value) for value in part]
    if known_part(type(part).__name__) is not type(part):
        raise _UnknownError
    if isinstance(part, Posterior) and part.comparisons:  # its data are in no argument
        raise _UnknownError
    return {"type": type(part).__name__} | {name: _described(getattr(part, name)) for name in _arguments(type(part))}


def _arguments(kind: type) -> list[str]:
    """Return the names of a constructor's arguments; every part keeps each as an attribute of that name."""
    return list(inspect.signature(kind).parameters)


def _must_fit(part: str, make: Any, fields: Mapping[str, Any]) -> None:
    """Refuse arguments of the wrong type: the log may come from a stranger, and parts do not check their own types."""
    signature = inspect.signature(make)
    try:
        signature.bind(**fields)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "no arguments"
        raise TypeError(f"`{part}` must be {make.__name__} with {takes}: {error}") from error
    for name, parameter in signature.parameters.items():
        if name in fields and not _fits(fields[name], parameter.annotation):
            raise TypeError(f"`{name}` of {make.__name__} must be {parameter.annotation}, got {fields[name]!r}")


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type; the constructor checks arrays, tuples and other containers."""
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return any(_fits(value, each) for each in get_args(hint))
    if hint is None or hint is NoneType:
        return value is None
    if hint is float:
        return isinstance(value, (int, float))
    if not isinstance(hint, type) or isinstance(hint, GenericAlias):
        return True
    if _is_protocol(hint):
        return all(hasattr(value, name) for name in vars(hint) if name == "__call__" or not name.startswith("_"))
    return isinstance(value, hint)


def _is_protocol(hint: type) -> bool:
    """Return whether a type is a protocol."""
    return bool(getattr(hint, "_is_protocol", False))
