"""A fit as JSON, and back: what was learned, but for the data, when so many lessons had been taught.

A log keeps it with the event by which it was made, so that whoever takes a study up need not fit again.
"""

from collections.abc import Mapping
from typing import Any

from equipoise import _validation as check
from equipoise.belief.model import Hyperparameters, Learned, Milestone
from equipoise.log.parts import described, restored
from equipoise.offsets import Accounts
from equipoise.offsets.terms import Disturbance


def fit_to_json(fit: Milestone) -> dict[str, Any]:
    """Return a fit as JSON; numbers keep all their digits.

    Example:
        >>> fit_to_json(Milestone(6, Learned(Hyperparameters((0.2, 1.5), offset=(0.1,)), origin=3.0)))["lengthscales"]
        [0.2, 1.5]
    """
    learned, h = fit.learned, fit.learned.hyperparameters
    said = {"lessons": fit.lessons, "lengthscales": list(h.lengthscales), "variance": h.variance, "noise": h.noise}
    said |= {"offset": list(h.offset), "step": h.step, "origin": learned.origin}
    found = {"jumps": learned.jumps, "blips": learned.blips}
    said |= {name: [list(each) for each in some] for name, some in found.items() if some}
    said |= {} if learned.accounts is None else {"accounts": described(learned.accounts)}
    return said | ({"estranged": list(learned.estranged)} if learned.estranged else {})


def fit_from_json(content: Any) -> Milestone:
    """Undo `fit_to_json`; refuse what is no fit."""
    if not isinstance(content, Mapping):
        raise TypeError(f"`fit` must be what was learned, got {content!r}")
    lengthscales, offset = (_numbers(name, content[name]) for name in ("lengthscales", "offset"))
    variance, noise, step = (check.positive(name, content[name]) for name in ("variance", "noise", "step"))
    jumps, blips = (_disturbances(name, content.get(name, [])) for name in ("jumps", "blips"))
    learned = Learned(
        Hyperparameters(lengthscales, variance, noise, offset, step),
        jumps,
        check.number("origin", content["origin"]),
        blips,
        _accounts(restored("accounts", content["accounts"])) if "accounts" in content else None,
        _names(content.get("estranged", [])),
    )
    return Milestone(check.count("lessons", content["lessons"]), learned)


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    if not isinstance(values, list):
        raise TypeError(f"`{name}` must be a list, got {values!r}")
    return tuple(check.positive(name, value) for value in values)


def _accounts(restored: Any) -> Accounts:
    if not isinstance(restored, Accounts):
        raise TypeError(f"`accounts` must be what a law accounts for, got {restored!r}")
    return restored


def _names(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"`estranged` must be a list, got {values!r}")
    return tuple(check.name("estranged", value) for value in values)


def _disturbances(name: str, values: Any) -> tuple[Disturbance, ...]:
    """Return time and variance of each."""
    if not isinstance(values, list) or not all(isinstance(each, list) and len(each) == 2 for each in values):
        raise TypeError(f"`{name}` must be a list of pairs, got {values!r}")
    return tuple((check.number(name, time), check.positive(name, size)) for time, size in values)
