"""Taking up a study where its log ends."""

import os
from typing import Any

from equipoise.constraints import Constraint
from equipoise.domain import Domain
from equipoise.duel import Duel
from equipoise.events import Asked, Event
from equipoise.log import Header, Log
from equipoise.optimizer import Optimizer
from equipoise.streams import Streams


def resume(
    path: str | os.PathLike[str],
    *,
    space: Domain | None = None,
    constraint: Constraint | None = None,
    **parts: Any,
) -> Optimizer:
    """Return the optimizer of a study as it was when its log was last written.

    The same posterior to the last bit, the same open trials and the same next proposals, as if nothing had happened:
    every event is replayed, no proposal is made anew. What a crash has left of a last line is removed, with a
    `TornLine` warning. Several processes may take up one log and work on it together.

    Args:
        path: The log: the file given to `Optimizer` as `log`.
        space: The space, where its choices are objects that JSON cannot hold.
        constraint: The constraint of the space, where it has one.
        **parts: Of the arguments of `Optimizer`, those that JSON cannot hold: a policy or kernel of your own.

    Raises:
        LogError: The file is missing, damaged or of a later format.

    Example:
        >>> import tempfile, equipoise as eq
        >>> path = os.path.join(tempfile.mkdtemp(), "study.jsonl")
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(-2, 2)), log=path, rng=0)
        >>> opt.tell(opt.ask(), 0.83)
        >>> again = eq.resume(path)  # after a crash, or in another process
        >>> again.readings, again.ask().id
        (1, 1)
    """
    header = Header.read(path)
    where = header.space(space, constraint)
    optimizer = Optimizer(where, **header.parts(parts))
    optimizer._take_up(Log(path, where), header.key)
    return optimizer


def differing(path: str | os.PathLike[str], **given: Any) -> list[int]:
    """Return the duels whose proposal comes out differently when it is made anew from the study's seed.

    None, on the machine and the version that made them. Takes as long as the study did, but for the measuring.

    Args:
        path: The log.
        **given: What `resume` must be given.
    """
    header = Header.read(path)
    where = header.space(given.pop("space", None), given.pop("constraint", None))
    optimizer, log = Optimizer(where, **header.parts(given)), Log(path, where)
    optimizer._streams = Streams(key=header.key)
    different = []

    def check(event: Event) -> None:
        if isinstance(event, Asked) and not _same(optimizer._proposed(), event.duel):
            different.append(event.number)
        optimizer._progress.replay(event)

    log.follow(check)
    return different


def _same(a: Duel, b: Duel) -> bool:
    return a.points.tobytes() == b.points.tobytes() and a.signs == b.signs and a.baseline == b.baseline
