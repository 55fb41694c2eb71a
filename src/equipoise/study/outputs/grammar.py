"""The numbers of a trial by name: which are objectives, which have limits, in the grammar that Ax uses, plus `start`.

text                     meaning
"flux"                   make flux as large as possible
"-size"                  make size as small as possible
"flux, -size"            both at once
"loss <= 3"              the reading of loss, as it stands, is at most 3
"size <= start + 1"      size is at most 1 above that of the start: the offset cancels
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise import _validation as check
from equipoise.likelihoods import Likelihood

NAME = r"[^\W\d][\w.:/]*"
"""The pattern of an output's name: one word, as programs print it."""

NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"

OBJECTIVE = re.compile(rf"(-?)\s*({NAME})")

LIMIT = re.compile(rf"({NAME})\s*(<=|>=)\s*(?:(start)\s*(?:([+-])\s*({NUMBER}))?|([+-]?{NUMBER}))")

RESERVED = frozenset(
    {"trial", "duel", "worker", "block", "value", "of", "error", "time", "failed", "given up", "set aside"}
    | {"asked", "ended", "x", "point", "status", "values"}
)
"""The forbidden names of outputs: columns of a table and keys of a log."""

START = "start"
"""The word for the start of a study, which no output may have as its name."""

EXAMPLES = "'loss <= 3' or 'size <= start + 1'"


@dataclass(frozen=True)
class Objective:
    """An output to be made as large as possible, or as small.

    Attributes:
        name: The output.
        sign: 1 for as large as possible, -1 for as small.

    Example:
        >>> print(Objective("size", -1.0))
        -size
    """

    name: str
    sign: float = 1.0

    def __str__(self) -> str:
        return self.name if self.sign > 0 else f"-{self.name}"


@dataclass(frozen=True)
class Limit:
    """A limit of an output.

    Attributes:
        name: The output.
        upper: Whether it must be at most the bound; else at least.
        bound: The limit; if it is relative, what is added to the output of the start.
        relative: Whether it is counted from the start.

    Example:
        >>> limit = Limit.of("size <= start + 1")
        >>> limit.upper, limit.bound, limit.relative, str(limit)
        (True, 1.0, True, 'size <= start + 1')
    """

    name: str
    upper: bool
    bound: float
    relative: bool = False

    @classmethod
    def of(cls, text: Any) -> "Limit":
        """Return the limit that a text describes."""
        found = LIMIT.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ValueError(f"each of `limits` must be a text such as {EXAMPLES}, got {text!r}")
        name, relation, start, sign, added, bound = found.groups()
        value = float(f"{sign or ''}{added or 0}") if start else float(bound)
        return cls(_named("limits", name), relation == "<=", check.number("limits", value) + 0.0, start is not None)

    @property
    def sign(self) -> float:
        """The direction in which the output may go: 1 for up, -1 for down."""
        return -1.0 if self.upper else 1.0

    @property
    def holds_at_start(self) -> bool:
        """True if a relative limit holds at the start."""
        return self.sign * self.bound <= 0

    def __str__(self) -> str:
        relation = "<=" if self.upper else ">="
        if not self.relative:
            return f"{self.name} {relation} {_written(self.bound)}"
        added = f" {'-' if self.bound < 0 else '+'} {_written(abs(self.bound))}" if self.bound else ""
        return f"{self.name} {relation} {START}{added}"


