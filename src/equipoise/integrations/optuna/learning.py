"""The belief of a study: learned from its duels as an optimizer learns, from where another worker fitted last.

Fitting hyperparameters is the expensive part. So whoever fits keeps the result with the trial it proposes, and whoever
comes next begins there: what was known then is learned at once under that fit, what came since one by one. That is an
optimizer's belief to the last bit as long as there are no more than `memory` duels. When there are more, those in the
middle are forgotten at each fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise import _validation as check
from equipoise.belief import Form, GuardedPosterior, Hyperparameters, Learned, LearnedPosterior, Schedule
from equipoise.data import Comparison

MEMORY_DUELS = 96
"""How many duels a proposal learns from, where the user says nothing: twice as many double the time of a fit, which
then takes half a second, and found nothing better in studies of 200 duels."""

Learner = LearnedPosterior | GuardedPosterior
Lessons = tuple[Comparison, ...]
"""What a duel teaches."""


@dataclass(frozen=True)
class Fit:
    """What was learned, and from what.

    Attributes:
        model: Of which space and law.
        duels: How many whole duels were known.
        lessons: How many lessons of the next duel were known besides.
        learned: What was learned.
    """

    model: str
    duels: int
    lessons: int
    learned: Learned

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        h, known = self.learned.hyperparameters, {"g": self.model, "n": self.duels, "k": self.lessons}
        fitted = [h.lengthscales, h.offset, h.variance, h.noise, h.step]
        return known | {"h": fitted, "j": self.learned.jumps, "y": self.learned.origin}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Fit | None":
        """Undo `to_json`; `None` for a fit of version 0.1.0, which followed rules of its own."""
        if "d" in content:
            return None
        scales, offset, *others = content["h"]
        lengthscales, law, (variance, noise, step) = (
            tuple(check.positive("h", value) for value in values) for values in (scales, offset, others)
        )
        jumps = tuple((check.number("j", when), check.positive("j", size)) for when, size in content["j"])
        fitted = Hyperparameters(lengthscales, variance, noise, law, step)
        duels, lessons = (check.count(key, content[key], at_least=0) for key in ("n", "k"))
        return cls(content["g"], duels, lessons, Learned(fitted, jumps, check.number("y", content["y"])))


def model_name(signature: str, form: Form) -> str:
    """Return what tells models apart: the space, the law by what it says of itself, and what is learned."""
    law, names = form.law, "/".join(each.name for each in form.law.hyperparameters)
    silent = type(law).__repr__ is object.__repr__  # it says but where in memory it lies
    return f"{signature} {form.parameters} {type(law).__qualname__ if silent else law!r} {names}"


def prior(form: Form, growth: float) -> Learner:
    """Return the belief before any data, that of `study/defaults.py`, fitted whenever the data grew by so much."""
    learned = LearnedPosterior(form, schedule=Schedule(growth=growth))
    return learned if form.law.guard is None else GuardedPosterior(learned, form.law.guard)


def remembered(duels: Sequence[int], memory: int) -> Sequence[int]:
    """Return the duels to learn from: the first, which say where not to look, and the last, which say most."""
    first = memory // 2
    return duels if len(duels) <= memory else [*duels[:first], *duels[first - memory :]]


def learn(
    belief: Learner, taught: Sequence[Lessons], memory: int, model: str, fit: Fit | None = None
) -> tuple[Learner, Fit | None]:
    """Return the belief that has learned from duels, and the last fit made on the way, if there was one.

    Args:
        belief: The belief before any data.
        taught: What each duel teaches.
        memory: How many of the duels before the fit to learn from.
        model: Of which space and law.
        fit: The fit to begin with.
    """
    duels, seen, made = range(len(taught)), 0, None
    rest = remembered(duels, min(memory, MEMORY_DUELS))
    if fit is not None and len(taught) - fit.duels <= MEMORY_DUELS:  # to begin with an older one is as slow as anew
        known = [lesson for i in remembered(duels[: fit.duels], memory) for lesson in taught[i]]
        rest, seen = duels[fit.duels :], fit.lessons
        belief = belief.told([*known, *(lesson for i in rest[:1] for lesson in taught[i][:seen])], fit.learned)
    for i in rest:
        for k, lesson in enumerate(taught[i][seen:], seen + 1):
            before, belief = belief.learned, belief.condition(lesson)
            if belief.knows_unit and belief.learned.hyperparameters is not before.hyperparameters:
                made = Fit(model, i, k, belief.learned)
        seen = 0
    return belief, made
