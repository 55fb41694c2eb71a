"""Comparing arms: rounds of random order, and a verdict that holds at any time of looking.

Example:
    >>> import equipoise as eq
    >>> print(eq.compare({"old": lambda: 3.0, "new": lambda: 2.0}, rng=0))
    new is lower than old by 1 [1, 1] in this session, after 6 rounds.
"""

from equipoise.contest.calling import compare
from equipoise.contest.findings import FAILED, PASSED, UNDECIDED, Finding
from equipoise.contest.question import Question
from equipoise.contest.rounds import Contest, Turn
from equipoise.contest.sessions import over, verdict_of
from equipoise.contest.verdict import Verdict

__all__ = [
    "FAILED",
    "PASSED",
    "UNDECIDED",
    "Contest",
    "Finding",
    "Question",
    "Turn",
    "Verdict",
    "compare",
    "over",
    "verdict_of",
]
