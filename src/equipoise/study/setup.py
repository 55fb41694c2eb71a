"""The setup of a study: the one table of the parts that a study is made of.

A field of `Setup` that is annotated with a `Part` is a row of the table. Its name is an argument of `Optimizer`, a key
in the header of a log and in a TOML file, an option of `equipoise new`, and a field of the form on the page: all of
these are made from the rows. To add a part, add a row here and an argument to `Optimizer`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from equipoise import _validation as check
from equipoise import log, spaces
from equipoise._typing import FloatArray
from equipoise.belief import Confidence, LearnedModel, Posterior, StudyBelief, infer
from equipoise.data import Encoded
from equipoise.kernels import Kernel
from equipoise.likelihoods import Gaussian, Likelihood
from equipoise.offsets import Constant, Offset
from equipoise.policies import Policy, Seeds
from equipoise.reductions import Baseline, Reduction
from equipoise.spaces import Domain
from equipoise.study import outputs as names
from equipoise.study.defaults import default_offset, default_policy, default_posterior
from equipoise.study.limits import Limits
from equipoise.study.part import Part, object_row, positive_row

if TYPE_CHECKING:
    from equipoise.spaces import Readout, Space
    from equipoise.study.outputs import Outputs

SPACE = object_row("candidates", "Space(q=Float(0, 1)), Box(bounds) or Finite(points)", "Where points lie.")


def _encoded(name: str, value: Any, space: Domain) -> FloatArray:
    """Return the point of a setting, shape (d,)."""
    if isinstance(value, Encoded):
        return value.point
    try:
        return space.encode(value)
    except (ValueError, TypeError) as error:  # it names the setting x, as for `tell`
        raise type(error)(str(error).replace("`x", f"`{name}", 1)) from error


def _seeds(name: str, value: Any, space: Domain) -> Seeds | None:
    """Return seeds; a parameter must not have the name by which a program gets its seed."""
    if isinstance(space, spaces.Space) and "seed" in space.parameters:
        raise ValueError("`seeds` must be left out if a parameter is called seed")
    return Seeds.of(name, value)


def _steps(name: str, value: Any, space: Domain) -> Any:
    """Return steps that the space accepts; those with names as a dict, in the order of the parameters."""
    space.steps(value)
    if not isinstance(space, spaces.Space):
        return np.asarray(value).tolist()
    named = dict(value)
    return {parameter: float(named[parameter]) for parameter in space.parameters if parameter in named}


@dataclass(frozen=True, eq=False)
class Setup:
    """The setup of a study: each part as given and checked, or its default.

    The order of the rows is that of the keys in the header of a log.

    Attributes:
        space: Where points lie.
        prior: The belief before any data.
        caution: Where things stand now, and how far a proposal may go from there.
        outputs: The numbers of a trial by name, if they have names.
        readouts: How the value of each parameter is shown, by name: its unit and its digits.
    """

    space: Domain
    prior: StudyBelief
    caution: Limits
    outputs: "Outputs | None"
    readouts: "Mapping[str, Readout]"
    policy: Annotated[
        Policy,
        object_row(
            "scores",
            "Challenger()",
            "The rule that proposes settings.",
            default=lambda parts: default_policy(
                parts["kernel"] is None and parts["posterior"] is None, parts["space"]
            ),
        ),
    ]
    reduction: Annotated[
        Reduction,
        object_row(
            "baseline",
            "TwoPoint()",
            "The rule that measures a proposal.",
            default=lambda parts: parts["policy"].reduction,
        ),
    ]
    minimize: Annotated[
        bool,
        Part(
            "flag",
            lambda name, value, space: bool(value),
            "Look for the smallest value instead of the largest.",
            "The reading is to be",
            default=lambda parts: False,
            options=("as large as possible", "as small as possible"),
            rare=False,
        ),
    ]
    objective: Annotated[
        str | None,
        Part(
            "text",
            lambda name, value, space: ", ".join(map(str, names.objectives(value))),
            "What to maximize, by name, or minimize: flux, or -size; or several: 'flux, -size'.",
            "If readings have names: what to maximize, or with a minus minimize, such as flux, -size",
            describe=lambda text: text,
            restore=lambda name, text, space: text,
            rare=False,
        ),
    ]
    limits: Annotated[
        tuple[str, ...] | None,
        Part(
            "texts",
            lambda name, value, space: tuple(map(str, names.limited(value))) or None,
            "A limit, such as 'loss <= 3' or 'size <= start + 1'.",
            "Limits of readings, such as loss <= 3, size <= start + 1",
            describe=list,
            restore=lambda name, texts, space: tuple(texts),
            rare=False,
        ),
    ]
    safe: Annotated[
        bool,
        Part(
            "flag",
            lambda name, value, space: bool(value),
            "Ask only for settings that hold all limits, under a cautious model.",
            "Settings that may break a limit are",
            default=lambda parts: False,
            describe=lambda safe: safe or None,
            options=("asked for if they may be better", "never asked for"),
            needs_start=True,
        ),
    ]
    max_gap: Annotated[
        float | None,
        positive_row(
            "Do not use a pair whose halves are further apart in time.",
            "Do not use a pair whose readings are further apart, in seconds, than",
            logs_none=True,
        ),
    ]
    design: Annotated[
        int | None,
        Part(
            "count",
            lambda name, value, space: check.count(name, value, at_least=0),
            "Number of points to measure first.  [default: by the dimension]",
            "Number of points to measure first",
            logs_none=True,
        ),
    ]
    start: Annotated[
        FloatArray | None,
        Part(
            "by name",
            _encoded,
            "The present setting, with every parameter; it is measured first.",
            "Present value",
            describe=lambda point: point.tolist(),
            restore=lambda name, point, space: Encoded(log.Codec(space).point(point)),
            complete=True,
            rare=False,
        ),
    ]
    drop: Annotated[
        float | None,
        positive_row(
            "Ask for no setting that may be worse than the start by more than this.",
            "No setting that may be worse than the start by more than",
            needs_start=True,
            rare=False,
        ),
    ]
    max_step: Annotated[
        Any,
        Part(
            "by name",
            _steps,
            "The largest change of a number from one reading to the next, from the start on.",
            "Longest move",
            describe=lambda steps: list(map(list, steps.items())) if isinstance(steps, Mapping) else steps,
            needs_start=True,
            rare=False,
        ),
    ]
    seeds: Annotated[
        Seeds | None,
        Part(
            "listed",
            _seeds,
            "Measure under seeds, both settings of a pair under the same: 'any', or names, as 'fold 1,fold 2'.",
            "Seeds, folds or scenarios: \N{LEFT DOUBLE QUOTATION MARK}any\N{RIGHT DOUBLE QUOTATION MARK}, or names",
            describe=lambda seeds: seeds.to_json(),
            restore=lambda name, seeds, space: Seeds.of(name, seeds),
        ),
    ]
    posterior: Annotated[
        Posterior | LearnedModel | None,
        object_row(
            "confidence", "AnywherePosterior(RBF(0.2))", "The belief before any data, instead of its own parts."
        ),
    ]
    kernel: Annotated[
        Kernel | None,
        object_row("with_gradient", "RBF(0.2)", "Prior covariance of f; else learned.", in_belief=True, logs_none=True),
    ]
    regularizer: Annotated[
        float | None,
        positive_row(
            "Variance given to the noise of an outcome, with a kernel.", "Regularizer", in_belief=True, logs_none=True
        ),
    ]
    confidence: Annotated[
        Confidence | None,
        object_row("__call__", "TightConfidence(outcome_noise=0.1)", "Confidence coefficient.", in_belief=True),
    ]
    offset: Annotated[
        Offset,
        object_row(
            "learns_readings",
            "Tracked()",
            "The assumption about the bias.",
            default=lambda parts: default_offset(
                parts["reduction"], parts["kernel"], parts["posterior"], parts["seeds"]
            ),
            in_belief=True,
        ),
    ]
    likelihood: Annotated[
        Likelihood,
        object_row(
            "tilt",
            "Poisson()",
            "How a reading depends on f: a number, a count (Poisson) or a share (Binomial).",
            default=lambda parts: Gaussian(),
            describe=lambda likelihood: None if likelihood == Gaussian() else log.described(likelihood),
        ),
    ]

    @classmethod
    def of(cls, space: Domain, given: Mapping[str, Any]) -> "Setup":
        """Return the setup of a study; a part that is missing or `None` gets its default."""
        SPACE.check("space", space, space)
        _must_go_together(given)
        parts = {name: part.checked(name, given.get(name), space) for name, part in PARTS.items()}
        for name, part in PARTS.items():
            parts[name] = part.default(parts | {"space": space}) if parts[name] is None else parts[name]
        model, max_step = parts["posterior"], parts["max_step"]
        if model is None:
            model = default_posterior(
                space, parts["kernel"], parts["offset"], parts["confidence"], parts["regularizer"]
            )
            parts["confidence"] = model.confidence
            parts["regularizer"] = model.regularizer if isinstance(model, Posterior) else None
        prior = infer((), model)
        if not parts["likelihood"].exact and prior.proven:
            known = parts["likelihood"]
            raise ValueError(f"`likelihood` must be Gaussian() for the theorem of {model.confidence!r}, got {known!r}")
        caution = Limits(parts["start"], parts["drop"], None if max_step is None else space.steps(max_step))
        outputs = names.outputs_of(getattr(space, "parameters", {}), parts)
        return cls(space, prior, caution, outputs, spaces.readouts_of(space), **parts)

    def within(self, space: "Space") -> "Setup":
        """Return the setup in a space with wider ranges."""
        parts = {name: getattr(self, name) for name in PARTS}
        if self.start is not None and isinstance(self.space, spaces.Space):
            parts["start"] = Encoded(self.space.across(self.start[None], space)[0])
        return Setup.of(space, parts)

    @property
    def learned(self) -> bool:
        """True if the model is learned: neither a kernel nor a belief was given."""
        return self.kernel is None and self.posterior is None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers of a reading, if there are several."""
        return self.outputs.names if self.outputs is not None and len(self.outputs.names) > 1 else ()

    @property
    def priors(self) -> dict[str, StudyBelief]:
        """The belief about each output beside the first objective, before any data."""
        return {
            name: infer((), default_posterior(self.space, None, law, None, None)) for name, law in self.laws.items()
        }

    @cached_property
    def laws(self) -> dict[str, Offset]:
        """The law of the offset of each of these: that of the first objective, but a level must be known."""
        outputs = self.outputs
        if outputs is None:
            return {}
        unknown = {name: outputs.believed(name) and not self.offset.learns_readings for name in outputs.others}
        return {name: Constant() if alone else self.offset for name, alone in unknown.items()}

    @cached_property
    def signs(self) -> dict[str, float]:
        """The sign with which each of these is learned."""
        return {} if self.outputs is None else {name: self.outputs.sign(name) for name in self.outputs.others}

    @property
    def baseline(self) -> Baseline | None:
        """The forecast before any data."""
        return self.reduction.baseline

    @property
    def sign(self) -> float:
        """The sign with which values are learned."""
        return -1.0 if self.minimize else 1.0

    def settings(self) -> dict[str, Any]:
        """Return all parts as JSON, for the header of a log: no default is left to a later version."""
        known = {name: part for name, part in PARTS.items() if self.posterior is None or not part.in_belief}
        found = {name: part.described(getattr(self, name)) for name, part in known.items()}
        return {name: value for name, value in found.items() if value is not None or PARTS[name].logs_none}


