"""A command line with parameters in it: `--threads {threads=1..64:log} --mode {mode=fast|safe}`."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equipoise.programs.commands.tuning.quoting import quoted
from equipoise.spaces import Choice, Float, Int, Space

DECLARED = re.compile(r"\{([A-Za-z_]\w*)=([^{}]+)\}")
PLACE = re.compile(r"\{([A-Za-z_]\w*)(?:=[^{}]+)?\}")
NAME = re.compile(r"[A-Za-z_]\w*")
WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Template:
    """A command line with places for settings.

    Attributes:
        text: The command line; a declared parameter may appear again, as `{threads}`.
        parameters: The possible values of each place.
        steps: The declared distance between values of a whole number, or of a number on a logarithmic scale: a value
            is rounded to it. A real number contains its step.
        constraint: The constraints on the settings, as texts.

    Example:
        >>> template = parsed("gzip -{level=1..9} --mode {mode=fast|safe} -{level}")
        >>> template.space
        Space(level=Int(1, 9), mode=Choice(['fast', 'safe']))
        >>> template.command({"level": 3, "mode": "safe"})
        'gzip -3 --mode safe -3'
        >>> template.start(["level=2 mode=safe"])
        {'level': 2, 'mode': 'safe'}
    """

    text: str
    parameters: Mapping[str, Float | Int | Choice]
    steps: Mapping[str, float]
    constraint: tuple[str, ...] = ()

    @property
    def space(self) -> Space:
        """The space of the settings."""
        return Space(dict(self.parameters), constraint=self.constraint or None)

    def constrained(self, texts: Sequence[str]) -> "Template":
        """Return the template with constraints; refuse one on a rounded number, since rounding might violate it."""
        words = {word for text in texts for word in NAME.findall(text)}
        if rounded := sorted(words & set(self.steps)):
            rule = f"must not be about {', '.join(rounded)}, which is rounded to its steps"
            raise ValueError(f"--constraint {rule}: write {{{rounded[0]}=1.0..9.0:2.0}}, without :log, and it is not")
        return replace(self, constraint=tuple(texts))

    def settings(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return the allowed settings that are nearest to a point."""
        return {name: self._stepped(name, value) for name, value in x.items()}

    def command(self, x: Mapping[str, Any]) -> str:
        """Return the command line with settings inserted, if a shell reads each literally: see `quoted`."""
        return self.filled(self.text, x)

    def filled(self, text: str, x: Mapping[str, Any]) -> str:
        """Return another command line with settings inserted at its places."""
        return PLACE.sub(lambda place: self._filled(place, x, text), text)

    def _filled(self, place: re.Match[str], x: Mapping[str, Any], text: str) -> str:
        if place[1] not in self.parameters:
            return place[0]
        try:
            return quoted(str(x[place[1]]), text[: place.start()])
        except ValueError as error:
            raise ValueError(f"{place[1]}: {error}") from None

    def start(self, given: Sequence[str]) -> dict[str, Any]:
        """Return the present setting: NAME=VALUE, one or more in a text; else the first option or the middle."""
        between = re.compile(rf"[\s,]+(?=(?:{'|'.join(map(re.escape, self.parameters))})=)")
        pairs = dict(word.partition("=")[::2] for text in given for word in between.split(text.strip()))
        unknown = sorted(set(pairs) - set(self.parameters))
        if unknown:
            raise ValueError(f"--start must name parameters of the command line, got {', '.join(unknown)}")
        chosen = {name: self._value(name, pairs.get(name)) for name in self.parameters}
        try:
            encoded = self.space.encode(chosen)
        except ValueError as error:
            raise ValueError(f"--start: {error}") from None
        if not self.space.valid(encoded[None]).all():
            raise ValueError(f"--start must be where --constraint holds, got {chosen}")
        return chosen

    def _value(self, name: str, text: str | None) -> Any:
        """Return a value from a text; without a text, the default."""
        parameter = self.parameters[name]
        if isinstance(parameter, Choice):
            return parameter.options[0] if text is None else text
        if text is None:
            return self._stepped(name, parameter.decode([0.5]))
        try:
            return int(text) if isinstance(parameter, Int) else float(text)
        except ValueError:
            raise ValueError(f"--start must give {name} a number, got {text!r}") from None

    def _stepped(self, name: str, value: Any) -> Any:
        """Return the nearest value on the steps."""
        if name not in self.steps:
            return value
        parameter, step = self.parameters[name], self.steps[name]
        assert not isinstance(parameter, Choice)
        most = math.floor((parameter.high - parameter.low) / step + 1e-9)
        nearest = parameter.low + step * min(round((value - parameter.low) / step), most)
        return int(nearest) if isinstance(parameter, Int) else float(f"{nearest:.12g}")


def parsed(text: str) -> Template:
    """Return a template from a command line; refuse one without a parameter."""
    parameters: dict[str, Float | Int | Choice] = {}
    steps: dict[str, float] = {}
    for name, spec in DECLARED.findall(text):
        if name in parameters:
            raise ValueError(f"{name} must be declared once: write {{{name}}} where it stands again")
        if ".." in spec:
            parameters[name], step = _number(name, spec)
            steps |= {} if step is None else {name: step}
        else:
            parameters[name] = _choice(name, spec)
    if not parameters:
        raise ValueError("the command line must have a parameter in it, such as {threads=1..64} or {mode=fast|safe}")
    template = Template(text, parameters, steps)
    for name, parameter in parameters.items():
        for option in parameter.options if isinstance(parameter, Choice) else ():
            template.command({**template.start([]), name: option})  # refuse an option without a safe place
    return template


def _number(name: str, spec: str) -> tuple[Float | Int, float | None]:
    """Return a number from LOW..HIGH, followed by :log or :STEP or both."""
    limits, *rest = spec.split(":")
    low, _, high = limits.partition("..")
    steps, log = [word for word in rest if word != "log"], "log" in rest
    whole = all(WHOLE.fullmatch(word) for word in (low, high, *steps))
    try:
        number = Int(int(low), int(high), log) if whole else Float(float(low), float(high), log)
        step = float(steps[0]) if steps else None
        if len(steps) > 1 or (step is not None and not 0 < step <= number.high - number.low):
            raise ValueError("step")
        if isinstance(number, Float) and step is not None and not log:
            return Float(number.low, number.high, step=step), None
    except ValueError:
        rule = f"{{{name}=LOW..HIGH}}, LOW below HIGH, with :log or :STEP behind it"
        raise ValueError(f"a number must be declared as {rule}, got {{{name}={spec}}}") from None
    return number, step


def _choice(name: str, spec: str) -> Choice:
    options = spec.split("|" if "|" in spec else ",")
    if len(options) < 2 or len(set(options)) < len(options) or not all(options):
        rule = f"{{{name}=ONE|OTHER}}, or as a number {{{name}=LOW..HIGH}}"
        raise ValueError(f"a choice must be declared as {rule}, got {{{name}={spec}}}")
    return Choice(options)
