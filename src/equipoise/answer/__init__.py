"""The answer: the recommendation and its claims."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.answer.claim import Claim as Claim
    from equipoise.answer.claim import Difference as Difference
    from equipoise.answer.claim import Forecast as Forecast
    from equipoise.answer.claim import Kind as Kind
    from equipoise.answer.claim import Recommendation as Recommendation
    from equipoise.answer.front import FrontPoint as FrontPoint
    from equipoise.answer.rank import Rank as Rank
    from equipoise.answer.recommendation import Standing as Standing
    from equipoise.answer.recommendation import difference as difference
    from equipoise.answer.recommendation import recommended as recommended
    from equipoise.answer.sequential import Interval as Interval
    from equipoise.answer.sequential import anytime as anytime
    from equipoise.answer.sequential import coin_test as coin_test
    from equipoise.answer.shares import Share as Share
    from equipoise.answer.shares import share as share
    from equipoise.answer.usability import LimitEstimate as LimitEstimate
    from equipoise.answer.usability import Usability as Usability
    from equipoise.answer.verification import Verification as Verification
    from equipoise.answer.verification import finalists as finalists

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.answer.audit import audit_pair
    from equipoise.answer.calibrated_claims import Calibrated, calibration, duels_to, expected, settled
    from equipoise.answer.caution import cautious
    from equipoise.answer.front import SURE, dominated, domination, hypervolume
    from equipoise.answer.rank import ranking
    from equipoise.answer.reproducing import Reproduction, agree, reproduction, reproduction_of_points
    from equipoise.answer.second_opinions import holes, knows_enough, opinions, preference, scales
    from equipoise.answer.usability import USABLE, Doubtful, Slack
    from equipoise.answer.verification import duels_needed
    from equipoise.answer.wording import (
        EVERYTHING,
        PHRASES,
        amount,
        as_html,
        claimed,
        claims,
        counted,
        gained,
        grounds,
        interval,
        left_to_gain,
        planned,
        preferences,
        prospects,
    )
else:
    __getattr__ = lazily(__name__)
