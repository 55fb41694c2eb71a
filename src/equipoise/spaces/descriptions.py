"""Descriptions of spaces, made of what JSON knows: what a log file keeps of a space."""

from collections.abc import Mapping
from typing import Any

from equipoise.spaces.box import Box
from equipoise.spaces.constraints import Constraint
from equipoise.spaces.domain import Domain
from equipoise.spaces.finite import Finite
from equipoise.spaces.named import Space


def space_from_dict(description: Mapping[str, Any], constraint: Constraint | None = None) -> Domain:
    """Return the space of any kind that its `to_dict` described; a function as constraint must be given again."""
    match kind := description.get("type"):
        case "space":
            return Space.from_dict(description, constraint)
        case "box":
            return Box.from_dict(description, constraint)
        case "finite" if constraint is None:
            return Finite.from_dict(description)
        case "finite":
            raise ValueError(
                f"`constraint` must be None for a Finite, got {constraint!r}: leave out of it what is forbidden"
            )
    raise ValueError(f"the type of a space must be 'space', 'box' or 'finite', got {kind!r}")
