"""Two settings to be judged: what the screen shows of A and of B, and what may be said of them."""

import mimetypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from equipoise.likelihoods import CHECK_EVERY, DEFAULT_STEPS, Pair
from equipoise.optimizer import Optimizer
from equipoise.spaces import Domain, printable, settings
from equipoise.web.dials import Dial, dials, told_of

LETTERS = {"first": "A", "second": "B"}
KINDS = ("image", "audio", "video")
"""What can be shown in a page."""


class _Filler(Formatter):
    """Fills in values by name; a name is taken as it is, so that nothing of a value can be reached by it."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs[field_name], field_name


@dataclass(frozen=True)
class Sitting:
    """How pairs are judged here.

    Attributes:
        judge: Who judges; `None` where everybody says so who does.
        steps: How many answers there are to choose from.
        blind: Whether the settings are hidden.
        show: A template of the file that shows a setting, such as "pictures/{gain:.2f}-{filter}.png"; all files lie in
            the folder that is named before the first brace.
        numbers: Whether the answer is a number: how much better, in the judge's own unit.
        check_every: After so many new pairs an earlier one is asked in the other order; 0 for never.

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

    def of(self, judge: str | None) -> "Sitting":
        """Return how a judge who has said a name judges; without one, whoever is expected does."""
        return self if judge is None else replace(self, judge=judge)

    def hand_out(self, opt: Optimizer, context: Mapping[str, Any] | None) -> Pair:
        """Return the pair that waits for the judge, or else hand one out."""
        if self.judge is None:
            raise ValueError("say who judges first")
        lag = max(self.check_every, 1)
        return opt.study.next_pair(
            judge=self.judge, steps=self.steps, check_every=self.check_every, lag=lag, context=context
        )

    def file(self, x: Any) -> Path | None:
        """Return the file that shows a setting, there or not; text of a setting is one name, never a path."""
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
        """Refuse a template that cannot be filled in with the settings of a space."""
        self.file(space.decode(space.candidates(np.random.default_rng(0))[0]))

    def kind(self, x: Any) -> str:
        """Return what the file of a setting is: an image, audio or video; nothing where there is none to be shown."""
        path = self.file(x)
        if path is None or not os.path.isfile(path) or not self._holds(path):  # a name that cannot be is no file
            return ""
        kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
        return kind if kind in KINDS else ""

    def _holds(self, path: Path) -> bool:
        """Return whether a file lies in the folder of all files, wherever links lead."""
        folder = (self.show or "").partition("{")[0].rpartition("/")
        return path.resolve().is_relative_to(Path(folder[0] + folder[1] or ".").resolve())


@dataclass(frozen=True)
class Sides:
    """A pair as the screen shows it.

    Attributes:
        pair: Its number.
        first: The setting A, against B.
        second: The setting B, against A.
        answers: What may be said: the word of the scale, and how it stands on the button, from A to B.
        shown: What the files of both are; empty where there are none.
        blind: Whether the settings are hidden.
        lacks: What is to be said of a file that should be there, and is not.
        numbers: Whether the answer is a number.
    """

    pair: int
    first: tuple[Dial, ...]
    second: tuple[Dial, ...]
    answers: tuple[tuple[str, str], ...]
    shown: tuple[str, str]
    blind: bool
    lacks: tuple[str, str] = ("", "")
    numbers: bool = False


@dataclass(frozen=True)
class Last:
    """The last answer of the judge who sits here, to be taken back.

    Attributes:
        pair: Its number.
        said: What was said, as on the button.
        was: By what a form says so.
    """

    pair: int
    said: str
    was: str


def seated(opt: Optimizer) -> Sitting | None:
    """Return how a study is judged that has more pairs to be judged than readings; `None` where it has not."""
    if opt.judgements + len(opt.study.open_pairs) <= opt.readings:
        return None
    said = [answer for _, answer in opt.study.answers()]
    return Sitting(numbers=bool(said) and not any(isinstance(answer, str) for answer in said))


def open_pair(opt: Optimizer, sitting: Sitting) -> Pair | None:
    """Return the pair that waits for the judge who sits here."""
    return next((pair for pair in opt.study.open_pairs if pair.judge == sitting.judge), None)


def sides(opt: Optimizer, sitting: Sitting) -> Sides | None:
    """Return the pair that waits for the judge who sits here, as the screen shows it."""
    pair = open_pair(opt, sitting)
    if pair is None:
        return None
    first, second = pair.first, pair.second
    shown = sitting.kind(first), sitting.kind(second)
    words = tuple((word, on_button(word)) for word in reversed(pair.answers))
    a, b = dials(opt.space, first, second), dials(opt.space, second, first)
    lacks = _lacking(sitting, "A", first), _lacking(sitting, "B", second)
    return Sides(pair.id, a, b, words, shown, sitting.blind, lacks, sitting.numbers)


def last(opt: Optimizer, sitting: Sitting) -> Last | None:
    """Return the last answer of the judge who sits here."""
    mine = [(pair.id, answer) for pair, answer in opt.study.answers() if pair.judge == sitting.judge]
    return Last(mine[-1][0], on_button(mine[-1][1]), told_of(mine[-1][1])) if mine else None


def on_button(answer: str | float) -> str:
    """Return an answer as it stands on its button.

    Example:
        >>> [on_button(word) for word in ("much first", "equal", "second")]
        ['A, much', 'equal', 'B']
    """
    if not isinstance(answer, str):
        return f"A by {answer:g}" if answer > 0 else f"B by {-answer:g}" if answer < 0 else "equal"
    strength, _, place = answer.rpartition(" ")
    letter = LETTERS.get(place, place)
    return f"{letter}, {strength}" if strength else letter


def in_words(pair: Pair, answer: str | float, blind: bool = False) -> str:
    """Return what was said of a pair, in words; with its settings, unless these are hidden."""
    if blind:
        return on_button(answer)
    differ = _different(settings(pair.first), settings(pair.second))
    said = ", ".join(f"{name} {_short(a)} | {_short(b)}" for name, (a, b) in differ.items())
    return f"{on_button(answer)}  ({said})" if said else on_button(answer)


def _lacking(sitting: Sitting, letter: str, x: Any) -> str:
    """Return what is to be said where nothing can be shown of a setting though it should; its name would tell."""
    if sitting.show is None or sitting.kind(x):
        return ""
    return f"There is no file of {letter}" + ("." if sitting.blind else f": {printable(str(sitting.file(x)), '')}.")


def _one_name(value: Any) -> Any:
    return value.replace(os.sep, "_").replace("/", "_") if isinstance(value, str) else value


def _different(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (a, second[name]) for name, a in first.items() if a != second[name]}


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
