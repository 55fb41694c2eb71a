"""A bound that is calibrated on simulated studies, and its forecast after an audit (METHOD section 11).

    symbol   meaning                                                              shape
    q        pivot: 95 % quantile of the top of a function drawn from the belief  ()
    s        signs of the study, see `signs.py`                                   (k,)
    w, c     weights by quantile regression, multiplier by conformal prediction   (k,), ()

`log bound = log q + w's + c`: under the weights, log regret lies below in 95 % of studies of some families
of functions (pinball loss). The multiplier was calibrated on families left out one by one. The table and its origin are
in `calibration.json`; `benchmarks/calibrate.py` makes it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numpy.random import Generator

from equipoise.answer.claim import Claim, Forecast, Kind, Recommendation
from equipoise.answer.second_opinions import READINGS_PER_PARAMETER, knows_enough
from equipoise.answer.signs import Explored, signs
from equipoise.answer.wording import out_of_reach, reach_expected, unforeseen

FORECAST_DUELS = 24
"""The number of duels of a forecast audit: the default of `audit`."""

TABLE = Path(__file__).with_name("calibration.json")

AUDITS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""The numbers of duels of an audit that a forecast considers."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The rule that turns the signs of a study into a bound.

    Attributes:
        weights: The weight of each sign in the logarithm of the bound; that of 1 is named "".
        multipliers: The most knobs of a group of studies, and the constant added to the logarithm in that group.
        audit: The weights of the signs in the rate at which an audit lowers the logarithm of the bound.
        least_readings: With fewer readings there is no bound.
        most_holes: If a larger share of the space is unknown, the study may have missed a narrow top.
        families: The families of functions behind the table.
        seeds: The first seed of their studies, and the one after the last.
        studies: The number of studies.

    Example:
        >>> calibration = Calibrated({"": 0.5, "noise": 0.1}, ((4, 0.0), (8, 0.2)), {"": 0.3}, 10, 0.25)
        >>> signs = {"pivot": math.log(0.1), "noise": -1.0, "knobs": math.log(6), "readings": math.log(60)}
        >>> round(calibration.bound(signs), 3)
        0.182
    """

    weights: Mapping[str, float]
    multipliers: Sequence[tuple[int, float]]
    audit: Mapping[str, float]
    least_readings: int
    most_holes: float
    families: Sequence[str] = ()
    seeds: tuple[int, int] = (0, 0)
    studies: int = 0

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Calibrated":
        """Return the calibration in a table."""
        groups = tuple((int(knobs), float(added)) for knobs, added in content["multipliers"])
        return cls(**{**content, "multipliers": groups, "seeds": tuple(content["seeds"])})

    def bound(self, signs: Mapping[str, float]) -> float:
        """Return the calibrated bound; infinite if there are too few readings, or more knobs than in any study."""
        knobs, readings = math.exp(signs["knobs"]), math.exp(signs["readings"])
        added = next((c for most, c in self.multipliers if knobs <= most + 0.5), math.inf)
        if readings < self.least_readings - 0.5:
            return math.inf
        return math.exp(signs["pivot"] + _weighed(self.weights, signs) + added)  # METHOD section 11

    def beyond(self, knobs: int) -> str:
        """Return why studies of this many knobs have no bound, if they have none."""
        most = self.multipliers[-1][0]
        return f"there is no calibration for more than {most} knobs" if knobs > most else ""

    def narrow(self, signs: Mapping[str, float]) -> bool:
        """Return whether the study may have missed a top that is narrower than the gaps between readings."""
        return signs["holes"] > self.most_holes

    def audited(self, bound: float, signs: Mapping[str, float], duels: int) -> float:
        """Return the approximate bound after this many more duels of audit."""
        more = math.log1p(2 * duels / math.exp(signs["readings"]))
        return bound * math.exp(-max(_weighed(self.audit, signs), 0.0) * more)

    def duels(self, eps: float, bound: float, signs: Mapping[str, float]) -> int | None:
        """Return the number of duels of audit after which a bound would be about `eps`; `None` if too many."""
        return next((k for k in AUDITS if self.audited(bound, signs, k) <= eps), None)


@cache
def calibration() -> Calibrated:
    """Return the calibration that comes with the library."""
    return Calibrated.from_json(json.loads(TABLE.read_text(encoding="utf-8")))


def calibrated(explored: Explored, scope: str, audited: bool, rng: Generator) -> tuple[Claim, Mapping[str, float]]:
    """Return the claim about all settings that `scope` covers under a learned model, and the signs of the study."""
    rule, found = calibration(), signs(explored, rng)
    bound, knobs = rule.bound(found), round(math.exp(found["knobs"]))
    if math.isinf(bound):
        return Claim("guess", bound, scope, why=rule.beyond(knobs)), found
    if not knows_enough(explored.belief):
        missing = max(READINGS_PER_PARAMETER * knobs - len(explored.read), 1)
        return Claim("guess", bound, scope, rule.narrow(found), missing), found
    kind: Kind = "audited" if audited else "estimate"
    return Claim(kind, bound, scope, rule.narrow(found)), found


def forecast(claim: Claim, found: Mapping[str, float]) -> Forecast | None:
    """Return the forecast of a bound after an audit, given the signs of the study; `None` for a guess."""
    if claim.kind == "guess":
        return None
    return Forecast(FORECAST_DUELS, calibration().audited(claim.bound, found, FORECAST_DUELS))


def duels_to(best: Recommendation, eps: float) -> int | None:
    """Return about how many duels of audit bring the bound about all settings to `eps`; `None` if too many."""
    return calibration().duels(eps, best.overall.bound, best.signs) if best.signs else None


def settled(best: Recommendation, eps: float) -> bool:
    """Return whether a search has settled: the last half of its readings gained less than half of `eps`."""
    gained = math.expm1(best.signs["gained"]) * math.exp(best.signs["pivot"]) if best.signs else 0.0
    return gained <= 0.5 * eps


def expected(best: Recommendation, eps: float, left: int | None = None) -> str:
    """Return in a sentence when a bound about all settings is expected to be reached, if `left` readings remain."""
    if best.forecast is None or math.isinf(best.overall.bound):
        return unforeseen(eps, best.overall.missing, best.unit)
    duels, most = duels_to(best, eps), AUDITS[-1]
    if duels is None:
        best_bound = calibration().audited(best.overall.bound, best.signs, most)
        return out_of_reach(eps, most, best_bound, best.unit)
    return reach_expected(eps, duels, left, best.unit)


def _weighed(weights: Mapping[str, float], signs: Mapping[str, float]) -> float:
    return sum(weight * (signs[name] if name else 1.0) for name, weight in weights.items())
