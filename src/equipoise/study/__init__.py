"""A study: its state, what it proposes next, its random streams, and the defaults."""

from equipoise.study.ledger import DuelGivenUp, GapUnknown
from equipoise.study.proposing import Proposer
from equipoise.study.rules import Record, Rules
from equipoise.study.screen import SetAside
from equipoise.study.state import State
from equipoise.study.streams import Streams

__all__ = ["DuelGivenUp", "GapUnknown", "Proposer", "Record", "Rules", "SetAside", "State", "Streams"]
