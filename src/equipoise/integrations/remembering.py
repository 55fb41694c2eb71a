"""The belief rebuilt from a stored fit, for processes that keep the data but no posterior.

A worker that knows a study from its storage alone begins with the last fit of any worker: the data before it are
learned at once, later data one by one. The result is the belief of an optimizer up to rounding. Very many duels are
learned at once, the old ones folded (`belief/folding.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from equipoise.belief import Learned, LearnedBelief
from equipoise.data import Comparison, Duel, Reading

Learning = tuple[LearnedBelief, "Fit | None"]
"""A belief, and the last fit made while computing it, if any."""

Lessons = tuple[Comparison, ...]
"""The lessons of a duel."""

T = TypeVar("T")


@dataclass(frozen=True)
class Fit:
    """The result of fitting a model to this many duels, and this many lessons of the next one."""

    model: str
    duels: int
    lessons: int
    learned: Learned


def remembered(duels: Sequence[T], memory: int) -> Sequence[T]:
    """Return the duels to keep of those that cannot be folded: the first, which say where not to look, and the last."""
    first = memory // 2
    return duels if len(duels) <= memory else [*duels[:first], *duels[first - memory :]]


def learn(prior: LearnedBelief, taught: Sequence[Lessons], model: str, fit: Fit | None) -> Learning:
    """Learn duels one by one, from a fit on; return the belief and the last fit made meanwhile, if any."""
    belief, made, begun, seen = prior, None, 0, 0
    if fit is not None:
        begun, seen = fit.duels, fit.lessons
        known = [*taught[:begun], *(duel[:seen] for duel in taught[begun : begun + 1])]
        belief = prior.relearned([lesson for duel in known for lesson in duel], fit.learned)
    for i, duel in enumerate(taught[begun:], begun):
        for k, lesson in enumerate(duel[seen:], seen + 1):
            before, belief = belief.fitted, belief.condition(lesson)
            if belief.knows_unit and belief.fitted.hyperparameters is not before.hyperparameters:
                made = Fit(model, i, k, belief.fitted)
        seen = 0
    return belief, made


def keep_up(before: LearnedBelief, taught: Sequence[Lessons], memory: int, fit: Fit, due: bool) -> Learning:
    """Learn very many duels at once, under a fit; if one is due, fit again.

    Args:
        before: A belief under the same model with fewer data: the data that it has folded are not folded again.
        taught: The lessons of each duel.
        memory: Number of duels that guard the law of the offset, if readings are learned from.
        fit: The last fit.
        due: Whether to fit again.
    """
    guards, readings = {*remembered(range(len(taught)), memory)}, before.law.learns_readings
    lessons = ((i, lesson) for i, duel in enumerate(taught) for lesson in duel)
    kept = [lesson for i, lesson in lessons if lesson.second is None or not readings or i in guards]
    belief = before.relearned(kept, fit.learned)
    belief = belief.refitted() if due else belief.watching()
    made = Fit(fit.model, len(taught), 0, belief.fitted) if due else replace(fit, learned=belief.fitted)
    return belief, None if made == fit else made


def unrepeated(
    firsts: dict[tuple[str, bytes], tuple[int, int]], number: int, duel: Duel, read: Sequence[Reading | None]
) -> list[Reading | None]:
    """Return the readings of a duel, `None` for a setting that was read under the same seed: it repeats the number.

    Args:
        firsts: The duel and the place in it at which a setting was first read, by block and encoded setting; extended.
        number: The number of the duel.
        duel: The duel.
        read: Its readings, in the order of `duel.points`; `None` for a missing one.
    """
    new: list[Reading | None] = []
    for i, (reading, point) in enumerate(zip(read, duel.points, strict=True)):
        place = (number, i)
        known = reading is None or firsts.setdefault((reading.circumstances.block, point.tobytes()), place) != place
        new.append(None if known else reading)
    return new
