"""The verification of a log: its proposals are made again from its seed and data, and compared."""

from dataclasses import dataclass
from pathlib import Path

from equipoise.answer import Reproduction, agree
from equipoise.data import PairToJudge
from equipoise.log import Asked, Header, Log, Stamped, Streams, unfitted
from equipoise.optimizer import Optimizer
from equipoise.study import arguments


@dataclass(frozen=True)
class Reproductions:
    """The result of making each proposal again.

    Attributes:
        duels: The verdict on each duel, by its number.
        pairs: The verdict on each pair to be judged, by its trial.
    """

    duels: dict[int, Reproduction]
    pairs: dict[int, Reproduction]

    @property
    def holds(self) -> bool:
        """True if all proposals agree, up to rounding."""
        return Reproduction.DIFFERENT not in [*self.duels.values(), *self.pairs.values()]

    def data(self) -> dict[str, list[int]]:
        """Return the numbers of the proposals that differ, also within rounding; those of pairs if there are any."""
        named = {"": self.duels} | ({"_pairs": self.pairs} if self.pairs else {})
        words = {"different": Reproduction.DIFFERENT, "within_rounding": Reproduction.ROUNDED}
        return {word + name: _numbers(found, which) for name, found in named.items() for word, which in words.items()}

    def text(self) -> str:
        """Return a summary for people."""
        duels = f" Proposals that come out differently: {_numbers(self.duels, Reproduction.DIFFERENT) or 'none'}."
        pairs = f" Pairs: {_numbers(self.pairs, Reproduction.DIFFERENT) or 'none'}." if self.pairs else ""
        rounded = sum(verdict is Reproduction.ROUNDED for verdict in (*self.duels.values(), *self.pairs.values()))
        total = len(self.duels) + len(self.pairs)
        return duels + pairs + (f" {rounded} of {total} differ within rounding." if rounded else "")


def _numbers(found: dict[int, Reproduction], which: Reproduction) -> list[int]:
    return [number for number, verdict in found.items() if verdict is which]


def verified(path: Path) -> Reproductions:
    """Make all proposals of a log again from its seed and data, and compare.

    One optimizer refits at each fit of the log. If its proposal differs, its fit may have ended at other parameters:
    then an optimizer with the logged fits decides, provided that both agree on the data. The run time is
    that of the study, without its measurements.
    """
    header = Header.read(path)
    space = header.space()
    parts = arguments(header, space, {})
    fresh, kept = (Optimizer(space, **parts, rng=Streams(key=header.key)) for _ in range(2))
    events: list[Stamped] = []
    Log(path, space).follow(events.append)
    found = Reproductions({}, {})
    for event in (stamped.event for stamped in events):
        if isinstance(event, Asked) and event.number is not None:
            found.duels[event.number] = _verdict(fresh, kept, event)
        elif isinstance(event, Asked) and isinstance(event.question, PairToJudge) and not event.question.added:
            found.pairs[event.trial] = _verdict(fresh, kept, event)
        fresh.study.replay(unfitted(event))  # fits are verified too
        kept.study.replay(event)
    return found


def _verdict(fresh: Optimizer, kept: Optimizer, event: Asked) -> Reproduction:
    verdict = fresh.study.reproduces(event)
    if verdict is not Reproduction.DIFFERENT or kept.study.reproduces(event) is Reproduction.DIFFERENT:
        return verdict
    return Reproduction.ROUNDED if agree(kept.posterior, fresh.posterior) else Reproduction.DIFFERENT
