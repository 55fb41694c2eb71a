"""What a server has besides the study: a goal, and what sets the machine."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from equipoise.runners import Goal


@dataclass(frozen=True)
class Means:
    """What a server has besides the study.

    Attributes:
        goal: When there is enough: the page says how far it is, and a program that measures pauses then.
        set: Sets the machine: takes a setting, and raises an exception if that fails. It is called for each trial of a
            program; by hand for a trial, for the best setting and for the start, once somebody has confirmed it.

    Example:
        >>> stands = []
        >>> Means(Goal(readings=80), set=stands.append).goal.readings
        80
    """

    goal: Goal = field(default_factory=Goal)
    set: Callable[[Any], object] | None = None


NOTHING = Means()
