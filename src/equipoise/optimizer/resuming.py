"""The study of a file, as it was when its log was last written, or a new one."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from equipoise._typing import Seed
from equipoise.log import Header, Log, Streams
from equipoise.optimizer.ask_tell import Optimizer
from equipoise.spaces import Constraint, Domain
from equipoise.study import arguments


def resume(
    path: str | os.PathLike[str],
    *,
    space: Domain | None = None,
    constraint: Constraint | None = None,
    notify: Callable[[Warning], object] | None = None,
    **parts: Any,
) -> Optimizer:
    """Return the optimizer of a study as it was when its log was last written.

    It has the same posterior to the last bit, the same open trials and the same next proposals: `resume` replays every
    event and makes no proposal again. It removes an incomplete last line after a crash, with a `TornLine` warning.
    Several processes may resume one log and work on it together.

    Args:
        path: The log: the file given to `Optimizer` as `log`.
        space: The space, if its choices are objects that JSON cannot hold.
        constraint: The constraint of the space, if it is a function.
        notify: Called with each warning, such as a `TornLine`, instead of `warnings.warn`.
        **parts: The arguments of `Optimizer` that JSON cannot hold, such as your own policy or kernel.

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
    settings = arguments(header, where, parts)
    opt = header.made(lambda: Optimizer(where, **settings, rng=Streams(key=header.key)), given=bool(parts))
    opt.study.notify = notify
    opt._session.write_to(Log.of(header, where), {})
    opt._session.deliver(opt._session.turns.noticed())
    return opt


def opened(
    path: str | os.PathLike[str], space: Domain, block: str | None, rng: Seed | Streams, parts: Mapping[str, Any]
) -> Optimizer:
    """Return the study of a file, see `Optimizer.open`."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return Optimizer(space, rng=rng, log=path, block=block, **parts)
    opt = resume(path, space=space, **parts)
    if block is not None:
        opt.begin_block(block)
    return opt