@dataclass(frozen=True)
class Outputs:
    """The objectives and limits of a study with named numbers.

    Attributes:
        objectives: The outputs to maximize or minimize, the first objective first.
        limits: The limits that must hold.

    Example:
        >>> outputs = Outputs.of("flux, -size", ["loss <= 3", "size <= start + 1"])
        >>> outputs.names, str(outputs)
        (('flux', 'size', 'loss'), 'flux, -size; loss <= 3, size <= start + 1')
        >>> outputs.read({"flux": 3.1, "loss": 0.4}, missing=["size"])
        {'flux': 3.1, 'loss': 0.4}
    """

    objectives: tuple[Objective, ...]
    limits: tuple[Limit, ...] = ()

    @classmethod
    def of(cls, objective: str, limits: Iterable[str] = ()) -> "Outputs":
        """Return the outputs that texts describe; refuse contradictions."""
        return cls(objectives(objective), limited(limits))

    @property
    def first(self) -> Objective:
        """The first objective: its reading is the value of a trial."""
        return self.objectives[0]

    @property
    def names(self) -> tuple[str, ...]:
        """All outputs, the first objective first."""
        names = [each.name for each in self.objectives] + [each.name for each in self.limits]
        return tuple(dict.fromkeys(names))

    @property
    def others(self) -> tuple[str, ...]:
        """All outputs except the first objective."""
        return self.names[1:]

    @property
    def several(self) -> bool:
        """True if there are several objectives."""
        return len(self.objectives) > 1

    def limits_of(self, name: str) -> tuple[Limit, ...]:
        """Return the limits of an output."""
        return tuple(limit for limit in self.limits if limit.name == name)

    def sign(self, name: str) -> float:
        """Return the sign with which an output is learned: what is larger is better, or further from its limit."""
        objective = next((each for each in self.objectives if each.name == name), None)
        return self.limits_of(name)[0].sign if objective is None else objective.sign

    def believed(self, name: str) -> bool:
        """Return whether readings of an output are taken as they stand: if a limit is not relative to the start."""
        return any(not limit.relative for limit in self.limits_of(name))

    def read(self, value: Any, missing: Sequence[str] = ()) -> dict[str, float]:
        """Return the numbers of a trial by name, checked.

        Args:
            value: A number for each output, `None` for one that has none; or one number if there is one output.
            missing: The outputs of which there is no number this time.
        """
        if not isinstance(value, Mapping):
            if len(self.names) > 1:
                raise TypeError(f"`value` must be a number for each of {', '.join(self.names)}, got {value!r}")
            value = {self.first.name: value}
        absent = self._absent(missing, [name for name in self.others if name in value and value[name] is None])
        value = {name: number for name, number in value.items() if number is not None or name not in self.others}
        if unknown := [str(name) for name in value if name not in self.names]:
            raise ValueError(f"`value` may name {', '.join(self.names)}, got {', '.join(unknown)}")
        if twice := [name for name in value if name in absent]:
            raise ValueError(f"`missing` must not name what `value` gives, got {', '.join(twice)}")
        if left := [name for name in self.names if name not in value and name not in absent]:
            rule = f"`value` must have a number for each of {', '.join(self.names)}"
            raise ValueError(f"{rule}, got none for {', '.join(left)}: name it as missing if there is none")
        return {name: self._number(name, value[name]) for name in self.names if name in value}

    def _number(self, name: str, value: Any) -> float:
        try:
            return check.number(f"value[{name!r}]", value)
        except (TypeError, ValueError) as error:
            advice = "tell `failed`" if name == self.first.name else "name it as missing"
            rule = f"{advice} if there is none; the names are {', '.join(self.names)}"
            raise type(error)(f"{error}: {rule}") from None

    def _absent(self, missing: Sequence[str], without: Sequence[str]) -> tuple[str, ...]:
        if isinstance(missing, str):
            raise TypeError(f"`missing` must be a list of names, got {missing!r}")
        if unknown := [str(name) for name in missing if name not in self.names]:
            raise ValueError(f"`missing` may name {', '.join(self.names)}, got {', '.join(unknown)}")
        if self.first.name in missing:
            raise ValueError(f"`missing` must not name the first objective, {self.first.name}: tell `failed` instead")
        return *missing, *without

    def __str__(self) -> str:
        return "; ".join(", ".join(map(str, some)) for some in (self.objectives, self.limits) if some)


def objectives(text: Any) -> tuple[Objective, ...]:
    """Return the objectives that a text describes.

    Example:
        >>> [str(each) for each in objectives("flux,-size")]
        ['flux', '-size']
    """
    if not isinstance(text, str):
        raise TypeError(f"`objective` must be a text such as 'flux' or 'flux, -size', got {text!r}")
    found = [OBJECTIVE.fullmatch(part.strip()) for part in text.split(",")]
    parts = [(each.group(1), each.group(2)) for each in found if each is not None]
    if len(parts) < len(found):
        raise ValueError(f"`objective` must be a name, or several such as 'flux, -size', got {text!r}")
    names = [_named("objective", name) for _, name in parts]
    if len(set(names)) < len(names):
        raise ValueError(f"`objective` must name each output once, got {text!r}")
    return tuple(Objective(name, -1.0 if minus else 1.0) for minus, name in parts)


