"""Two settings to be judged: what the screen shows of A and of B, and what may be said of them."""

import mimetypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.desk.words import settings
from equipoise.judging import DEFAULT_STEPS, Pair
from equipoise.optimizer import Optimizer
from equipoise.web.dials import Dial, dials

LETTERS = {"first": "A", "second": "B"}
KINDS = ("image", "audio", "video")
"""What can be shown in a page."""


@dataclass(frozen=True)
class Sitting:
    """How pairs are judged here.

    Attributes:
        judge: Who judges.
        steps: How many answers there are to choose from.
        blind: Whether the settings are hidden.
        show: A template of the file that shows a setting, such as "pictures/{gain}-{filter}.png".

    Example:
        >>> Sitting(show="/data/{gain}-{filter}.png").file({"gain": 3, "filter": "../x"})
        PosixPath('/data/3-.._x.png')
    """

    judge: str = ""
    steps: int = DEFAULT_STEPS
    blind: bool = False
    show: str | None = None

    def file(self, x: Any) -> Path | None:
        """Return the file that shows a setting; no value of a setting leads out of its folder."""
        if self.show is None:
            return None
        plain = {name: str(value).replace(os.sep, "_").replace("/", "_") for name, value in settings(x).items()}
        return Path(self.show.format_map(plain))

    def kind(self, x: Any) -> str:
        """Return what the file of a setting is: an image, audio or video; nothing where there is none to be shown."""
        path = self.file(x)
        if path is None or not path.is_file():
            return ""
        kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
        return kind if kind in KINDS else ""


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
    """

    pair: int
    first: tuple[Dial, ...]
    second: tuple[Dial, ...]
    answers: tuple[tuple[str, str], ...]
    shown: tuple[str, str]
    blind: bool


def open_pair(opt: Optimizer, sitting: Sitting) -> Pair | None:
    """Return the pair that waits for the judge who sits here."""
    return next((pair for pair in opt.open_pairs if pair.judge == sitting.judge), None)


def sides(opt: Optimizer, sitting: Sitting) -> Sides | None:
    """Return the pair that waits for the judge who sits here, as the screen shows it."""
    pair = open_pair(opt, sitting)
    if pair is None:
        return None
    first, second = pair.first, pair.second
    shown = sitting.kind(first), sitting.kind(second)
    words = tuple((word, on_button(word)) for word in reversed(pair.answers))
    a, b = dials(opt.space, first, second), dials(opt.space, second, first)
    return Sides(pair.id, a, b, words, shown, sitting.blind)


def on_button(answer: str | float) -> str:
    """Return an answer as it stands on its button.

    Example:
        >>> [on_button(word) for word in ("much first", "equal", "second")]
        ['A, much', 'equal', 'B']
    """
    if not isinstance(answer, str):
        return f"A by {answer:g}"
    strength, _, place = answer.rpartition(" ")
    letter = LETTERS.get(place, place)
    return f"{letter}, {strength}" if strength else letter


def in_words(pair: Pair, answer: str | float) -> str:
    """Return what was said of a pair, in words."""
    differ = _different(settings(pair.first), settings(pair.second))
    said = ", ".join(f"{name} {_short(a)} | {_short(b)}" for name, (a, b) in differ.items())
    return f"{on_button(answer)}  ({said})" if said else on_button(answer)


def _different(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (a, second[name]) for name, a in first.items() if a != second[name]}


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
