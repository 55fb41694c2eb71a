"""The answer: the recommendation and its claims."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.answer.audit import audit_pair as audit_pair
    from equipoise.answer.calibrated_claims import Calibrated as Calibrated
    from equipoise.answer.calibrated_claims import calibration as calibration
    from equipoise.answer.calibrated_claims import duels_to as duels_to
    from equipoise.answer.calibrated_claims import expected as expected
    from equipoise.answer.calibrated_claims import settled as settled
    from equipoise.answer.caution import cautious as cautious
    from equipoise.answer.claim import Claim, Difference, Forecast, Kind, Recommendation
    from equipoise.answer.front import SURE as SURE
    from equipoise.answer.front import FrontPoint
    from equipoise.answer.front import dominated as dominated
    from equipoise.answer.front import domination as domination
    from equipoise.answer.front import hypervolume as hypervolume
    from equipoise.answer.rank import Rank
    from equipoise.answer.rank import ranking as ranking
    from equipoise.answer.recommendation import Standing, difference, recommended
    from equipoise.answer.reproducing import Reproduction as Reproduction
    from equipoise.answer.reproducing import agree as agree
    from equipoise.answer.reproducing import reproduction as reproduction
    from equipoise.answer.reproducing import reproduction_of_points as reproduction_of_points
    from equipoise.answer.second_opinions import holes as holes
    from equipoise.answer.second_opinions import knows_enough as knows_enough
    from equipoise.answer.second_opinions import opinions as opinions
    from equipoise.answer.second_opinions import preference as preference
    from equipoise.answer.second_opinions import scales as scales
    from equipoise.answer.sequential import Interval, anytime, coin_test
    from equipoise.answer.shares import Share, share
    from equipoise.answer.usability import USABLE as USABLE
    from equipoise.answer.usability import LimitEstimate, Usability
    from equipoise.answer.verification import Verification, finalists
    from equipoise.answer.verification import duels_needed as duels_needed
    from equipoise.answer.wording import EVERYTHING as EVERYTHING
    from equipoise.answer.wording import PHRASES as PHRASES
    from equipoise.answer.wording import amount as amount
    from equipoise.answer.wording import as_html as as_html
    from equipoise.answer.wording import claimed as claimed
    from equipoise.answer.wording import claims as claims
    from equipoise.answer.wording import counted as counted
    from equipoise.answer.wording import gained as gained
    from equipoise.answer.wording import grounds as grounds
    from equipoise.answer.wording import interval as interval
    from equipoise.answer.wording import left_to_gain as left_to_gain
    from equipoise.answer.wording import planned as planned
    from equipoise.answer.wording import preferences as preferences
    from equipoise.answer.wording import prospects as prospects
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "Claim",
    "Difference",
    "Forecast",
    "FrontPoint",
    "Interval",
    "Kind",
    "LimitEstimate",
    "Rank",
    "Recommendation",
    "Share",
    "Standing",
    "Usability",
    "Verification",
    "anytime",
    "coin_test",
    "difference",
    "finalists",
    "recommended",
    "share",
]
