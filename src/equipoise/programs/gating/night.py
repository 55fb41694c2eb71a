"""A night of ideas in words: the kept ideas, their gain, and the gain that the best reading would suggest."""

from dataclasses import dataclass

from equipoise.answer import Interval
from equipoise.programs.gating.stream import Assessment

WORDS = {"keep": "Keep", "discard": "Discard", "open": "Not decided"}


@dataclass(frozen=True)
class Trialed:
    """An idea that was tried.

    Attributes:
        name: Its name.
        found: The knowledge about it, with the decision.

    Example:
        >>> known = Assessment(Interval(0.3, 0.1, 0.5), 60.0, 50.0, 0.99, 8, "keep")
        >>> print(Trialed("wider", known))
        Keep wider: better by 0.3 [0.1, 0.5], after 8 looks; evidence 60 of the 50 that are needed.
    """

    name: str
    found: Assessment

    @property
    def decision(self) -> str:
        """The decision: keep, discard or open."""
        return self.found.decision

    def __str__(self) -> str:
        found = self.found
        if found.why:
            return f"{WORDS[found.decision]} {self.name}: {found.why}."
        looks = f"after {found.looks} look{'s' * (found.looks != 1)}"
        said = f"{WORDS[found.decision]} {self.name}: better by {sized(found.effect)}, {looks}; "
        if found.decision == "discard":
            return f"{said}that it is better has a chance of {100 * found.chance:.0f} %."
        return f"{said}evidence {found.evidence:.3g} of the {found.needed:.3g} that are needed."

    def data(self) -> dict[str, object]:
        """Return the idea for scripts."""
        found = self.found
        said = {"name": self.name, "decision": found.decision, "effect": found.effect.known, "why": found.why or None}
        numbers = {"evidence": found.evidence, "needed": found.needed, "chance": found.chance, "looks": found.looks}
        return {**said, **numbers}


@dataclass(frozen=True)
class Night:
    """The results of all ideas so far.

    Attributes:
        champion: The name of the champion.
        ideas: All ideas that were tried, in order.
        gain: The gain of the champion over the first one.
        record: The gain of the best reading of a kept or discarded idea over the first champion's mean: the belief of
            the rule "keep what beats the record".
        readings: The number of readings.
        alpha: Upper bound on the expected share of kept ideas that are no better.
        trying: The idea that is being tried; empty if there is none.

    Example:
        >>> print(Night("start", (), Interval(0.0, 0.0, 0.0), 0.0, 4, 0.1))
        There are no ideas yet: the champion is start, with 4 readings.
    """

    champion: str
    ideas: tuple[Trialed, ...]
    gain: Interval
    record: float
    readings: int
    alpha: float
    trying: str = ""

    def count(self, decision: str) -> int:
        """Return the number of ideas with a decision."""
        return sum(idea.decision == decision for idea in self.ideas)

    def __str__(self) -> str:
        open_ = [f"{self.trying} is being tried: the same command continues."] if self.trying else []
        if not self.ideas:
            first = f"There are no ideas yet: the champion is {self.champion}, with {self.readings} readings."
            return "\n".join([first, *open_])
        kept, discarded, undecided = map(self.count, ("keep", "discard", "open"))
        failed = sum(bool(idea.found.why) for idea in self.ideas)
        ends = f"{kept} kept, {discarded} discarded" + (f" ({failed} of them failed)" if failed else "")
        lines = [
            f"{len(self.ideas)} ideas, {self.readings} readings: {ends}, {undecided} not decided.",
            *(str(idea) for idea in self.ideas if idea.decision == "keep"),
            f"The champion is {self.champion}, better than the first one by {sized(self.gain)}.",
            f"The best single reading is better by {self.record:.3g}, the gain by the record.",
            f"At most {100 * self.alpha:g} % of the kept ideas are no better, on average.",
        ]
        return "\n".join([*lines, *open_])

    def data(self) -> dict[str, object]:
        """Return the results for scripts."""
        counts = {word: self.count(word) for word in WORDS}
        said = {"champion": self.champion, "counts": counts, "gain": self.gain.known, "record": self.record}
        return {**said, "readings": self.readings, "trying": self.trying, "ideas": [idea.data() for idea in self.ideas]}


def sized(interval: Interval) -> str:
    """Return an interval in words."""
    return f"{interval.value:.3g} [{interval.low:.3g}, {interval.high:.3g}]"
