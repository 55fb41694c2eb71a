"""Spaces: where points lie. A space encodes the user's points to rows of numbers, which is all other parts see."""

from equipoise.spaces.box import Box
from equipoise.spaces.context import Context
from equipoise.spaces.descriptions import space_from_dict
from equipoise.spaces.domain import Domain
from equipoise.spaces.finite import Finite
from equipoise.spaces.named import Space
from equipoise.spaces.numbers import Float, Int
from equipoise.spaces.options import Choice, Fixed

__all__ = ["Box", "Choice", "Context", "Domain", "Finite", "Fixed", "Float", "Int", "Space", "space_from_dict"]
