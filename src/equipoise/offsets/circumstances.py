"""The circumstances of a reading, on which an offset may depend.

A reading belongs to a campaign: the study itself, or an earlier one with an independent offset. Inside a campaign time
counts the readings; the user gives blocks (days, batches, workers) and covariates.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from equipoise import _validation as check

LAST_READING = "the reading before"
"""A covariate that is always known: the previous reading, since an instrument may respond to it."""

MAX_COVARIATES = 100
"""The most covariates that a reading may have: each costs a matrix over all readings."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances of one reading.

    Attributes:
        block: The day, batch or worker of the reading; empty if none was given.
        campaign: The earlier campaign of the reading; empty for the study itself.
        covariates: Other numbers that were measured, by name.

    Example:
        >>> Circumstances("monday", covariates={"temperature": 21.3}).block
        'monday'
    """

    block: str = ""
    campaign: str = ""
    covariates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, block: Any = None, campaign: Any = None, covariates: Any = None) -> "Circumstances":
        """Return the circumstances after a check; a covariate that is `None` or NaN counts as missing."""
        given = {} if covariates is None else covariates
        if not isinstance(given, Mapping):
            raise TypeError(f"`covariates` must be numbers by name, got {given!r}")
        if len(given) > MAX_COVARIATES:
            raise ValueError(f"`covariates` must be at most {MAX_COVARIATES}, got {len(given)}")
        known = {check.name("covariates", name): value for name, value in given.items() if not _missing(value)}
        if LAST_READING in known:
            raise ValueError(f"`covariates` must not have {LAST_READING!r}, which is there by itself")
        beside = {name: check.number(f"covariates[{name!r}]", value) for name, value in known.items()}
        return cls(_name("block", block), _name("campaign", campaign), beside)

    def to_dict(self) -> dict[str, Any]:
        """Return the given circumstances as JSON; `None` if there are none."""
        beside = {name: value for name, value in self.covariates.items() if name != LAST_READING}
        return {"block": self.block or None, "campaign": self.campaign or None, "covariates": beside or None}

    def after(self, reading: float | None) -> "Circumstances":
        """Return the same circumstances with the previous reading, if there is one."""
        if reading is None:
            return self
        return Circumstances(self.block, self.campaign, {**self.covariates, LAST_READING: reading})

    def __reduce__(self) -> tuple[type["Circumstances"], tuple[str, str, dict[str, float]]]:
        return Circumstances, (self.block, self.campaign, dict(self.covariates))


NOTHING_TOLD: Circumstances = Circumstances()


def _name(what: str, given: Any) -> str:
    return "" if given is None else check.name(what, given)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
