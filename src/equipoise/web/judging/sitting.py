"""The setup for judging pairs: the judge, the possible answers, and the content that shows each setting."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from equipoise.likelihoods import CHECK_EVERY, DEFAULT_STEPS
from equipoise.optimizer import Optimizer
from equipoise.spaces import Domain, printable, settings
from equipoise.web.judging.contents import Content, of_file, of_text
from equipoise.web.judging.sides import Side, dials

MOST_KEPT = 64
"""Number of settings whose output is cached."""


class _Filler(Formatter):
    """A formatter that looks up names literally, so a template cannot reach attributes of a value."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs[field_name], field_name


@dataclass(frozen=True)
class Sitting:
    """The setup for judging pairs.

    Attributes:
        judge: The name of the judge; `None` if every judge gives a name.
        steps: Number of answers to choose from.
        blind: Whether the settings are hidden.
        show: A template of the file that shows a setting, such as "pictures/{gain:.2f}-{filter}.png"; all files lie in
            the folder that precedes the first brace.
        say: The alternative: a function that takes a setting and returns text, Markdown, JSON, or the path of a file.
        folder: The folder of these files; a path that leads out of it is shown as text.
        numbers: Whether the answer is a number: the size of the difference, in the judge's own unit.
        check_every: Number of new pairs after which an earlier pair is asked again in the other order; 0 for never.

    Example:
        >>> Sitting(show="/data/{gain}-{filter}.png").file({"gain": 3, "filter": "../x"})
        PosixPath('/data/3-.._x.png')
    """

    judge: str | None = ""
    steps: int = DEFAULT_STEPS
    blind: bool = False
    show: str | None = None
    numbers: bool = False
    check_every: int = CHECK_EVERY
    say: Callable[[Any], str] | None = None
    folder: Path | None = None
    _said: dict[str, Content] = field(default_factory=dict, compare=False, repr=False)

    def of(self, judge: str | None) -> "Sitting":
        """Return the sitting of a named judge; without a name, that of the expected judge."""
        return self if judge is None else replace(self, judge=judge)

    def hand_out(self, opt: Optimizer, context: Mapping[str, Any] | None) -> None:
        """Hand out a pair to the judge, unless one is already open."""
        if self.judge is None:
            raise ValueError("enter the name of the judge first")
        lag = max(self.check_every, 1)
        opt.study.next_pair(judge=self.judge, steps=self.steps, check_every=self.check_every, lag=lag, context=context)

    def file(self, x: Any) -> Path | None:
        """Return the file that shows a setting, even if it is missing; text in a setting is one name, never a path."""
        if self.show is None:
            return None
        known = {name: _one_name(value) for name, value in settings(x).items()}
        try:
            return Path(_Filler().format(self.show, **known))
        except KeyError as error:
            raise ValueError(
                f"`show` must name knobs of the study ({', '.join(known)}), got {error.args[0]!r}"
            ) from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"`show` must be a template such as 'pictures/{{gain:.2f}}.png': {error}") from error

    def must_fit(self, space: Domain) -> None:
        """Refuse a template that the settings of a space cannot fill in."""
        self.file(space.decode(space.candidates(np.random.default_rng(0))[0]))

    def content(self, x: Any) -> Content:
        """Return the content that shows a setting, a file or the program's output; cached."""
        if self.say is not None:
            said = repr(x)
            if said not in self._said:
                while len(self._said) >= MOST_KEPT:
                    self._said.pop(next(iter(self._said)))
                self._said[said] = self._answered(x)
            return self._said[said]
        path = self.file(x)
        return Content() if path is None else of_file(path, self._folder)

    def _answered(self, x: Any) -> Content:
        """Return the program's output for a setting: a file of the folder if the output names one, else a text."""
        assert self.say is not None
        try:
            text = self.say(x).strip()
        except Exception as error:  # any error of the program: judges are told that there is nothing to see
            return Content(lacks=str(error) or type(error).__name__)
        named = self.folder is not None and "\n" not in text and of_file(self.folder / text, self.folder)
        return named if named and named.kind else of_text(text)

    def side(self, opt: Optimizer, letter: str, x: Any, other: Any) -> Side:
        """Return a setting of a pair as the screen shows it, compared with the other one."""
        shown = self.show is not None or self.say is not None
        if not shown and isinstance(x, str):  # the judges compare names
            return Side((), letter, Content("text", printable(x, "")))
        content = self.content(x)
        if shown and not content.kind:  # the name of the file would reveal the setting
            what = printable(content.lacks or str(self.file(x)), "")
            noun = "file" if self.say is None else "output"
            content = Content(lacks=f"There is no {noun} of {letter}" + ("." if self.blind else f": {what}."))
        return Side(() if self.blind else dials(opt.space, x, other), letter, content)

    @property
    def _folder(self) -> Path:
        """The folder of all files: the part of the template before the first brace."""
        folder = (self.show or "").partition("{")[0].rpartition("/")
        return Path(folder[0] + folder[1] or ".")


def _one_name(value: Any) -> Any:
    return value.replace(os.sep, "_").replace("/", "_") if isinstance(value, str) else value
