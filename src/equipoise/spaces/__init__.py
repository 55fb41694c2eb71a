"""Spaces: the sets of settings. A space encodes the user's points to rows of numbers; other parts see only these."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.spaces.box import Box
    from equipoise.spaces.constraints import Constraint as Constraint
    from equipoise.spaces.context import Context
    from equipoise.spaces.domain import Domain
    from equipoise.spaces.finite import Finite
    from equipoise.spaces.named import Space, space_from_dict
    from equipoise.spaces.numbers import Float, Int
    from equipoise.spaces.options import HOT as HOT
    from equipoise.spaces.options import Choice, Fixed
    from equipoise.spaces.parameters import Parameter as Parameter
    from equipoise.spaces.parameters import parameter_from_dict as parameter_from_dict
    from equipoise.spaces.readouts import Dial as Dial
    from equipoise.spaces.readouts import Readout as Readout
    from equipoise.spaces.readouts import dials as dials
    from equipoise.spaces.readouts import labeled as labeled
    from equipoise.spaces.readouts import names as names
    from equipoise.spaces.readouts import printable as printable
    from equipoise.spaces.readouts import readouts_of as readouts_of
    from equipoise.spaces.readouts import settings as settings
    from equipoise.spaces.readouts import tuned as tuned
    from equipoise.spaces.restricted import Restricted as Restricted
else:
    __getattr__ = lazily(__name__)

__all__ = ["Box", "Choice", "Context", "Domain", "Finite", "Fixed", "Float", "Int", "Space", "space_from_dict"]
