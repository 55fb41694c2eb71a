"""Comparing arms: rounds of random order, and a verdict that holds at any time of looking.

Example:
    >>> import equipoise as eq
    >>> print(eq.compare({"old": lambda: 3.0, "new": lambda: 2.0}, rng=0))
    new is lower than old by 1 [1, 1] in this session, after 6 rounds.
"""

from equipoise.programs.calling import compare
from equipoise.programs.findings import FAILED, PASSED, UNDECIDED, Finding
from equipoise.programs.question import Question
from equipoise.programs.record_file import Records as Records
from equipoise.programs.rounds import Contest, Turn
from equipoise.programs.sessions import over, verdict_of
from equipoise.programs.verdict import Verdict

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
