"""The fit that a log keeps with the event that caused it, and its JSON: everything learned except the data.

So a study that is resumed need not fit again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise import _validation as check
from equipoise import belief, likelihoods, log
from equipoise.belief import LARGEST, Hyperparameters, Learned, Milestone
from equipoise.offsets import Accounts

if TYPE_CHECKING:
    from equipoise.belief import JudgeFit
    from equipoise.likelihoods import Judge, Sites
    from equipoise.offsets import Disturbance


@dataclass(frozen=True, slots=True, eq=False)
class KeptFit:
    """The fit made at an event.

    Attributes:
        model: The model of f and the offset, and after how many lessons it was fitted.
        judged: The fit to judges, and the number of answers it used.
        beside: The model of each output besides the first objective, by name, if there are several numbers a trial.
    """

    model: Milestone | None = None
    judged: JudgeFit | None = None
    beside: Mapping[str, Milestone] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: Milestone | None = None,
        judged: JudgeFit | None = None,
        beside: Mapping[str, Milestone] | None = None,
    ) -> KeptFit | None:
        """Return a fit of these parts; `None` if there is none of them."""
        return None if model is None and judged is None and not beside else cls(model, judged, dict(beside or {}))

    def to_json(self) -> dict[str, Any]:
        """Return the fit as JSON; numbers keep all their digits.

        Example:
            >>> model = Milestone(6, Learned(Hyperparameters((0.2, 1.5), offset=(0.1,)), origin=3.0))
            >>> judged = belief.JudgeFit(7, 6, (likelihoods.Judge("anna", 1.0, 0.2, {3: (0.4,)}),))
            >>> fit = KeptFit(model, judged).to_json()
            >>> fit["lengthscales"], fit["judged"]["judges"]
            ([0.2, 1.5], [{'name': 'anna', 'noise': 1.0, 'advantage': 0.2, 'thresholds': [[3, 0.4]]}])
        """
        said = {} if self.model is None else _model(self.model)
        said |= {} if self.judged is None else {"judged": _judged(self.judged)}
        return said | ({"beside": {name: _model(fit) for name, fit in self.beside.items()}} if self.beside else {})

    @classmethod
    def from_json(cls, content: Any) -> KeptFit:
        """Undo `to_json`; refuse anything else."""
        if not isinstance(content, Mapping):
            raise TypeError(f"`fit` must be what was learned, got {content!r}")
        judged = _to_judged(content["judged"]) if "judged" in content else None
        beside = _to_beside(content.get("beside", {}))
        alone = judged is None and not beside
        return cls(_to_model(content) if alone or "lessons" in content else None, judged, beside)


def _model(fit: Milestone) -> dict[str, Any]:
    learned, h = fit.learned, fit.learned.hyperparameters
    said = {"lessons": fit.lessons, "lengthscales": list(h.lengthscales), "variance": h.variance, "noise": h.noise}
    said |= {"offset": list(h.offset), "step": h.step, "origin": learned.origin}
    found = {"jumps": learned.jumps, "blips": learned.blips}
    said |= {name: [list(each) for each in some] for name, some in found.items() if some}
    said |= {} if learned.accounts is None else {"accounts": log.described(learned.accounts)}
    said |= {"estranged": list(learned.estranged)} if learned.estranged else {}
    return said if learned.compression is None else said | {"compressed from": learned.compression.scale}


def _to_model(content: Mapping[str, Any]) -> Milestone:
    lengthscales, offset = (_numbers(name, content[name]) for name in ("lengthscales", "offset"))
    variance, noise, step = (check.positive(name, content[name]) for name in ("variance", "noise", "step"))
    jumps, blips = (_disturbances(name, content.get(name, [])) for name in ("jumps", "blips"))
    learned = Learned(
        Hyperparameters(lengthscales, variance, noise, offset, step),
        jumps,
        check.number("origin", content["origin"]),
        blips,
        _accounts(log.restored("accounts", content["accounts"])) if "accounts" in content else None,
        _names(content.get("estranged", [])),
        likelihoods.Compression(content["compressed from"]) if "compressed from" in content else None,
    )
    return Milestone(check.count("lessons", content["lessons"]), learned)


def _to_beside(content: Any) -> dict[str, Milestone]:
    if not isinstance(content, Mapping) or not all(isinstance(fit, Mapping) for fit in content.values()):
        raise TypeError(f"`beside` must be what was learned of each output, got {content!r}")
    return {check.name("beside", name): _to_model(fit) for name, fit in content.items()}


def _judged(fit: JudgeFit) -> dict[str, Any]:
    said: dict[str, Any] = {"answers": fit.answers, "fitted": fit.fitted, "judges": list(map(_judge, fit.judges))}
    if fit.kernel is not None:
        said |= {"lengthscales": list(fit.kernel.lengthscales), "variance": fit.kernel.variance}
    sites = {"precisions": fit.sites.precision.tolist(), "shifts": fit.sites.shift.tolist()}
    return said | (sites if len(fit.sites.precision) else {})


def _to_judged(content: Any) -> JudgeFit:
    if not isinstance(content, Mapping):
        raise TypeError(f"`judged` must be what was learned from answers, got {content!r}")
    kernel = None
    if "lengthscales" in content:
        lengthscales = _numbers("lengthscales", content["lengthscales"])
        kernel = belief.JudgedKernel(lengthscales, check.positive("variance", content["variance"]))
    precisions, shifts = (content.get(name, []) for name in ("precisions", "shifts"))
    judges = tuple(map(_to_judge, _listed("judges", content["judges"])))
    answers, fitted = (check.count(name, content[name], at_least=0) for name in ("answers", "fitted"))
    return belief.JudgeFit(answers, fitted, judges, kernel, _sites(precisions, shifts))


def _judge(judge: Judge) -> dict[str, Any]:
    said: dict[str, Any] = {"name": judge.name, "noise": judge.noise, "advantage": judge.advantage}
    said |= {"thresholds": [[steps, *places] for steps, places in judge.thresholds.items()]}
    return said if judge.unit is None else said | {"unit": judge.unit}


def _to_judge(content: Any) -> Judge:
    if not isinstance(content, Mapping) or not isinstance(content.get("name"), str):
        raise TypeError(f"`judges` must be the parameters of each, got {content!r}")
    thresholds = {}
    for steps, *places in (_listed("thresholds", each) for each in _listed("thresholds", content["thresholds"])):
        thresholds[likelihoods.known_scale(steps)] = _numbers("thresholds", places)
    noise, advantage = check.positive("noise", content["noise"]), check.number("advantage", content["advantage"])
    unit = check.positive("unit", content["unit"]) if "unit" in content else None
    return likelihoods.Judge(content["name"], noise, advantage, thresholds, unit)


def _sites(precisions: Any, shifts: Any) -> Sites:
    if precisions == shifts == []:
        return likelihoods.Sites.none()
    precision = check.array("precisions", precisions, (None,))
    shift = check.array("shifts", shifts, precision.shape)
    if not ((precision > 1 / LARGEST) & (precision < LARGEST) & (np.abs(shift) < LARGEST)).all():
        raise ValueError(f"`precisions` must be above 0, and they and `shifts` below {LARGEST:.0g}")
    return likelihoods.Sites(precision, shift)


def _listed(name: str, values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise TypeError(f"`{name}` must be a list, got {values!r}")
    return values


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    return tuple(check.positive(name, value) for value in _listed(name, values))


def _accounts(restored: Any) -> Accounts:
    if not isinstance(restored, Accounts):
        raise TypeError(f"`accounts` must be what a law accounts for, got {restored!r}")
    return restored


def _names(values: Any) -> tuple[str, ...]:
    return tuple(check.name("estranged", value) for value in _listed("estranged", values))


def _disturbances(name: str, values: Any) -> tuple[Disturbance, ...]:
    """Return time and variance of each."""
    if not isinstance(values, list) or not all(isinstance(each, list) and len(each) == 2 for each in values):
        raise TypeError(f"`{name}` must be a list of pairs, got {values!r}")
    return tuple((check.number(name, time), check.positive(name, size)) for time, size in values)