PARTS: Mapping[str, Part] = {
    name: hint.__metadata__[0] for name, hint in Setup.__annotations__.items() if hasattr(hint, "__metadata__")
}
"""The table: every part of a study, by name."""


def arguments(header: "log.Header", space: Domain, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the `Optimizer` whose study a log holds.

    The user gives those parts again that JSON cannot hold; others must be those of the log.
    """
    settings = header.settings
    if unknown := sorted(set(settings) - set(PARTS)):
        raise header.damaged(f"its settings may be {', '.join(sorted(PARTS))}, got {', '.join(unknown)}")
    if unknown := sorted(set(given) - set(PARTS)):
        raise TypeError(f"resume takes `space`, `constraint`, {', '.join(PARTS)}, got {unknown}")
    said = {name: part for name, part in PARTS.items() if name in settings or given.get(name) is not None}
    return header.made(
        lambda: {name: part.again(name, settings.get(name), given.get(name), space) for name, part in said.items()},
        given=bool(given),
    )


def _must_go_together(given: Mapping[str, Any]) -> None:
    """Refuse parts that contradict each other, and limits that have nothing to be counted from."""
    said = {name: part for name, part in PARTS.items() if given.get(name) is not None}
    if "posterior" in said and any(part.in_belief for part in said.values()):
        *most, last = (name for name, part in PARTS.items() if part.in_belief)
        raise ValueError(f"`posterior` has its own {', '.join(most)} and {last}: give either it or those")
    for name, part in said.items():
        if part.needs_start and given[name] is not False and "start" not in said:
            raise ValueError(f"`{name}` must come with a `start`, from which it is counted, got {given[name]!r}")
