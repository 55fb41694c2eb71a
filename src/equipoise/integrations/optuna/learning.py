"""The belief of a study: learned from its duels as an optimizer learns, from where another worker fitted last.

Fitting hyperparameters is the expensive part. So whoever fits keeps the result with the trial it proposes, and whoever
comes next begins there: what was known then is learned at once under that fit, what came since one by one. That is an
optimizer's belief to the last bit. Of more than `memory` duels those in the middle are forgotten, all others are learned
at once, and the fit is repeated whenever the duels have grown by a fifth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from equipoise import _validation as check
from equipoise.belief import GuardedPosterior, Learned, LearnedPosterior, Schedule
from equipoise.data import Comparison
from equipoise.log.parts import described, restored

MEMORY_DUELS = 96
"""How many duels a proposal learns from, where the user says nothing."""

Learner = LearnedPosterior | GuardedPosterior
Lessons = tuple[Comparison, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Fit:
    """What was learned of a model from so many duels, and so many lessons of the next one."""

    model: str
    duels: int
    lessons: int
    learned: Learned

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"g": self.model, "n": self.duels, "k": self.lessons, "l": described(self.learned)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Fit | None":
        """Undo `to_json`; `None` for a fit of version 0.1.0, which followed rules of its own."""
        if "d" in content:
            return None
        learned, (n, k) = restored("l", content["l"]), (check.count(key, content[key], at_least=0) for key in "nk")
        h = learned.hyperparameters
        for value in (*h.lengthscales, h.variance, h.noise, *h.offset, h.step):
            check.positive("l", value)
        return cls(content["g"], n, k, learned)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many parameters were learned of f, one a dimension, and of the offset."""
        return len(self.learned.hyperparameters.lengthscales), len(self.learned.hyperparameters.offset)


def remembered(duels: Sequence[T], memory: int) -> Sequence[T]:
    """Return the duels to learn from: the first, which say where not to look, and the last, which say most."""
    first = memory // 2
    return duels if len(duels) <= memory else [*duels[:first], *duels[first - memory :]]


def learn(prior: Learner, taught: Sequence[Lessons], model: str, fit: Fit | None) -> tuple[Learner, Fit | None]:
    """Learn one by one what duels teach, from a fit on; return the belief and the last fit made on the way, if any."""
    belief, made, begun, seen = prior, None, 0, 0
    if fit is not None:
        begun, seen = fit.duels, fit.lessons
        known = [lesson for duel in taught[:begun] for lesson in duel]
        belief = prior.told(
            [*known, *(lesson for duel in taught[begun : begun + 1] for lesson in duel[:seen])], fit.learned
        )
    for i, duel in enumerate(taught[begun:], begun):
        for k, lesson in enumerate(duel[seen:], seen + 1):
            before, belief = belief.learned, belief.condition(lesson)
            if belief.knows_unit and belief.learned.hyperparameters is not before.hyperparameters:
                made = Fit(model, i, k, belief.learned)
        seen = 0
    return belief, made


def keep_up(
    prior: Learner, taught: Sequence[Lessons], memory: int, fit: Fit, growth: float
) -> tuple[Learner, Fit | None]:
    """Learn at once, under a fit, what the duels in memory teach; fit again where all have grown by so much."""
    belief = prior.told([lesson for duel in remembered(taught, memory) for lesson in duel], fit.learned)
    due = len(taught) >= Schedule(growth=growth).after(fit.duels)
    belief = belief.refitted() if due else belief.watching()
    made = Fit(fit.model, len(taught) if due else fit.duels, 0, belief.learned)
    return belief, None if made == fit else made