def limited(texts: Any) -> tuple[Limit, ...]:
    """Return the limits that texts describe; refuse limits that exclude each other.

    Example:
        >>> limited(["loss >= 5", "loss <= 3"])
        Traceback (most recent call last):
        ValueError: `limits` must leave room: loss >= 5 and loss <= 3 exclude each other
    """
    if isinstance(texts, (str, Mapping)) or not isinstance(texts, Iterable):
        raise TypeError(f"`limits` must be a list of texts such as {EXAMPLES}, got {texts!r}")
    limits = tuple(map(Limit.of, texts))
    places = [(limit.name, limit.upper, limit.relative) for limit in limits]
    if twice := [str(limit) for limit, place in zip(limits, places, strict=True) if places.count(place) > 1]:
        raise ValueError(f"`limits` must name each bound once, got {' and '.join(twice)}")
    for low in (limit for limit in limits if not limit.upper):
        for high in (limit for limit in limits if limit.upper):
            alike = (low.name, low.relative) == (high.name, high.relative)
            if alike and low.bound >= high.bound:
                raise ValueError(f"`limits` must leave room: {low} and {high} exclude each other")
    return limits


def outputs_of(parameters: Container[str], parts: dict[str, Any]) -> Outputs | None:
    """Return the numbers of a trial by name, if they have names; refuse contradictions with the other parts.

    Args:
        parameters: The names of the parameters.
        parts: The parts of the study; whether the value is minimized is said here.
    """
    if parts["objective"] is None:
        if parts["limits"] is not None:
            raise ValueError(
                f"`limits` must come with an `objective`, the name of what is tuned, got {parts['limits']}"
            )
        return None
    outputs = Outputs.of(parts["objective"], parts["limits"] or ())
    if taken := [name for name in outputs.names if name in parameters or name in RESERVED]:
        raise ValueError(
            f"`objective` and `limits` must not name an output like a parameter or column: {', '.join(taken)}"
        )
    if parts["minimize"] and outputs.first.sign > 0:
        raise ValueError(
            f"`minimize` must be False with an `objective`, which implies it: objective='-{outputs.first.name}'"
        )
    must_be_learned(outputs, parts["likelihood"])
    if outputs.believed(outputs.first.name) and not parts["offset"].learns_readings:
        rule = f"`limits` of {outputs.first.name} must be relative to the start under {parts['offset']!r}"
        raise ValueError(f"{rule}, which assumes nothing of its offset, got {', '.join(parts['limits'])}")
    for limit in outputs.limits:
        if limit.relative and parts["start"] is None:
            raise ValueError(f"`limits` must come with a `start`, from which {str(limit)!r} is counted")
        if parts["safe"] and limit.relative and not limit.holds_at_start:
            raise ValueError(f"`limits` must hold at the start if `safe`, got {str(limit)!r}")
    if parts["safe"] and not outputs.limits:
        raise ValueError("`safe` must come with `limits`, got none")
    parts["minimize"] = outputs.first.sign < 0
    return outputs


def must_be_learned(outputs: Outputs, likelihood: Likelihood) -> None:
    """Refuse what a likelihood cannot say of several numbers: it is about the first objective, the others are exact."""
    if likelihood.exact:
        return
    if outputs.others and "/" in likelihood.example:
        raise ValueError(f"`likelihood` must take one number for each of several outputs, got {likelihood!r}")
    if limits := outputs.limits_of(outputs.first.name):
        raise ValueError(f"`limits` must be of outputs that are not counts, got {limits[0]} under {likelihood!r}")


def _written(number: float) -> str:
    """Return a number as short as it can be read again to the last bit."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _named(what: str, name: str) -> str:
    if name == START:
        raise ValueError(f"`{what}` must not name an output {START!r}, which is where the study started")
    return name
