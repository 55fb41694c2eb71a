"""Judgements of the better one of two settings, in words of an ordered scale or as a number.

    steps   the answers, from the second being better to the first being better
    2       second | first
    3       second | equal | first
    5       much second | second | equal | first | much first
    7       much second | second | slightly second | equal | slightly first | first | much first

The meaning of a word depends on its scale: with two steps, "first" may also mean that the two are nearly equal.
"""

from dataclasses import dataclass, field
from typing import Any

from equipoise import _validation as check
from equipoise._typing import FloatArray

_STRENGTHS = {2: ("",), 3: ("",), 5: ("", "much "), 7: ("slightly ", "", "much ")}

SCALES: dict[int, tuple[str, ...]] = {
    steps: (
        *(f"{word}second" for word in reversed(words)),
        *(["equal"] * (steps % 2)),
        *(f"{word}first" for word in words),
    )
    for steps, words in _STRENGTHS.items()
}
"""The answers of each scale, by its number of steps, in their order."""

SAID_SO = {"a": "first", "b": "second", "tie": "equal", "draw": "equal", "same": "equal"}
"""Other words for the answers."""

LARGEST_NUMBER = 1e12
"""Larger numbers are typing errors."""

CHECK_EVERY = 10
"""After this many new pairs, ask people an earlier one in the other order."""

DEFAULT_STEPS = 5
"""The default scale: a judge who never says "much" or "equal" loses nothing, since the thresholds are learned."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The judgement of two settings.

    Attributes:
        first: The setting shown first, encoded, shape (d,).
        second: The other.
        answer: A word of the scale; or a number, the advantage of the first in the judge's unit.
        steps: The number of steps of the scale.
        judge: The name of the judge.

    Example:
        >>> import numpy as np
        >>> Judgement(np.array([0.2]), np.array([0.7]), "much first").level
        2
    """

    first: FloatArray
    second: FloatArray
    answer: str | float
    steps: int = DEFAULT_STEPS
    judge: str = ""

    @property
    def level(self) -> int:
        """The steps of the answer from the middle, positive if the first is better; for a number, its sign."""
        if not isinstance(self.answer, str):
            return (self.answer > 0) - (self.answer < 0)
        words, half = SCALES[self.steps], self.steps // 2
        place = words.index(self.answer)
        return place - half + (self.steps % 2 == 0 and place >= half)


def known_scale(steps: Any) -> int:
    """Return the number of steps of a scale; refuse an unknown scale."""
    if check.count("steps", steps) not in SCALES:
        raise ValueError(f"`steps` must be one of {', '.join(map(str, SCALES))}, got {steps}")
    return int(steps)


def answered(answer: Any, steps: int, name: str = "answer") -> str | float:
    """Return an answer of a scale, or a number; refuse anything else. A, B and tie are accepted, in any case.

    Example:
        >>> answered("equal", 3), answered(2, 3), answered("B", 3), answered("Much A", 5), answered("a, much", 5)
        ('equal', 2.0, 'second', 'much first', 'much first')
    """
    if not isinstance(answer, str):
        number = check.number(name, answer)
        if abs(number) > LARGEST_NUMBER:
            raise ValueError(f"`{name}` must be at most {LARGEST_NUMBER:g} in size, got {answer!r}")
        return number
    said = [SAID_SO.get(word, word) for word in answer.casefold().replace(",", " ").split()]
    word = " ".join(sorted(said, key=("first", "second").__contains__))
    if word not in SCALES[steps]:
        words = ", ".join(f'"{word}"' for word in SCALES[steps])
        raise ValueError(f"`{name}` must be a number or one of {words}, got {answer!r}")
    return word


@dataclass(frozen=True, slots=True)
class Pair:
    """Two settings to judge. Pairs with equal ids are equal.

    Attributes:
        id: The number of the pair, for `tell`.
        first: The setting to show first; the order is random.
        second: The other.
        answers: The words of the scale; a number is an answer too.
        judge: The judge who is asked.
        again: The id of the pair that this one repeats in the other order; `None` for a new pair.

    Example:
        >>> import equipoise as eq
        >>> pair = eq.Optimizer(eq.Space(blur=eq.Float(0, 5)), rng=0).ask_pair(steps=3)
        >>> pair.id, sorted(pair.first), pair.answers
        (0, ['blur'], ('second', 'equal', 'first'))
    """

    id: int
    first: Any = field(compare=False)
    second: Any = field(compare=False)
    answers: tuple[str, ...] = field(compare=False)
    judge: str = field(default="", compare=False)
    again: int | None = field(default=None, compare=False)
