"""Spaces: the sets of settings. A space encodes the user's points to rows of numbers; other parts see only these."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.spaces.box import Box as Box
    from equipoise.spaces.context import Context as Context
    from equipoise.spaces.domain import Domain as Domain
    from equipoise.spaces.finite import Finite as Finite
    from equipoise.spaces.named import Space as Space
    from equipoise.spaces.named import space_from_dict as space_from_dict
    from equipoise.spaces.numbers import Float as Float
    from equipoise.spaces.numbers import Int as Int
    from equipoise.spaces.options import Choice as Choice
    from equipoise.spaces.options import Fixed as Fixed

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.spaces.constraints import Constraint
    from equipoise.spaces.options import HOT
    from equipoise.spaces.parameters import Parameter, parameter_from_dict
    from equipoise.spaces.readouts import Dial, Readout, dials, labeled, names, printable, readouts_of, settings, tuned
    from equipoise.spaces.restricted import Restricted
else:
    __getattr__ = lazily(__name__)
