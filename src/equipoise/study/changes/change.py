"""A change that an event will make to a state, prepared but not made yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equipoise.log import Event, Stamped

if TYPE_CHECKING:
    from equipoise.study.state import State


@dataclass(frozen=True, slots=True)
class Change:
    """What an event will change, computed but not made yet.

    Attributes:
        make: Makes the change at a time, ISO 8601 in UTC; cannot fail.
        alert: What the user should know of it.
        event: The event as it is to be written: with what was fitted by it.
    """

    make: Callable[[str | None], object]
    alert: Warning | None = None
    event: Event | None = None


NOTHING = Change(lambda at: None)


@dataclass(frozen=True, eq=False)
class Preparation:
    """What the change of an event is prepared from.

    Attributes:
        state: What happened.
        sets_aside: Whether a reading is compared with the others, so that those which cannot be are set aside.
        later: Whether what an event teaches is learned when the belief is asked for, not now.
    """

    state: "State"
    sets_aside: bool = True
    later: bool = False

    def change(self, event: Event, make: Callable[[], object], alert: Warning | None = None) -> Change:
        """Return the change of an event that does something to the state."""
        state = self.state

        def made(at: str | None) -> None:
            state.whole = False
            make()
            state.past.append(Stamped(event, at))
            state.events.append(event)
            state.whole = True

        return Change(made, alert, event)

    def must_be_planned(self, plan: int | None) -> None:
        """Refuse a plan that there is not."""
        if plan is not None and plan >= len(self.state.planned):
            raise ValueError(f"its plan must be one of the lines before it, got {plan}")


def must_be(name: str, expected: int, found: int | None) -> None:
    """Refuse a number that is not the next one."""
    if found != expected:
        raise ValueError(f"its {name} must be {expected}, as the lines before it say, got {found}")
