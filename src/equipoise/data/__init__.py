"""The records that travel from a policy to the belief: Proposal, Question, Answer, Comparison; and the user's Trial.

A study asks questions: a `Duel` to measure, or a `PairToJudge`. It takes answers: a `Reading`, or a `Preference`.
"""

from equipoise.data.questions import CERTAIN as CERTAIN
from equipoise.data.questions import EVEN as EVEN
from equipoise.data.questions import Encoded, PairToJudge, Preference, Proposal, SeedName, Side, Trial
from equipoise.data.teaching import OF as OF
from equipoise.data.teaching import Answer, Comparison, Duel, Question, Reading, as_said, teaches, will_teach

__all__ = [
    "Answer",
    "Comparison",
    "Duel",
    "Encoded",
    "PairToJudge",
    "Preference",
    "Proposal",
    "Question",
    "Reading",
    "SeedName",
    "Side",
    "Trial",
    "as_said",
    "teaches",
    "will_teach",
]
