"""The present setting of a study's machine, its reach in one step, and the path to a more distant setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data import Duel, Reading
from equipoise.log import Added, Asked, Failed, Handed, Noted, Told
from equipoise.study.limits import ROUNDING

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.log import Event
    from equipoise.spaces import Domain
    from equipoise.study.ledger import Ledger
    from equipoise.study.setup import Setup


def positions(
    events: Sequence[Event], ledger: Ledger, start: FloatArray | None, worker: str | None
) -> list[FloatArray]:
    """Return the points where the machine may stand, encoded, the likeliest first: where the last event left it.

    The others are possible too: readings may be told in another order than they were taken, and any open trial may be
    the next one measured. A reading of an earlier campaign moves nothing.
    """
    left = next((found for event in reversed(events) if (found := _after(event, ledger))), [])
    read = (event for event in reversed(events) if isinstance(event, Told) and isinstance(event.answer, Reading))
    handed = [e.trial for e in events if isinstance(e, Asked | Handed) and e.trial not in ledger.pairs]
    mine = [i for i in handed if ledger.of_trial[i].worker == worker]
    last = [*(event.trial for event in (next(read, None),) if event is not None), *mine[-1:], *handed[-1:]]
    waiting = [point for i in ledger.open_pairs for point in _of_pair(ledger, i)]
    added = next((event.answer for event in reversed(events) if isinstance(event, Added)), None)
    here = [] if added is None or added.point is None or added.circumstances.campaign else [added.point]
    begun = [] if left or start is None else [start]
    return [*left, *begun, *(ledger.of_trial[i].point(i) for i in (*last, *ledger.handed)), *waiting, *here]


def position(events: Sequence[Event], ledger: Ledger, worker: str | None) -> FloatArray | None:
    """Return the last known point of a worker's machine, from a reading or a move; `None` if there is none."""
    for event in reversed(events):
        match event:
            case Noted(point=point) if point is not None:
                return point
            case Told(trial=i, answer=Reading()) if ledger.of_trial[i].worker == worker:
                return ledger.of_trial[i].point(i)
    return None


def _after(event: Event, ledger: Ledger) -> list[FloatArray]:
    """Return the possible settings of the machine after an event; none if the event does not move it."""
    match event:
        case Noted(point=point) if point is not None:
            return [point]
        case Asked(trial=i) | Handed(trial=i) | Told(trial=i) | Failed(trial=i):
            entry = ledger.of_trial[i]
            if isinstance(entry.question, Duel):
                return [entry.point(i)]
            return [] if entry.added else _of_pair(ledger, i)
    return []


def _of_pair(ledger: Ledger, i: int) -> list[FloatArray]:
    """Return the settings of a pair, the one shown last first."""
    first, second = ledger.pairs[i].pair.points
    return [second, first]


@dataclass(frozen=True, eq=False)
class Reach:
    """The settings within one step of where the machine may stand: a box.

    Attributes:
        at: Where it stands most likely, encoded, shape (d,).
        low: The least coordinates, shape (d,).
        high: The largest coordinates, shape (d,).
        step: The longest step of each coordinate, shape (d,); infinite if there is no limit.
    """

    at: FloatArray
    low: FloatArray
    high: FloatArray
    step: FloatArray

    @classmethod
    def of(cls, space: Domain, stands: Sequence[FloatArray], step: FloatArray) -> Reach:
        """Return the settings within a step of the first position, and of all others if possible."""
        first, *others = space.snap(np.array(stands))
        low, high = first - step, first + step
        for other in others:
            least, most = np.maximum(low, other - step), np.minimum(high, other + step)
            if (least <= most + ROUNDING).all():
                low, high = least, most
        return cls(first, low, high, step)

    def contains(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return a mask of the points, shape (m, d), within a step, shape (m,)."""
        inside = (points >= self.low - ROUNDING) & (points <= self.high + ROUNDING)
        within: NDArray[np.bool_] = np.logical_and.reduce(inside, axis=1)
        return within

    def joins(self, points: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
        """Return which points, shape (m, d), are within a step of another one, shape (d,): either may come first."""
        near: NDArray[np.bool_] = np.logical_and.reduce(np.abs(points - other) <= self.step + ROUNDING, axis=1)
        return near

    def towards(self, point: FloatArray) -> FloatArray:
        """Return the coordinates within reach that are nearest to a point, shape (d,)."""
        return np.clip(point, self.low, self.high)


def way(setup: Setup, before: Any, x: Any) -> list[Any]:
    """Return the settings through which a machine moves without a step longer than `max_step`; the last one is `x`.

    Nothing is measured on the way, so `drop` does not apply. The way is straight; each setting obeys the constraint.

    Args:
        setup: The setup of the study.
        before: The present setting of the machine; `None` if it is not known: then it is the start.
        x: The setting to reach.

    Raises:
        ValueError: `x` cannot be measured, or there is no such way.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), start={"q1": 0.0}, max_step={"q1": 0.4}, rng=0)
        >>> [round(at["q1"], 2) for at in way(opt.study.setup, None, {"q1": 1.0})]
        [0.33, 0.67, 1.0]
    """
    space, limits = setup.space, setup.caution
    goal = space.encode(x)
    if limits.max_step is None:
        return [space.decode(goal)]
    first = limits.start if before is None else space.encode(before)
    assert first is not None  # steps are counted from a start
    fewest = int(max(np.ceil(np.abs(goal - first) / limits.max_step - ROUNDING).max(), 1))
    for steps in range(fewest, 2 * fewest + 1):  # more, if whole numbers are rounded up
        points = space.snap(first + np.linspace(0, 1, steps + 1)[1:, None] * (goal - first))
        moves = np.abs(np.diff(points, axis=0, prepend=first[None]))
        if (moves <= limits.max_step + ROUNDING).all():
            if space.valid(points).all():
                return [space.decode(point) for point in points]
            raise ValueError("the straight path violates the constraint: move there in your own steps")
    raise ValueError("no sequence of steps of `max_step` leads there")
